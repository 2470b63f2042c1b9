// The page in headless Chromium, its answers beside the command's. POPFIB is the command, CHROMIUM the browser, AXE axe-core's script.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";

import { Browser } from "./browser.js";

const folder = mkdtempSync(join(tmpdir(), "popfib-explore-test-"));
const path = (name) => join(folder, name);
/** What the command prints; 1 is its status where it finds nothing. */
const popfib = (args, input) => {
  const stdio = [input === undefined ? "ignore" : "pipe", "pipe", "pipe"];
  const { status, stdout, stderr } = spawnSync(process.env.POPFIB, args, { input, stdio, encoding: "utf8", maxBuffer: 2 ** 28 });
  assert.ok(status === 0 || status === 1, stderr);
  return stdout;
};
const url = (name, hash = "") => `file://${path(name)}${hash}`;
const opened = "document.documentElement?.dataset.state === 'map'";
const painted = `${opened} && explorer.atlas.map.isPainted`;
const text = (id) => `document.getElementById('${id}').innerText`;

let browser;
const pages = [];

before(async () => {
  browser = await Browser.start(process.env.CHROMIUM);
  popfib(["explore", "-o", path("page.html")]);
});

after(async () => {
  await browser.stop();
  rmSync(folder, { recursive: true });
  for (const { faults, requests } of pages) {
    assert.deepEqual(faults, []);
    // The page itself, its worker, and the address of its icon, which has no bytes.
    assert.deepEqual(requests.filter((request) => !/^(file:\/\/|blob:|data:,$)/.test(request)), []);
    assert.equal(requests.filter((request) => request.startsWith("file://")).length, 1);
  }
});

async function visit(name, hash = "", options = {}) {
  const page = await browser.page(options);
  pages.push(page);
  await page.open(url(name, hash));
  await page.until(opened);
  return page;
}

function random(seed) {
  return () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0);
}

/** Addresses of both families, half of them near routes. */
function addresses(count) {
  const next = random(5);
  const routes = popfib(["routes", "--columns", "asn"]).split("\n");
  return Array.from({ length: count }, (_, at) => {
    const near = routes[next() % (routes.length - 1)].split(/[/\t]/)[0];
    return at % 2 ? near : [24, 16, 8, 0].map((shift) => (next() >>> shift) & 255).join(".");
  });
}

test("answers are the command's", async () => {
  const page = await visit("page.html");
  const asked = [...addresses(20000), "2001:41d0::1", "::ffff:8.8.8.8", "8.0.0.0/8", "8.8.0.0/16", "8.8.8.0/25", "2a00::/12", "0.0.0.0/0"];
  const prefixes = asked.filter((text) => text.includes("/"));
  const plain = asked.filter((text) => !text.includes("/"));
  const expected = popfib(["lookup", "--columns", "*"], plain.join("\n")) + popfib(["lookup", "--columns", "*", ...prefixes]);
  await page.run(`explorer.lookup.look(${JSON.stringify(asked.join("\n"))})`);
  await page.until("explorer.lookup.answers[0].every((answer) => answer >= 0)");
  const given = await page.run(`explorer.lookup.questions.map(({ text }, at) => [text, ...explorer.lookup.cells(explorer.lookup.tables[0], 0, at)].join('\\t') + '\\n').join('')`);
  assert.equal(given, expected);
  assert.match(await page.run(text("asked")), /^20,007 addresses and prefixes: 1\d,\d{3} matches$/);
  // Special-purpose addresses, by the command's own registry.
  const special = ["10.1.2.3", "127.0.0.1", "2001:db8::1", "8.8.8.8", "ff02::1"];
  await page.run(`explorer.lookup.look(${JSON.stringify(special.join("\n"))})`);
  const names = await page.run("explorer.lookup.questions.map((_, at) => explorer.lookup.cells(explorer.lookup.tables[1], 1, at)[0])");
  assert.deepEqual(names, popfib(["lookup", "-t", "special"], special.join("\n")).trimEnd().split("\n").map((line) => line.split("\t")[2]));
  assert.equal((await page.run("explorer.lookup.csv()")).split("\n").length, special.length + 2);
  await page.close();
});

