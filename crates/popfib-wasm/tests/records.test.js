// Columns of records, beside the lines that the vectors were made of, and what may go wrong. POPFIB_PACKAGE is the package's folder.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

import { imageOf } from "./image.js";
import { askRecords } from "./records.js";

const popfib = await import(pathToFileURL(`${process.env.POPFIB_PACKAGE}/popfib.js`));
const { Table, compile } = popfib;
const vectors = new URL("../../../engines/vectors/", import.meta.url);
const image = await readFile(new URL("records.fib", vectors));
const lines = await readFile(new URL("records.jsonl", vectors), "utf8");
const open = () => Table.from(image, { table: "records" });

test("every column of every prefix", async () => {
  assert.ok((await askRecords(popfib, image, lines)) > 500);
});

test("the tables of an image go by their names", async () => {
  const several = 'table: an image of 2 tables, of which one is used: "records", "country"';
  await assert.rejects(Table.from(image), { name: "Error", message: several });
  for (const table of ["", "city", "日本"]) {
    await assert.rejects(Table.from(image, { table }), { name: "Error", message: `table: no table "${table}": "records", "country"` });
  }
  for (const table of [null, 1, ["records"], {}]) {
    await assert.rejects(Table.from(image, { table }), { name: "TypeError", message: "table is the name of a table, a string" });
  }
  for (const options of [undefined, null, {}, { table: undefined }]) {
    assert.equal((await Table.from("::/0 all\n", options)).lookup("::"), "all");
  }
  await assert.rejects(Table.from("::/0 all\n", { table: "x" }), { message: 'table: no table "x": "table"' });
});

test("a column that nobody has", async () => {
  const table = await open();
  const there = '"country", "asn", "names.city", "tags", "ports", "rate", "up", "delta", "id"';
  for (const name of ["city", "", "__proto__", "Country", "a\nb", undefined]) {
    const message = `table: no column ${JSON.stringify(String(name))} in ${there}`;
    assert.throws(() => table.column(name), { name: "Error", message });
  }
  assert.throws(() => new (table.columns[0].constructor)(), { name: "TypeError" });
});

test("numbers that no record has, and addresses that are none", async () => {
  for (const table of [await open(), await Table.from(image, { table: "country" })]) {
    const [column] = table.columns;
    for (const number of [0, 9, -1, 1.5, NaN, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1, "1", 1n, null, undefined, {}]) {
      assert.equal(table.record(number), null, String(number));
      assert.equal(table.value(number), null, String(number));
      assert.equal(column.value(number), null, String(number));
    }
    assert.deepEqual(column.values(new Uint32Array([0, 9, 2 ** 31, 2 ** 32 - 1])), [null, null, null, null]);
    for (const numbers of [[1], 1, null, undefined, new Float64Array(1), new Int32Array(1), "1"]) {
      assert.throws(() => column.values(numbers), { name: "TypeError", message: /^numbers are a Uint32Array/ });
    }
    for (const address of ["x", null, undefined, -1, 1.5, {}, new Uint8Array(5), "10.0.0.1/8", ["10.0.0.1"]]) {
      assert.throws(() => table.get(address), { name: "TypeError", message: / is no address$/ });
      assert.throws(() => column.lookup(address), { name: "TypeError", message: / is no address$/ });
    }
  }
  const table = await open();
  assert.deepEqual(table.column("asn").values(new Uint32Array([0, 99, 1])), new Float64Array([NaN, NaN, 0]));
});

test("what is no address in a batch, or matches nothing, has no value", async () => {
  const table = await Table.from("10.0.0.0/8 a\n10.1.0.0/16 b\n");
  const numbers = table.lookupMany(["10.1.1.1", null, "x", "11.0.0.0", "10.2.2.2"], { invalid: () => {} });
  assert.deepEqual(table.column("value").values(numbers), ["b", null, null, null, "a"]);
  assert.equal(table.get("11.0.0.0"), null);
  assert.equal(table.column("value").lookup("11.0.0.0"), null);
});

test("records do not change, and are one object as often as they are asked for", async () => {
  const table = await open();
  const record = table.get("10.1.2.3");
  assert.equal(table.get(0x0a010203), record);
  assert.equal(table.get("10.255.0.0"), record, "an equal record");
  assert.deepEqual(Object.keys(record), table.columns.map(({ name }) => name));
  assert.equal(Object.getPrototypeOf(record), Object.prototype);
  for (const change of [
    () => (record.country = "XX"),
    () => (record.other = 1),
    () => delete record.country,
    () => record.tags.push("x"),
    () => (table.column("ports").lookup("10.1.2.3")[0] = 1),
    () => (table.columns[0].name = "x"),
    () => table.columns.pop(),
  ]) {
    assert.throws(change, TypeError);
  }
  assert.equal(table.column("tags").lookup("10.1.2.3"), record.tags);
});

