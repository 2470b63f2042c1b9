/** Text of a table, or the bytes of a text or an image. */
export type Source = string | ArrayBufferLike | ArrayBufferView;

/** A text, for IPv4 a whole number below 2^32, or 4 or 16 bytes in network order. */
export type Address = string | number | Uint8Array;

/** A route that matches. */
export interface Match {
  /** The prefix, as `192.0.2.0/24`. */
  prefix: string;
  /** Its value; the empty string in a list of prefixes. */
  value: string;
}

/** IP prefixes of both families with a value each, compiled for longest-prefix matches. It never changes. */
export class Table {
  private constructor();

  /**
   * The table in a text (a route a line, `PREFIX VALUE`, or a list of prefixes) or in an image.
   *
   * Rejects with an `Error` of one line: a text's line that is wrong, an image that is cut, damaged or none.
   */
  static from(source: Source): Promise<Table>;

  /** The number of routes. */
  readonly size: number;

  /**
   * The value of the longest prefix that holds an address; `undefined` if none does.
   *
   * Throws a `TypeError` for what is no address.
   */
  lookup(address: Address): string | undefined;

  /**
   * The longest prefix that holds an address, and its value; `undefined` if none does.
   *
   * Throws as `lookup`, and for an image that was compiled without its routes.
   */
  longestMatch(address: Address): Match | undefined;

  /**
   * Looks up many addresses: IPv4 as numbers in a `Uint32Array`, IPv6 as bytes in a `Uint8Array`, 16 for each in network
   * order, or an array of any addresses. Each answer is the number of a value, which `value` turns into text; 0 where no
   * prefix holds the address. Equal values have equal numbers.
   *
   * The answers are written to `numbers`, if that is given. For each element that is no address `invalid` is called with
   * its index, and its answer is 0. Without `invalid` the first of them is a `TypeError` that tells the index.
   */
  lookupMany(
    addresses: Uint32Array | Uint8Array | readonly Address[],
    options?: { numbers?: Uint32Array; invalid?: (index: number) => void },
  ): Uint32Array;

  /** The value of a number that `lookupMany` has answered; `undefined` for 0 and numbers that are no value's. */
  value(number: number): string | undefined;
}

/**
 * The image of a text: bytes that `Table.from` and every other popfib opens in a fraction of the time.
 *
 * Rejects as `Table.from`.
 */
export function compile(text: Source): Promise<Uint8Array>;