test("covering and longer routes are the command's", async () => {
  const page = await visit("page.html");
  for (const address of ["8.8.8.8", "1.1.1.1", "2001:41d0::1", "193.0.0.1", ...addresses(20)]) {
    const covering = popfib(["routes", "--covering", address, "--columns", "asn"]).trimEnd().split("\n").map((line) => line.split(/[\t ]/)[0]).filter(Boolean);
    const match = covering.at(-1);
    const longer = match ? popfib(["routes", "--covered-by", match, "--columns", "asn"]).trimEnd().split("\n").length - 1 : 0;
    const given = await page.run(`(async () => {
      explorer.lookup.look(${JSON.stringify(address)});
      const { words, length } = explorer.lookup.questions[0];
      const { covering, inside } = await explorer.lookup.ask("routes", { table: 0, words, length, match: null, most: 5 });
      const match = covering.at(-1);
      const of = match ? await explorer.lookup.ask("routes", { table: 0, words, length, match, most: 5 }) : { inside };
      return [covering.map(({ length }) => length), of.inside.count];
    })()`);
    assert.deepEqual(given, [covering.map((prefix) => Number(prefix.split("/")[1])), longer], address);
  }
  await page.close();
});

test("the way of a lookup ends at its answer", async () => {
  const page = await visit("page.html", "#look=2001:41d0::1");
  const way = await page.run("document.querySelector('.way').innerText");
  assert.match(way, /1\. Root table: 65,536 entries\s+bits 0 to 15 of the address: 0010000000000001…, entry 8,193/);
  assert.match(way, /2\. Page: 256 entries/);
  assert.match(way, /3\. Block: 64 slots in \d+ runs?\s+bits 24 to 29/);
  assert.match(way, /2001:41d0::\/32: AS16276$/);
  await page.close();
});

test("the map has the command's shares and answers, and zooms by wheel, buttons and keys", async () => {
  const page = await visit("page.html");
  await page.until(painted);
  const [, space] = /of space\s+([\d.]+) %/.exec(popfib(["info"]));
  const none = await page.run("explorer.atlas.rows.find(({ what }) => what === 'no match').share");
  assert.ok(Math.abs(100 * (1 - none) - Number(space)) < 0.0001, `${none}, ${space}`);
  const { x, y, width, height } = await page.run("(({ x, y, width, height }) => ({ x, y, width, height }))(document.getElementById('canvas').getBoundingClientRect())");
  // What the pointer is above is what the command says of it.
  for (const [dx, dy] of [[0.3, 0.3], [0.52, 0.61], [0.7, 0.2], [0.45, 0.8]]) {
    await page.mouse("mouseMoved", x + dx * width, y + dy * height);
    const tip = await page.run(text("tip"));
    const words = await page.run("(({ space }) => space && document.getElementById('tip').textContent)(explorer.atlas.map)");
    assert.equal(tip.replace(/\s+/g, " "), words);
    const address = words.split(/[/:]/)[0];
    const [, prefix] = popfib(["lookup", address]).trimEnd().split("\t");
    assert.ok(prefix === "-" ? words.endsWith("no match") : words.startsWith(`${prefix}: `), `${words} beside ${prefix}`);
  }
  const zoom = () => page.run("explorer.atlas.map.view.zoom");
  await page.mouse("mouseWheel", x + width / 2, y + height / 2, { deltaX: 0, deltaY: -480 });
  await page.until("explorer.atlas.map.view.zoom > 1");
  await page.run("document.getElementById('nearer').click()");
  assert.ok((await zoom()) > 2);
  await page.run("document.getElementById('whole').click()");
  assert.equal(await zoom(), 0);
  await page.run("document.getElementById('canvas').focus()");
  for (let at = 0; at < 40; at++) {
    await page.key("+");
  }
  await page.key("ArrowLeft");
  await page.key("ArrowUp");
  assert.ok((await zoom()) > 10);
  const said = await page.run("document.getElementById('said').textContent");
  assert.match(said, /^[\d.]+(\/\d+)?: /);
  await page.key("Enter");
  assert.match(await page.run("document.getElementById('query').value"), /^\d+\.\d+\.\d+\.\d+$/);
  await page.key("0");
  assert.equal(await zoom(), 0);
  // Pixels: of a large prefix of one answer, those of its class in the legend.
  for (const [name, prefix] of [["length", "17.0.0.0/9"], ["0", "17.0.0.0/9"], ["depth", "240.0.0.0/4"]]) {
    await page.run(`explorer.atlas.choose(0, "ipv4", ${JSON.stringify(name)}).then(() => explorer.atlas.find(${JSON.stringify(prefix)}))`);
    await page.run("explorer.atlas.map.mark = null, explorer.atlas.map.draw()");
    await page.until(painted);
    const [pixel, colour] = await page.run(`(() => {
      const { map, rows } = explorer.atlas;
      const { canvas } = map;
      const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
      copy.drawImage(canvas, 0, 0);
      const pixel = [...copy.getImageData(canvas.width / 2 + 40, canvas.height / 2 + 40, 1, 1).data];
      const words = map.tell(map.size.width / 2 + 40, map.size.height / 2 + 40);
      const tip = document.getElementById('tip').textContent;
      const length = /\\/(\\d+):/.exec(tip)?.[1];
      const row = [...document.querySelectorAll('#legend tbody tr')].find((row) => row.innerText.includes(tip.endsWith('no match') ? 'no match' : ${JSON.stringify(name)} === 'length' ? '/' + length : 'AS714'));
      return [pixel, row && getComputedStyle(row.querySelector('.swatch')).backgroundColor];
    })()`);
    if (pixel[3] === 0) {
      assert.equal(colour, "rgb(255, 255, 255)", name);
    } else if (colour) {
      assert.equal(`rgb(${pixel.slice(0, 3).join(", ")})`, colour, name);
    }
    assert.equal(pixel[3] === 0, prefix.startsWith("240"), name);
  }
  await page.close();
});