test("more records than are kept as objects", async () => {
  // 2^22 values are kept, of 4096 columns those of 1024 records.
  const count = 1100;
  const columns = Array.from({ length: 4095 }, (_, n) => [`c${n}`, "text", Array(count).fill(null)]);
  columns.unshift(["number", "unsigned", Array.from({ length: count }, (_, n) => 7 * n)]);
  const table = await Table.from(imageOf(columns));
  assert.equal(table.columns.length, 4096);
  for (const number of [1, 2, 1025, 1, 1026, 1100, 1024, 2, 1025]) {
    const record = table.record(number);
    assert.equal(record.number, 7 * (number - 1));
    assert.equal(record, table.record(number));
  }
  const first = table.record(1);
  assert.equal(table.record(2), table.record(2));
  assert.equal(table.record(1), first);
  table.record(1025);
  assert.notEqual(table.record(1), first, "it was in the place of 1025");
  assert.deepEqual(table.record(1), first);
  assert.throws(() => table.column("x"), { message: /^table: no column "x" in "number", ("c\d+", ){18}"c18"$/ });
});

test("what is a number, and what a bigint, is the same for a whole column", async () => {
  const safe = Number.MAX_SAFE_INTEGER;
  const columns = [
    ["safe", "signed", [safe, -safe, 0, null]],
    ["high", "signed", [2n ** 53n, 1n, null, -1n]],
    ["low", "signed", [-(2n ** 63n), null, 0n, 2n ** 63n - 1n]],
    ["unsigned", "unsigned", [2n ** 64n - 1n, 0n, 2n ** 63n, null]],
    ["lists", "unsigned", [[1, 2], null, [], [safe]]],
    ["bigs", "unsigned", [[1n], null, [2n ** 53n, 1n], []]],
    ["floats", "float", [[0.1, -Infinity], [], null, [5e-324]]],
    ["truths", "boolean", [[true, false], null, [], [true]]],
    ["numbers", "float", [0.1, -2, NaN, null]],
  ];
  const table = await Table.from(imageOf(columns));
  const types = ["integer", "bigint", "bigint", "bigint", "list of integers", "list of bigints", "list of floats", "list of booleans", "float"];
  assert.deepEqual(table.columns.map(({ type }) => type), types);
  const numbers = Uint32Array.of(1, 2, 3, 4);
  for (const [name, type, cells] of columns) {
    const column = table.column(name);
    assert.deepEqual(Array.from(numbers, (number) => column.value(number)), cells, name);
    assert.deepEqual(Array.from(numbers, (number) => table.record(number)[name]), cells, name);
    const isNumber = ["integer", "float"].includes(column.type);
    assert.deepEqual(column.values(numbers), isNumber ? Float64Array.from(cells, (cell) => cell ?? NaN) : cells, name);
  }
});

test("names and texts of any kind", async () => {
  const names = ["__proto__", "constructor", "toString", "a b", "\n", "日本", "\ufeffx", "", "7", "names[0].x"];
  const texts = ["", "\ufeffmark", "\0", "\u{10ffff}", "\r\n"];
  const table = await Table.from(imageOf(names.map((name) => [name, "text", texts])));
  assert.deepEqual(table.columns.map(({ name }) => name), names);
  texts.forEach((text, n) => {
    const record = table.record(n + 1);
    assert.deepEqual(new Set(Object.keys(record)), new Set(names));
    names.forEach((name) => assert.equal(record[name], text));
    assert.equal(Object.getPrototypeOf(record), Object.prototype);
  });
  const lists = await Table.from(imageOf([["__proto__", "text", [["a", ""], texts]]]));
  assert.deepEqual(lists.get("10.0.0.1").__proto__, ["a", ""]);
  assert.deepEqual(lists.column("__proto__").value(2), texts);
});

test("an image without records has numbers alone", async () => {
  const table = await Table.from(imageOf([]));
  assert.deepEqual(table.columns, []);
  assert.equal(table.lookup("10.0.0.1"), 1);
  assert.deepEqual([0, 1, 7, 1.5, "1"].map((number) => table.value(number)), [null, 1, 7, null, null]);
  assert.equal(table.get("10.0.0.1"), null);
  assert.throws(() => table.column("value"), { message: 'table: no column "value" in an image without records' });
});

test("records that are damaged", async () => {
  const columns = [["n", "unsigned", [1, 2, 3]], ["t", "text", ["a", null, "b"]], ["l", "text", [["x", "y"], null, ["z"]]]];
  const good = imageOf(columns);
  assert.equal((await Table.from(good)).get("10.0.0.1").t, "a");
  for (let at = 64; at < good.length; at++) {
    const damaged = good.slice();
    damaged[at] ^= 1;
    await assert.rejects(Table.from(damaged), { name: "Error", message: /^table: [^\n]+$/ }, `byte ${at}`);
  }
});
