// The worker: what takes longer than a frame. It unpacks the tables, answers what needs all routes, paints tiles, and reads files, so
// that the page answers lookups meanwhile. A message `{ id, what, ... }` has one answer, `{ id, result }` or `{ id, error }`.

import { parsePrefix } from "./addresses.js";
import { FileError } from "./errors.js";
import { countLines, imageOfFile, kindOf, listOfFile } from "./files.js";
import { readImage } from "./image.js";
import { free } from "./memory.js";
import { paint, SIDE, tile } from "./painter.js";
import { Routes, routesKept, routesOf, segmentsOf } from "./routes.js";
import { Space } from "./space.js";
import { familyOf, tableOfList, textOf, WIDTHS } from "./tables.js";

/** The tables, with what was unpacked of each family. */
const tables = [];

function add(table, hidden) {
  table.parts = {};
  for (const [family, fib] of Object.entries(table.families)) {
    table.parts[family] = { fib, hidden: hidden?.[family] ?? new Routes(WIDTHS[family], 0), table, width: WIDTHS[family], found: {} };
  }
  return tables.push(table) - 1;
}

function part(table, family) {
  return tables[table].parts[family] ?? null;
}

/** Makes what a part has when it is first asked for. */
function once(of, name, make) {
  return (of.found[name] ??= make());
}

const segmentsIn = (of) => once(of, "segments", () => (of.fib.answer ? segmentsOf(of.fib) : of.fib));

const routesIn = (of) => once(of, "routes", () => of.list ?? (of.fib.kept ? routesKept(of.fib) : routesOf(segmentsIn(of), of.hidden, of.fib.routes)));

function cellsIn(of) {
  of.space ??= Space.of(segmentsIn(of));
  of.cells ??= of.space.cells(segmentsIn(of));
  return of;
}

