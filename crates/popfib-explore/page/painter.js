// What the map is made of: the answers of a family by cells in, classes of colours, a legend and tiles of pixels out. It runs in the
// worker. A tile is 256 times 256 pixels; at zoom z the map is 2^z tiles wide, and at zoom 8 a pixel is a cell.

import { squareOrder, stepAt, tileOrder } from "./hilbert.js";
import { colours, FIRST_OTHER, FIRST_STRONG, FOUND, LENGTH, NONE, STRONG, UNKNOWN_VALUE } from "./palette.js";

export const SIDE = 256;

const BASE = squareOrder(8);

/**
 * Cells with classes, and the legend: the values with the most cells, each with its class, code and share.
 *
 * `by` is the index of a column, "length" or "depth"; `search` a column and a code that stand out from all others.
 */
export function paint({ table, cells, space, width }, by, search) {
  if (by === "depth") {
    return paintLengths(depths(cells, space, width));
  }
  if (by === "length") {
    return paintLengths({ ...cells, values: cells.answers.map((answer) => (answer < width + 1 ? 255 : answer % (width + 1))), space });
  }
  const code = (answer, column) => {
    const record = (answer - (answer % (width + 1))) / (width + 1);
    return record === 0 ? -1 : table.records ? table.records.code(record, column) : record;
  };
  const { starts, answers } = cells;
  const sizes = new Map();
  let all = 0;
  eachSize(starts, space, (at, size) => {
    const value = code(answers[at], by);
    if (value >= 0) {
      sizes.set(value, (sizes.get(value) ?? 0) + size);
      all += size;
    }
  });
  const known = [...sizes].filter(([code]) => code !== 0).sort((a, b) => b[1] - a[1]);
  const legend = known.slice(0, STRONG.length).map(([code, size], at) => ({ code, size, share: size / space.end, colour: FIRST_STRONG + at }));
  const strong = new Map(legend.map(({ code, colour }) => [code, colour]));
  const classOf = (code) => {
    if (code < 0) {
      return NONE;
    }
    return code === 0 ? UNKNOWN_VALUE : (strong.get(code) ?? FIRST_OTHER + (code & 3));
  };
  const isFound = (at) => code(answers[at], search.column) === search.code;
  // By a loop: `from` with a function makes a list of all first.
  const classes = new Uint8Array(answers.length);
  for (let at = 0; at < classes.length; at++) {
    const value = code(answers[at], by);
    const other = value > 0 ? FIRST_OTHER + (value & 3) : classOf(value);
    classes[at] = !search ? classOf(value) : isFound(at) ? FOUND : other;
  }
  const unknown = sizes.get(0) ?? 0;
  const shown = legend.reduce((sum, { size }) => sum + size, 0);
  legend.push({ colour: FIRST_OTHER, what: `${(known.length - legend.length).toLocaleString("en")} others`, count: known.length - legend.length, share: (all - shown - unknown) / space.end });
  legend.push({ colour: UNKNOWN_VALUE, what: "without a value", count: unknown, share: unknown / space.end });
  legend.push({ colour: NONE, what: "no match", count: 1, share: 1 - all / space.end });
  return { starts, classes, lengths: [0, 1], legend: legend.filter(({ count }) => count !== 0) };
}

/** Calls `each` with the index of every stretch and how many cells it has. */
function eachSize(starts, space, each) {
  for (let at = 0; at < starts.length; at++) {
    each(at, (at + 1 < starts.length ? starts[at + 1] : space.end) - starts[at]);
  }
}

function paintLengths({ starts, values, space }) {
  const sizes = new Float64Array(256);
  eachSize(starts, space, (at, size) => (sizes[values[at]] += size));
  const there = Array.from(sizes.keys()).filter((length) => length !== 255 && sizes[length] > 0);
  const lengths = [there[0] ?? 0, there.at(-1) ?? 1];
  const rows = there.map((length) => ({ colour: LENGTH + length, what: `/${length}`, share: sizes[length] / space.end }));
  rows.push({ colour: NONE, what: "no match", share: sizes[255] / space.end });
  const classes = Uint8Array.from(values, (length) => (length === 255 ? NONE : LENGTH + length));
  return { starts, classes, lengths, legend: rows.filter(({ share }) => share > 0) };
}

/**
 * The binary radix depth of all cells: the bits that decide the match (Poptrie paper, section 4.1).
 *
 * Of the aligned blocks that a stretch of one answer is made of, each is as deep as it is long, as the next larger one has another
 * answer, but no less deep than its match is long.
 */
function depths({ starts, answers }, space, width) {
  const [at, values] = [[], []];
  eachSize(starts, space, (index, size) => {
    const answer = answers[index];
    const end = starts[index] + size;
    for (let from = starts[index]; from < end; ) {
      let block = from === 0 ? 2 ** 32 : 2 ** 31;
      while (from % block !== 0 || from + block > end) {
        block /= 2;
      }
      // Of a block of the space itself nothing is known above it.
      const length = Math.max(space.length, space.cellLength - Math.log2(block));
      const depth = answer < width + 1 ? 255 : Math.max(length, answer % (width + 1));
      if (values.at(-1) !== depth) {
        at.push(from);
        values.push(depth);
      }
      from += block;
    }
  });
  return { starts: Uint32Array.from(at), values: Uint8Array.from(values), space };
}

/** The pixels of a tile as RGBA. */
export function tile({ starts, classes, lengths }, end, isDark, zoom, x, y) {
  const pixels = new Uint8ClampedArray(4 * SIDE * SIDE);
  const shown = colours(isDark, lengths);
  const number = zoom === 0 ? 0 : stepAt(zoom, x, y);
  const order = tileOrder(BASE, SIDE, zoom, number);
  const size = 4 ** (8 - zoom);
  let from = number * size * SIDE * SIDE;
  let at = upTo(starts, from);
  const counts = new Float64Array(256);
  // One list for all pixels.
  const seen = [];
  for (let step = 0; step < SIDE * SIDE && from < end; step++, from += size) {
    const to = Math.min(from + size, end);
    let most = classes[at];
    let next = at + 1 < starts.length ? starts[at + 1] : end;
    if (next < to) {
      // The class that most of the pixel's cells have.
      let begin = from;
      seen.length = 0;
      for (;;) {
        const until = Math.min(next, to);
        const which = classes[at];
        if (counts[which] === 0) {
          seen.push(which);
        }
        counts[which] += until - begin;
        begin = until;
        if (next >= to) {
          break;
        }
        at++;
        next = at + 1 < starts.length ? starts[at + 1] : end;
      }
      most = seen[0];
      for (const which of seen) {
        // What was searched for is seen where there is any of it.
        if (which === FOUND || (most !== FOUND && counts[which] > counts[most])) {
          most = which;
        }
      }
      for (const which of seen) {
        counts[which] = 0;
      }
    }
    if (next <= to) {
      at++;
    }
    if (most !== NONE) {
      const [red, green, blue] = shown[most];
      const place = 4 * order[step];
      pixels[place] = red;
      pixels[place + 1] = green;
      pixels[place + 2] = blue;
      pixels[place + 3] = 255;
    }
  }
  return pixels;
}

/** The stretch that a cell is in. */
function upTo(starts, cell) {
  let [from, to] = [0, starts.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    [from, to] = starts[middle] <= cell ? [middle + 1, to] : [from, middle];
  }
  return Math.max(0, from - 1);
}
