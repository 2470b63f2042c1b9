// The part of a family that a map shows, as 2^32 cells: all of IPv4, and of IPv6 the blocks of one length that have routes, one after
// the other without gaps, as nearly all of it is empty.

import { bitsOf, setBits } from "./addresses.js";

/** The most blocks of IPv6, and the bits of an address that number a block, which a float counts exactly. */
const MOST_BLOCKS = 2 ** 20;
const MOST_BITS = 52;

/** Shorter routes would make all of the space used. */
const SHORTEST = 8;

export class Space {
  /** `blocks` are the numbers of blocks of `length` bits, ascending. */
  constructor(width, length, blocks) {
    this.width = width;
    this.length = length;
    this.blocks = blocks;
    let bits = 0;
    while (2 ** bits < blocks.length) {
      bits += 2;
    }
    /** The bits of a cell within its block. */
    this.rest = 32 - bits;
    /** The cells in use. */
    this.end = blocks.length * 2 ** this.rest;
    /** How long a prefix is that is a cell. */
    this.cellLength = length + this.rest;
  }

  static of(segments) {
    const { width } = segments;
    if (width === 32) {
      return new Space(32, 0, Float64Array.of(0));
    }
    const is = (shortest) => (at) => segments.numbers[at] > 0 && segments.numbers[at] % (width + 1) >= shortest;
    const count = (length, used) => {
      let [sum, next] = [0, 0];
      eachRange(segments, length, used, (from, to) => {
        sum += Math.max(0, to - Math.max(from, next) + 1);
        next = Math.max(next, to + 1);
      });
      return sum;
    };
    let used = is(SHORTEST);
    if (count(SHORTEST, used) === 0) {
      used = is(0);
    }
    let [length, too] = [0, MOST_BITS + 1];
    while (too - length > 1) {
      const middle = (length + too) >> 1;
      [length, too] = count(middle, used) <= MOST_BLOCKS ? [middle, too] : [length, middle];
    }
    const blocks = new Float64Array(count(length, used));
    let [at, next] = [0, 0];
    eachRange(segments, length, used, (from, to) => {
      for (let block = Math.max(from, next); block <= to; block++) {
        blocks[at++] = block;
      }
      next = Math.max(next, to + 1);
    });
    return new Space(width, length, blocks);
  }

  /** The first cell of an address, or that of what comes next to it in the space; `isIn` says whether its block is shown. */
  cell(words) {
    const block = blockOf(words, this.length);
    let [from, to] = [0, this.blocks.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      [from, to] = this.blocks[middle] < block ? [middle + 1, to] : [from, middle];
    }
    const isIn = this.blocks[from] === block;
    return { cell: from * 2 ** this.rest + (isIn ? this.within(words) : 0), isIn };
  }

  within(words) {
    return this.rest === 32 ? bitsOf(words, this.length, 32) : bitsOf(words, this.length, this.rest);
  }

  /** The first address of a cell; null for one that is not in use. */
  address(cell) {
    const block = this.blocks[Math.floor(cell / 2 ** this.rest)];
    if (block === undefined) {
      return null;
    }
    const words = new Uint32Array(this.width / 32);
    const high = Math.max(0, this.length - 32);
    if (high > 0) {
      words[0] = Math.floor(block / 2 ** high);
      setBits(words, 32, high, block % 2 ** high);
    } else if (this.length > 0) {
      setBits(words, 0, this.length, block);
    }
    const within = cell % 2 ** this.rest;
    // In two parts, as a shift takes 31 bits at most.
    setBits(words, this.length, this.rest - 16 > 0 ? this.rest - 16 : 0, Math.floor(within / 2 ** 16));
    setBits(words, this.length + Math.max(0, this.rest - 16), Math.min(16, this.rest), within % 2 ** 16);
    return words;
  }

  /** The cells of a prefix as the first and how many; null if none of them is shown. */
  range(words, length) {
    const { cell, isIn } = this.cell(words);
    if (length > this.length) {
      return isIn ? { first: cell, count: 2 ** Math.max(0, this.cellLength - length) } : null;
    }
    const past = new Uint32Array(words);
    // The last block of the prefix.
    for (let bit = length; bit < this.length; bit++) {
      past[bit >>> 5] |= 1 << (31 - (bit & 31));
    }
    const last = this.cell(past);
    const end = last.cell - (last.isIn ? this.within(past) : 0) + (last.isIn ? 2 ** this.rest : 0);
    const first = cell - (isIn ? this.within(words) : 0);
    return end > first ? { first, count: end - first } : null;
  }

  /** The segments by cells: where each begins, and its answer. Of several in a cell, the first with an answer counts. */
  cells(segments) {
    const starts = new Uint32Array(2 * segments.length + 1);
    const answers = new Uint32Array(2 * segments.length + 1);
    let count = 0;
    const put = (cell, answer) => {
      if (count === 0 || answers[count - 1] !== answer) {
        starts[count] = cell;
        answers[count++] = answer;
      }
    };
    // The cell that the last segment began in, and what goes on after it.
    let [last, current] = [-1, 0];
    const emit = (cell, answer) => {
      if (cell === last) {
        answers[count - 1] ||= answer;
      } else {
        if (last >= 0 && cell > last + 1) {
          put(last + 1, current);
        }
        put(cell, answer);
      }
      [last, current] = [cell, answer];
    };
    const { per } = segments;
    for (let at = 0; at < segments.length; at++) {
      const { cell, isIn } = this.cell(segments.words.subarray(at * per, (at + 1) * per));
      // What is between two blocks has no cells; what begins there goes on at the next block.
      if (cell < this.end && (isIn || at + 1 === segments.length || this.cell(segments.words.subarray((at + 1) * per, (at + 2) * per)).cell > cell)) {
        emit(cell, segments.numbers[at]);
      }
    }
    if (last + 1 < this.end) {
      put(last + 1, current);
    }
    return { starts: starts.slice(0, count), answers: answers.slice(0, count) };
  }
}

function blockOf(words, length) {
  if (length <= 32) {
    return bitsOf(words, 0, length);
  }
  return words[0] * 2 ** (length - 32) + bitsOf(words, 32, length - 32);
}

/** Calls `each` with the first and the last block of each used segment. */
function eachRange(segments, length, used, each) {
  const { per } = segments;
  for (let at = 0; at < segments.length; at++) {
    if (!used(at)) {
      continue;
    }
    const from = blockOf(segments.words.subarray(at * per, (at + 1) * per), length);
    if (at + 1 === segments.length) {
      each(from, 2 ** length - 1);
      continue;
    }
    const next = segments.words.subarray((at + 1) * per, (at + 2) * per);
    const block = blockOf(next, length);
    let isBegun = false;
    for (let bit = length; bit < 32 * per && !isBegun; ) {
      const bits = Math.min(24, 32 * per - bit);
      isBegun = bitsOf(next, bit, bits) !== 0;
      bit += bits;
    }
    each(from, isBegun ? block : block - 1);
  }
}