const tasks = {
  open({ buffer, hidden }) {
    const of = {};
    for (let from = 0, end; (end = hidden.indexOf("\n", from)) >= 0; from = end + 1) {
      const [table, text, record] = hidden.slice(from, end).split(" ");
      const { words, length } = parsePrefix(text);
      const family = familyOf(words);
      ((of[table] ??= {})[family] ??= new Routes(WIDTHS[family])).push(words, length, Number(record));
    }
    readImage(new Uint8Array(buffer), false).forEach((table, at) => add(table, of[at]));
  },

  space({ table, family }) {
    const of = part(table, family);
    if (!of) {
      return null;
    }
    const { width, length, blocks } = cellsIn(of).space;
    return { width, length, blocks };
  },

  paint({ table, family, by, search }) {
    const of = cellsIn(part(table, family));
    of.painted = paint(of, by, search);
    const { records } = tables[table];
    const text = (code) => (records ? textOf(valueAt(records, by, code)) : String(code));
    return of.painted.legend.map((row) => ({ ...row, what: row.what ?? text(row.code) }));
  },

  async tile({ table, family, isDark, zoom, x, y }) {
    const of = part(table, family);
    const pixels = tile(of.painted, of.space.end, isDark, zoom, x, y);
    const bitmap = await createImageBitmap(new ImageData(pixels, SIDE, SIDE));
    free(pixels);
    return bitmap;
  },

  routes({ table, words, length, match, most }) {
    const of = part(table, familyOf(words));
    if (!of) {
      return { covering: [], inside: { count: 0, routes: [] } };
    }
    const routes = routesIn(of);
    const inside = match ? routes.inside(match.words, match.length, words, most) : { count: 0, routes: [] };
    return { covering: routes.covering(words, length), inside };
  },

  /** The answers for prefixes: the longest routes that cover them. */
  covers({ questions }) {
    return questions.map(({ table, words, length }) => {
      const routes = routesIn(part(table, familyOf(words)));
      const longest = routes.covering(words, length).at(-1);
      return longest ? longest.record * (32 * words.length + 1) + longest.length : 0;
    });
  },

  /** The values of all columns that have the text in them, those that begin with it first, with what each has. */
  search({ table, text, most }) {
    const { records } = tables[table];
    if (!records) {
      return [];
    }
    const wanted = text.toLowerCase();
    const hits = [];
    records.columns.forEach((column, at) => {
      const number = /^as(\d+)$/.exec(wanted);
      for (let code = 1; code <= column.codes; code++) {
        const value = textOf(column.value(code));
        const isExact = value.toLowerCase() === wanted || value === number?.[1];
        const place = isExact ? 0 : column.kind === "text" ? value.toLowerCase().indexOf(wanted) : -1;
        if (place >= 0) {
          hits.push({ column: at, code, value, rank: isExact ? 0 : place === 0 ? 1 : 2 });
        }
      }
    });
    hits.sort((a, b) => a.rank - b.rank || a.value.length - b.value.length);
    const shown = hits.slice(0, most);
    for (const hit of shown) {
      hit.routes = routeCount(table, hit);
    }
    return { count: hits.length, hits: shown };
  },

  /** The routes that lead to a value, up to `most`. */
  routesWith({ table, column, code, most }) {
    const shown = [];
    let count = 0;
    eachRoute(table, column, code, (routes, at) => {
      if (count++ < most) {
        shown.push(routes.at(at));
      }
    });
    return { count, routes: shown };
  },

  async kind({ file }) {
    return kindOf(file);
  },

  async openFile({ file, kind }) {
    if (kind === "image") {
      const { buffer, tables: opened } = await imageOfFile(file);
      // All answers are looked at before the table is one, so that none that is damaged is met later.
      const segments = opened.map(({ families }) => Object.entries(families).map(([family, fib]) => [family, segmentsOf(fib)]));
      const numbers = opened.map((table) => add(table));
      segments.forEach((of, at) => of.forEach(([family, segments]) => (part(numbers[at], family).found.segments = segments)));
      return { first: numbers[0], buffer };
    }
    const { texts, families } = await listOfFile(file);
    const segments = Object.fromEntries(Object.entries(families).map(([family, { segments }]) => [family, segments]));
    const first = add(tableOfList(file.name, texts, segments));
    for (const [family, { routes }] of Object.entries(families)) {
      tables[first].parts[family].list = routes;
    }
    const plain = Object.entries(segments).map(([family, { width, words, numbers, length }]) => [family, { width, words, numbers, length }]);
    return { first, texts, segments: plain };
  },

  remove({ table }) {
    tables.splice(table, 1);
  },

  async count({ file, table, id }) {
    let told = 0;
    const counts = await countLines(file, tables[table], (bytes) => {
      if (bytes - told > 2 ** 22) {
        postMessage({ id, progress: (told = bytes) });
      }
    });
    return counts;
  },
};

/** The value of a column that a code stands for. */
function valueAt(records, column, code) {
  return records.columns[column].value(code);
}

function eachRoute(table, column, code, each) {
  const { records } = tables[table];
  for (const of of Object.values(tables[table].parts)) {
    const routes = routesIn(of);
    // Of each record once.
    const has = records && Uint8Array.from({ length: records.count + 1 }, (_, record) => (record > 0 && records.code(record, column) === code ? 1 : 0));
    for (let at = 0; at < routes.length; at++) {
      if (has ? has[routes.recordAt(at)] : routes.recordAt(at) === code) {
        each(routes, at);
      }
    }
  }
}

function routeCount(table, { column, code }) {
  let count = 0;
  eachRoute(table, column, code, () => count++);
  return count;
}

export function work() {
  addEventListener("message", async ({ data }) => {
    const { id, what } = data;
    try {
      const result = await tasks[what](data);
      postMessage({ id, result }, result instanceof ImageBitmap ? [result] : []);
    } catch (error) {
      const line = error instanceof FileError ? error.message : error instanceof RangeError ? "there is not enough memory" : String(error);
      postMessage({ id, error: line });
    }
  });
}
