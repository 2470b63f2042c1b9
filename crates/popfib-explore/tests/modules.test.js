// The parts of the page that need no browser, against oracles that share no code with them.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { FileError } from "../page/errors.js";
import { contains, formatAddress, formatPrefix, found, lastOf, parseAddress, parsePrefix } from "../page/addresses.js";
import { pixelAt, squareOrder, stepAt, tileOrder } from "../page/hilbert.js";
import { readImage } from "../page/image.js";
import { GROUND, LENGTHS, OTHERS, STRONG, UNKNOWN } from "../page/palette.js";
import { paint, SIDE, tile } from "../page/painter.js";
import { Routes, routesOf, segmentsOfRoutes } from "../page/routes.js";
import { Space } from "../page/space.js";
import { cellsOf, matchOf, answerOf, textOf } from "../page/tables.js";

const file = (path) => readFileSync(new URL(`../../../${path}`, import.meta.url));
const number = (words) => [...words].reduce((sum, word) => (sum << 32n) | BigInt(word), 0n);

test("addresses are those of every engine", () => {
  const { tables, invalid } = JSON.parse(file("target/vectors/vectors.json"));
  for (const { questions } of Object.values(tables)) {
    for (const [text, hex] of questions) {
      assert.equal(number(parseAddress(text)), BigInt(`0x${hex}`), text);
      assert.deepEqual(parseAddress(formatAddress(parseAddress(text))), parseAddress(text));
    }
  }
  for (const text of invalid) {
    assert.equal(parseAddress(text), null, JSON.stringify(text));
  }
  for (const text of ["::", "::1", "1::", "2001:db8::1:0:0:1", "1:0:0:2::", "::ffff:192.0.2.1", "1:2:3:4:5:6:7:0", "0.0.0.0", "255.255.255.255"]) {
    assert.equal(formatAddress(parseAddress(text)), text);
  }
  assert.equal(parsePrefix("10.1.0.0/8"), null);
  assert.equal(parsePrefix("10.0.0.0/33"), null);
  assert.equal(parsePrefix("10.0.0.0/08"), null);
  assert.deepEqual(parsePrefix("::/0"), { words: [0, 0, 0, 0], length: 0 });
});

test("addresses in lines", () => {
  const texts = (line) => [...found(line)].map(({ text }) => text);
  assert.deepEqual(texts('192.0.2.7 - - [27/Nov/2026:10:00:00] "GET /1.2.3.4.5"'), ["192.0.2.7"]);
  assert.deepEqual(texts("from [2001:db8::2]:443 to 198.51.100.1:80, via ::ffff:192.0.2.1"), ["2001:db8::2", "198.51.100.1", "::ffff:192.0.2.1"]);
  assert.deepEqual(texts("10.0.0.0/8 and 10.1.0.0/8, at 12:30:45; aa:bb:cc:dd:ee:ff; 1.2.3"), ["10.0.0.0/8", "10.1.0.0"]);
  assert.deepEqual(texts(""), []);
});

test("the records of an image", () => {
  const bytes = file("engines/vectors/records.fib");
  const [, records] = readImage(new Uint8Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)), true).sort((a, b) => (a.name < b.name ? -1 : 1));
  const lines = file("engines/vectors/records.jsonl").toString().trimEnd().split("\n");
  const names = records.records.columns.map(({ name }) => name);
  assert.ok(names.length > 5);
  for (const line of lines) {
    const { prefix, ...members } = JSON.parse(line.replace(/("id":)(\d+)/, '$1"$2"'));
    const { words } = parsePrefix(prefix);
    const match = matchOf(answerOf(records, words), words);
    const cells = cellsOf(records, match.record);
    if (formatPrefix(match.words, match.length) !== prefix) {
      continue;
    }
    names.forEach((name, at) => {
      const value = name.split(".").reduce((of, key) => of?.[key], members) ?? null;
      assert.equal(cells[at], value === null ? null : Array.isArray(value) ? value.map((element) => String(element).replace(/[,\\]/g, "\\$&")).join(",") : textOf(value), `${prefix} ${name}`);
    });
  }
});

test("floats without exponents", () => {
  for (const [value, text] of [[1e21, "1000000000000000000000"], [1.5e-7, "0.00000015"], [-2e-7, "-0.0000002"], [0.1, "0.1"], [1.25e22, "12500000000000000000000"], [-0, "-0"], [NaN, "NaN"]]) {
    assert.equal(textOf(value), text);
  }
});

