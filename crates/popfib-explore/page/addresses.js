// Addresses and prefixes: text in, words out, and back.
//
// An address is an array of words of 32 bits, the most significant first: one of IPv4, four of IPv6. So both families go through the
// same code, and no BigInt, which is ten times slower, is made for each of a hundred thousand addresses.

/** The words of an address as people write it, or null. */
export function parseAddress(text) {
  return text.includes(":") ? parseIpv6(text) : parseIpv4(text);
}

function parseIpv4(text) {
  let word = 0;
  let parts = 0;
  let digits = 0;
  let part = 0;
  for (let at = 0; at <= text.length; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (digit >= 0 && digit <= 9) {
      // Others take 010 for octal.
      if (digits > 0 && part === 0) {
        return null;
      }
      part = part * 10 + digit;
      digits++;
      continue;
    }
    if (digits === 0 || part > 255 || digits > 3 || ++parts > 4 || (at < text.length && digit !== -2)) {
      return null;
    }
    word = word * 256 + part;
    digits = 0;
    part = 0;
  }
  return parts === 4 ? [word] : null;
}

function parseIpv6(text) {
  const groups = [];
  let gap = -1;
  let parts = text.split(":");
  if (parts.length > 9) {
    return null;
  }
  // A gap at an end has an empty part beside it.
  if (text.startsWith("::")) {
    parts = parts.slice(1);
  } else if (text.startsWith(":")) {
    return null;
  }
  if (text.endsWith("::")) {
    parts = parts.slice(0, -1);
  } else if (text.endsWith(":")) {
    return null;
  }
  if (text === "::") {
    return [0, 0, 0, 0];
  }
  for (const [at, part] of parts.entries()) {
    if (part === "") {
      if (gap >= 0) {
        return null;
      }
      gap = groups.length;
    } else if (at === parts.length - 1 && part.includes(".")) {
      const ipv4 = parseIpv4(part);
      if (!ipv4) {
        return null;
      }
      groups.push(ipv4[0] >>> 16, ipv4[0] & 0xffff);
    } else if (/^[0-9a-fA-F]{1,4}$/.test(part)) {
      groups.push(parseInt(part, 16));
    } else {
      return null;
    }
  }
  if (gap < 0 ? groups.length !== 8 : groups.length > 7) {
    return null;
  }
  if (gap >= 0) {
    groups.splice(gap, 0, ...Array(8 - groups.length).fill(0));
  }
  return [0, 2, 4, 6].map((at) => groups[at] * 65536 + groups[at + 1]);
}

/** An address, or a prefix without host bits, as `{ words, length }`; null for any other text. */
export function parsePrefix(text) {
  const parsed = parseLine(text);
  return parsed.words ? parsed : null;
}

/** The same of a text that may be neither: `{ reason }` says why. */
export function parseLine(text) {
  const [address, length, ...more] = text.split("/");
  const words = parseAddress(address);
  if (!words || more.length > 0 || (length !== undefined && !/^(0|[1-9]\d{0,2})$/.test(length))) {
    return { reason: "no address", isPrefix: false };
  }
  const width = 32 * words.length;
  const bits = length === undefined ? width : Number(length);
  if (bits > width) {
    return { reason: `the prefix length is more than ${width}`, isPrefix: true };
  }
  return compare(mask(words, bits), words) === 0 ? { words, length: bits } : { reason: "host bits are set", isPrefix: true };
}

/** The text of an address, of IPv6 as RFC 5952 writes it. */
export function formatAddress(words) {
  if (words.length === 1) {
    return formatIpv4(words[0]);
  }
  if (words[0] === 0 && words[1] === 0 && words[2] === 0xffff) {
    return `::ffff:${formatIpv4(words[3])}`;
  }
  const groups = [...words].flatMap((word) => [word >>> 16, word & 0xffff]);
  // The first of the longest runs of zeros, of two at least.
  let best = { from: 0, length: 1 };
  for (let from = 0; from < 8; from++) {
    let to = from;
    while (to < 8 && groups[to] === 0) {
      to++;
    }
    if (to - from > best.length) {
      best = { from, length: to - from };
    }
    from = to;
  }
  const hex = (part) => part.map((group) => group.toString(16)).join(":");
  return best.length < 2 ? hex(groups) : `${hex(groups.slice(0, best.from))}::${hex(groups.slice(best.from + best.length))}`;
}

