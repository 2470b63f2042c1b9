// Longest-prefix match of IP addresses by WebAssembly.
//
// Each table has an instance of the module to itself: its memory goes when the table does, and an instance that is
// stopped in the middle of a call takes no other table with it.

/** The first bytes of every image. */
const MAGIC = [0x89, 0x50, 0x4f, 0x50, 0x46, 0x49, 0x42, 0x0a];

/** What the address is longer than, is none. */
const LONGEST_TEXT = 45;

/** The number of what is no address. */
const INVALID = 2 ** 32 - 1;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

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

/** An instance of the module, its memory, and what is done with both. */
class Instance {
  constructor(instance) {
    this.exports = instance.exports;
  }

  static async make() {
    return new Instance(await WebAssembly.instantiate(await module(), {}));
  }

  /** Writes the input. */
  write(bytes) {
    const at = this.exports.input(bytes.length) >>> 0;
    if (at === 0 && bytes.length > 0) {
      throw new Error(`table: no memory for its ${bytes.length} bytes`);
    }
    new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
  }

  output() {
    const at = this.exports.output() >>> 0;
    return new Uint8Array(this.exports.memory.buffer, at, this.exports.output_len() >>> 0);
  }

  text() {
    return decoder.decode(this.output());
  }

  /** A float, as text. */
  float() {
    const { buffer, byteOffset } = this.output();
    return String(new DataView(buffer, byteOffset).getFloat64(0, true));
  }

  /** Does what takes the whole input: an error if it fails, or stops, as it does without memory. */
  take(bytes, act) {
    let done;
    try {
      this.write(bytes);
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

/** The error of what is no address, whatever else it may be: an object says nothing of itself. */
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

export async function compile(text) {
  const bytes = bytesOf(text);
  const instance = await Instance.make();
  instance.take(bytes, ({ compile }) => compile());
  return instance.output().slice();
}

export class Table {
  #instance;
  #values = new Map();
  #chunk;
  // Of what JavaScript reads and writes in memory.
  #cellsAt;
  #keysAt;
  #numbersAt;
  #bytes;

  constructor(instance) {
    if (!(instance instanceof Instance)) {
      throw new TypeError("a table is made by Table.from");
    }
    const { exports } = instance;
    this.#instance = instance;
    this.#chunk = exports.chunk();
    this.#cellsAt = exports.cells() >>> 0;
    this.#keysAt = exports.keys() >>> 0;
    this.#numbersAt = exports.numbers() >>> 0;
    this.#bytes = new Uint8Array(exports.memory.buffer);
  }

  static async from(source) {
    const bytes = bytesOf(source);
    // What a compiler leaves behind would stay in the instance's memory: it is another's.
    const image = isImage(bytes) ? bytes : await compile(bytes);
    const instance = await Instance.make();
    instance.take(image, ({ open }) => open());
    return new Table(instance);
  }

  get size() {
    return this.#instance.exports.route_count() >>> 0;
  }

  value(number) {
    const known = this.#values.get(number);
    if (known !== undefined || !isUint32(number)) {
      return known;
    }
    const kind = this.#instance.exports.value(number);
    if (kind === 0) {
      return undefined;
    }
    const value = kind === 1 ? this.#instance.text() : this.#instance.float();
    this.#values.set(number, value);
    return value;
  }

  lookup(address) {
    const { exports } = this.#instance;
    const number = isUint32(address) ? exports.lookup(address) : this.#write(address).lookup_cell();
    if (number < 0) {
      throw noAddress(address);
    }
    return number === 0 ? undefined : this.value(number);
  }

  longestMatch(address) {
    const { exports } = this.#instance;
    const number = isUint32(address) ? exports.longest_match(address) : this.#write(address).longest_match_cell();
    if (number === 0) {
      return undefined;
    }
    if (number === -2) {
      throw new Error("the image was compiled without its routes, which are needed here");
    }
    if (number < 0) {
      throw noAddress(address);
    }
    const prefix = this.#instance.text();
    return { prefix, value: this.value(number) };
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
      // What the callback does with this table leaves the answers here alone.
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

  /** Looks up some of the addresses; returns how many are none. */
  #lookupChunk(addresses, start, count) {
    const { exports } = this.#instance;
    if (addresses instanceof Uint8Array) {
      this.#memory().set(addresses.subarray(16 * start, 16 * (start + count)), this.#cellsAt);
      exports.lookup_packed(count);
      return 0;
    }
    if (addresses instanceof Uint32Array) {
      this.#words(this.#keysAt, count).set(addresses.subarray(start, start + count));
      exports.lookup_many(count);
      return 0;
    }
    const memory = this.#memory();
    let at = this.#cellsAt;
    for (let index = start; index < start + count; index++) {
      at = writeCell(memory, at, addresses[index]);
    }
    return exports.lookup_cells(count);
  }

  #words(at, count) {
    return new Uint32Array(this.#instance.exports.memory.buffer, at, count);
  }

  /** The memory: another view of it when it has grown. */
  #memory() {
    if (this.#bytes.length === 0) {
      this.#bytes = new Uint8Array(this.#instance.exports.memory.buffer);
    }
    return this.#bytes;
  }

  /** Writes an address as the first cell; returns the functions that read it. */
  #write(address) {
    writeCell(this.#memory(), this.#cellsAt, address);
    return this.#instance.exports;
  }
}

/**
 * Writes an address as a cell: its length, with the highest bit for bytes and without for text, and so much. What is
 * none, or too long for one, becomes an empty text. Returns where the next cell begins.
 */
function writeCell(memory, at, address) {
  if (typeof address === "string" && address.length <= LONGEST_TEXT) {
    const { length } = address;
    memory[at] = length;
    for (let index = 0; index < length; index++) {
      const code = address.charCodeAt(index);
      // No address has it.
      memory[at + 1 + index] = code < 128 ? code : 0;
    }
    return at + 1 + length;
  }
  if (isUint32(address)) {
    memory[at] = 0x84;
    for (let index = 0; index < 4; index++) {
      memory[at + 1 + index] = address >>> (24 - 8 * index);
    }
    return at + 5;
  }
  if (address instanceof Uint8Array && (address.length === 4 || address.length === 16)) {
    memory[at] = 0x80 | address.length;
    memory.set(address, at + 1);
    return at + 1 + address.length;
  }
  memory[at] = 0;
  return at + 1;
}
