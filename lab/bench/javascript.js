// Lookups in the built-in table beside longest-prefix matches of npm.
//
//   crates/popfib-wasm/build && popfib convert --to text -o T.txt && popfib convert --to mmdb -o T.mmdb
//   npm pack --pack-destination target/npm ./target/npm/popfib
//   npm install --prefix target/npm maxmind longest-prefix-match target/npm/popfib-0.1.0.tgz
//   (cd target/npm && node ../../lab/bench/javascript.js T.txt T.mmdb)
//
// Prints million lookups a second of processor time: the median of seven passes after two that warm up. All get the same addresses, as
// text; popfib also as numbers. One that answers otherwise is named.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(resolve("package.json")));
const [textFile, mmdbFile] = process.argv.slice(2);
const text = await readFile(textFile, "utf8");
const routes = text.trimEnd().split("\n").map((line) => line.split(" "));

const { Table } = await import(pathToFileURL(require.resolve("popfib")));
const table = await Table.from(text);

let state = 1;
const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) ^ (state >>> 16);
const dotted = (bits) => [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join(".");
const number = (address) => address.split(".").reduce((bits, byte) => bits * 256 + Number(byte), 0);
const COUNT = 1 << 18;
const ipv4 = routes.filter(([prefix]) => !prefix.includes(":"));
const traffic = {
  // Any address, and the first ones of any routes.
  random: Uint32Array.from({ length: COUNT }, () => next() >>> 0),
  routes: Uint32Array.from({ length: COUNT }, () => number(ipv4[(next() >>> 0) % ipv4.length][0].split("/")[0])),
};

/** The median of several passes, in million lookups a second. */
function rate(count, pass) {
  const times = [];
  for (let round = -2; round < 7; round++) {
    const before = process.cpuUsage();
    pass();
    const { user, system } = process.cpuUsage(before);
    if (round >= 0) {
      times.push(user + system);
    }
  }
  return (count / times.sort((a, b) => a - b)[3]).toFixed(2);
}

const peers = {};
const { Reader } = require("mmdb-lib");
const database = new Reader(await readFile(mmdbFile), { cache: new Map() });
peers["mmdb-lib (maxmind)"] = (address) => database.get(address)?.autonomous_system_number ?? database.get(address);
try {
  const LongestPrefixMatch = require("longest-prefix-match").default ?? require("longest-prefix-match");
  const trie = new LongestPrefixMatch();
  for (const [prefix, value] of routes) {
    trie.addPrefix(prefix, value);
  }
  peers["longest-prefix-match"] = (address) => trie.getMatch(`${address}/32`, false)[0];
} catch (error) {
  console.log(`skipped: longest-prefix-match: ${error.message}`);
}

for (const [name, addresses] of Object.entries(traffic)) {
  const texts = Array.from(addresses, dotted);
  const numbers = new Uint32Array(COUNT);
  const show = (what, value) => console.log(`${name.padEnd(8)} ${what.padEnd(32)} ${value.padStart(8)}`);
  show("popfib lookupMany(Uint32Array)", rate(COUNT, () => table.lookupMany(addresses, { numbers })));
  show("popfib lookupMany(texts)", rate(COUNT, () => table.lookupMany(texts, { numbers })));
  show("popfib lookup(number)", rate(COUNT, () => addresses.forEach((address) => table.lookup(address))));
  show("popfib lookup(text)", rate(COUNT, () => texts.forEach((address) => table.lookup(address))));
  for (const [peer, lookup] of Object.entries(peers)) {
    const some = texts.slice(0, 1 << 14);
    show(peer, rate(some.length, () => some.forEach(lookup)));
    const wrong = some.filter((address) => String(lookup(address) ?? "") !== (table.lookup(address) ?? ""));
    if (wrong.length) {
      console.log(`${name} ${peer}: ${wrong.length} of ${some.length} otherwise, ${wrong[0]}: ${JSON.stringify(lookup(wrong[0]))}, not ${table.lookup(wrong[0])}`);
    }
  }
}
