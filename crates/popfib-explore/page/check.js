// What a reader refuses of the tables of an image, in the order of docs/image-format.md: sections in, an error or nothing out. So
// whatever a file holds, lookups stay inside of the arrays, end, and answer as those of every other reader.

import { FileError } from "./errors.js";

export const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function need(holds, reason) {
  if (!holds) {
    throw new FileError(reason);
  }
}

export function words(section) {
  need(section.byteOffset % 4 === 0 && section.length % 4 === 0, "a section is damaged");
  return new Uint32Array(section.buffer, section.byteOffset, section.length / 4);
}

export function ones(word) {
  word -= (word >>> 1) & 0x55555555;
  word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
  return Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** The value of a run of the narrow block at this place. */
export function narrowValue(arena, place, bits, run) {
  const at = place + 2 + ((run * bits) >>> 5);
  const shift = (run * bits) & 31;
  const low = arena[at] >>> shift;
  const joined = shift + bits > 32 ? low | (arena[at + 1] << (32 - shift)) : low;
  return bits === 32 ? joined >>> 0 : (joined & (2 ** bits - 1)) >>> 0;
}

function utf8Of(bytes) {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new FileError("a text is damaged");
  }
}

/** The keys and values of the lines of metadata. */
export function metadataOf(section) {
  need(section, "metadata are missing");
  const lines = utf8Of(section).split("\n");
  const pairs = lines.slice(0, -1).map((line) => line.split("\t"));
  const isPlain = pairs.every((pair) => pair.length === 2 && !/[\0-\x1f\x7f]/.test(pair.join("")));
  need(isPlain && lines.at(-1) === "", "metadata are damaged");
  return pairs;
}

/** Refuses a table of these sections, but for what its rows hold. `known` is what was verified of all that is not its `own`. */
export function checkTable(sections, own, known) {
  const three = (width, first) => [0, 1, 2].map((n) => sections.get(`${width} ${first + n}`));
  need(metadataOf(sections.get("0 1")).some(([key]) => key === "name"), "a table has no name");
  const ofRecords = own.has("0 4") ? new Map() : known;
  if (!ofRecords.has("most")) {
    ofRecords.set("most", sections.has("0 4") ? checkColumns(sections) : 2 ** 31 - 1);
  }
  const most = ofRecords.get("most");
  for (const width of [32, 128]) {
    const [values, matches, routes] = [16, 48, 32].map((first) => three(width, first));
    for (const all of [values, matches, routes]) {
      need(all.every(Boolean) || !all.some(Boolean), "a section is missing");
    }
    const counts = [[values, most, 18], [matches, most * (width + 1) + width, 50]]
      .filter(([all]) => all[0])
      .map(([all, highest, arena]) => new FibCheck(all, width, highest, own.has(`${width} ${arena}`) ? null : known).walk());
    need(new Set(counts).size < 2, "the FIBs have different numbers of routes");
    if (routes[0]) {
      need(matches[0], "routes have no FIB");
      checkRoutes(routes, width / 32, counts[0], most);
    }
  }
}

class FibCheck {
  /** `known` has what was verified of an arena that is common. */
  constructor([description, root, arena], width, most, known) {
    need(description.length === 40, "the FIB is damaged");
    const view = new DataView(description.buffer, description.byteOffset);
    const [rootBits, pageBits, valueBits, answerBits, , aggregation, flat, zero] = description;
    const routes = view.getUint32(24, true);
    Object.assign(this, { width, rootBits, pageBits, valueBits, routes, isFlat: flat === 1, root: words(root), arena: words(arena) });
    const isInRange = rootBits <= (width > 32 ? 16 : 24) && pageBits <= (width > 32 && rootBits === 16 ? 8 : 0) && valueBits >= 1 && valueBits <= 32;
    const isKnown = [16, 32].includes(answerBits) && aggregation <= 1 && flat <= 1 && zero === 0;
    need(isInRange && isKnown && routes < 2 ** 31 && view.getUint32(28, true) === 0, "the FIB is damaged");
    need(flat === 0 || width > 32 || rootBits > 0, "size fastest is no longer read; compile the table again");
    const { length } = this.arena;
    need(this.root.length === 2 ** rootBits && length >= 3 && length < 2 ** 29, "the FIB is damaged");
    need(this.arena[0] === 1 && this.arena[1] === 0 && this.arena[2] === 0, "the FIB is damaged");
    this.most = routes === 0 ? 0 : Math.min(most, answerBits === 16 ? 0xffff : 2 ** 31 - 1);
    this.owned = new Uint8Array(length);
    this.todo = [];
    this.room = null;
    if (known) {
      const like = `${valueBits} ${this.most}`;
      if (!known.has(arena)) {
        known.set(arena, { like, room: new Uint8Array(2 * length) });
      }
      this.room = known.get(arena).room;
      need(flat === 0 && known.get(arena).like === like, "FIBs with one arena differ");
    }
  }