test("searches and links", async () => {
  const page = await visit("page.html", "#family=ipv4");
  await page.run("explorer.atlas.find('AS15169')");
  const routes = popfib(["routes", "--where", "asn=15169", "--columns", "asn"]).trimEnd().split("\n");
  await page.until("document.querySelector('#found table')");
  assert.match(await page.run(text("found")), new RegExp(`The map shows asn 15169\\.[^]*of ${String(routes.length).replace(/\B(?=(\d{3})+$)/g, ",")} routes[^]*${routes[0].split(/[\t ]/)[0]}`));
  await page.run("explorer.atlas.find('quad9')");
  await page.until("document.querySelector('#found').innerText.includes('Quad9')");
  await page.run("explorer.atlas.find('no such name')");
  assert.match(await page.run(text("found")), /Nothing is called “no such name”/);
  await page.run("explorer.atlas.find('2001:41d0::/32')");
  await page.until("explorer.atlas.family === 'ipv6' && explorer.atlas.map.view.zoom > 3");
  await page.run("explorer.lookup.look('9.9.9.9')");
  await page.run("explorer.atlas.find('Google LLC').then(() => explorer.atlas.map.move(0.6, 0.4, 2.5))");
  await page.until("location.hash.includes('view=0.6') && location.hash.includes('find=')");
  const hash = await page.run("location.hash");
  await page.close();
  const other = await visit("page.html", hash);
  await other.until("explorer.atlas.search?.value === 'Google LLC'");
  const state = await other.run("[explorer.atlas.family, explorer.atlas.map.view, explorer.lookup.text, explorer.atlas.search.value]");
  assert.deepEqual(state, ["ipv6", { x: 0.6, y: 0.4, zoom: 2.5 }, "9.9.9.9", "Google LLC"]);
  await other.run("location.hash = 'look=1.1.1.1&family=ipv4&by=/length'");
  await other.until("explorer.atlas.family === 'ipv4' && explorer.atlas.colour === 'length' && explorer.lookup.text === '1.1.1.1'");
  await other.run("location.hash = 'find=as_name=no such name'");
  await other.until("document.getElementById('found').innerText.includes('Nothing is called “no such name”')");
  await other.close();
});

