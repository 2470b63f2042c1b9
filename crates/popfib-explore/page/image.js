// Images of compiled tables (docs/image-format.md): bytes in, tables with records and the longest match of an address out.
//
// A reader of its own, and not the WebAssembly of the npm package: it is a tenth of the size, needs nothing that has to be compiled
// before the command is, shows the way of a lookup, and answers a hundred thousand addresses in less time than a picture takes.
// A typed array has nothing outside of it that could be read, so what a damaged file leads to is an error and no more.

import { bitsOf, setBits } from "./addresses.js";
import { checkRows, checkTable, metadataOf, narrowValue, ones, UTF8, words } from "./check.js";
import { FileError } from "./errors.js";

const MAGIC = [0x89, 0x50, 0x4f, 0x50, 0x46, 0x49, 0x42, 0x0a];

/** The most routes, blocks that are passed, and answers that are found, in all of a family: in hostile ones they are without end. */
const MOST = 1 << 24;

function refuse(reason) {
  throw new FileError(reason);
}

export function isImage(bytes) {
  return MAGIC.every((byte, at) => bytes[at] === byte);
}

/** The tables of an image; all of it is verified where `check` is true. FileError for what is none, or is damaged. */
export function readImage(bytes, check) {
  if (new Uint8Array(Uint32Array.of(1).buffer)[0] !== 1) {
    refuse("images are for little-endian machines");
  }
  if (!isImage(bytes) || bytes.length < 64) {
    refuse("this is no image");
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const major = view.getUint16(8, true);
  if (major !== 3) {
    refuse(`an image of version ${major}; popfib compile makes it again`);
  }
  const count = view.getUint32(12, true);
  const length = Number(view.getBigUint64(16, true));
  if (length !== bytes.length) {
    refuse(`cut off at byte ${bytes.length} of ${length}`);
  }
  if (64 + 32 * count > length) {
    refuse("the header is damaged");
  }
  const damaged = (from, to, crc) => check && crc32(bytes.subarray(from, to)) !== view.getUint32(crc, true);
  if (damaged(0, 60, 60) || damaged(64, 64 + 32 * count, 24) || bytes.subarray(28, 60).some((byte) => byte !== 0)) {
    refuse("the header is damaged");
  }
  // The image itself, and its tables.
  const tables = [];
  let end = 64 + 32 * count;
  let before = -1;
  for (let n = 0; n < count; n++) {
    const at = 64 + 32 * n;
    const number = view.getUint32(at, true);
    const [width, kind] = [view.getUint16(at + 4, true), view.getUint16(at + 6, true)];
    const [start, size] = [8, 16].map((from) => Number(view.getBigUint64(at + from, true)));
    const isApart = start === Math.ceil(end / 64) * 64 && bytes.subarray(end, start).every((byte) => byte === 0);
    const place = (number * 2 ** 16 + width) * 2 ** 16 + kind;
    const isInOrder = place > before && number <= tables.length && view.getUint32(at + 28, true) === 0;
    if (!isApart || !isInOrder || start + size > length || damaged(start, start + size, at + 24)) {
      refuse(`section ${kind} of width ${width} of table ${number} is damaged`);
    }
    end = start + size;
    before = place;
    tables[number] ??= new Map();
    tables[number].set(`${width} ${kind}`, bytes.subarray(start, end));
  }
  if (end !== length) {
    refuse("there is more after the last section");
  }
  if (tables.length < 2) {
    refuse("an image without tables");
  }
  const [image, ...own] = tables;
  metadataOf(image.get("0 1"));
  const all = own.map((sections) => withCommon(sections, image));
  if (check) {
    const known = new Map();
    all.forEach((sections, n) => checkTable(sections, own[n], known));
  }
  const opened = all.map((sections) => new Table(sections));
  if (check) {
    const isOwn = (n) => own[n].has("0 4") || all.findIndex((_, other) => !own[other].has("0 4")) === n;
    opened.forEach(({ records }, n) => records && isOwn(n) && checkRows(records));
  }
  return opened;
}

/** The sections of a table, and those that it has in common with others. */
function withCommon(own, image) {
  if (own.has("0 4")) {
    return own;
  }
  const isOfRecords = (key) => /^0 (4|5|6[4-9]|[7-9]\d|\d{3,})$/.test(key);
  const all = new Map([...own].filter(([key]) => !isOfRecords(key)));
  for (const [key, section] of image) {
    const [width, kind] = key.split(" ").map(Number);
    const isArena = [18, 50].includes(kind) && own.has(`${width} ${kind - 2}`) && !own.has(key);
    if (isOfRecords(key) || isArena) {
      all.set(key, section);
    }
  }
  return all;
}

/** A table of an image: what its sources say, its records and, of each family, the longest matches. */
class Table {
  constructor(sections) {
    const lines = metadataOf(sections.get("0 1"));
    this.name = lines.find(([key]) => key === "name")?.[1] ?? "";
    this.sources = [];
    for (const [key, value] of lines) {
      if (key === "source") {
        this.sources.push({ source: value });
      } else if (["description", "licence", "date"].includes(key) && this.sources.length > 0) {
        this.sources.at(-1)[key] = value;
      }
    }
    this.records = sections.has("0 4") ? new Records(sections) : null;
    this.families = {};
    for (const [family, width] of [["ipv4", 32], ["ipv6", 128]]) {
      if (sections.has(`${width} 48`)) {
        this.families[family] = new Fib(sections, width);
      } else if (sections.has(`${width} 16`)) {
        refuse("the image was compiled without the prefixes of matches; popfib compile --keep prefixes keeps them");
      }
    }
  }
}

const TYPES = [null, "text", "integer", "integer", "float", "boolean"];

/** What the numbers of answers stand for. */
class Records {
  constructor(sections) {
    const head = sections.get("0 4");
    const view = new DataView(head.buffer, head.byteOffset, head.length);
    if (head.length < 16 || head.length < 16 + 16 * view.getUint32(4, true)) {
      refuse("the records are damaged");
    }
    [this.count, this.stride, this.main] = [0, 8, 12].map((at) => view.getUint32(at, true));
    this.rows = sections.get("0 5");
    this.columns = [];
    let nameAt = 16 + 16 * view.getUint32(4, true);
    let bit = 0;
    for (let at = 16; at < 16 + 16 * view.getUint32(4, true); at += 16) {
      const name = head.subarray(nameAt, (nameAt += view.getUint32(at + 4, true)));
      const column = new Column(sections, this.columns.length, {
        name: UTF8.decode(name),
        type: head[at],
        isList: head[at + 1] === 1,
        bits: head[at + 2],
        bit,
        count: view.getUint32(at + 8, true),
        lists: view.getUint32(at + 12, true),
      });
      bit += head[at + 2];
      this.columns.push(column);
    }
    if (this.columns.length === 0 || (this.stride > 0 && (!this.rows || this.rows.length !== this.stride * this.count + 7))) {
      refuse("the records are damaged");
    }
  }

  /** The code of a record in a column: 0 is absent. */
  code(number, column) {
    if (number < 1 || number > this.count) {
      return 0;
    }
    if (this.stride === 0) {
      return number;
    }
    const { bit, bits } = this.columns[column];
    const at = this.stride * (number - 1) + (bit >> 3);
    const shift = bit & 7;
    // 32 bits from any bit on are in five bytes.
    const low = this.rows[at] | (this.rows[at + 1] << 8) | (this.rows[at + 2] << 16) | (this.rows[at + 3] << 24);
    const code = shift === 0 ? low : (low >>> shift) | (this.rows[at + 4] << (32 - shift));
    return bits === 32 ? code >>> 0 : (code & (2 ** bits - 1)) >>> 0;
  }

  /** The value of a record in a column: null is absent. */
  cell(number, column) {
    return this.columns[column].value(this.code(number, column));
  }
}

class Column {
  constructor(sections, number, about) {
    Object.assign(this, about);
    this.kind = TYPES[this.type] ?? refuse("a column of an unknown type");
    const section = (part) => sections.get(`0 ${64 + 4 * number + part}`) ?? refuse(`the column ${this.name} is damaged`);
    this.texts = section(0);
    if (this.kind === "text") {
      this.ends = words(section(1));
    } else if (this.kind !== "boolean") {
      this.numbers = new DataView(this.texts.buffer, this.texts.byteOffset, this.texts.length);
    }
    if (this.isList) {
      this.listEnds = words(section(2));
      this.elements = words(section(3));
    }
    const has = this.ends ? this.ends.length : this.numbers ? this.texts.length / 8 : this.texts.length;
    if (has !== this.count || (this.isList && this.listEnds.length !== this.lists)) {
      refuse(`the column ${this.name} is damaged`);
    }
  }

  /** How many codes there are: the highest. */
  get codes() {
    return this.isList ? this.lists : this.count;
  }

  value(code) {
    if (code === 0 || code > this.codes) {
      return null;
    }
    if (!this.isList) {
      return this.scalar(code);
    }
    const from = code > 1 ? this.listEnds[code - 2] : 0;
    return Array.from(this.elements.subarray(from, this.listEnds[code - 1]), (element) => this.scalar(element));
  }

  scalar(code) {
    switch (this.type) {
      case 1:
        return UTF8.decode(this.texts.subarray(code > 1 ? this.ends[code - 2] : 0, this.ends[code - 1]));
      case 2:
        return this.numbers.getBigInt64(8 * code - 8, true);
      case 3:
        return this.numbers.getBigUint64(8 * code - 8, true);
      case 4:
        return this.numbers.getFloat64(8 * code - 8, true);
      default:
        return this.texts[code - 1] === 1;
    }
  }
}

/** The longest matches of a family. An answer is the number of a record times (width + 1), plus the length of the prefix. */
class Fib {
  constructor(sections, width) {
    const [description, root, arena] = [48, 49, 50].map((kind) => sections.get(`${width} ${kind}`) ?? refuse("a table without its FIB"));
    if (description.length < 40) {
      refuse("the FIB is damaged");
    }
    this.width = width;
    [this.rootBits, this.pageBits, this.valueBits] = description;
    this.isFlat = description[6] === 1;
    this.routes = new DataView(description.buffer, description.byteOffset).getUint32(24, true);
    if (this.routes > MOST) {
      refuse("there are more routes than fit here");
    }
    this.root = words(root);
    this.arena = words(arena);
    if (this.rootBits > 24 || this.pageBits > 8 || this.valueBits > 32 || this.root.length !== 2 ** this.rootBits) {
      refuse("the FIB is damaged");
    }
    if (this.isFlat && this.rootBits === 0 && width <= 32) {
      refuse("size fastest is no longer read; compile the table again");
    }
    // The routes, where the image keeps them.
    const kept = [32, 33, 34].map((kind) => sections.get(`${width} ${kind}`));
    this.kept = kept.every(Boolean) && this.routes > 0 ? { addresses: words(kept[0]), lengths: kept[1], numbers: words(kept[2]) } : null;
    if (this.kept && [this.kept.lengths, this.kept.numbers].some(({ length }) => length !== this.routes)) {
      refuse("the routes are damaged");
    }
  }

  /** The answer for an address, 0 if there is none; `see` is called with each step of the way. */
  answer(key, see) {
    let used = this.rootBits;
    let index = bitsOf(key, 0, used);
    let pointer = this.root[index];
    see?.({ kind: "root", offset: 0, bits: used, index });
    if (this.pageBits > 0 && pointer >>> 31) {
      index = bitsOf(key, used, this.pageBits);
      pointer = this.arena[(pointer & 0x7fffffff) + index];
      see?.({ kind: "page", offset: used, bits: this.pageBits, index });
      used += this.pageBits;
    }
    while (pointer >>> 31) {
      if (used >= this.width) {
        refuse("the FIB is damaged");
      }
      if (this.isFlat && (pointer >>> 29) & 1) {
        index = bitsOf(key, used, 6);
        see?.({ kind: "flat", offset: used, bits: 6, index });
        pointer = this.flat(pointer, index);
        used += 6;
        continue;
      }
      const place = pointer & 0x3fffffff;
      index = bitsOf(key, used, 6);
      const run = this.rank(place, index);
      see?.({ kind: "block", offset: used, bits: Math.min(6, this.width - used), index, run, ...this.block(pointer) });
      pointer = this.value(pointer, run);
      used += 6;
    }
    return pointer ?? refuse("the FIB is damaged");
  }

  flat(pointer, slot) {
    const place = pointer & 0x1ffffffe;
    if (!(pointer & 1)) {
      return this.arena[place + slot];
    }
    return (this.arena[place + (slot >> 1)] >>> ((slot & 1) * 16)) & 0xffff;
  }

  /** The run that a slot of a block is in, counted from 0. */
  rank(place, slot) {
    const [low, high] = [this.arena[place], this.arena[place + 1]];
    return slot < 32 ? ones(low & (0xffffffff >>> (31 - slot))) - 1 : ones(low) + ones(high & (0xffffffff >>> (63 - slot))) - 1;
  }

  /** The value of a run: an answer, or a pointer. */
  value(pointer, run) {
    const place = pointer & 0x3fffffff;
    if ((pointer >>> 30) & 1) {
      return this.arena[place + 2 + run];
    }
    return narrowValue(this.arena, place, this.valueBits, run);
  }

  /** The first slots of a block's runs, and their values. */
  block(pointer) {
    const place = pointer & 0x3fffffff;
    const firsts = [];
    for (let slot = 0; slot < 64; slot++) {
      if ((this.arena[place + (slot >> 5)] >>> (slot & 31)) & 1) {
        firsts.push(slot);
      }
    }
    return { firsts, values: firsts.map((_, run) => this.value(pointer, run)) };
  }

  /** Calls `each` with the first address and the answer of all stretches of equal answers, in order. */
  walk(each) {
    const key = new Uint32Array(this.width / 32);
    let last = -1;
    let [budget, found] = [MOST, 0];
    const emit = (answer) => {
      if (answer !== last) {
        if (++found > MOST) {
          refuse("the FIB is damaged, or has more answers than fit here");
        }
        each(key, (last = answer ?? refuse("the FIB is damaged")));
      }
    };
    const down = (pointer, used) => {
      if (!(pointer >>> 31)) {
        emit(pointer);
        return;
      }
      if (used >= this.width || --budget < 0) {
        refuse("the FIB is damaged");
      }
      if (this.isFlat && (pointer >>> 29) & 1) {
        for (let slot = 0; slot < 64; slot++) {
          slotOf(used, 6, slot, slot + 1, this.flat(pointer, slot));
        }
        return;
      }
      const place = pointer & 0x3fffffff;
      let [first, run] = [-1, 0];
      for (let slot = 0; slot <= 64; slot++) {
        if (slot === 64 || (this.arena[place + (slot >> 5)] >>> (slot & 31)) & 1) {
          if (first >= 0) {
            slotOf(used, 6, first, slot, this.value(pointer, run++));
          }
          first = slot;
        }
      }
    };
    // Slots from `first` to before `end`; where the key ends inside of a stride, only those whose bits beyond its end are 0.
    const slotOf = (used, size, first, end, pointer) => {
      const over = Math.max(0, used + size - this.width);
      const unit = 2 ** over;
      const isLeaf = !(pointer >>> 31);
      for (let slot = Math.ceil(first / unit) * unit; slot < end; slot += unit) {
        setBits(key, used, size - over, slot / unit);
        if (isLeaf) {
          emit(pointer);
          return;
        }
        down(pointer, used + size);
      }
    };
    for (let index = 0; index < this.root.length; index++) {
      setBits(key, 0, this.rootBits, index);
      const pointer = this.root[index];
      if (!(pointer >>> 31) || this.pageBits === 0) {
        down(pointer, this.rootBits);
        continue;
      }
      for (let entry = 0; entry < 1 << this.pageBits; entry++) {
        setBits(key, this.rootBits, this.pageBits, entry);
        down(this.arena[(pointer & 0x7fffffff) + entry], this.rootBits + this.pageBits);
      }
    }
  }
}

let crcTable;

/** CRC-32 as in zip. */
function crc32(bytes) {
  crcTable ??= Uint32Array.from({ length: 256 }, (_, n) => {
    for (let bit = 0; bit < 8; bit++) {
      n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
    }
    return n >>> 0;
  });
  let crc = -1;
  for (let at = 0; at < bytes.length; at++) {
    crc = crcTable[(crc ^ bytes[at]) & 255] ^ (crc >>> 8);
  }
  return ~crc >>> 0;
}
