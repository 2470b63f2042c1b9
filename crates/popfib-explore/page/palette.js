// The colours of the map: those of popfib-draw, whose tests measure that people with deuteranopia or protanopia can tell them apart,
// too. A test of the page compares the two.

export const STRONG = ["35ade9", "ecb851", "bf4080", "1d8752", "516aec", "ef6c82", "27b9a1", "931026", "1634ca", "e61919"];
/** For all other values; the last two digits are how opaque they are. */
export const OTHERS = ["7d8a9950", "7d8a9968", "8a847c58", "8a847c70"];
export const UNKNOWN = "64584e";
/** From short prefixes to long ones, from little to much. */
export const LENGTHS = ["6432b4", "3d7ae8", "2cb0d6", "5cc391", "dba728", "d24a2a"];
/** The ground of a page, in light and dark. */
export const GROUND = ["ffffff", "12161b"];

// What a cell is, by a number of eight bits: without an answer, one of the strong values, one of the others, without a value in the
// column, what was searched for; or, from LENGTH on, a length.
export const NONE = 0;
export const FIRST_STRONG = 1;
export const FIRST_OTHER = 11;
export const UNKNOWN_VALUE = 15;
export const FOUND = 16;
export const LENGTH = 32;

const parts = (hex) => [0, 2, 4, 6].slice(0, hex.length / 2).map((at) => parseInt(hex.slice(at, at + 2), 16));

/** The colour between those of `LENGTHS` at a share of the way, `[red, green, blue]`. */
export function between(share) {
  const at = Math.min(Math.max(share, 0), 1) * (LENGTHS.length - 1);
  const first = Math.min(Math.floor(at), LENGTHS.length - 2);
  const [low, high] = [parts(LENGTHS[first]), parts(LENGTHS[first + 1])];
  return low.map((from, part) => Math.round(from + (at - first) * (high[part] - from)));
}

/** The colours of all 256 classes on a ground, `[red, green, blue]` each. `lengths` are the lowest and the highest. */
export function colours(isDark, [low, high]) {
  const ground = parts(GROUND[isDark ? 1 : 0]);
  const over = ([red, green, blue, alpha = 255]) => [red, green, blue].map((part, at) => Math.round(ground[at] + (part - ground[at]) * (alpha / 255)));
  const all = Array(256).fill(ground);
  STRONG.forEach((colour, at) => (all[FIRST_STRONG + at] = parts(colour)));
  OTHERS.forEach((colour, at) => (all[FIRST_OTHER + at] = over(parts(colour))));
  all[UNKNOWN_VALUE] = parts(UNKNOWN);
  all[FOUND] = parts(STRONG[9]);
  for (let length = 0; length <= 128; length++) {
    all[LENGTH + length] = between((length - low) / Math.max(1, high - low));
  }
  return all;
}