test("a log is counted as by the command", async () => {
  // With all columns, as in the page: with one alone, a route without a value in it is none.
  popfib(["compile", "--columns", "*", "-o", path("all.fib")]);
  const next = random(9);
  const log = addresses(5000).map((address) => (next() % 9 === 0 ? "a line without any" : `${address} - "GET /" from 192.0.2.1`)).join("\n");
  for (const [name, bytes] of [["access.log", log], ["access.log.gz", gzipSync(log)]]) {
    writeFileSync(path(name), bytes);
    const page = await visit("page.html");
    await page.choose("#file", [path(name)]);
    await page.until("document.querySelector('#bars tbody')");
    const given = await page.run("[...document.querySelectorAll('#bars tbody tr')].map((row) => [...row.cells].slice(0, 2).map(({ innerText }) => innerText))");
    const counts = popfib(["count", "--table", path("all.fib"), "--by", "as_name", path(name)]).trimEnd().split("\n").map((line) => line.split("\t"));
    const none = given.filter(([value]) => /^(no (match|address)|without as_name)$/.test(value)).reduce((sum, [, count]) => sum + Number(count.replace(",", "")), 0);
    const expected = new Map(counts.map(([count, value]) => [value, Number(count)]));
    assert.equal(none, expected.get("-") + expected.get("(no value)"));
    for (const [value, count] of given.filter(([value]) => !/^(no (match|address)|without as_name)$/.test(value))) {
      assert.equal(Number(count.replace(",", "")), expected.get(value === "listed" ? "" : value), value);
    }
    assert.equal(given.length, 20);
    const without = log.split("\n").filter((line) => line === "a line without any").length;
    assert.equal(await page.run(text("taken")), `${name}: 5,000 lines, ${without} without an address`);
    assert.ok((await page.run("explorer.atlas.map.dots.length")) > 100);
    assert.match(await page.run(text("legend")), new RegExp(`lines of ${name}`));
    await page.run("document.getElementById('forget').click()");
    assert.equal(await page.run("explorer.atlas.map.dots.length"), 0);
    assert.equal(await page.run(text("bars")), "");
    assert.doesNotMatch(await page.run(text("legend")), /lines of/);
    await page.close();
  }
});

test("tables that are dropped", async () => {
  const page = await visit("page.html", "#look=10.1.2.3");
  writeFileSync(path("list.txt"), "# a list\n10.0.0.0/8 ten\n10.1.0.0/16, <b>one</b>\n2001:db8::/32 doc\n");
  const centre = { x: 100, y: 100, data: { items: [], files: [path("list.txt")], dragOperationsMask: 1 } };
  for (const type of ["dragEnter", "dragOver", "drop"]) {
    await page.send("Input.dispatchDragEvent", { type, ...centre });
  }
  await page.until(`${text("taken")} === 'list.txt: 1 table, list.txt'`);
  await page.until("explorer.atlas.number === 2 && explorer.atlas.map.isPainted");
  assert.match(await page.run(text("detail")), /list\.txt\s+matches 10\.1\.0\.0\/16[^]*<b>one<\/b>[^]*10\.0\.0\.0\/8\s+ten/);
  popfib(["compile", path("list.txt"), "-o", path("list.fib")]);
  await page.choose("#file", [path("list.fib")]);
  await page.until("explorer.atlas.number === 3");
  await page.until(`${text("detail")}.match(/ten/g)?.length >= 2`);
  // One of them is taken away, and the other one answers.
  await page.run("explorer.atlas.choose(2, null, null).then(() => document.getElementById('drop').click())");
  await page.until("explorer.tables.length === 3 && explorer.atlas.number === 0 && document.getElementById('drop').hidden");
  await page.until(`${text("detail")}.includes('10.1.0.0/16')`);
  await page.run("explorer.atlas.choose(2, null, null)");
  assert.match(await page.run(text("legend")), /ten/);
  await page.close();
});

