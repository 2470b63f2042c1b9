// The code of docs/javascript.md and of the package's README, and what the comments say it gives.

import assert from "node:assert/strict";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";

const popfib = pathToFileURL(`${process.env.POPFIB_PACKAGE}/popfib.js`);
const top = new URL("../../../", import.meta.url);

for (const [guide, least] of [["docs/javascript.md", 19], ["crates/popfib-wasm/npm/README.md", 6]]) {
  test(guide, async () => {
    const document = await readFile(new URL(guide, top), "utf8");
    const blocks = (language) => Array.from(document.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms")), ([, block]) => block);
    const folder = await mkdtemp(join(tmpdir(), "popfib-guide-"));
    const before = process.cwd();
    let shown = 0;
    // Quotes as one pleases.
    const check = (value, expected) => {
      shown++;
      assert.equal(inspect(value, { breakLength: Infinity }).replaceAll("'", '"'), expected.replaceAll("'", '"'));
    };
    const code = blocks("js")
      .join("")
      .replace(/^import (\{.*\}) from "(.*)";$/gm, (_, names, from) => `const ${names} = await import("${from === "popfib" ? popfib : from}");`)
      .replace(/^(?!const )(.*); \/\/ (.*)$/gm, (_, expression, value) => `check(${expression}, ${JSON.stringify(value)});`);
    const script = join(folder, "guide.mjs");
    try {
      process.chdir(folder);
      await copyFile(new URL("engines/vectors/records.fib", top), "records.fib");
      for (const block of blocks("text")) {
        await writeFile("routes.txt", block);
      }
      await writeFile(script, `export default async (check) => {\n${code}\n};\n`);
      await (await import(pathToFileURL(script))).default(check);
    } finally {
      process.chdir(before);
      await rm(folder, { recursive: true });
    }
    assert.ok(shown >= least, `${shown} answers shown`);
  });
}
