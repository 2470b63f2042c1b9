// The comparison of all doors: engines/vectors/comparison.py. POPFIB_PACKAGE is the package's folder.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

const { Table, watch } = await import(pathToFileURL(`${process.env.POPFIB_PACKAGE}/popfib.js`));
const vectors = new URL("../../../target/vectors/", import.meta.url);
const folder = await mkdtemp(join(tmpdir(), "popfib-comparison-"));
after(() => rm(folder, { recursive: true }));
const names = ["name", "asn", "score", "up", "tags"];

async function linesOf(file) {
  return (await readFile(new URL(file, vectors), "utf8")).split("\n").slice(0, -1).map((line) => line.split("\t"));
}

/** A value as the command prints it. */
function shown(value) {
  if (Array.isArray(value)) {
    return value.map((element) => element.replaceAll("\\", "\\\\").replaceAll(",", "\\,")).join(",");
  }
  return value === null ? "~" : value;
}

/** What is expected: numbers and booleans as JavaScript has them. */
function wanted([prefix, ...texts]) {
  return [prefix, ...texts.map((text, at) => (at > 0 && at < 4 && text !== "~" ? JSON.parse(text) : text))];
}

function check(table, routes, questions, column) {
  const nothing = [null, ...names.map(() => "~")];
  const expected = questions.map((question) => (Number(question[column]) ? wanted(routes[question[column] - 1]) : nothing));
  const asked = questions.map(([text]) => text);
  const invalid = [];
  const numbers = table.lookupMany(asked, { invalid: (index) => invalid.push(index) });
  assert.deepEqual(invalid, questions.flatMap((question, n) => (question[1] === "-" ? [n] : [])));
  for (const [at, name] of names.entries()) {
    const values = table.column(name);
    numbers.forEach((number, n) => assert.deepEqual(shown(values.value(number)), expected[n][at + 1], `${name} of ${asked[n]}`));
  }
  asked.forEach((text, n) => {
    if (questions[n][1] === "-") {
      assert.throws(() => table.get(text), Error, text);
      return;
    }
    assert.equal(table.longestMatch(text)?.prefix ?? null, expected[n][0], text);
    if (n % 37 === 0) {
      const record = table.get(text);
      assert.deepEqual(names.map((name) => shown(record ? record[name] : null)), expected[n].slice(1), text);
    }
  });
}

test("the table of all doors", async () => {
  const made = (file, ...options) => {
    const path = join(folder, `${file}.fib`);
    execFileSync(process.env.POPFIB, ["compile", fileURLToPath(new URL(file, vectors)), "--columns", "*", "-o", path, ...options], { stdio: "ignore" });
    return path;
  };
  const path = made("first.csv");
  const questions = await linesOf("questions.tsv");
  const watcher = await watch(path);
  check(watcher.current, await linesOf("first.tsv"), questions, 1);
  await rename(made("second.jsonl", "--mapped"), path);
  await watcher.reload();
  check(watcher.current, await linesOf("second.tsv"), questions, 2);
  watcher.close();
});