test("a flat image answers", async () => {
  const page = await visit("page.html");
  popfib(["compile", "--columns", "*", "--size", "balanced", "--keep", "prefixes", "-o", path("flat.fib")]);
  await page.choose("#file", [path("flat.fib")]);
  await page.until("explorer.atlas.number === 2", 60);
  const asked = addresses(500);
  await page.run(`explorer.lookup.look(${JSON.stringify(asked.join("\n"))})`);
  assert.ok(await page.run("explorer.lookup.questions.every((_, at) => explorer.lookup.cells(explorer.lookup.tables[0], 0, at)[0] === explorer.lookup.cells(explorer.lookup.tables[2], 2, at)[0])"));
  await page.close();
});

test("files that are no tables give a line, and the page goes on", async () => {
  const page = await visit("page.html");
  const image = readFileSync(new URL("../../../engines/vectors/records.fib", import.meta.url));
  const flipped = Buffer.from(image);
  flipped[image.length - 100] ^= 1;
  const refused = {
    "empty.txt": ["", /it is empty/],
    "zeros.bin": [Buffer.alloc(1000), /it is no image, list or log/],
    "cut.fib": [image.subarray(0, 5000), /cut off at byte 5000 of \d+/],
    "flipped.fib": [flipped, /is damaged/],
    "cut.gz": [gzipSync(Buffer.alloc(10 ** 6, "10.0.0.0/8 x\n")).subarray(0, 700), /damaged|cut off/],
    "bomb.gz": [gzipSync(Buffer.alloc(300 * 2 ** 20, "10.0.0.0/8 x\n")), /more than 256 MiB/],
    "heading.csv": [`network,country\n${"10.0.0.0/8,x\n".repeat(20)}`, /line 1: “network” is no prefix; popfib explore FILE/],
    "bad.txt": ["10.0.0.0/8 a\n10.1.0.0/16 b\n10.2.0.0/16\n10.3.0.0/16\n10.4.0.0/16\n10.5.0.0/16\n10.6.0.0/16\n10.7.0.0/16\n10.8.0.0/16\n10.9.0.0/16\n10.10.0.0/16\n10.11.0.0/16\nhost x\n", /line 13: “host” is no prefix/],
  };
  for (const [name, [bytes, reason]] of Object.entries(refused)) {
    writeFileSync(path(name), bytes);
    await page.choose("#file", [path(name)]);
    await page.until(`${text("taken")}.startsWith('${name}: ') && !${text("taken")}.endsWith('reading') && !${text("taken")}.endsWith('read')`, 60);
    assert.match(await page.run(text("taken")), reason, name);
  }
  // A gigabyte that takes no room on the disk, and begins as an image does.
  writeFileSync(path("huge.fib"), image.subarray(0, 64));
  truncateSync(path("huge.fib"), 2 ** 30);
  await page.choose("#file", [path("huge.fib")]);
  await page.until(`${text("taken")}.startsWith('huge.fib: it has more than 256 MiB')`);
  await page.run("explorer.lookup.look('8.8.8.8')");
  assert.match(await page.run(text("detail")), /Google LLC/);
  assert.equal(await page.run("explorer.tables.length"), 2);
  await page.close();
});

test("small tables", async () => {
  for (const [name, routes, shown] of [["six", "2001:db8::/32 a\n", "1 IPv6 route"], ["host", "192.0.2.1 a\n", "1 IPv4 route"], ["all", "0.0.0.0/0 a\n::/0 b\n", "1 IPv4 and 1 IPv6 routes"]]) {
    writeFileSync(path(`${name}.txt`), routes);
    popfib(["explore", path(`${name}.txt`), "-o", path(`${name}.html`)]);
    const page = await visit(`${name}.html`, "#look=192.0.2.1%0A2001:db8::1");
    assert.equal(await page.run(text("routes")), shown);
    await page.until(painted);
    assert.match(await page.run(text("legend")), /Share of [^]*100\.0 %/);
    const matches = { six: 1, host: 1, all: 2 }[name];
    assert.ok((await page.run(text("asked"))).endsWith(`: ${matches} match${matches === 1 ? "" : "es"}`));
    await page.close();
  }
});

