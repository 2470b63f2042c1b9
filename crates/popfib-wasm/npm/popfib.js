// Longest-prefix match of IP addresses by WebAssembly.
//
// Each table has an instance of the module to itself: its memory goes when the table does, and an instance that is
// stopped in the middle of a call takes no other table with it.

import { Watcher } from "./watcher.js";

/** The first bytes of every image. */
const MAGIC = [0x89, 0x50, 0x4f, 0x50, 0x46, 0x49, 0x42, 0x0a];

/** What helps with tables that are neither routes a line nor images. */
const OTHERS = "`popfib compile FILE --columns '*' -o IMAGE` makes an image of a MaxMind database, CSV or another table";

/** The length of the longest text of an address. */
const LONGEST_TEXT = 45;

/** The number of an element that is no address. */
const INVALID = 2 ** 32 - 1;

/** At most so many values are kept in records that are objects: 32 MiB with 8 bytes for each. */
const KEPT_VALUES = 2 ** 22;

/** Types of columns: the name, and for all but texts how many bytes the module writes for a value, and what reads them. */
const TYPES = [
  [],
  ["text"],
  ["integer", 16, (view, at) => view.getInt32(at + 4, true) * 2 ** 32 + view.getUint32(at, true)],
  ["bigint", 16, (view, at) => (view.getBigInt64(at + 8, true) << 64n) | view.getBigUint64(at, true)],
  ["float", 8, (view, at) => view.getFloat64(at, true)],
  ["boolean", 1, (view, at) => view.getUint8(at) === 1],
];

/** Added to the number of a type for lists of it. */
const LIST = 8;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

let compiling;

/** The module, compiled once. */
function module() {
  compiling ??= fetchModule().catch((error) => {
    // The next table tries again.
    compiling = undefined;
    throw error;
  });
  return compiling;
}

async function fetchModule() {
  const url = new URL("./popfib.wasm", import.meta.url);
  if (url.protocol === "file:" && globalThis.process?.getBuiltinModule) {
    const { readFile } = process.getBuiltinModule("node:fs/promises");
    return WebAssembly.compile(await readFile(url));
  }
  const response = await fetch(url);
  if (!response.ok) {
    throw new Error(`popfib: ${url} cannot be had: ${response.status} ${response.statusText}`);
  }
  return WebAssembly.compile(await response.arrayBuffer());
}

/** An instance of the module and its memory. */
class Instance {
  constructor(instance) {
    this.exports = instance.exports;
  }

  static async make() {
    return new Instance(await WebAssembly.instantiate(await module(), {}));
  }

  /** Writes the input: the bytes of all parts, one after the other. */
  write(...parts) {
    const length = parts.reduce((sum, { length }) => sum + length, 0);
    let at = this.exports.input(length) >>> 0;
    if (at === 0 && length > 0) {
      throw new Error(`table: no memory for its ${length} bytes`);
    }
    for (const bytes of parts) {
      new Uint8Array(this.exports.memory.buffer, at).set(bytes);
      at += bytes.length;
    }
  }

  output() {
    const at = this.exports.output() >>> 0;
    return new Uint8Array(this.exports.memory.buffer, at, this.exports.output_len() >>> 0);
  }

  text() {
    return decoder.decode(this.output());
  }

  /** Writes the input and calls `act` with the functions; throws if that fails, or stops, as it does without memory. */
  take(parts, act) {
    let done;
    try {
      this.write(...parts);
      done = act(this.exports);
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError) {
        throw new Error(`table: WebAssembly stopped, most likely because it ran out of memory: ${error.message}`, { cause: error });
      }
      throw error;
    }
    if (!done) {
      throw new Error(this.text());
    }
  }

  /** Opens a table of an image. */
  open(image, table) {
    const name = table === undefined ? [] : [encoder.encode(table)];
    this.take([image, ...name], ({ open }) => open(name[0]?.length ?? -1));
    this.cellsAt = this.exports.cells() >>> 0;
    this.bytes = new Uint8Array(this.exports.memory.buffer);
  }

  /** The memory; another view of it after it has grown. */
  memory() {
    if (this.bytes.length === 0) {
      this.bytes = new Uint8Array(this.exports.memory.buffer);
    }
    return this.bytes;
  }

  /** Writes an address as the first cell; returns the functions that read it. */
  cell(address) {
    writeCell(this.memory(), this.cellsAt, address);
    return this.exports;
  }

  /** The number of the record of an address; 0 if nothing matches. */
  number(address) {
    const ipv4 = ipv4Of(address);
    const number = ipv4 >= 0 ? this.exports.lookup(ipv4) : this.cell(address).lookup_cell();
    if (number < 0) {
      throw noAddress(address);
    }
    return number;
  }
}