  /** Takes words, which must be there and, unless the arena is common, have no owner. */
  own(place, length) {
    const end = place + length;
    need(end <= this.arena.length && !this.owned.subarray(place, end).includes(1), "the FIB is damaged");
    if (!this.room) {
      this.owned.fill(1, place, end);
    }
    return this.arena.subarray(place, end);
  }

  /** An answer, or the way to a block, which is noted. */
  pointer(p, used) {
    need(p < 2 ** 31 ? p <= this.most : used < this.width, "the FIB is damaged");
    if (p < 2 ** 31) {
      return;
    }
    if (this.room) {
      // By place and width: how many blocks a lookup could pass from there on when it was met, the fewest.
      const at = 2 * (p & 0x3fffffff) + ((p >>> 30) & 1);
      const room = Math.ceil((this.width - used) / 6);
      need(at < this.room.length, "the FIB is damaged");
      if (this.room[at] > 0 && this.room[at] <= room) {
        return;
      }
      this.room[at] = room;
    }
    this.todo.push(p, used);
  }

  /** Refuses what lookups may not meet; returns the number of routes. */
  walk() {
    const { root, rootBits, pageBits, isFlat, width } = this;
    this.own(0, 3);
    if (isFlat && width <= 32) {
      this.walkFlat();
      return this.routes;
    }
    for (const p of root) {
      const entries = pageBits > 0 && p >= 2 ** 31 ? this.own(p & 0x7fffffff, 2 ** pageBits) : [p];
      for (const entry of entries) {
        this.pointer(entry, rootBits + pageBits);
      }
      if (!isFlat) {
        this.rest();
      }
    }
    if (isFlat) {
      this.walkLong();
    }
    return this.routes;
  }

  /** Blocks with runs, and all below them. */
  rest() {
    const { arena, todo, valueBits, most } = this;
    while (todo.length > 0) {
      const used = todo.pop();
      const p = todo.pop();
      const place = p & 0x3fffffff;
      need(place + 2 <= arena.length && arena[place] & 1, "the FIB is damaged");
      const runs = ones(arena[place]) + ones(arena[place + 1]);
      if ((p >>> 30) & 1) {
        for (const value of this.own(place, 2 + runs).subarray(2)) {
          this.pointer(value, used + 6);
        }
        continue;
      }
      this.own(place, 2 + Math.ceil((runs * valueBits) / 32));
      for (let run = 0; most < 2 ** valueBits - 1 && run < runs; run++) {
        need(narrowValue(arena, place, valueBits, run) <= most, "the FIB is damaged");
      }
    }
  }

  /** Keys of up to 32 bits: all entries of the root lead to flat blocks, several perhaps to one. */
  walkFlat() {
    const seen = new Set();
    for (const p of this.root) {
      const place = p & 0x1ffffffe;
      const isHalf = (p & 1) === 1;
      need(p >>> 29 === 0b101 && place % 16 === 0, "the FIB is damaged");
      if (seen.has(p)) {
        continue;
      }
      seen.add(p);
      for (const entry of this.own(place, isHalf ? 32 : 64)) {
        if (isHalf) {
          need(Math.max(entry & 0xffff, entry >>> 16) <= Math.min(this.most, 0x7fff), "the FIB is damaged");
        } else {
          this.pointer(entry, this.rootBits + 6);
        }
      }
      this.rest();
    }
  }

  /** Longer keys: all blocks are flat, each below those that lead to it, and met when all of these are known. */
  walkLong() {
    const { arena, todo } = this;
    const depths = new Uint8Array(Math.ceil(arena.length / 16));
    let above = arena.length;
    for (let line = depths.length - 1; line >= 0; line--) {
      while (todo.length > 0) {
        const used = todo.pop();
        const p = todo.pop();
        const place = p & 0x1fffffff;
        need(p >>> 29 === 0b101 && place % 16 === 0 && place < above, "the FIB is damaged");
        depths[place / 16] = Math.max(depths[place / 16], used + 1);
      }
      if (depths[line] > 0) {
        above = 16 * line;
        for (const entry of this.own(above, 64)) {
          this.pointer(entry, depths[line] - 1 + 6);
        }
      }
    }
  }
}

