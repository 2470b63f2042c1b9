/** Text of a table, or the bytes of a text or an image. */
export type Source = string | ArrayBufferLike | ArrayBufferView;

/** A text; or a whole number below 2^32 for IPv4; or 4 or 16 bytes in network order. */
export type Address = string | number | Uint8Array;

/** A value of a column that is not absent. */
export type Value = string | number | bigint | boolean | readonly (string | number | bigint | boolean)[];

/** A record: its values by the names of their columns, `null` where they are absent. It is frozen. */
export type Row = { readonly [column: string]: Value | null };

/** A route that matches. */
export interface Match {
  /** The prefix, as `192.0.2.0/24`. */
  prefix: string;
  /** The number of its record. */
  number: number;
  /** Its value; `true` in a list of prefixes without values. */
  value: Value | null;
}

interface ColumnOf<Type, V, Many = (V | null)[]> {
  readonly name: string;

  /** The type of its values. A column of integers is `bigint` as soon as one is beyond `Number.MAX_SAFE_INTEGER`. */
  readonly type: Type;

  /** The value of the longest prefix that contains an address; `null` if none does or the value is absent. Throws like `Table.lookup`. */
  lookup(address: Address): V | null;

  /** The value of the record of a number; `null` if it is absent, for 0, and for numbers that no record has. */
  value(number: number): V | null;

  /**
   * The values of many records, by their numbers from `lookupMany`. Absent ones are `NaN` in the `Float64Array` of a column of
   * type `integer` or `float`, and `null` in other columns.
   */
  values(numbers: Uint32Array): Many;
}

/** A column of the records of a table. */
export type Column =
  | ColumnOf<"text", string>
  | ColumnOf<"integer" | "float", number, Float64Array>
  | ColumnOf<"bigint", bigint>
  | ColumnOf<"boolean", boolean>
  | ColumnOf<"list of texts", readonly string[]>
  | ColumnOf<"list of integers" | "list of floats", readonly number[]>
  | ColumnOf<"list of bigints", readonly bigint[]>
  | ColumnOf<"list of booleans", readonly boolean[]>;

/** IP prefixes of both families with a record each, compiled for longest-prefix matches. It never changes. */
export class Table<R = Row> {
  private constructor();

  /**
   * The table in a text (a route a line, `PREFIX VALUE`, or a list of prefixes) or in an image. If an image has several tables,
   * `table` is the name of one. `mapped` gives IPv4-mapped addresses the routes of IPv4 in a text; an image has been compiled so or not.
   *
   * Rejects with an `Error` of one line: for a wrong line of a text, an image that is cut or damaged, bytes that are no image, or a
   * table that the image does not have.
   */
  static from<R = Row>(source: Source, options?: { table?: string; mapped?: boolean }): Promise<Table<R>>;

  /** The table in a file, in Node. Rejects like `from`, with the path in the message, and with the error of a file that can't be read. */
  static open<R = Row>(path: string | URL, options?: { table?: string; mapped?: boolean }): Promise<Table<R>>;

  /** The number of routes. */
  readonly size: number;

  /** The columns of the records, in their order. */
  readonly columns: readonly Column[];

  /** The column of this name. Throws an `Error` with the names that there are if there is none. */
  column(name: keyof R & string): Column;

  /**
   * The record of the longest prefix that contains an address; `null` if none does. Equal records are mostly one object.
   *
   * Throws a `TypeError` for anything that is no address.
   */
  get(address: Address): Readonly<R> | null;

  /** The record of a number from `lookupMany`; `null` for 0, and for numbers that no record has. */
  record(number: number): Readonly<R> | null;

  /** The value, in one column, of the longest prefix that contains an address; `null` if none does. Throws like `get`. */
  lookup(address: Address): Value | null;

  /**
   * The longest prefix that contains an address, and its value; `null` if none does.
   *
   * Throws like `get`, and for an image that was compiled without its routes.
   */
  longestMatch(address: Address): Match | null;

  /** All routes that cover an address, the shortest first. Throws like `longestMatch`. */
  supernets(address: Address): Match[];

  /**
   * Looks up many addresses: IPv4 as numbers in a `Uint32Array`, IPv6 as bytes in a `Uint8Array`, 16 for each in network
   * order, or an array of any addresses. Each answer is the number of a record; 0 if no prefix contains the address. Equal
   * records have equal numbers.
   *
   * The answers are written to `numbers`, if that is given. For each element that is no address `invalid` is called with
   * its index, and its answer is 0. Without `invalid` the first of them throws a `TypeError` that names the index.
   */
  lookupMany(
    addresses: Uint32Array | Uint8Array | readonly Address[],
    options?: { numbers?: Uint32Array; invalid?: (index: number) => void },
  ): Uint32Array;

  /** The value of a number from `lookupMany`; `null` for 0, and for numbers that no record has. */
  value(number: number): Value | null;
}

/**
 * The image of a text: bytes that `Table.from` and every other popfib opens in a fraction of the time.
 *
 * Rejects like `Table.from`.
 */
export function compile(text: Source, options?: { mapped?: boolean }): Promise<Uint8Array>;

/** What has the newest table of a file that is published again and again. */
export interface Watcher<R = Row> {
  /** The newest table. All lookups that belong together should use what one access returned. */
  readonly current: Table<R>;

  /** Reads the file now, whether it has changed or not. If it rejects, `current` stays. */
  reload(): Promise<void>;

  /** Ends following the file; nothing is called any more, and `current` stays. */
  close(): void;
}

/**
 * Opens a table, and follows its file, in Node: every `interval` milliseconds (1000) it looks whether the file has changed. One
 * that takes the place of another, as by renaming, is read at once, one that is written in place when nothing was written for
 * a second. `onReload` is called after a new table has become the current one.
 *
 * A file that can't be opened, also one that is gone, leaves `current`, and `onError` is called with the error, once for the same
 * message; without it, that is a warning of the process. The first time it rejects, like `Table.open`. It keeps no process alive.
 */
export function watch<R = Row>(
  path: string | URL,
  options?: { table?: string; mapped?: boolean; interval?: number; onReload?: () => void; onError?: (error: Error) => void },
): Promise<Watcher<R>>;
