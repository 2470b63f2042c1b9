// Hilbert's curve through a square of 2^order times 2^order pixels: a step in, its pixel out, and back. It begins at the upper left
// and ends at the upper right, as in the pictures that `popfib draw hilbert` makes.

/** The pixel at a step, `[x, y]`. */
export function pixelAt(order, step) {
  let [x, y] = [0, 0];
  for (let level = 0, side = 1; level < order; level++, side *= 2) {
    const quarter = step % 4;
    step = Math.floor(step / 4);
    [x, y] = turned(quarter, side, x, y);
  }
  return [x, y];
}

/** What was a pixel of a square alone, where the square is a quarter of one twice as wide. */
function turned(quarter, side, x, y) {
  if (quarter === 3) {
    [x, y] = [side - 1 - x, side - 1 - y];
  }
  if (quarter === 0 || quarter === 3) {
    [x, y] = [y, x];
  }
  return [x + (quarter > 1 ? side : 0), y + (quarter === 1 || quarter === 2 ? side : 0)];
}

/** The step at a pixel. */
export function stepAt(order, x, y) {
  let step = 0;
  for (let side = 2 ** (order - 1); side >= 1; side /= 2) {
    const [right, down] = [x >= side, y >= side];
    const quarter = right ? (down ? 2 : 3) : down ? 1 : 0;
    step = step * 4 + quarter;
    x -= right ? side : 0;
    y -= down ? side : 0;
    if (!down) {
      [x, y] = right ? [side - 1 - y, side - 1 - x] : [y, x];
    }
  }
  return step;
}

/** The places of a square's steps, `y * side + x` for each, in the square that a tile is of a larger one. */
export function tileOrder(base, side, zoom, tile) {
  let places = base;
  for (let level = 0; level < zoom; level++) {
    const quarter = tile % 4;
    tile = Math.floor(tile / 4);
    if (quarter === 1 || quarter === 2) {
      continue;
    }
    places = places.map((place) => {
      const [x, y] = [place % side, Math.floor(place / side)];
      return quarter === 0 ? x * side + y : (side - 1 - x) * side + (side - 1 - y);
    });
  }
  return places;
}

/** The places of the steps of a square by itself. */
export function squareOrder(order) {
  const side = 2 ** order;
  return Uint16Array.from({ length: side * side }, (_, step) => {
    const [x, y] = pixelAt(order, step);
    return y * side + x;
  });
}