test("shares and answers are those of lookup", async () => {
  // No route is longer than /12: what each of 4096 addresses has is a share of the space.
  const routes = "network,name,asn\n10.0.0.0/8,Ten,64500\n10.16.0.0/12,,64501\n11.0.0.0/8,two  blanks,64502\n12.0.0.0/8,,\n13.0.0.0/8,,0\n64.0.0.0/3,Ten,64500\n";
  const ipv6 = "2001:db8::/32,Doc,64503\n2001:db8:1::/48,,\n";
  writeFileSync(path("four.csv"), routes);
  writeFileSync(path("both.csv"), routes + ipv6);
  writeFileSync(path("default.csv"), `${routes}${ipv6}0.0.0.0/0,All,1\n::/0,,\n`);
  writeFileSync(path("countries.txt"), "10.0.0.0/8 NL\n14.0.0.0/8 FR\n");
  popfib(["compile", path("both.csv"), "--columns", "name,asn", "-o", path("both.fib")]);
  popfib(["join", `r=${path("both.fib")}`, `c=${path("countries.txt")}`, "-o", path("joined.fib")]);
  const addresses = [...Array.from({ length: 4096 }, (_, at) => `${at >>> 4}.${(at & 15) << 4}.0.0`), "2001:db8::1", "2001:db8:1::1", "2001:db9::"];
  for (const name of ["four.csv", "both.csv", "both.fib", "default.csv", "joined.fib"]) {
    popfib(["explore", path(name), "--columns", "*", "-o", path("shares.html")]);
    const answers = popfib(["lookup", "-t", path(name), "--columns", "*"], addresses.join("\n"));
    const page = await visit("shares.html");
    // An image has the name of what it was made of.
    const title = await page.run(text("title"));
    assert.ok(name.endsWith(".fib") ? /^[^/]+$/.test(title) : title === name, title);
    await page.run(`explorer.lookup.look(${JSON.stringify(addresses.join("\n"))})`);
    const given = await page.run("explorer.lookup.questions.map(({ text }, at) => [text, ...explorer.lookup.cells(explorer.lookup.tables[0], 0, at)].join('\\t') + '\\n').join('')");
    assert.equal(given, answers, name);
    for (const [column] of Object.entries(answers.split("\n")[0].split("\t").slice(2))) {
      const shares = {};
      for (const line of answers.split("\n").slice(0, 4096)) {
        const [, prefix, ...values] = line.split("\t");
        const value = prefix === "-" ? "no match" : values[column] === "-" ? "without a value" : values[column];
        shares[value] = (shares[value] ?? 0) + 1 / 4096;
      }
      const rows = await page.run(`explorer.atlas.choose(0, "ipv4", "${column}").then(() => explorer.atlas.rows.map(({ what, share }) => [what, share]))`);
      assert.deepEqual(Object.fromEntries(rows.filter(([, share]) => share > 0)), shares, `${name}, column ${column}`);
    }
    await page.close();
  }
});

test("what is shown is one state, and Back leads to the one before", async () => {
  const page = await visit("page.html", "#look=8.8.8.8");
  await page.until(painted);
  const shown = () => page.run("[document.getElementById('colour').value, document.getElementById('wanted').value, explorer.atlas.colour, explorer.atlas.search?.column ?? null, document.querySelector('#legend th:nth-child(2)').innerText]");
  assert.deepEqual(await shown(), ["1", "", "1", null, "as_name"]);
  await page.run("explorer.atlas.find('AS15169')");
  assert.deepEqual(await shown(), ["0", "AS15169", "0", 0, "asn"]);
  assert.match(await page.run(text("found")), /The map shows asn 15169/);
  // A click in the legend replaces what was found before.
  await page.run("document.querySelector('#legend button').click()");
  await page.until(`!${text("found")}.includes('15169') && document.querySelector('#found table')`);
  const [, clicked] = await shown();
  assert.match(clicked, /^AS\d+$/);
  // Another column: nothing is marked.
  await page.run("document.getElementById('colour').value = '1', document.getElementById('colour').dispatchEvent(new Event('change'))");
  await page.until("explorer.atlas.search === null");
  assert.equal(await page.run(text("found")), "");
  await page.until("location.hash.includes('by=as_name')");
  await page.run("history.back()");
  await page.until("explorer.atlas.search?.column === 0 && document.querySelector('#found table')");
  assert.deepEqual((await shown()).slice(0, 2), ["0", clicked]);
  await page.run("document.getElementById('query').value = '9.9.9.9', document.getElementById('look').requestSubmit()");
  await page.until("location.hash.includes('look=9.9.9.9')");
  await page.run("history.back()");
  await page.until("explorer.lookup.text === '8.8.8.8'");
  await page.close();
});

