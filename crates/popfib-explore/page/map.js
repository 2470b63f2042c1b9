// The map: tiles that the worker painted in, a canvas that is moved and zoomed by pointer, wheel, fingers and keys. A frame only draws
// tiles that are there, the names of the squares and what stands out.

import { formatAddress, formatPrefix } from "./addresses.js";
import { pixelAt, stepAt } from "./hilbert.js";
import { SIDE } from "./painter.js";
import { answerOf, matchOf, nameOf } from "./tables.js";

/** The most tiles that are kept and that are painted at a time, and the widest that a cell is shown. */
const KEPT = 160;
const AT_A_TIME = 4;
const CELL = 32;

export class HilbertMap {
  /** `hear` hears of the match at a place, `pick` of an address that was chosen, `moved` of a new view. */
  constructor(canvas, { ask, hear, pick, moved }) {
    Object.assign(this, { canvas, ask, hear, pick, moved });
    this.context = canvas.getContext("2d");
    this.view = { x: 0.5, y: 0.5, zoom: 0 };
    this.tiles = new Map();
    this.wanted = new Map();
    this.painting = 0;
    this.version = 0;
    this.dots = [];
    this.pointers = new Map();
    this.frameTimes = [];
    new ResizeObserver(() => this.draw()).observe(canvas);
    this.listen();
  }

  /** Shows a part of a table, `space` as the worker has told it. */
  show(table, number, family, space, isDark) {
    Object.assign(this, { table, number, family, space, isDark, mark: null });
    this.repaint();
  }

  /** Throws away all tiles: their colours have changed. */
  repaint(isDark = this.isDark) {
    this.isDark = isDark;
    this.version++;
    for (const tile of this.tiles.values()) {
      tile.close();
    }
    this.tiles.clear();
    this.wanted.clear();
    this.draw();
  }

  get size() {
    return { width: this.canvas.clientWidth, height: this.canvas.clientHeight };
  }

  /** The side of the whole map, in CSS pixels. */
  get side() {
    const { width, height } = this.size;
    return Math.max(1, Math.min(width, height)) * 2 ** this.view.zoom;
  }

  get mostZoom() {
    const { width, height } = this.size;
    return Math.log2((65536 * CELL) / Math.max(1, Math.min(width, height)));
  }

  move(x, y, zoom) {
    const inside = (share) => Math.min(1, Math.max(0, share));
    this.view = { x: inside(x), y: inside(y), zoom: Math.min(this.mostZoom, Math.max(0, zoom)) };
    if (this.view.zoom === 0) {
      Object.assign(this.view, { x: 0.5, y: 0.5 });
    }
    this.draw();
    this.moved();
  }

  /** Zooms so that what is below this point of the canvas stays there. */
  zoomAt(by, px, py) {
    const { width, height } = this.size;
    const before = this.side;
    const { x, y, zoom } = this.view;
    const after = Math.min(this.mostZoom, Math.max(0, zoom + by));
    const side = before * 2 ** (after - zoom);
    this.move(x + (px - width / 2) * (1 / before - 1 / side), y + (py - height / 2) * (1 / before - 1 / side), after);
  }

  /** The cell at a point of the canvas, or null. */
  cellAt(px, py) {
    const { width, height } = this.size;
    const x = Math.floor((this.view.x + (px - width / 2) / this.side) * 65536);
    const y = Math.floor((this.view.y + (py - height / 2) / this.side) * 65536);
    return x < 0 || y < 0 || x > 65535 || y > 65535 ? null : stepAt(16, x, y);
  }

  /** The squares of a range of cells, `[x, y, side]` in shares of the map; the largest that there are. */
  squares({ first, count }) {
    const squares = [];
    for (let from = first, end = first + count; from < end && squares.length < 200; ) {
      let order = 0;
      while (order < 16 && from % 4 ** (order + 1) === 0 && from + 4 ** (order + 1) <= end) {
        order++;
      }
      const [x, y] = pixelAt(16 - order, from / 4 ** order);
      const side = 2 ** order / 65536;
      squares.push([x * side, y * side, side]);
      from += 4 ** order;
    }
    return squares;
  }

  /** Moves to a prefix, and frames it. */
  go(words, length) {
    const range = this.space?.range(words, length);
    if (!range) {
      return false;
    }
    this.mark = this.squares(range);
    const low = [0, 1].map((at) => Math.min(...this.mark.map((square) => square[at])));
    const high = [0, 1].map((at) => Math.max(...this.mark.map((square) => square[at] + square[2])));
    const extent = Math.max(high[0] - low[0], high[1] - low[1]);
    this.move((low[0] + high[0]) / 2, (low[1] + high[1]) / 2, Math.log2(0.5 / extent));
    return true;
  }

