// Images that are changed by hand and at random: refused, or answering, as the Python of docs/image-format.md has it
// (engines/vectors/changed.py).

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

import { textOf } from "../../popfib-explore/page/tables.js";

const { Table } = await import(pathToFileURL(`${process.env.POPFIB_PACKAGE}/popfib.js`));
const top = fileURLToPath(new URL("../../../", import.meta.url));

/** What is found in the table of this name and in so many records, in the form of `changed.py`. */
async function foundIn(image, name, asked, count) {
  const table = await Table.from(image, { table: name });
  const numbers = table.lookupMany(asked);
  const matchOf = (address, at) => {
    try {
      const match = table.longestMatch(address);
      return match ? `${match.number}/${match.prefix.split("/")[1]}` : "-";
    } catch {
      // Without prefixes.
      return numbers[at] > 0 ? `${numbers[at]}/?` : "-";
    }
  };
  const lines = [`table ${name}`, `routes ${table.size}`, ...asked.map((address, at) => `${numbers[at]} ${matchOf(address, at)}`)];
  for (let number = 1; number <= count; number++) {
    lines.push(table.columns.map((column) => textOf(column.value(number))?.replace(/[\t\n]/g, " ") ?? "~").join("\t"));
  }
  return lines.map((line) => `${line}\n`).join("");
}

test("changed images are refused, or answer as the page of the format says", async () => {
  const path = `${top}target/tmp/changed-images`;
  execFileSync("python3", [`${top}engines/vectors/changed.py`, path]);
  const all = readFileSync(path);
  let at = 0;
  const part = () => {
    const start = at + 4;
    at = start + all.readUInt32LE(at);
    return all.subarray(start, at);
  };
  const asked = part().toString().trim().split("\n").map((hex) => Uint8Array.from(Buffer.from(hex, "hex")));
  const differ = [];
  let images = 0;
  for (; at < all.length; images++) {
    const [name, image, expected] = [part().toString(), part(), part().toString()];
    if (expected === "") {
      if (image.indexOf("\x89POPFIB\n", 0, "latin1") !== 0) {
        // Taken for text.
        continue;
      }
      const error = await Table.from(image).then(() => null, ({ message }) => message);
      if (error === null || error.includes("of which one is used")) {
        differ.push(`${name}: not refused: ${error}`);
      }
      continue;
    }
    const parts = expected.split(/^(?=table )/m).map((part) => part.slice(0, -1).split("\n"));
    const tables = parts.map(([first, , ...lines]) => foundIn(image, first.slice("table ".length), asked, lines.length - asked.length));
    const found = await Promise.all(tables).catch((error) => [error.stack]);
    if (found.join("") !== expected) {
      differ.push(`${name}: ${found.join("")}, not ${expected}`);
    }
  }
  assert.equal(differ.length, 0, `${differ.length}: ${differ.slice(0, 20).join("\n")}`);
  assert.ok(images > 10_000);
});
