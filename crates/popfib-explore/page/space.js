// The part of a family that a map shows, as 2^32 cells: all of IPv4, and of IPv6 the blocks of one length that have routes, one after
// the other without gaps, as nearly all of it is empty.

import { bitsOf, mask, setBits } from "./addresses.js";

/** The most blocks of IPv6, and the bits of an address that number a block, which a float counts exactly. */
const MOST_BLOCKS = 2 ** 20;
const MOST_BITS = 52;

/**
 * No route takes more room than a prefix of this length, nearly the largest that a network has: of a shorter one the map shows the first
 * such part, and what longer routes have of it. Else 2002::/16 (6to4) alone would be a fourth of the map, and ::/0 all of it.
 */
export const LARGEST = 20;

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
    const count = (length) => {
      let [sum, next] = [0, 0];
      eachRange(segments, length, (from, to) => {
        sum += Math.max(0, to - Math.max(from, next) + 1);
        next = Math.max(next, to + 1);
      });
      return sum;
    };
    let [length, too] = [0, MOST_BITS + 1];
    while (too - length > 1) {
      const middle = (length + too) >> 1;
      [length, too] = count(middle) <= MOST_BLOCKS ? [middle, too] : [length, middle];
    }
    const blocks = new Float64Array(count(length));
    let [at, next] = [0, 0];
    eachRange(segments, length, (from, to) => {
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
    if (this.length === 0 && this.width === 32) {
      // Each address is a cell.
      const [starts, answers] = [segments.words, segments.numbers].map((all) => all.subarray(0, segments.length));
      return { starts, answers };
    }
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
    const words = new Uint32Array(segments.per);
    for (let at = 0; at < segments.length; at++) {
      const { cell, isIn } = this.cell(segments.copy(at, words));
      // What is between two blocks has no cells; what begins there goes on at the next block.
      if (cell < this.end && (isIn || at + 1 === segments.length || this.cell(segments.copy(at + 1, words)).cell > cell)) {
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

/** Calls `each` with the first and the last block that each segment uses. */
function eachRange(segments, length, each) {
  const { per, width } = segments;
  // One for all: arrays that are made for each segment would be more memory than the segments.
  const words = new Uint32Array(per);
  for (let at = 0; at < segments.length; at++) {
    const answer = segments.numbers[at];
    const matched = answer % (width + 1);
    if (answer === matched) {
      continue;
    }
    const from = blockOf(segments.copy(at, words), length);
    const most = matched < LARGEST ? blockOf(mask(words, matched), length) + 2 ** Math.max(0, length - LARGEST) - 1 : Infinity;
    const to = at + 1 < segments.length ? lastBefore(segments.copy(at + 1, words), length) : 2 ** length - 1;
    if (from <= most) {
      each(from, Math.min(to, most));
    }
  }
}

/** The last block that has an address before this one. */
function lastBefore(words, length) {
  for (let bit = length; bit < 32 * words.length; bit += 24) {
    if (bitsOf(words, bit, Math.min(24, 32 * words.length - bit)) !== 0) {
      return blockOf(words, length);
    }
  }
  return blockOf(words, length) - 1;
}