test("the colours are those of the pictures", () => {
  const rust = file("crates/popfib-draw/src/palette.rs").toString();
  const of = (name) => [...new RegExp(`const ${name}\\b[^=]*= ([^;]*);`).exec(rust)[1].matchAll(/\[((?:0x..(?:, )?)+)\]/g)].map(([, bytes]) => bytes.replace(/0x|, /g, ""));
  assert.deepEqual(STRONG, of("STRONG"));
  assert.deepEqual(LENGTHS, of("LENGTHS"));
  assert.deepEqual(OTHERS, of("OTHERS"));
  assert.deepEqual([`${UNKNOWN}ff`], of("UNKNOWN"));
  const theme = file("crates/popfib-draw/src/theme.rs").toString();
  for (const ground of GROUND) {
    assert.ok(theme.includes(`["#${ground}"`));
  }
});

test("the curve goes from pixel to pixel, and its tiles fit", () => {
  for (let step = 0, before; step < 4 ** 6; step++) {
    const [x, y] = pixelAt(6, step);
    assert.equal(stepAt(6, x, y), step);
    assert.ok(!before || Math.abs(x - before[0]) + Math.abs(y - before[1]) === 1);
    before = [x, y];
  }
  const base = squareOrder(2);
  for (let zoom = 0; zoom < 4; zoom++) {
    for (let at = 0; at < 4 ** zoom; at++) {
      const [left, top] = pixelAt(zoom, at);
      const order = tileOrder(base, 4, zoom, at);
      for (let step = 0; step < 16; step++) {
        const [x, y] = pixelAt(zoom + 2, 16 * at + step);
        assert.equal(order[step], (y - 4 * top) * 4 + x - 4 * left);
      }
    }
  }
});

/** Numbers that look random, the same in each run. */
function random(seed) {
  return (below) => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return Math.floor(((seed >>> 8) / 2 ** 24) * below);
  };
}

function randomRoutes(next, count, width) {
  const all = new Map();
  for (let at = 0; at < count; at++) {
    const length = next(4) === 0 ? next(width + 1) : next(12);
    // Few different bits, so that prefixes are nested, side by side and complete.
    const words = Array.from({ length: width / 32 }, () => (next(3) === 0 ? 0 : (next(16) << 28) | (next(2) === 0 ? 0xfffffff : next(8))) >>> 0);
    const masked = words.map((word, at) => {
      const bits = Math.min(32, Math.max(0, length - 32 * at));
      return bits === 0 ? 0 : Number((BigInt(word) >> BigInt(32 - bits)) << BigInt(32 - bits));
    });
    all.set(formatPrefix(masked, length), { words: masked, length, record: 1 + next(5) });
  }
  return [...all.values()].sort((a, b) => (number(a.words) < number(b.words) ? -1 : number(a.words) > number(b.words) ? 1 : a.length - b.length));
}

test("segments and routes are those of a linear scan", () => {
  const next = random(7);
  for (let round = 0; round < 60; round++) {
    const width = round % 2 === 0 ? 32 : 128;
    const routes = randomRoutes(next, [0, 1, 5, 40, 300][round % 5], width);
    const list = new Routes(width);
    routes.forEach(({ words, length, record }) => list.push(words, length, record));
    const segments = segmentsOfRoutes(list);
    const longest = (words) => routes.filter((route) => contains(route, words)).reduce((best, route) => (best && best.length > route.length ? best : route), null);
    const addresses = [...routes.flatMap(({ words, length }) => [words, lastOf(words, length)]), ...Array.from({ length: 50 }, () => Array.from({ length: width / 32 }, () => next(2 ** 24) * 256 + next(256)))];
    for (const words of addresses) {
      const best = longest(words);
      assert.equal(segments.numbers[segments.upTo(words) - 1], best ? best.record * (width + 1) + best.length : 0, formatAddress(words));
    }
    // Those that are never the longest match are given; all others are found.
    const seen = new Set(Array.from({ length: segments.length }, (_, at) => at).flatMap((at) => {
      const from = number(segments.at(at));
      const to = at + 1 < segments.length ? number(segments.at(at + 1)) : 1n << BigInt(width);
      return routes.flatMap(({ words, length, record }, route) => {
        const first = number(words);
        const last = number(lastOf(words, length));
        return segments.numbers[at] === record * (width + 1) + length && first < to && last >= from ? [route] : [];
      });
    }));
    const hidden = new Routes(width);
    routes.filter((_, at) => !seen.has(at)).reverse().forEach(({ words, length, record }) => hidden.push(words, length, record));
    const all = routesOf(segments, hidden, routes.length);
    if (seen.size > 0) {
      assert.throws(() => routesOf(segments, new Routes(width), seen.size - 1), FileError);
    }
    assert.deepEqual(Array.from({ length: all.length }, (_, at) => all.at(at)).map(({ words, length, record }) => [formatPrefix(words, length), record]), routes.map(({ words, length, record }) => [formatPrefix(words, length), record]));
    for (const { words, length } of routes) {
      const covers = routes.filter((route) => route.length <= length && contains(route, words)).map(({ length }) => length);
      assert.deepEqual(all.covering(words, length).map(({ length }) => length), covers.sort((a, b) => a - b));
      const inside = routes.filter((route) => route.length > length && contains({ words, length }, route.words));
      assert.equal(all.inside(words, length, words, 5).count, inside.length);
      for (const route of all.inside(words, length, words, 5).routes) {
        assert.ok(inside.some((other) => formatPrefix(other.words, other.length) === formatPrefix(route.words, route.length)));
      }
    }
  }
});

