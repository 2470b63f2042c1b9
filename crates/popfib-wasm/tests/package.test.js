// The package as it is installed: POPFIB_PACKAGE is its folder.

import assert from "node:assert/strict";
import { lstat, readdir, readFile } from "node:fs/promises";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

import { askAll, textOf } from "./answers.js";

const popfib = await import(pathToFileURL(`${process.env.POPFIB_PACKAGE}/popfib.js`));
const { Table, compile } = popfib;
const vectors = JSON.parse(await readFile(new URL("../../../target/vectors/vectors.json", import.meta.url), "utf8"));

/** Numbers that are the same in every run. */
function* random(seed) {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) >>> 0;
  }
}

test("what is installed: files of its own, with the licences", async () => {
  assert.ok((await lstat(process.env.POPFIB_PACKAGE)).isDirectory());
  const files = ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "package.json", "popfib.d.ts", "popfib.js", "popfib.wasm", "watcher.js"];
  assert.deepEqual((await readdir(process.env.POPFIB_PACKAGE)).sort(), files);
});

test("the answers of every engine", async () => {
  assert.ok((await askAll(popfib, vectors)) > 10_000);
});

test("IPv4-mapped addresses have the routes of IPv4 where that is asked for", async () => {
  const text = "10.0.0.0/8 a\n10.1.0.0/16 b\n::ffff:10.1.0.0/112 c\n";
  const [plain, mapped] = await Promise.all([Table.from(text), Table.from(text, { mapped: true })]);
  assert.deepEqual(["::ffff:10.2.0.1", "::ffff:10.1.0.1", "10.1.0.1"].map((address) => plain.lookup(address)), [null, "c", "b"]);
  assert.deepEqual(["::ffff:10.2.0.1", "::ffff:10.1.0.1", "10.1.0.1"].map((address) => mapped.lookup(address)), ["a", "c", "b"]);
  assert.deepEqual(mapped.supernets("::ffff:10.1.0.1").map(({ prefix }) => prefix), ["::ffff:10.0.0.0/104", "::ffff:10.1.0.0/112"]);
  const image = await compile(text, { mapped: true });
  assert.equal((await Table.from(image)).lookup("::ffff:10.2.0.1"), "a");
  await assert.rejects(Table.from(image, { mapped: true }), { message: /`popfib compile --mapped` made it/ });
});

test("an answer of a list without values is not taken for none", async () => {
  const list = await Table.from("10.0.0.0/8\n2001:db8::/32\n");
  for (const [address, expected] of [["10.1.2.3", true], ["2001:db8::1", true], ["11.0.0.0", null]]) {
    assert.equal(list.lookup(address), expected);
    assert.equal(list.get(address)?.value ?? null, expected);
    assert.equal(list.longestMatch(address)?.value ?? null, expected);
    assert.equal(list.value(list.lookupMany([address])[0]), expected);
  }
  assert.equal(list.column("value").type, "boolean");
});