function isImage(bytes) {
  return MAGIC.every((byte, at) => bytes[at] === byte);
}

/** The bytes of a text, a buffer or a view. */
function bytesOf(source) {
  if (typeof source === "string") {
    return encoder.encode(source);
  }
  if (ArrayBuffer.isView(source)) {
    return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  }
  if (source instanceof ArrayBuffer || globalThis.SharedArrayBuffer && source instanceof SharedArrayBuffer) {
    return new Uint8Array(source);
  }
  throw new TypeError("a table is made from a string, an ArrayBuffer or a view of one");
}

function isUint32(number) {
  return typeof number === "number" && number >>> 0 === number;
}

/** An IPv4 address as a number; -1 for anything else. */
function ipv4Of(address) {
  if (typeof address !== "string") {
    return isUint32(address) ? address : -1;
  }
  const { length } = address;
  let bits = 0;
  let dots = 0;
  let byte = -1;
  for (let at = 0; at < length; at++) {
    const digit = address.charCodeAt(at) - 48;
    if (digit >= 0 && digit <= 9 && byte !== 0) {
      byte = byte < 0 ? digit : 10 * byte + digit;
    } else if (digit === -2 && byte >= 0) {
      bits = (bits << 8) | byte;
      dots++;
      byte = -1;
    } else {
      return -1;
    }
    if (byte > 255) {
      return -1;
    }
  }
  return dots === 3 && byte >= 0 ? ((bits << 8) | byte) >>> 0 : -1;
}

/** The error of a value that is no address. Of an object only the type is shown, whose toString may run any code. */
function noAddress(address, at) {
  let shown = `${typeof address === "object" && address !== null ? "an" : "a"} ${typeof address}`;
  if (typeof address === "string") {
    shown = JSON.stringify(address.slice(0, 60));
  } else if (address instanceof Uint8Array) {
    shown = `a Uint8Array of ${address.length}, not of 4 or 16 bytes,`;
  } else if (address === null || ["number", "bigint", "boolean", "undefined"].includes(typeof address)) {
    shown = String(address);
  }
  return new TypeError(`${shown} is no address${at === undefined ? "" : ` (at ${at})`}`);
}

/** Throws if the module says that there is no answer. */
function check(number, address) {
  if (number === -1) {
    throw noAddress(address);
  }
  if (number < 0) {
    throw new Error("the image was compiled without its routes: make it with `popfib compile --keep routes`, the default");
  }
}

export async function compile(text, options) {
  const bytes = bytesOf(text);
  const instance = await Instance.make();
  instance.take([bytes], ({ compile }) => compile(Boolean(options?.mapped)));
  return instance.output().slice();
}

/** A column of the records of a table. */
class Column {
  #instance;
  #index;
  #type;
  #isList;
  #count;
  // By their codes, from 1 on; each is read when it is first asked for.
  #values = [];

  constructor(instance, index, type) {
    this.#instance = instance;
    this.#index = index;
    this.#type = TYPES[type % LIST];
    this.#isList = type >= LIST;
    this.#count = instance.exports.code_count(index) >>> 0;
    this.name = instance.text();
    this.type = this.#isList ? `list of ${this.#type[0]}s` : this.#type[0];
    Object.freeze(this);
  }

  lookup(address) {
    return this.value(this.#instance.number(address));
  }

  value(number) {
    return isUint32(number) ? this.#of(number) : null;
  }

  values(numbers) {
    if (!(numbers instanceof Uint32Array)) {
      throw new TypeError("numbers are a Uint32Array, as lookupMany returns it");
    }
    const { length } = numbers;
    const isNumber = this.type === "integer" || this.type === "float";
    const values = isNumber ? new Float64Array(length) : new Array(length);
    for (let at = 0; at < length; at++) {
      const value = this.#of(numbers[at]);
      values[at] = value === null && isNumber ? NaN : value;
    }
    return values;
  }

  #of(number) {
    const code = this.#instance.exports.code(number, this.#index) >>> 0;
    // A number that no record has may have a code beyond the last.
    if (code === 0 || code > this.#count) {
      return null;
    }
    return this.#values[code] ?? this.#read(code);
  }

  #read(code) {
    if (this.#values.length === 0) {
      this.#values = new Array(this.#count + 1);
    }
    this.#instance.exports.value(this.#index, code);
    const values = this.#decode(this.#instance.output());
    return (this.#values[code] = this.#isList ? Object.freeze(values) : values[0]);
  }

