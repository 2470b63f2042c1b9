// What a family of a table has: stretches of addresses with one answer, and routes, both in order.
//
// The page carries compiled tables and no routes, which would double it. Each route that is the longest match of an address is found
// in the answers; the few that are not, as longer ones take all of their addresses, come as a list beside the image.
//
// A segment begins at an address and ends where the next one begins. Its answer is as in an image: the number of the record times
// (width + 1), plus the length of the prefix; 0 is none.

import { compare, contains, lastOf, mask } from "./addresses.js";

/** Addresses one after the other, with a number for each. */
export class Addresses {
  constructor(width, room = 1 << 12) {
    this.width = width;
    this.per = width / 32;
    this.words = new Uint32Array(room * this.per);
    this.numbers = new Uint32Array(room);
    this.length = 0;
  }

  push(address, number) {
    if (this.length === this.numbers.length) {
      for (const name of ["words", "numbers"]) {
        const more = new Uint32Array(2 * this[name].length);
        more.set(this[name]);
        this[name] = more;
      }
    }
    for (let word = 0, at = this.length * this.per; word < this.per; word++) {
      this.words[at++] = address[word];
    }
    this.numbers[this.length++] = number;
  }

  /** Below 0, 0 or above 0, as the address at this place is before, at or after another. */
  compareAt(at, address) {
    for (let word = 0, from = at * this.per; word < this.per; word++, from++) {
      if (this.words[from] !== address[word]) {
        return this.words[from] < address[word] ? -1 : 1;
      }
    }
    return 0;
  }

  at(at) {
    return this.words.slice(at * this.per, (at + 1) * this.per);
  }

  /** How many addresses are before this one, or at it. */
  upTo(address) {
    let [from, to] = [0, this.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (this.compareAt(middle, address) <= 0) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    return from;
  }
}

/** The segments of a family of an image. */
export function segmentsOf(fib) {
  const segments = new Addresses(fib.width, 1 << 16);
  fib.walk((address, answer) => segments.push(address, answer));
  return segments;
}

/** Routes in order of address and length: `numbers` are the lengths, `records` what they lead to. */
export class Routes {
  constructor(width) {
    this.prefixes = new Addresses(width);
    this.records = new Addresses(32);
  }

  get length() {
    return this.prefixes.length;
  }

  push(address, length, record) {
    this.prefixes.push(address, length);
    this.records.push([0], record);
  }

  at(at) {
    return { words: this.prefixes.at(at), length: this.prefixes.numbers[at], record: this.records.numbers[at] };
  }

  /** Below 0, 0 or above 0, as the route at this place is before, at or after a prefix. */
  compareAt(at, words, length) {
    return this.prefixes.compareAt(at, words) || this.prefixes.numbers[at] - length;
  }