test("many addresses, more than are looked up at a time, beside a scan of all routes", async () => {
  const numbers = random(7);
  const next = () => numbers.next().value;
  const routes = Array.from({ length: 300 }, (_, n) => {
    const length = 1 + (next() % 24);
    return { bits: (next() >>> (32 - length)) * 2 ** (32 - length), length, value: `v${n % 40}` };
  });
  const dotted = (bits) => [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join(".");
  const table = await Table.from(routes.map(({ bits, length, value }) => `${dotted(bits)}/${length} ${value}\n`).join(""));
  const scan = (address) => {
    let best;
    for (const route of routes) {
      const holds = Math.floor(address / 2 ** (32 - route.length)) * 2 ** (32 - route.length) === route.bits;
      // Of two routes for one prefix the last one wins.
      if (holds && !(best?.length > route.length)) {
        best = route;
      }
    }
    return best?.value ?? null;
  };
  for (const count of [0, 1, 4095, 4096, 4097, 10_000]) {
    const addresses = Uint32Array.from({ length: count }, next);
    const given = table.lookupMany(addresses);
    const texts = table.lookupMany(Array.from(addresses, dotted));
    assert.deepEqual(texts, given);
    for (let at = 0; at < count; at++) {
      assert.equal(table.value(given[at]), scan(addresses[at]), dotted(addresses[at]));
    }
  }
});

test("answers go where they are wanted", async () => {
  const table = await Table.from("0.0.0.0/1 low\n");
  const numbers = new Uint32Array(2);
  assert.equal(table.lookupMany(new Uint32Array([1, 2 ** 31]), { numbers }), numbers);
  assert.deepEqual([...numbers].map((number) => table.value(number)), ["low", null]);
  assert.throws(() => table.lookupMany(new Uint32Array(3), { numbers }), { name: "TypeError", message: /Uint32Array of 3/ });
  assert.throws(() => table.lookupMany(new Uint8Array(16), { numbers }), { name: "TypeError", message: /Uint32Array of 1/ });
  assert.throws(() => table.lookupMany([], { invalid: "null" }), { name: "TypeError", message: /^invalid is a function/ });
  assert.deepEqual([...table.lookupMany([1], null)], [1]);
});

test("columns that are none", async () => {
  const table = await Table.from("0.0.0.0/1 low\n");
  for (const addresses of [null, undefined, 7, "10.0.0.1", {}, { length: 1 }, new Float64Array(2), new Uint16Array(8), new Set(["::"])]) {
    assert.throws(() => table.lookupMany(addresses), { name: "TypeError", message: /^addresses are an array, a Uint32Array/ });
  }
  assert.throws(() => table.lookupMany(new Uint8Array(17)), { name: "TypeError", message: /^17 bytes are no whole number of IPv6/ });
});

test("what is no address stops, or is counted", async () => {
  const table = await Table.from("0.0.0.0/1 low\n");
  const good = ["10.0.0.1", 7, new Uint8Array([10, 0, 0, 1])];
  const bad = ["x", "", null, undefined, -1, 1.5, {}, Object.create(null), [1], 7n, Symbol("s"), new Uint8Array(5), new Uint8Array(0), () => 1, "1".repeat(99)];
  // In every place of more than one chunk.
  const column = Array.from({ length: 9001 }, (_, n) => (n % 3 === 1 ? bad[n % bad.length] : good[n % 3 >> 1]));
  const seen = [];
  const numbers = table.lookupMany(column, { invalid: (index) => seen.push(index) && table.lookupMany(["10.0.0.1"]) });
  assert.deepEqual(seen, [...column.keys()].filter((n) => n % 3 === 1));
  assert.deepEqual(Array.from(numbers), column.map((_, n) => (n % 3 === 1 ? 0 : 1)));
  for (const address of bad) {
    assert.throws(() => table.lookupMany([...good, address]), { name: "TypeError", message: / is no address \(at 3\)$/ });
    assert.throws(() => table.lookup(address), { name: "TypeError", message: / is no address$/ });
    assert.throws(() => table.longestMatch(address), { name: "TypeError", message: / is no address$/ });
  }
});

test("texts that are nearly an IPv4 address", async () => {
  const table = await Table.from("0.0.0.0/0 any\n::/0 any\n");
  const bad = [
    ".", "...", "....", "10.0.0.", ".10.0.0", "10..0.0", "10.0.0.1.", ".10.0.0.1", "10.0.0.1.2", "1.2.3.4.5.6.7.8", "10.0.0", "10.0", "10", "00.0.0.0",
    "0.00.0.0", "0.0.0.00", "01.0.0.0", "0.0.0.010", "256.0.0.0", "0.0.0.256", "0.0.0.999", "0.0.0.1000", "4294967296.0.0.0", "1.1.1.4294967297",
    "-1.0.0.0", "+1.0.0.0", "1e1.0.0.0", "0x1.0.0.0", "1.1.1.1 ", " 1.1.1.1", "1.1.1.1\0", "1.1.1.\u0661", "1.1.1.1/32", "1.1.1.1%1", "1/1/1/1", "1:1:1:1",
  ];
  for (const address of bad) {
    for (const ask of [() => table.get(address), () => table.longestMatch(address), () => table.lookupMany([address])]) {
      assert.throws(ask, { name: "TypeError", message: / is no address( \(at 0\))?$/ }, address);
    }
  }
  for (const address of ["0.0.0.0", "255.255.255.255", "1.10.100.200", "9.90.99.199", "0.249.250.255"]) {
    const bits = address.split(".").reduce((bits, byte) => 256 * bits + Number(byte), 0);
    const one = await Table.from(`${address}/32 it\n`);
    assert.deepEqual([one.lookup(address), one.lookup(bits)], ["it", "it"], address);
    assert.deepEqual(one.lookupMany([address]), Uint32Array.of(1));
  }
});

test("what is neither text nor number is no address", async () => {
  const table = await Table.from("0.0.0.0/0 any\n");
  for (const address of [2 ** 32, NaN, ["1.1.1.1"], new Uint32Array(4), new Float64Array(2)]) {
    assert.throws(() => table.lookup(address), { name: "TypeError", message: /is no address$/ });
    assert.throws(() => table.longestMatch(address), { name: "TypeError", message: /is no address$/ });
  }
  assert.equal(table.lookup(0), "any");
  assert.equal(table.lookup(2 ** 32 - 1), "any");
  for (const number of [0, 2, -1, 1.5, 2 ** 32, 2 ** 31, "1", "length", undefined]) {
    assert.equal(table.value(number), null, String(number));
    assert.equal(table.record(number), null, String(number));
  }
});

test("text that is no table", async () => {
  for (const [text, message] of [
    ["", "table: there is no route in it"],
    ["10.0.0.0/8 a\n10.0.0.0/33 b\n", /^table:2: "10\.0\.0\.0\/33": /],
    ["10.0.0.1/8 a\n", /^table:1: "10\.0\.0\.1\/8": /],
    ["10.0.0.0/8 a b\n", /^table:1: more than a prefix and a next hop/],
    ["{}", /^table:1: /],
    [new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0]), /^table: byte 0: this is gzip data/],
    [new Uint8Array([255, 254, 0, 1]), /^table:1: this is not text|^table:1: this is text in UTF-16/],
    ["10.0.0.0/8 " + "x".repeat(1 << 20), /^table:1: the line is longer/],
  ]) {
    await assert.rejects(Table.from(text), { name: "Error", message });
  }
  await assert.rejects(Table.from(new Uint8Array(2 ** 31)), { message: "table: no memory for its 2147483648 bytes" });
  for (const source of [undefined, null, 7, {}, [1, 2]]) {
    await assert.rejects(Table.from(source), { name: "TypeError" });
  }
});

