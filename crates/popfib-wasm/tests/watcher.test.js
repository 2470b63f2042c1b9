// Tables in files, which are published, broken, removed and published again.

import assert from "node:assert/strict";
import { mkdtemp, rename, rm, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const { Table, compile, watch } = await import(pathToFileURL(`${process.env.POPFIB_PACKAGE}/popfib.js`));

const folder = await mkdtemp(join(tmpdir(), "popfib-watcher-"));
after(() => rm(folder, { recursive: true }));

/** Puts a file in the place of another. */
async function publish(path, content) {
  await writeFile(`${path}.next`, content);
  await rename(`${path}.next`, path);
}

async function until(is) {
  for (const end = Date.now() + 20_000; !is(); await sleep(1)) {
    assert.ok(Date.now() < end);
  }
}

test("a table is opened by its path, which its errors name", async () => {
  const path = join(folder, "routes.txt");
  await writeFile(path, "10.0.0.0/8 east\n");
  assert.equal((await Table.open(path)).lookup("10.1.2.3"), "east");
  assert.equal((await Table.open(pathToFileURL(path))).lookup("10.1.2.3"), "east");
  await writeFile(path, await compile("10.0.0.0/8 west\n"));
  assert.equal((await Table.open(path)).lookup("10.1.2.3"), "west");
  await writeFile(path, "10.0.0.0/33 x\n");
  await assert.rejects(Table.open(path), ({ message }) => message.startsWith(`${path}:1: `));
  await assert.rejects(Table.open(join(folder, "none")), { code: "ENOENT" });
  for (const name of ["routes.txt", "/tmp/t.mmdb", "./asn.fib"]) {
    await assert.rejects(Table.from(name), /Table\.from takes the contents of a file, Table\.open its path/);
  }
  await assert.rejects(Table.from("routes"), /^Error: table/);
});

test("what is neither routes a line nor an image leads to the command", async () => {
  const database = Buffer.concat([Buffer.alloc(64), Buffer.from("\xab\xcd\xefMaxMind.com\xe9", "latin1")]);
  for (const other of [database, "prefix,asn\n10.0.0.0/8,64500\n", '"network";name\n10.0.0.0/8;east\n', '{"10.0.0.0/8": "east"}']) {
    await assert.rejects(Table.from(other), /^Error: table:.*; `popfib compile FILE --columns '\*' -o IMAGE` makes an image of a MaxMind/);
  }
  for (const routes of ["10.0.0.0/33 x\n", "fe80::/129\n", "west 10.0.0.0/8\n"]) {
    await assert.rejects(Table.from(routes), ({ message }) => !message.includes("popfib compile"));
  }
});

test("what is wrong is told once and changes nothing", async () => {
  const path = join(folder, "told.txt");
  const told = [];
  let reloads = 0;
  await assert.rejects(watch(path), { code: "ENOENT" });
  await publish(path, "10.0.0.0/8 east\n");
  await assert.rejects(watch(path, { interval: 0 }), /more than 0/);
  await assert.rejects(watch(path, { table: 1 }), TypeError);
  const watcher = await watch(path, { interval: 1, onError: (error) => told.push(error), onReload: () => reloads++ });
  const first = watcher.current;
  await unlink(path);
  await until(() => told.length === 1);
  assert.equal(told[0].code, "ENOENT");
  for (const wrong of ["10.0.0.0/33 x\n", "10.0.0.0/33 x\n\n"]) {
    await publish(path, wrong);
    await sleep(50);
  }
  await until(() => told.length === 2);
  await sleep(50);
  await assert.rejects(watcher.reload(), ({ message }) => message.startsWith(`${path}:1: `));
  assert.deepEqual([told.length, reloads, watcher.current === first], [2, 0, true]);
  await publish(path, "10.0.0.0/8 west\n");
  await until(() => reloads === 1);
  assert.equal(watcher.current.lookup("10.1.2.3"), "west");
  await publish(path, "10.0.0.0/33 x\n");
  await until(() => told.length === 3);
  await publish(path, "10.0.0.0/8 south\n");
  await until(() => reloads === 2);
  await watcher.reload();
  assert.deepEqual([watcher.current.lookup("10.1.2.3"), reloads], ["south", 2]);
  watcher.close();
  await publish(path, "10.0.0.0/8 north\n");
  await sleep(50);
  assert.equal(watcher.current.lookup("10.1.2.3"), "south");
});

test("a file that is written in place is read when it is complete", async () => {
  const path = join(folder, "place.txt");
  await writeFile(path, "10.0.0.0/8 east\n");
  const watcher = await watch(path, { interval: 1 });
  for (const part of ["10.0.0.0/8 w", "10.0.0.0/8 we", "10.0.0.0/8 west\n"]) {
    const begin = Date.now();
    await writeFile(path, part);
    await sleep(250);
    assert.ok(watcher.current.lookup("10.1.2.3") === "east" || Date.now() - begin >= 1000);
  }
  await until(() => watcher.current.lookup("10.1.2.3") === "west");
  watcher.close();
});

test("each of many tables is there, whole", async () => {
  const path = join(folder, "many.fib");
  const table = (generation) => Array.from({ length: 64 }, (_, part) => `10.${part}.0.0/16 ${generation}\n`).join("");
  await publish(path, await compile(table(0)));
  const watcher = await watch(path, { interval: 1 });
  for (let generation = 1; generation < 20; generation++) {
    await publish(path, await compile(table(generation)));
    await until(() => watcher.current.lookup("10.63.1.2") === String(generation));
    const numbers = watcher.current.lookupMany(Array.from({ length: 64 }, (_, part) => `10.${part}.1.2`));
    assert.equal(new Set(Array.from(numbers, (number) => watcher.current.value(number))).size, 1);
  }
  watcher.close();
});