test("a map's cells have the answers of their addresses, and a tile their colours", () => {
  const next = random(11);
  for (const width of [32, 128]) {
    const list = new Routes(width);
    randomRoutes(next, 200, width).forEach(({ words, length, record }) => list.push(words, length, record));
    const segments = segmentsOfRoutes(list);
    const space = Space.of(segments);
    const cells = space.cells(segments);
    const at = (cell) => cells.answers[cells.starts.findLastIndex((start) => start <= cell)];
    for (let round = 0; round < 2000; round++) {
      const cell = Math.floor((next(2 ** 20) / 2 ** 20) * space.end) + next(2);
      const words = cell < space.end ? space.address(cell) : null;
      if (words) {
        assert.deepEqual(space.cell(words), { cell, isIn: true });
        const answer = segments.numbers[segments.upTo(words) - 1];
        // What begins within a cell that is empty so far is its answer.
        assert.ok(at(cell) === answer || (answer === 0 && width === 128), `${formatAddress(words)}: ${at(cell)}, not ${answer}`);
      }
    }
    const painted = paint({ table: { records: null }, cells, space, width }, "length", null);
    const pixels = tile(painted, space.end, false, 8, 0, 0);
    for (let step = 0; step < SIDE * SIDE; step += 97) {
      const [x, y] = pixelAt(8, step);
      const answer = step < space.end ? at(step) : 0;
      assert.equal(pixels[4 * (y * SIDE + x) + 3], answer > 0 ? 255 : 0);
    }
    const shares = painted.legend.reduce((sum, { share }) => sum + share, 0);
    assert.ok(Math.abs(shares - 1) < 1e-9);
  }
});

test("what has no value or no match is the same in the legend and on the map, also while a value is searched for", () => {
  const list = new Routes(32);
  ["10.0.0.0/8", "11.0.0.0/8", "12.0.0.0/8"].forEach((text, at) => {
    const { words, length } = parsePrefix(text);
    list.push(words, length, at + 1);
  });
  const segments = segmentsOfRoutes(list);
  const space = Space.of(segments);
  // The codes of the three records: without a value, one that is searched for, and another.
  const table = { records: { code: (record) => [, 0, 1, 2][record] } };
  for (const search of [null, { column: 0, code: 1 }]) {
    const painted = paint({ table, cells: space.cells(segments), space, width: 32 }, 0, search);
    const classes = new Set(painted.classes);
    for (const { what, colour } of painted.legend.filter(({ code }) => code === undefined)) {
      assert.ok(classes.has(colour), `${what}: ${colour} is not on the map`);
    }
    assert.equal(classes.size, 4);
  }
});