function formatIpv4(word) {
  return `${word >>> 24}.${(word >>> 16) & 255}.${(word >>> 8) & 255}.${word & 255}`;
}

export function formatPrefix(words, length) {
  return `${formatAddress(words)}/${length}`;
}

/** The address with only its first `length` bits. */
export function mask(words, length) {
  const masked = words.slice();
  for (let at = 0, bits = length; at < masked.length; at++, bits -= 32) {
    if (bits < 32) {
      masked[at] = bits <= 0 ? 0 : (masked[at] & (-1 << (32 - bits))) >>> 0;
    }
  }
  return masked;
}

/** Whether a prefix contains an address. */
export function contains({ words, length }, address) {
  for (let at = 0, bits = length; bits > 0; at++, bits -= 32) {
    if (bits >= 32 ? words[at] !== address[at] : (words[at] ^ address[at]) >>> (32 - bits) !== 0) {
      return false;
    }
  }
  return true;
}

/** The last address of a prefix. */
export function lastOf(words, length) {
  const last = words.slice();
  for (let at = 0, bits = length; at < last.length; at++, bits -= 32) {
    if (bits < 32) {
      last[at] = (last[at] | (0xffffffff >>> Math.max(0, bits))) >>> 0;
    }
  }
  return last;
}

/** Below 0, 0 or above 0, as `a` is before, at or after `b`. */
export function compare(a, b) {
  for (let at = 0; at < a.length; at++) {
    if (a[at] !== b[at]) {
      return a[at] < b[at] ? -1 : 1;
    }
  }
  return 0;
}

/** The `count` bits, 24 at most, after the first `from`; those beyond the end are 0. */
export function bitsOf(words, from, count) {
  if (count === 0) {
    return 0;
  }
  const at = from >>> 5;
  const shift = from & 31;
  const word = words[at] ?? 0;
  const next = words[at + 1] ?? 0;
  const joined = shift === 0 ? word : (word << shift) | (next >>> (32 - shift));
  return joined >>> (32 - count);
}

/** Sets the `count` bits after the first `from`, and clears all after them. */
export function setBits(words, from, count, value) {
  const last = words.length;
  let at = from >>> 5;
  const shift = from & 31;
  if (at >= last) {
    return;
  }
  const kept = shift === 0 ? 0 : words[at] & (-1 << (32 - shift));
  const room = 32 - shift;
  if (count <= room) {
    words[at] = kept | (count === 0 ? 0 : value << (room - count));
  } else {
    words[at] = kept | (value >>> (count - room));
    if (++at < last) {
      words[at] = value << (32 - (count - room));
    }
  }
  words.fill(0, at + 1);
}

/** Every address and prefix in a text, as `{ text, words, length, at }`. Numbers that only look like one are left out. */
export function* found(text) {
  for (const match of text.matchAll(ANY)) {
    const prefix = parsePrefix(match[0]);
    if (prefix) {
      yield { text: match[0], ...prefix, at: match.index };
      continue;
    }
    // A prefix with host bits, or an address before a path.
    const address = match[0].split("/")[0];
    const words = parseAddress(address);
    if (words) {
      yield { text: address, words, length: 32 * words.length, at: match.index };
    }
  }
}

const ANY =
  /(?<![\w.:])(?:\d{1,3}(?:\.\d{1,3}){3}(?![\w]|\.\d)|(?=[0-9a-fA-F]*:[0-9a-fA-F:]*)[0-9a-fA-F:]{2,39}(?:(?<=:)\d{1,3}(?:\.\d{1,3}){3})?(?![\w:.]))(?:\/\d{1,3}(?!\d))?/g;