  /** How many routes are before a prefix. */
  before(words, length) {
    let [from, to] = [0, this.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (this.compareAt(middle, words, length) < 0) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    return from;
  }

  /** The routes that cover a prefix, itself among them, the shortest first. */
  covering(words, length) {
    const found = [];
    for (let shorter = 0; shorter <= length; shorter++) {
      const masked = mask(words, shorter);
      const at = this.before(masked, shorter);
      if (at < this.length && this.compareAt(at, masked, shorter) === 0) {
        found.push(this.at(at));
      }
    }
    return found;
  }

  /** How many longer routes are inside of a prefix, and up to `most` of them that no other of these covers, nearest to an address. */
  inside(words, length, address, most) {
    const from = this.before(words, length + 1);
    const to = this.prefixes.upTo(lastOf(words, length));
    const outer = [];
    // Around the address, as far as it takes to fill the list on both sides.
    let middle = Math.min(Math.max(this.before(address, 0), from), to);
    const looked = 64 * most;
    let last = null;
    for (let at = Math.max(from, middle - looked); at < Math.min(to, middle + looked); at++) {
      const route = this.at(at);
      if (last && contains(last, route.words) && route.length > last.length) {
        continue;
      }
      last = route;
      outer.push(route);
    }
    middle = outer.findIndex((route) => compare(route.words, address) > 0);
    middle = middle < 0 ? outer.length : middle;
    const start = Math.max(0, Math.min(middle - (most >> 1), outer.length - most));
    return { count: to - from, routes: outer.slice(start, start + most) };
  }
}

/** All routes of a family: those that are the longest match of an address, and `hidden` ones, which are none's. */
export function routesOf(segments, hidden) {
  const { width, per } = segments;
  const inOrder = new Routes(width);
  const late = hidden.map((route) => ({ ...route }));
  // The routes that contain where we are, the longest last.
  const open = [];
  for (let at = 0; at < segments.length; at++) {
    const answer = segments.numbers[at];
    const length = answer % (width + 1);
    const record = (answer - length) / (width + 1);
    if (record === 0) {
      continue;
    }
    const start = segments.at(at);
    const end = at + 1 < segments.length ? segments.words.subarray((at + 1) * per, (at + 2) * per) : null;
    // Equal answers side by side are one segment of several routes.
    for (let words = mask(start, length); ; ) {
      const first = compare(words, start) < 0 ? start : words;
      while (open.length > 0 && !contains(open[open.length - 1], first)) {
        open.pop();
      }
      if (!open.some((route) => route.length === length)) {
        open.push({ words, length });
        if (compare(words, first) === 0) {
          inOrder.push(words, length, record);
        } else {
          late.push({ words, length, record });
        }
      }
      const next = lastOf(words, length);
      if (!increment(next) || (end && compare(next, end) >= 0)) {
        break;
      }
      words = next;
    }
  }
  late.sort((a, b) => compare(a.words, b.words) || a.length - b.length);
  return merged(inOrder, late);
}

/** Adds one to an address; false if it was the last. */
function increment(words) {
  for (let at = words.length - 1; at >= 0; at--) {
    words[at] = (words[at] + 1) >>> 0;
    if (words[at] !== 0) {
      return true;
    }
  }
  return false;
}

function merged(inOrder, late) {
  if (late.length === 0) {
    return inOrder;
  }
  const all = new Routes(inOrder.prefixes.width);
  let next = 0;
  for (let at = 0; at < inOrder.length; at++) {
    for (; next < late.length && inOrder.compareAt(at, late[next].words, late[next].length) > 0; next++) {
      all.push(late[next].words, late[next].length, late[next].record);
    }
    const { words, length, record } = inOrder.at(at);
    all.push(words, length, record);
  }
  for (; next < late.length; next++) {
    all.push(late[next].words, late[next].length, late[next].record);
  }
  return all;
}

/** The routes that an image keeps. */
export function routesKept({ width, routes, kept }) {
  const all = new Routes(width);
  const per = width / 32;
  for (let at = 0; at < routes; at++) {
    // The least significant word is first.
    const words = kept.addresses.slice(at * per, (at + 1) * per).reverse();
    all.push(words, kept.lengths[at], kept.numbers[at]);
  }
  return all;
}

/** The segments of routes in order, where a list was read and nothing is compiled. */
export function segmentsOfRoutes(routes) {
  const { width } = routes.prefixes;
  const segments = new Addresses(width);
  let last = -1;
  const emit = (words, answer) => {
    if (segments.length > 0 && segments.compareAt(segments.length - 1, words) === 0) {
      // What began here is all of a longer route's.
      segments.length--;
      last = segments.length > 0 ? segments.numbers[segments.length - 1] : -1;
    }
    if (answer !== last) {
      segments.push(words, (last = answer));
    }
  };
  emit(new Uint32Array(width / 32), 0);
  const open = [];
  const close = () => {
    const { words, length } = open.pop();
    const next = lastOf(words, length);
    if (increment(next)) {
      emit(next, open.at(-1)?.answer ?? 0);
    }
  };
  for (let at = 0; at < routes.length; at++) {
    const { words, length, record } = routes.at(at);
    while (open.length > 0 && !contains(open[open.length - 1], words)) {
      close();
    }
    const answer = record * (width + 1) + length;
    open.push({ words, length, answer });
    emit(words, answer);
  }
  while (open.length > 0) {
    close();
  }
  return segments;
}