test("no route takes more of the map of IPv6 than a /20", () => {
  const list = new Routes(128);
  ["::/0", "2002::/16", "2002:f000::/24", "2400::/20", "2400::/32", "2a00::/19"].forEach((text, at) => {
    const { words, length } = parsePrefix(text);
    list.push(words, length, at + 1);
  });
  const segments = segmentsOfRoutes(list);
  const space = Space.of(segments);
  const size = (text) => {
    const { words, length } = parsePrefix(text);
    return space.range(words, length)?.count ?? 0;
  };
  const part = size("2400::/20");
  assert.equal(space.end, (4 + 1 / 16) * part);
  const shown = { "::/20": 1, "2002::/20": 1, "2002::/16": 1 + 1 / 16, "2002:f000::/24": 1 / 16, "2002:1000::/20": 0, "2400::/32": 1 / 4096, "2a00::/19": 1, "::/0": 4 + 1 / 16, "3000::/8": 0 };
  for (const [text, parts] of Object.entries(shown)) {
    assert.equal(size(text), parts * part, text);
  }
  const { starts, answers } = space.cells(segments);
  const sizes = [0, 0, 0, 0, 0, 0, 0];
  starts.forEach((start, at) => (sizes[Math.floor(answers[at] / 129)] += (starts[at + 1] ?? space.end) - start));
  assert.deepEqual(sizes.map((cells) => cells / part), [0, 1, 1, 1 / 16, 1 - 1 / 4096, 1 / 4096, 1]);
});

test("damaged images are refused", () => {
  const bytes = file("engines/vectors/records.fib");
  const copy = () => new Uint8Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  const next = random(3);
  for (let round = 0; round < 3000; round++) {
    const damaged = copy();
    const at = next(damaged.length);
    damaged[at] ^= 1 << next(8);
    assert.throws(() => readImage(damaged, true), FileError, `byte ${at}`);
  }
  const removed = copy();
  const view = new DataView(removed.buffer);
  for (let line = 64; line < 64 + 32 * view.getUint32(12, true); line += 32) {
    if (view.getUint16(line + 4, true) === 32 && view.getUint16(line + 6, true) === 48) {
      removed[view.getUint32(line + 8, true) + 6] = 1;
    }
  }
  assert.throws(() => readImage(removed, false), /size fastest is no longer read/);
  for (const length of [0, 7, 63, 64, 100, 5000]) {
    assert.throws(() => readImage(copy().slice(0, length), true), /no image|cut off/);
  }
});

// engines/vectors/changed.py has the form.
test("changed images are refused, or answer as the page of the format says", () => {
  const top = fileURLToPath(new URL("../../../", import.meta.url));
  const path = `${top}target/tmp/changed-images`;
  execFileSync("python3", [`${top}engines/vectors/changed.py`, path]);
  const all = readFileSync(path);
  let at = 0;
  const part = () => {
    const start = at + 4;
    at = start + all.readUInt32LE(at);
    return all.subarray(start, at);
  };
  const asked = part().toString().trim().split("\n").map((hex) => hex.match(/.{8}/g).map((word) => parseInt(word, 16)));
  // Those of next hops alone, which the page has not.
  const withoutNumbers = (text) => text.replace(/^\d+ (-|\d+\/\d+)$/gm, "$1");
  const foundIn = (image) => {
    const names = new Set();
    const lines = readImage(image, true).filter(({ name }) => !names.has(name) && names.add(name)).flatMap((table) => {
      const routes = Object.values(table.families).reduce((sum, family) => sum + family.routes, 0);
      const matches = asked.map((words) => matchOf(answerOf(table, words), words));
      const count = Math.min(table.records?.count ?? 0, 50);
      const records = Array.from({ length: count }, (_, n) => cellsOf(table, n + 1).map((text) => text?.replace(/[\t\n]/g, " ") ?? "~").join("\t"));
      return [`table ${table.name}`, `routes ${routes}`, ...matches.map((match) => (match ? `${match.record}/${match.length}` : "-")), ...records];
    });
    return lines.map((line) => `${line}\n`).join("");
  };
  const differ = [];
  let [images, without] = [0, 0];
  for (; at < all.length; images++) {
    const [name, image, expected] = [part().toString(), Uint8Array.from(part()), part().toString()];
    let found = "";
    try {
      found = foundIn(image);
    } catch (error) {
      // Sound, but of a kind that the page does not show.
      if (expected !== "" && /without the prefixes|more routes than fit/.test(error.message)) {
        without++;
        continue;
      }
      if (!(error instanceof FileError) || expected !== "") {
        differ.push(`${name}: ${error.stack}`);
        continue;
      }
    }
    if (found !== withoutNumbers(expected)) {
      differ.push(`${name}: ${found}, not ${expected}`);
    }
  }
  assert.equal(differ.length, 0, `${differ.length}: ${differ.slice(0, 20).join("\n")}`);
  assert.ok(images > 10_000 && without < images / 10, `${images} images, ${without} without prefixes`);
});