test("images that are cut, damaged, foreign or of another byte order", async () => {
  const image = await compile(textOf(vectors.tables.edges.routes));
  for (let length = 8; length < image.length; length += 1 + (length >> 4)) {
    await assert.rejects(Table.from(image.subarray(0, length)), { message: /^table: cut off at byte/ });
  }
  await assert.rejects(Table.from(new Uint8Array([...image, 0])), { message: /^table: 1 bytes follow/ });
  const numbers = random(3);
  for (let round = 0; round < 300; round++) {
    const damaged = image.slice();
    const at = 8 + (numbers.next().value % (image.length - 8));
    damaged[at] ^= 1 << numbers.next().value % 8;
    await assert.rejects(Table.from(damaged), { name: "Error", message: /^table: [^\n]+$/ }, `byte ${at}`);
  }
  const swapped = new Uint8Array(image.length);
  image.forEach((byte, at) => (swapped[at ^ 3] = byte));
  await assert.rejects(Table.from(swapped), { message: /^table:1: this is not text/ });
  // The other order in all but the name.
  swapped.set(image.subarray(0, 8));
  await assert.rejects(Table.from(swapped), { message: /^table: [^\n]+$/ });
  // Nothing of that stays.
  assert.equal((await Table.from(image)).size, vectors.tables.edges.routes.length);
});

test("sources are bytes of any kind, and are not kept", async () => {
  const bytes = new TextEncoder().encode("xx10.0.0.0/8 a\n");
  const buffer = bytes.buffer.slice(2, bytes.length);
  const shared = new Uint8Array(new SharedArrayBuffer(buffer.byteLength));
  shared.set(new Uint8Array(buffer));
  for (const source of [bytes.subarray(2), buffer, new DataView(buffer), shared, shared.buffer, Buffer.from(buffer)]) {
    assert.equal((await Table.from(source)).lookup("10.1.1.1"), "a");
  }
  const image = await compile(buffer);
  const table = await Table.from(image);
  image.fill(0);
  assert.equal(table.lookup("10.1.1.1"), "a");
});

test("tables side by side keep to themselves, and their memory goes with them", async () => {
  const tables = await Promise.all(Array.from({ length: 50 }, (_, n) => Table.from(`10.0.0.0/8 v${n}\n::/0 w${n}\n`)));
  tables.forEach((table, n) => {
    assert.equal(table.lookup("10.0.0.1"), `v${n}`);
    assert.deepEqual(table.longestMatch("::1"), { prefix: "::/0", number: 2, value: `w${n}` });
  });
  for (let round = 0; round < 2000; round++) {
    assert.equal((await Table.from(`10.0.0.0/8 v${round}\n`)).lookup(0x0a000001), `v${round}`);
  }
});

test("only Table.from makes tables", () => {
  assert.throws(() => new Table(), { name: "TypeError" });
});
