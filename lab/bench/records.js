// Records of a MaxMind database in Node, beside its readers of npm.
//
//   lab/bench/records DATABASE COLUMN...      makes the image and the addresses, hosts of random networks
//   crates/popfib-wasm/build && npm pack --pack-destination target/npm ./target/npm/popfib
//   npm install --prefix target/npm maxmind mmdb-lib target/npm/popfib-0.1.0.tgz
//   (cd target/npm && taskset -c 1 node ../../lab/bench/records.js DATABASE ../bench-records/values.fib ../bench-records/addresses COLUMN...)
//
// Prints million addresses a second of processor time: the median of five passes, which take turns after two that warm up, the least and
// the most, and how many times that of each reader it is. All get the same 262,144 addresses, as texts unless it says numbers. The
// records of all are compared, member by member.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(resolve("package.json")));
const [database, imageFile, addressFile, ...columns] = process.argv.slice(2);
const { Table } = await import(pathToFileURL(require.resolve("popfib")));
const { Reader } = require("mmdb-lib");
const bytes = await readFile(database);

const started = performance.now();
const table = await Table.from(await readFile(imageFile));
console.log(`opened in ${(performance.now() - started).toFixed(0)} ms, ${table.columns.length} columns`);

const packed = new DataView((await readFile(addressFile)).buffer);
const COUNT = Math.min(1 << 18, packed.byteLength / 4);
const numbers = Uint32Array.from({ length: COUNT }, (_, at) => packed.getUint32(4 * at));
const texts = Array.from(numbers, (bits) => [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join("."));

const readers = {
  "mmdb-lib": new Reader(bytes),
  "mmdb-lib, all kept": new Reader(bytes, { cache: new Map() }),
  maxmind: await require("maxmind").open(database),
};

/** The members of a nested record by dotted names. */
function* leaves(value, name) {
  if (Array.isArray(value) && typeof value[0] === "object") {
    for (const [at, element] of value.entries()) {
      yield* leaves(element, `${name}[${at}]`);
    }
  } else if (typeof value === "object" && !Array.isArray(value)) {
    for (const [key, element] of Object.entries(value)) {
      yield* leaves(element, name ? `${name}.${key}` : key);
    }
  } else {
    yield [name, value];
  }
}

let compared = 0;
for (let at = 0; at < COUNT; at += 13) {
  const record = table.get(texts[at]);
  const expected = new Map(leaves(readers["mmdb-lib"].get(texts[at]) ?? {}, ""));
  for (const { name } of table.columns) {
    compared++;
    const [given, value] = [record?.[name] ?? null, expected.get(name) ?? null];
    // Of a float of 32 bits popfib has the shortest digits that say which it is.
    const isSame = typeof value === "number" ? Math.fround(given) === Math.fround(value) : String(given) === String(value);
    if (!isSame || expected.has(name) !== (given !== null)) {
      throw new Error(`${texts[at]}: ${name} is ${given}, not ${value}`);
    }
    expected.delete(name);
  }
  if (expected.size > 0) {
    throw new Error(`${texts[at]}: popfib does not have ${[...expected.keys()]}`);
  }
}
console.log(`${compared} values are the same`);

// What is asked for is used.
let used = 0;
const [first] = columns;
const isFlat = table.columns.every(({ name }) => !/[.[]/.test(name));
const member = (name) => `record[${JSON.stringify(name)}]`;

const tasks = {};

/** A task that does something for each address, compiled for it alone: functions of one source would share what V8 learns of them. */
function each(name, addresses, asked, ask, reads = [member(first)]) {
  const read = reads.map((read) => `if (${read}) used++;`).join(" ");
  const source = `let used = 0; for (const address of addresses) { const record = ${ask}; if (record) { ${read} } } return used; // ${name}`;
  const pass = new Function("asked", "addresses", source);
  tasks[name] = () => (used += pass(asked, addresses));
}

/** A task that looks up all addresses by one call, and does something with their numbers. */
function batch(name, addresses, source) {
  const pass = new Function("table", "columns", "found", `${source} // ${name}`);
  tasks[name] = () => (used += pass(table, asked, table.lookupMany(addresses)));
}

const asked = columns.map((name) => table.column(name));
const records = `let used = 0; for (let at = 0; at < found.length; at++) { if (table.record(found[at])?.[${JSON.stringify(first)}]) used++; } return used;`;
const ALL = ": all members";
for (const [name, reader] of Object.entries(readers)) {
  each(name, texts, reader, "asked.get(address)");
}
each("get(text)", texts, table, "asked.get(address)");
each("get(number)", numbers, table, "asked.get(address)");
batch("lookupMany(texts), record", texts, records);
batch("lookupMany(numbers), record", numbers, records);
if (isFlat) {
  const all = table.columns.map(({ name }) => member(name));
  for (const [name, reader] of Object.entries(readers)) {
    each(name + ALL, texts, reader, "asked.get(address)", all);
  }
  each(`get(text)${ALL}`, texts, table, "asked.get(address)", all);
}
each(`${first}: lookup(text)`, texts, asked[0], "asked.lookup(address)", ["true"]);
each(`${first}: lookup(number)`, numbers, asked[0], "asked.lookup(address)", ["true"]);
for (const [at, name] of columns.entries()) {
  batch(`${name}: lookupMany(texts), values`, texts, `return columns[${at}].values(found).length;`);
  batch(`${name}: lookupMany(numbers), values`, numbers, `return columns[${at}].values(found).length;`);
}
batch(`${columns.length} columns: lookupMany(texts), values`, texts, "return columns.map((column) => column.values(found)).length;");
batch(`${columns.length} columns: lookupMany(numbers), values`, numbers, "return columns.map((column) => column.values(found)).length;");

const rates = {};
for (let pass = -2; pass < 5; pass++) {
  for (const [name, task] of Object.entries(tasks)) {
    const before = process.cpuUsage();
    task();
    const { user, system } = process.cpuUsage(before);
    if (pass >= 0) {
      (rates[name] ??= []).push(COUNT / (user + system));
    }
  }
}
const median = (name) => rates[name][2];
Object.values(rates).forEach((passes) => passes.sort((a, b) => a - b));
console.log(`${"".padEnd(44)} M/s            ${Object.keys(readers).join(" | ")}`);
for (const [name, passes] of Object.entries(rates)) {
  const beside = Object.keys(readers).map((reader) => median(name) / median(name.endsWith(ALL) ? reader + ALL : reader));
  const [least, , , , most] = passes.map((rate) => rate.toFixed(2));
  console.log(`${name.padEnd(44)} ${median(name).toFixed(2).padStart(6)} ${`(${least} to ${most})`.padEnd(18)} ${beside.map((times) => times.toFixed(1).padStart(8)).join("")}`);
}
if (used === 0) {
  throw new Error("nothing was found");
}