  #decode(bytes) {
    const [, size, get] = this.#type;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const values = [];
    for (let at = 0; at < bytes.length; ) {
      const end = at + (size ?? 4 + view.getUint32(at, true));
      values.push(get ? get(view, at) : decoder.decode(bytes.subarray(at + 4, end)));
      at = end;
    }
    return values;
  }
}

export class Table {
  #instance;
  #columns = [];
  #valueColumn;
  #count;
  #chunk;
  // Records as objects and their numbers, each in the place that the lowest bits of its number say.
  #records = [];
  #recordNumbers = new Uint32Array(1);
  // Where JavaScript writes keys to and reads numbers from.
  #keysAt;
  #numbersAt;

  constructor(instance) {
    if (!(instance instanceof Instance)) {
      throw new TypeError("a table is made by Table.from");
    }
    const { exports } = instance;
    this.#instance = instance;
    this.#chunk = exports.chunk();
    this.#keysAt = exports.keys() >>> 0;
    this.#numbersAt = exports.numbers() >>> 0;
    this.#count = exports.record_count() >>> 0;
    for (let type; (type = exports.column(this.#columns.length)) > 0; ) {
      this.#columns.push(new Column(instance, this.#columns.length, type));
    }
    Object.freeze(this.#columns);
    this.#valueColumn = this.#columns[exports.value_column()];
  }

  static async from(source, options) {
    const { table, mapped } = options ?? {};
    if (table !== undefined && typeof table !== "string") {
      throw new TypeError("table is the name of a table, a string");
    }
    const bytes = bytesOf(source);
    if (typeof source === "string" && /^[\w.~/\\-]*[./\\][\w.~/\\-]*[a-z_]\w*$/i.test(source)) {
      throw new Error(`table: ${JSON.stringify(source.slice(0, 60))} has no route: Table.from takes the contents of a file, Table.open its path`);
    }
    if (mapped && isImage(bytes)) {
      throw new Error("table: an image has IPv4-mapped addresses if `popfib compile --mapped` made it; mapped is for texts");
    }
    // By another instance, since the memory that compiling takes stays the instance's.
    const image = isImage(bytes) ? bytes : await compile(bytes, { mapped }).catch((error) => {
      // A heading, JSON, or what is no text.
      const isOther = /is not text/.test(error.message) || /^([{[]|"?[a-z_]\w*"?[,;\t])/i.test(decoder.decode(bytes.slice(0, 100)));
      throw isOther ? new Error(`${error.message}; ${OTHERS}`, { cause: error }) : error;
    });
    const instance = await Instance.make();
    instance.open(image, table);
    return new Table(instance);
  }

  static async open(path, options) {
    const files = globalThis.process?.getBuiltinModule?.("node:fs/promises");
    if (!files) {
      throw new Error("Table.open reads files in Node; elsewhere Table.from takes their contents, as of fetch");
    }
    try {
      return await Table.from(await files.readFile(path), options);
    } catch (error) {
      // Of a file, "table" is its name.
      const message = String(error.message);
      throw message.startsWith("table:") ? new Error(`${path}${message.slice(5)}`, { cause: error }) : error;
    }
  }

  get size() {
    return this.#instance.exports.route_count() >>> 0;
  }

  get columns() {
    return this.#columns;
  }

  column(name) {
    const found = this.#columns.find((column) => column.name === name);
    if (!found) {
      const there = this.#columns.slice(0, 20).map(({ name }) => JSON.stringify(name));
      throw new Error(`table: no column ${JSON.stringify(String(name))} in ${there.join(", ") || "an image without records"}`);
    }
    return found;
  }

  get(address) {
    return this.record(this.#instance.number(address));
  }

  record(number) {
    if (!isUint32(number) || number === 0) {
      return null;
    }
    const place = number & (this.#recordNumbers.length - 1);
    return this.#recordNumbers[place] === number ? this.#records[place] : this.#make(number);
  }

  /** Makes the record of a number and keeps it, in the place of another. */
  #make(number) {
    if (number > this.#count) {
      return null;
    }
    if (this.#records.length === 0) {
      let places = 1;
      while (places <= this.#count && 2 * places * this.#columns.length <= KEPT_VALUES) {
        places *= 2;
      }
      this.#records = new Array(places);
      this.#recordNumbers = new Uint32Array(places);
    }
    // Frozen copies of one object would each have a hidden class of its own, and be read at a tenth of the rate.
    const record = Object.fromEntries(this.#columns.map((column) => [column.name, column.value(number)]));
    const place = number & (this.#records.length - 1);
    this.#recordNumbers[place] = number;
    return (this.#records[place] = Object.freeze(record));
  }

  lookup(address) {
    return this.value(this.#instance.number(address));
  }

  value(number) {
    // An image without records has only numbers.
    return this.#valueColumn ? this.#valueColumn.value(number) : number > 0 && isUint32(number) ? number : null;
  }

  longestMatch(address) {
    const ipv4 = ipv4Of(address);
    const { exports } = this.#instance;
    const number = ipv4 >= 0 ? exports.longest_match(ipv4) : this.#instance.cell(address).longest_match_cell();
    check(number, address);
    return number === 0 ? null : this.#match(this.#instance.text(), number);
  }

  supernets(address) {
    check(this.#instance.cell(address).supernets_cell(), address);
    const lines = this.#instance.text().split("\n").slice(0, -1);
    return lines.map((line) => line.split("\t")).map(([prefix, number]) => this.#match(prefix, Number(number)));
  }

  #match(prefix, number) {
    return { prefix, number, value: this.value(number) };
  }

  lookupMany(addresses, options) {
    const isPacked = addresses instanceof Uint8Array;
    if (!isPacked && !Array.isArray(addresses) && !(addresses instanceof Uint32Array)) {
      throw new TypeError("addresses are an array, a Uint32Array (IPv4) or a Uint8Array of 16 bytes for each (IPv6)");
    }
    const length = isPacked ? addresses.length / 16 : addresses.length;
    if (!Number.isInteger(length)) {
      throw new TypeError(`${addresses.length} bytes are no whole number of IPv6 addresses, which have 16 bytes each`);
    }
    const { numbers = new Uint32Array(length), invalid } = options ?? {};
    if (!(numbers instanceof Uint32Array) || numbers.length !== length) {
      throw new TypeError(`numbers are a Uint32Array of ${length}, as long as the addresses`);
    }
    if (invalid !== undefined && typeof invalid !== "function") {
      throw new TypeError("invalid is a function that takes the index of what is no address");
    }
    for (let start = 0; start < length; start += this.#chunk) {
      const count = Math.min(this.#chunk, length - start);
      const wrong = this.#lookupChunk(addresses, start, count);
      numbers.set(this.#words(this.#numbersAt, count), start);
      // The answers are copied, so the callback may use this table.
      for (let index = start; wrong > 0 && index < start + count; index++) {
        if (numbers[index] === INVALID) {
          if (!invalid) {
            throw noAddress(addresses[index], index);
          }
          numbers[index] = 0;
          invalid(index);
        }
      }
    }
    return numbers;
  }

  /** Looks up some of the addresses; returns how many elements are no address. */
  #lookupChunk(addresses, start, count) {
    const { exports } = this.#instance;
    if (addresses instanceof Uint8Array) {
      this.#instance.memory().set(addresses.subarray(16 * start, 16 * (start + count)), this.#instance.cellsAt);
      exports.lookup_packed(count);
      return 0;
    }
    if (addresses instanceof Uint32Array) {
      this.#words(this.#keysAt, count).set(addresses.subarray(start, start + count));
      exports.lookup_many(count);
      return 0;
    }
    const memory = this.#instance.memory();
    let at = this.#instance.cellsAt;
    for (let index = start; index < start + count; index++) {
      at = writeCell(memory, at, addresses[index]);
    }
    return exports.lookup_cells(count);
  }

  #words(at, count) {
    return new Uint32Array(this.#instance.exports.memory.buffer, at, count);
  }
}

/**
 * Writes an address as a cell: its length, with the highest bit set for bytes and not for text, and then the bytes or the
 * text. Anything else, and text that is too long, becomes an empty text. Returns where the next cell begins.
 */
function writeCell(memory, at, address) {
  const ipv4 = ipv4Of(address);
  if (ipv4 >= 0) {
    memory[at] = 0x84;
    memory[at + 1] = ipv4 >>> 24;
    memory[at + 2] = ipv4 >>> 16;
    memory[at + 3] = ipv4 >>> 8;
    memory[at + 4] = ipv4;
    return at + 5;
  }
  if (typeof address === "string" && address.length <= LONGEST_TEXT) {
    const { length } = address;
    memory[at] = length;
    for (let index = 0; index < length; index++) {
      const code = address.charCodeAt(index);
      // No address has a 0, nor a character beyond ASCII.
      memory[at + 1 + index] = code < 128 ? code : 0;
    }
    return at + 1 + length;
  }
  if (address instanceof Uint8Array && (address.length === 4 || address.length === 16)) {
    memory[at] = 0x80 | address.length;
    memory.set(address, at + 1);
    return at + 1 + address.length;
  }
  memory[at] = 0;
  return at + 1;
}

export async function watch(path, options = {}) {
  const { interval = 1000 } = options;
  if (!(interval > 0)) {
    throw new TypeError("interval is milliseconds, more than 0");
  }
  return new Watcher(path, () => Table.open(path, options), options).start();
}