test("a search waits for the table, and says so", async () => {
  const page = await browser.page();
  pages.push(page);
  await page.open(url("page.html"));
  await page.until("Boolean(globalThis.explorer)");
  const said = await page.run("(explorer.searched = explorer.atlas.find('8.8.8.0/24'), document.getElementById('found').innerText)");
  assert.match(said, /^Searching/);
  await page.run("explorer.searched");
  assert.equal(await page.run(text("found")), "The map shows 8.8.8.0/24.");
  assert.ok((await page.run("explorer.atlas.map.view.zoom")) > 5);
  await page.close();
});

test("lines that are not looked up are counted and named", async () => {
  const page = await visit("page.html");
  await page.run("explorer.lookup.look('8.8.8.8\\n10.0.0.0/33\\n\\n8.8.8.8/8\\nfrom 10.1.0.0/8 to\\nfoo')");
  assert.equal(await page.run(text("asked")), "2 addresses and prefixes: 1 match; 3 lines not looked up: line 2, “10.0.0.0/33”, the prefix length is more than 32; line 4, “8.8.8.8/8”, host bits are set; line 6, “foo”, no address");
  assert.equal(await page.run("document.getElementById('unlinked').hidden"), true);
  await page.run("explorer.lookup.look('8.8.8.8\\n'.repeat(100))");
  assert.equal(await page.run("document.getElementById('unlinked').hidden"), false);
  writeFileSync(path("a.txt"), "10.0.0.0/8 x\n11.0.0.0/8 y\n");
  writeFileSync(path("b.txt"), "10.0.0.0/8 z\n");
  popfib(["explore", `a=${path("a.txt")}`, `b=${path("b.txt")}`, "--title", "A <b>title", "-o", path("two.html")]);
  const two = await visit("two.html", "#look=10.0.0.1%0A11.0.0.1");
  assert.equal(await two.run(text("title")), "A <b>title");
  assert.equal(await two.run(text("asked")), "2 addresses and prefixes: 2 matches in a, 1 match in b");
  await two.close();
  await page.close();
});

test("nothing is cut without a sign", async () => {
  const names = Array.from({ length: 30 }, (_, at) => `column_${at}`);
  writeFileSync(path("wide.csv"), `network,${names}\n${Array.from({ length: 60 }, (_, at) => `10.${at}.0.0/16,${names.map((name) => `${name} ${"long ".repeat(at % 20)}`)}`).join("\n")}\n`);
  popfib(["explore", path("wide.csv"), "--columns", "*", "-o", path("wide.html")]);
  const look = Array.from({ length: 60 }, (_, at) => `10.${at}.0.1`).join("%0A");
  for (const width of [360, 390, 768, 1400, 1920]) {
    const page = await visit("wide.html", `#look=${look}`, { width });
    await page.until(painted);
    assert.ok(await page.run("document.documentElement.scrollWidth <= innerWidth"), `${width}`);
    const more = "document.querySelector('#answers .more').innerText";
    await page.until(`/more rows, → \\d+ more columns/.test(${more})`);
    // The box ends with a row, and rows are as high as a line.
    const [end, rows] = await page.run("(({ top, height }, rows) => [top + height, rows])(document.querySelector('#answers .scroll').getBoundingClientRect(), [...document.querySelectorAll('#answers tbody tr')].map((row) => [row.getBoundingClientRect().bottom, row.offsetHeight]))");
    assert.ok(rows.some(([bottom]) => Math.abs(bottom - end) < 20 && bottom <= end + 1), `${width}`);
    if (width > 640) {
      assert.ok(Math.max(...rows.map(([, height]) => height)) < 40, `${width}`);
    }
    await page.run("document.querySelector('#answers .scroll').scrollTo(1e6, 1e6)");
    await page.until(`${more} === ''`);
    await page.close();
  }
});

