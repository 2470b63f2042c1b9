// Longest-prefix match of IP addresses by WebAssembly.
//
// Each table has an instance of the module to itself: its memory goes when the table does, and an instance that is
// stopped in the middle of a call takes no other table with it.

/** The first bytes of every image. */
const MAGIC = [0x89, 0x50, 0x4f, 0x50, 0x46, 0x49, 0x42, 0x0a];

/** What the address is longer than, is none. */
const LONGEST_TEXT = 45;

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

function noAddress(address, at) {
  const shown = typeof address === "string" ? JSON.stringify(address.slice(0, 60)) : String(address);
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
  #textsAt;
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
    this.#textsAt = exports.texts() >>> 0;
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
    if (known !== undefined || !isUint32(number) || !this.#instance.exports.value(number)) {
      return known;
    }
    const value = this.#instance.text();
    this.#values.set(number, value);
    return value;
  }

  lookup(address) {
    const { exports } = this.#instance;
    const number = isUint32(address) ? exports.lookup(address) : exports.lookup_text(this.#writeAddress(address));
    if (number < 0) {
      throw noAddress(address);
    }
    return number === 0 ? undefined : this.value(number);
  }

  longestMatch(address) {
    const { exports } = this.#instance;
    const number = isUint32(address)
      ? exports.longest_match(address)
      : exports.longest_match_text(this.#writeAddress(address));
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

  lookupMany(addresses, numbers = new Uint32Array(addresses.length)) {
    const isTexts = Array.isArray(addresses);
    if (!isTexts && !(addresses instanceof Uint32Array)) {
      throw new TypeError("addresses are a Uint32Array or an array of strings");
    }
    if (!(numbers instanceof Uint32Array) || numbers.length !== addresses.length) {
      throw new TypeError(`numbers are a Uint32Array of ${addresses.length}, as long as the addresses`);
    }
    const { exports } = this.#instance;
    for (let start = 0; start < addresses.length; start += this.#chunk) {
      const count = Math.min(this.#chunk, addresses.length - start);
      if (isTexts) {
        this.#writeTexts(addresses, start, count);
        const valid = exports.lookup_texts(count);
        if (valid < count) {
          throw noAddress(addresses[start + valid], start + valid);
        }
      } else {
        this.#words(this.#keysAt, count).set(addresses.subarray(start, start + count));
        exports.lookup_many(count);
      }
      numbers.set(this.#words(this.#numbersAt, count), start);
    }
    return numbers;
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

  /** Writes the text of an address to where texts belong; returns its length. */
  #writeAddress(address) {
    return write(this.#memory(), this.#textsAt, address);
  }

  #writeTexts(addresses, start, count) {
    const memory = this.#memory();
    let at = this.#textsAt;
    for (let index = start; index < start + count; index++) {
      const length = write(memory, at + 1, addresses[index]);
      memory[at] = length;
      at += 1 + length;
    }
  }
}

/** Writes a text's characters; what is no text, or too long for an address, becomes an empty one. */
function write(memory, at, text) {
  const { length } = typeof text === "string" ? text : "";
  if (length > LONGEST_TEXT) {
    return 0;
  }
  for (let index = 0; index < length; index++) {
    const code = text.charCodeAt(index);
    // No address has it.
    memory[at + index] = code < 128 ? code : 0;
  }
  return length;
}
