// The answers of a page: node answers.js PAGE < ADDRESSES. Prints a list in JSON for each address: the prefix of its match in the first
// table and the texts of the record, "-" for what is not there. CHROMIUM is the browser.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";

import { Browser } from "./browser.js";

const asked = readFileSync(0, "utf8");
const browser = await Browser.start(process.env.CHROMIUM);
try {
  const page = await browser.page();
  await page.open(`file://${resolve(process.argv[2])}`);
  await page.until("document.documentElement?.dataset.state === 'map' && explorer.atlas.map.isPainted", 60);
  await page.run(`explorer.lookup.look(${JSON.stringify(asked)})`);
  const answers = await page.run("explorer.lookup.questions.map((_, at) => explorer.lookup.cells(explorer.lookup.tables[0], 0, at))");
  answers.forEach((answer) => console.log(JSON.stringify(answer)));
  if (page.faults.length > 0) {
    throw new Error(page.faults.join("\n"));
  }
} finally {
  await browser.stop();
}