/** Prefixes in ascending order, with next hops; an address has so many words, the lowest first. */
function checkRoutes([addresses, lengths, nextHops], size, count, most) {
  const [keys, numbers] = [words(addresses), words(nextHops)];
  const isWhole = keys.length === count * size && lengths.length === count && numbers.length === count;
  need(isWhole, "the routes are damaged");
  for (let at = 0; at < count; at++) {
    const length = lengths[at];
    let order = at === 0 ? 1 : 0;
    let host = length > 32 * size;
    for (let word = size - 1; word >= 0; word--) {
      const bits = Math.min(32, Math.max(0, length - 32 * (size - 1 - word)));
      const key = keys[at * size + word];
      host ||= bits < 32 && (key & (0xffffffff >>> bits)) !== 0;
      order ||= key - keys[(at - 1) * size + word];
    }
    order ||= length - lengths[at - 1];
    need(order > 0 && !host && numbers[at] >= 1 && numbers[at] <= most, "the routes are damaged");
  }
}

/** Refuses columns and the shape of rows; returns the highest next hop. */
function checkColumns(sections) {
  const head = sections.get("0 4");
  const view = new DataView(head.buffer, head.byteOffset, head.length);
  need(head.length >= 16, "the records are damaged");
  const [count, width, stride, main] = [0, 4, 8, 12].map((at) => view.getUint32(at, true));
  const names = new Set();
  let [nameAt, bit, highest] = [16 + 16 * width, 0, 0];
  need(width >= 1 && width <= 4096 && main < width && nameAt <= head.length, "the records are damaged");
  for (let column = 0; column < width; column++) {
    const at = 16 + 16 * column;
    const [kind, isList, bits] = head.subarray(at);
    const [length, values, lists] = [4, 8, 12].map((from) => view.getUint32(at + from, true));
    need(nameAt + length <= head.length, "the records are damaged");
    const name = utf8Of(head.subarray(nameAt, nameAt + length));
    const damaged = `the column ${name} is damaged`;
    need(!names.has(name) && kind >= 1 && kind <= 5 && isList <= 1 && (isList === 1 || lists === 0), damaged);
    names.add(name);
    nameAt += length;
    const part = (n) => sections.get(`0 ${64 + 4 * column + n}`) ?? need(false, damaged);
    const ends = (section, parts, whole) => {
      const all = words(section);
      need(all.length === parts && all.every((end, n) => end >= (all[n - 1] ?? 0)) && (all.at(-1) ?? 0) === whole, damaged);
      return all;
    };
    const content = part(0);
    if (kind === 1) {
      utf8Of(content);
      need(ends(part(1), values, content.length).every((end) => content[end] >>> 6 !== 0b10), damaged);
    } else {
      need(content.length === (kind === 5 ? values : 8 * values) && (kind < 5 || content.every((value) => value <= 1)), damaged);
    }
    if (isList) {
      const codes = words(part(3));
      ends(part(2), lists, codes.length);
      need(codes.every((code) => code >= 1 && code <= values), damaged);
    }
    highest = isList ? lists : values;
    need(bits === (stride > 0 ? 32 - Math.clz32(highest) : 0), damaged);
    bit += bits;
  }
  need(nameAt === head.length, "the records are damaged");
  const rows = sections.get("0 5");
  const isWhole = stride > 0 ? stride === Math.max(1, Math.ceil(bit / 8)) && rows?.length === stride * count + 7 : width === 1 && highest === count;
  need(isWhole, "the records are damaged");
  if (stride > 0) {
    need(rows.subarray(stride * count).every((byte) => byte === 0), "the rows are damaged");
    // Bits of the last byte of a row that belong to no code.
    const unused = (0xff << (bit - 8 * (stride - 1))) & 0xff;
    for (let last = stride - 1; unused > 0 && last < stride * count; last += stride) {
      need((rows[last] & unused) === 0, "the rows are damaged");
    }
  }
  return Math.min(count, 2 ** 31 - 1);
}

/** Refuses rows with codes that have no value. */
export function checkRows(records) {
  records.columns.forEach(({ bits, codes }, column) => {
    for (let number = 1; codes < 2 ** bits - 1 && number <= records.count; number++) {
      need(records.code(number, column) <= codes, "the rows are damaged");
    }
  });
}
