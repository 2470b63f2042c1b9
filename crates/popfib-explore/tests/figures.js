// Measures the page of the built-in table in headless Chromium: node figures.js FOLDER. Prints the median of three openings beside its
// bar, and fails where one is missed. POPFIB is the command, CHROMIUM the browser.

import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import { Browser } from "./browser.js";

const page = join(process.argv[2], "page.html");
execFileSync(process.env.POPFIB, ["explore", "-t", "built-in", "-o", page]);

// In the page, from the beginning of its loading.
const WATCH = `addEventListener("DOMContentLoaded", () => {
  globalThis.times = {};
  const look = () => {
    const { state } = document.documentElement.dataset;
    times.answers ??= state ? performance.now() : undefined;
    times.map ??= state === "map" && explorer.atlas.map.isPainted ? performance.now() : undefined;
    if (!times.map) {
      setTimeout(look, 5);
    }
  };
  look();
})`;
const MOVE = `(async () => {
  const { map } = explorer.atlas;
  const frame = () => new Promise(requestAnimationFrame);
  map.frameTimes.length = 0;
  for (let at = 0; at < 300; at++) {
    const share = at / 300;
    map.move(0.3 + 0.4 * Math.sin(7 * share) ** 2, 0.3 + 0.4 * Math.cos(5 * share) ** 2, 9 * Math.sin(Math.PI * share));
    await frame();
  }
  return map.frameTimes.sort((a, b) => a - b)[Math.floor(0.95 * map.frameTimes.length)];
})()`;
const LIST = `(() => {
  const text = Array.from({ length: 100000 }, (_, at) => { const word = Math.imul(at, 2654435761) >>> 0; return [24, 16, 8, 0].map((shift) => (word >>> shift) & 255).join("."); }).join("\\n");
  const start = performance.now();
  explorer.lookup.look(text);
  document.body.offsetHeight;
  return performance.now() - start;
})()`;

/** The private memory of the largest renderer, in MB. */
async function memory(browser) {
  const { processInfo } = await browser.send("SystemInfo.getProcessInfo");
  const sizes = processInfo.filter(({ type }) => type === "renderer").map(({ id }) => {
    const rows = readFileSync(`/proc/${id}/smaps_rollup`, "utf8").matchAll(/^Private_\w+: +(\d+) kB/gm);
    return [...rows].reduce((sum, [, kilobytes]) => sum + Number(kilobytes), 0);
  });
  return (Math.max(...sizes) * 1024) / 1e6;
}

const measured = [];
for (let round = 0; round < 3; round++) {
  const browser = await Browser.start(process.env.CHROMIUM);
  try {
    const tab = await browser.page();
    await tab.send("Page.addScriptToEvaluateOnNewDocument", { source: WATCH });
    await tab.open(`file://${page}#look=8.8.8.8`);
    await tab.until("globalThis.times?.map", 60);
    const { answers, map } = await tab.run("times");
    const used = await memory(browser);
    const move = await tab.run(MOVE);
    measured.push([answers / 1000, map / 1000, move, used, statSync(page).size / 1e6, (await tab.run(LIST)) / 1000]);
  } finally {
    await browser.stop();
  }
}
const BARS = [
  ["first lookup after opening, s", 1.5],
  ["the map drawn, s", 4],
  ["script time a frame while zooming and panning, p95, ms", 6],
  ["private memory of the renderer, map drawn, MB", 250],
  ["size of the page, MB", 9],
  ["lookups of a pasted list of 100,000 addresses, s", 1],
];
BARS.forEach(([what, bar], at) => {
  const values = measured.map((of) => of[at]).sort((a, b) => a - b);
  const shown = values.map((value) => value.toPrecision(3));
  console.log(`${what}: ${shown[1]} (${shown[0]} to ${shown[2]}), bar ${bar}`);
  if (values[1] > bar) {
    process.exitCode = 1;
  }
});
