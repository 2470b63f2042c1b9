// Makes pictures of the page of the built-in table: node pictures.js FOLDER. The first is that of docs/explore.md, the others are to be
// looked at. POPFIB is the command, CHROMIUM the browser.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { Browser } from "./browser.js";

const folder = process.argv[2];
const file = join(folder, "page.html");
execFileSync(process.env.POPFIB, ["explore", "-t", "built-in", "-o", file]);
const log = join(folder, "pictures.log");
writeFileSync(log, Array.from({ length: 3000 }, (_, at) => `${[8, 1, 9, 17, 52, 104, 142, 151, 185, 203][at % 10]}.${at % 7}.${(at * 5) % 251}.1 GET /\n`).join(""));
const guide = new URL("../../../docs/pictures/explore.png", import.meta.url).pathname;

const PICTURES = [
  [guide, "#look=8.8.8.8", { width: 1280, height: 1000 }],
  ["dark.png", "#look=8.8.8.8", { width: 1280, height: 1000, scheme: "dark" }],
  ["ipv6.png", "#look=2001:41d0::1%0A8.8.8.8%0A10.1.2.3%0Afrom 9.9.9.9&family=ipv6", { width: 1280, height: 1400 }],
  ["lengths.png", "#by=/length&view=0.4,0.3,3", { width: 1280, height: 1000, scheme: "dark" }],
  ["depths.png", "#by=/depth", { width: 1280, height: 1000 }],
  ["found.png", "#find=as_name=Google LLC", { width: 1280, height: 1600 }],
  ["hosts.png", "#view=0.125015,0.093735,13&look=8.8.8.8", { width: 1280, height: 1000, scheme: "dark" }],
  ["log.png", "", { width: 1280, height: 2000 }, log],
  ["phone.png", "#look=8.8.8.8%0A2001:41d0::1", { width: 390, height: 3200 }],
  ["phone-dark.png", "#look=2001:41d0::1", { width: 390, height: 3200, scheme: "dark" }],
];
const browser = await Browser.start(process.env.CHROMIUM);
try {
  for (const [name, hash, options, drop] of PICTURES) {
    const page = await browser.page(options);
    await page.open(`file://${file}${hash}`);
    await page.until("document.documentElement?.dataset.state === 'map' && explorer.atlas.map.isPainted", 60);
    if (drop) {
      await page.choose("#file", [drop]);
      await page.until("document.querySelector('#bars tbody')");
    }
    await page.until("!document.getElementById('detail').innerText.includes('Other routes come')");
    await new Promise((resolve) => setTimeout(resolve, 300));
    writeFileSync(name.startsWith("/") ? name : join(folder, name), await page.screenshot());
    await page.close();
  }
} finally {
  await browser.stop();
}
