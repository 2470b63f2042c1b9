// What a family of a table has: stretches of addresses with one answer, and routes, both in order.
//
// The page carries compiled tables and no routes, which would double it. Each route that is the longest match of an address is found
// in the answers; the few that are not, as longer ones take all of their addresses, come as a list beside the image.
//
// A segment begins at an address and ends where the next one begins. Its answer is as in an image: the number of the record times
// (width + 1), plus the length of the prefix; 0 is none.

import { compare, contains, lastOf, mask } from "./addresses.js";
import { FileError } from "./errors.js";

/** Addresses one after the other, with a number for each; at first there is memory for `room` of them. */
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
      this.grow(2 * this.length + 1);
    }
    this.set(this.length++, address, 0, number);
  }

  grow(room) {
    for (const [name, per] of [["words", this.per], ["numbers", 1]]) {
      const more = new Uint32Array(per * room);
      more.set(this[name]);
      this[name] = more;
    }
  }

  /** Puts at a place the address that begins at `from` in `words`. */
  set(at, words, from, number) {
    for (let word = 0, to = at * this.per; word < this.per; word++) {
      this.words[to++] = words[from++];
    }
    this.numbers[at] = number;
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

  /** Copies an address. */
  copy(at, into) {
    for (let word = 0, from = at * this.per; word < this.per; word++) {
      into[word] = this.words[from++];
    }
    return into;
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
  // A route begins one and ends one; a damaged image may say anything of its routes.
  const room = Math.min(2 * fib.routes + 1, fib.root.length + fib.arena.length);
  const segments = new Addresses(fib.width, room);
  fib.walk((address, answer) => segments.push(address, answer));
  return segments;
}

/** Routes in order of address and length: their numbers are as answers, the record times (width + 1), plus the length. */
export class Routes extends Addresses {
  push(address, length, record) {
    super.push(address, this.numberOf(length, record));
  }

  numberOf(length, record) {
    return record * (this.width + 1) + length;
  }

  lengthAt(at) {
    return this.numbers[at] % (this.width + 1);
  }

  recordAt(at) {
    return Math.floor(this.numbers[at] / (this.width + 1));
  }

  at(at) {
    return { words: super.at(at), length: this.lengthAt(at), record: this.recordAt(at) };
  }

  /** Below 0, 0 or above 0, as the route at this place is before, at or after a prefix. */
  compareRoute(at, words, length) {
    return this.compareAt(at, words) || this.lengthAt(at) - length;
  }

  /** The same beside the route at a place of others. */
  compareTo(at, others, other) {
    for (let word = 0, from = at * this.per, to = other * this.per; word < this.per; word++, from++, to++) {
      if (this.words[from] !== others.words[to]) {
        return this.words[from] < others.words[to] ? -1 : 1;
      }
    }
    return this.lengthAt(at) - others.lengthAt(other);
  }

  /** Inserts routes that are in any order. */
  insert(more) {
    const order = Uint32Array.from({ length: more.length }, (_, at) => at).sort((a, b) => more.compareTo(a, more, b));
    let from = this.length;
    this.length += more.length;
    if (this.length > this.numbers.length) {
      this.grow(this.length);
    }
    // From the end, so that each is moved once.
    for (let to = this.length, next = order.length; next > 0; to--) {
      if (from > 0 && this.compareTo(from - 1, more, order[next - 1]) > 0) {
        from--;
        this.set(to - 1, this.words, from * this.per, this.numbers[from]);
      } else {
        const at = order[--next];
        this.set(to - 1, more.words, at * this.per, more.numbers[at]);
      }
    }
  }

  /** How many routes are before a prefix. */
  before(words, length) {
    let [from, to] = [0, this.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (this.compareRoute(middle, words, length) < 0) {
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
      if (at < this.length && this.compareRoute(at, masked, shorter) === 0) {
        found.push(this.at(at));
      }
    }
    return found;
  }

  /** How many longer routes are inside of a prefix, and up to `most` of them that no other of these covers, nearest to an address. */
  inside(words, length, address, most) {
    const from = this.before(words, length + 1);
    const to = this.upTo(lastOf(words, length));
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

/** All routes of a family: those that are the longest match of an address, and `hidden` ones, which are none's; `most` of them at most. */
export function routesOf(segments, hidden, most) {
  const { width, per } = segments;
  const routes = new Routes(width, most);
  const late = new Routes(width, Math.min(most, hidden.length + (1 << 16)));
  late.insert(hidden);
  // Where we are, where we were, and the lengths of the routes that contain it, which rise. Arrays that are made for each route
  // would be most of the page's memory.
  const [place, before] = [new Uint32Array(per), new Uint32Array(per)];
  const open = [];
  for (let at = 0; at < segments.length; at++) {
    const answer = segments.numbers[at];
    const length = answer % (width + 1);
    if (answer === length) {
      continue;
    }
    segments.copy(at, place);
    // Equal answers side by side are one segment of several routes.
    do {
      const common = commonBits(before, place);
      while (open.length > 0 && open[open.length - 1] > common) {
        open.pop();
      }
      before.set(place);
      if (open[open.length - 1] !== length) {
        if (routes.length + late.length >= most) {
          throw new FileError("the FIB is damaged: it has more routes than it says");
        }
        open.push(length);
        const record = (answer - length) / (width + 1);
        if (isFirst(place, length)) {
          routes.push(place, length, record);
        } else {
          late.push(mask(place, length), length, record);
        }
      }
    } while (advance(place, length) && (at + 1 === segments.length || segments.compareAt(at + 1, place) > 0));
  }
  routes.insert(late);
  return routes;
}

/** How many bits two addresses begin with in common. */
function commonBits(a, b) {
  for (let word = 0; word < a.length; word++) {
    if (a[word] !== b[word]) {
      return 32 * word + Math.clz32(a[word] ^ b[word]);
    }
  }
  return 32 * a.length;
}

/** Whether an address is the first of its prefix of this length. */
function isFirst(words, length) {
  for (let word = 0, bits = length; word < words.length; word++, bits -= 32) {
    if (bits < 32 && (bits <= 0 ? words[word] : words[word] << bits) !== 0) {
      return false;
    }
  }
  return true;
}

/** Goes from an address to the first one after its prefix of this length; false if there is none. */
function advance(words, length) {
  let word = (length - 1) >> 5;
  words.fill(0, word + 1);
  for (let unit = 2 ** ((32 - (length & 31)) & 31); word >= 0; word--, unit = 1) {
    const sum = words[word] - (words[word] % unit) + unit;
    words[word] = sum;
    if (sum < 2 ** 32) {
      return true;
    }
  }
  return false;
}

/** The routes that an image keeps. */
export function routesKept({ width, routes, kept }) {
  const all = new Routes(width, routes);
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
  const { width } = routes;
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
    const next = words.slice();
    if (advance(next, length)) {
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