  draw() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      const start = performance.now();
      this.drawNow();
      this.frameTimes.push(performance.now() - start);
      if (this.frameTimes.length > 1000) {
        this.frameTimes.shift();
      }
    });
  }

  drawNow() {
    const { canvas, context } = this;
    const { width, height } = this.size;
    const ratio = Math.min(2, devicePixelRatio);
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    if (!this.space) {
      return;
    }
    const side = this.side;
    const [left, top] = [width / 2 - this.view.x * side, height / 2 - this.view.y * side];
    const zoom = Math.min(8, Math.max(0, Math.ceil(Math.log2((side * ratio) / SIDE) - 0.25)));
    context.imageSmoothingEnabled = side * ratio < SIDE * 2 ** zoom;
    const [x0, x1] = [left, left - width].map((edge) => Math.min(2 ** zoom - 1, Math.max(0, Math.floor((-edge / side) * 2 ** zoom))));
    const [y0, y1] = [top, top - height].map((edge) => Math.min(2 ** zoom - 1, Math.max(0, Math.floor((-edge / side) * 2 ** zoom))));
    const place = side / 2 ** zoom;
    this.wanted.clear();
    for (let y = y0; y <= y1; y++) {
      for (let x = x0; x <= x1; x++) {
        const to = [left + x * place, top + y * place, place, place];
        this.drawTile(zoom, x, y, to);
      }
    }
    this.paintNext();
    this.drawNames(side, left, top);
    this.drawMark(side, left, top);
    this.drawDots(side, left, top);
    if (this.isKeyed) {
      context.strokeStyle = this.isDark ? "#e8edf2" : "#1b2128";
      context.lineWidth = 2;
      context.strokeRect(width / 2 - 6, height / 2 - 6, 12, 12);
    }
  }

  /** A tile, or the part of a coarser one that is there meanwhile. */
  drawTile(zoom, x, y, [left, top, width, height]) {
    for (let up = 0; up <= zoom; up++) {
      const key = `${zoom - up} ${x >> up} ${y >> up}`;
      const tile = this.tiles.get(key);
      if (tile) {
        // The one that was used last is kept longest.
        this.tiles.delete(key);
        this.tiles.set(key, tile);
        const part = SIDE / 2 ** up;
        const within = (at) => (at % 2 ** up) * part;
        this.context.drawImage(tile, within(x), within(y), part, part, left, top, width, height);
        return;
      }
      if (up === 0) {
        this.wanted.set(key, { zoom, x, y });
      }
    }
  }

  async paintNext() {
    if (this.painting >= AT_A_TIME || this.wanted.size === 0) {
      return;
    }
    const [[key, place]] = this.wanted;
    this.wanted.delete(key);
    this.painting++;
    const { version } = this;
    try {
      const tile = await this.ask("tile", { table: this.number, family: this.family, isDark: this.isDark, ...place });
      if (version !== this.version) {
        tile.close();
        return;
      }
      this.tiles.set(key, tile);
      for (const [old, of] of this.tiles) {
        if (this.tiles.size <= KEPT) {
          break;
        }
        of.close();
        this.tiles.delete(old);
      }
    } finally {
      this.painting--;
      this.draw();
    }
  }

  /** Whether all that is shown is painted. */
  get isPainted() {
    return this.space && !this.frame && this.painting === 0 && this.wanted.size === 0;
  }

  /** The squares of a size that has room for a name, and their names. */
  drawNames(side, left, top) {
    const { context, space } = this;
    const { width, height } = this.size;
    const least = space.width === 32 ? 96 : 132;
    const order = Math.min(16, Math.max(1, Math.floor(Math.log2(side / least))));
    const place = side / 2 ** order;
    context.lineWidth = 1;
    context.strokeStyle = this.isDark ? "#ffffff30" : "#00000026";
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "top";
    const [x0, y0] = [left, top].map((edge) => Math.max(0, Math.floor(-edge / place)));
    for (let y = y0; y < 2 ** order && top + y * place < height; y++) {
      for (let x = x0; x < 2 ** order && left + x * place < width; x++) {
        const [px, py] = [left + x * place, top + y * place];
        context.strokeRect(Math.round(px) + 0.5, Math.round(py) + 0.5, place, place);
        const first = stepAt(order, x, y) * 4 ** (16 - order);
        const words = first < space.end ? space.address(first) : null;
        if (words) {
          const length = space.cellLength - 2 * (16 - order);
          const name = length >= space.length ? formatPrefix(words, length) : `${formatAddress(words)} …`;
          const room = context.measureText(name).width;
          if (room + 10 < place) {
            context.fillStyle = this.isDark ? "#12161bc0" : "#ffffffc8";
            context.fillRect(px + 3, py + 3, room + 6, 15);
            context.fillStyle = this.isDark ? "#e8edf2" : "#1b2128";
            context.fillText(name, px + 6, py + 5);
          }
        }
      }
    }
  }

  drawMark(side, left, top) {
    const { context } = this;
    if (!this.mark) {
      return;
    }
    context.lineWidth = 2;
    context.strokeStyle = this.isDark ? "#ffffff" : "#000000";
    context.fillStyle = this.isDark ? "#ffffff30" : "#00000020";
    for (const [x, y, share] of this.mark) {
      const square = [left + x * side, top + y * side, share * side, share * side];
      context.fillRect(...square);
      context.strokeRect(...square);
    }
  }

  /** Networks of a log, the larger the more lines they have. */
  drawDots(side, left, top) {
    const { context } = this;
    const { width, height } = this.size;
    if (this.dots.length === 0) {
      return;
    }
    // No colour of the legend has as much contrast with its edge.
    context.fillStyle = this.isDark ? "#ffffffd0" : "#000000c0";
    context.strokeStyle = this.isDark ? "#000000" : "#ffffff";
    context.lineWidth = 2;
    context.beginPath();
    for (const { x, y, weight } of this.dots) {
      const [px, py] = [left + x * side, top + y * side];
      if (px > -20 && py > -20 && px < width + 20 && py < height + 20) {
        const radius = 2 + 8 * Math.sqrt(weight);
        context.moveTo(px + radius, py);
        context.arc(px, py, radius, 0, 2 * Math.PI);
      }
    }
    // The edges first: those of networks side by side would hide their dots.
    context.stroke();
    context.fill();
  }

  /** The place of an address on the map; null if it is not shown. */
  placeOf(words) {
    const { cell, isIn } = this.space.cell(words);
    if (!isIn) {
      return null;
    }
    const [x, y] = pixelAt(16, cell);
    return { x: (x + 0.5) / 65536, y: (y + 0.5) / 65536 };
  }

  /** The match at a point, for people. */
  tell(px, py) {
    const cell = this.space ? this.cellAt(px, py) : null;
    const words = cell === null ? null : this.space.address(cell);
    if (!words) {
      this.hear(null);
      return null;
    }
    const match = matchOf(answerOf(this.table, words), words);
    this.hear({ px, py, words, match, text: match ? `${formatPrefix(match.words, match.length)}: ${nameOf(this.table, match.record)}` : `${formatAddress(words)}: no match` });
    return words;
  }

  listen() {
    const { canvas } = this;
    const at = (event) => [event.offsetX, event.offsetY];
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoomAt(-event.deltaY / (event.ctrlKey ? 60 : 240), ...at(event));
    });
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, at(event));
      this.hasMoved = this.pointers.size > 1;
    });
    canvas.addEventListener("pointermove", (event) => {
      const before = this.pointers.get(event.pointerId);
      const [px, py] = at(event);
      if (!before) {
        this.isKeyed = false;
        this.tell(px, py);
        return;
      }
      const others = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
      this.pointers.set(event.pointerId, [px, py]);
      if (others.length > 0) {
        const apart = (from) => Math.hypot(from[0] - others[0][0], from[1] - others[0][1]);
        this.zoomAt(Math.log2(Math.max(1, apart([px, py])) / Math.max(1, apart(before))), (px + others[0][0]) / 2, (py + others[0][1]) / 2);
      } else if (this.hasMoved || Math.hypot(px - before[0], py - before[1]) > 3) {
        this.hasMoved = true;
        this.move(this.view.x - (px - before[0]) / this.side, this.view.y - (py - before[1]) / this.side, this.view.zoom);
      } else {
        this.pointers.set(event.pointerId, before);
      }
    });
    const up = (event) => {
      if (this.pointers.delete(event.pointerId) && !this.hasMoved && event.type === "pointerup") {
        const words = this.tell(...at(event));
        if (words) {
          this.pick(words);
        }
      }
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener("pointerleave", () => this.hear(null));
    canvas.addEventListener("keydown", (event) => {
      const { x, y, zoom } = this.view;
      const { width, height } = this.size;
      const step = Math.min(width, height) / 8 / this.side;
      const moves = {
        ArrowLeft: [x - step, y, zoom],
        ArrowRight: [x + step, y, zoom],
        ArrowUp: [x, y - step, zoom],
        ArrowDown: [x, y + step, zoom],
        "+": [x, y, zoom + 0.5],
        "=": [x, y, zoom + 0.5],
        "-": [x, y, zoom - 0.5],
        0: [0.5, 0.5, 0],
      };
      const move = moves[event.key];
      if (!move && event.key !== "Enter") {
        return;
      }
      event.preventDefault();
      this.isKeyed = true;
      if (move) {
        this.move(...move);
      }
      const words = this.tell(width / 2, height / 2);
      if (words && event.key === "Enter") {
        this.pick(words);
      }
    });
  }
}