test("names with markup are text", async () => {
  const name = "<img/src=x/onerror=document.title='no'></script><script>document.title='no'</script>";
  writeFileSync(path("markup.txt"), `10.0.0.0/8 ${name}\n`);
  popfib(["explore", path("markup.txt"), "-o", path("markup.html")]);
  const page = await visit("markup.html", "#look=10.0.0.1");
  await page.until(painted);
  await page.run(`explorer.atlas.find(${JSON.stringify(name.slice(0, 12))})`);
  for (const id of ["detail", "legend"]) {
    assert.ok((await page.run(text(id))).includes(name), id);
  }
  assert.equal(await page.run("document.querySelectorAll('img, script:not(#program)').length"), 0);
  assert.equal(await page.run("document.title.includes('no')"), false);
  // The policy lets no other script run, and no request leave.
  const blocked = await page.run(`(async () => {
    const script = document.createElement('script');
    script.textContent = "document.title = 'no'";
    document.body.append(script);
    const request = await fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'refused');
    return [document.title.includes('no'), request];
  })()`);
  assert.deepEqual(blocked, [false, "refused"]);
  // That is what these faults say.
  assert.ok(page.faults.length >= 2 && page.faults.every((fault) => /Content Security Policy|Fetch API cannot load/.test(fault)), page.faults.join("\n"));
  page.faults.length = 0;
  page.requests = page.requests.filter((request) => !request.startsWith("http:"));
  await page.close();
});

test("everything is reached by the keyboard", async () => {
  const page = await visit("page.html", "#look=8.8.8.8%0A1.1.1.1");
  await page.until(painted);
  const reached = new Set();
  for (let at = 0; at < 80; at++) {
    await page.key("Tab");
    reached.add(await page.run("document.activeElement.id || document.activeElement.textContent.slice(0, 20)"));
  }
  for (const id of ["query", "save", "table", "family", "colour", "wanted", "canvas", "nearer", "farther", "whole", "file", "8.8.8.8", "1.1.1.1", "Show on the map"]) {
    assert.ok(reached.has(id), `${id} of ${[...reached]}`);
  }
  await page.run("document.getElementById('query').value = '9.9.9.9', document.getElementById('query').focus()");
  // Enter begins a line; with Ctrl (2) it looks up.
  await page.key("Enter");
  assert.doesNotMatch(await page.run(text("detail")), /Quad9/);
  await page.key("Enter", 2);
  assert.match(await page.run(text("detail")), /Quad9/);
  await page.close();
});

test("axe finds no violation, in light and dark and on a phone", { skip: process.env.AXE ? false : "no axe-core" }, async () => {
  const axe = readFileSync(process.env.AXE, "utf8");
  for (const options of [{}, { scheme: "dark" }, { width: 390, height: 844 }]) {
    const page = await visit("page.html", "#look=8.8.8.8%0A2001:41d0::1%0A10.0.0.1", options);
    await page.until(painted);
    writeFileSync(path("small.log"), "8.8.8.8\n9.9.9.9\n");
    await page.choose("#file", [path("small.log")]);
    await page.until("document.querySelector('#bars tbody')");
    await page.run("explorer.atlas.find('AS15169')");
    await page.run(`${axe}; 0`);
    const violations = await page.run("axe.run().then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 100)).join(', ')}`))");
    assert.deepEqual(violations, [], JSON.stringify(options));
    // Nothing is wider than the screen.
    assert.ok(await page.run("document.documentElement.scrollWidth <= innerWidth"));
    await page.close();
  }
});
