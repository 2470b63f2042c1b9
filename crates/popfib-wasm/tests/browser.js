// The answers of every engine in a browser: node tests/browser.js COMMAND, a Chromium. POPFIB_PACKAGE is the package's folder.

import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const types = { js: "text/javascript", wasm: "application/wasm", json: "application/json", html: "text/html" };
const folders = {
  "/package/": `${process.env.POPFIB_PACKAGE}/`,
  "/tests/": new URL("./", import.meta.url).pathname,
  "/vectors/": new URL("../../../engines/vectors/", import.meta.url).pathname,
};
const page = `<!doctype html><title>popfib</title><p id=said>nothing</p><script type=module>
  import * as popfib from "/package/popfib.js";
  import { askAll } from "/tests/answers.js";
  import { askRecords } from "/tests/records.js";
  const say = (text) => (document.querySelector("#said").textContent = text);
  try {
    const vectors = await (await fetch("/vectors/vectors.json")).json();
    const cut = (await popfib.compile("10.0.0.0/8 a\\n")).slice(0, 99);
    const refused = await popfib.Table.from(cut).catch((error) => error.message);
    const image = await (await fetch("/vectors/records.fib")).arrayBuffer();
    const records = await askRecords(popfib, image, await (await fetch("/vectors/records.jsonl")).text());
    say("answers: " + (await askAll(popfib, vectors)) + "; of records: " + records + "; " + refused);
  } catch (error) {
    say("failed: " + error);
  }
</script>`;

const server = createServer(async ({ url }, response) => {
  try {
    const folder = Object.keys(folders).find((start) => url.startsWith(start) && !url.includes(".."));
    const body = folder ? await readFile(folders[folder] + url.slice(folder.length)) : page;
    response.writeHead(200, { "content-type": types[folder ? url.split(".").pop() : "html"] ?? "application/octet-stream" });
    response.end(body);
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const profile = await mkdtemp(join(tmpdir(), "popfib-browser-"));
try {
  const options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", `--user-data-dir=${profile}`];
  options.push("--virtual-time-budget=60000", "--dump-dom", `http://127.0.0.1:${server.address().port}/`);
  const { stdout } = await promisify(execFile)(process.argv[2], options, { timeout: 120_000 });
  const [, said] = /<p id="said">([^<]*)</.exec(stdout) ?? [];
  if (!/^answers: \d{5,}; of records: \d{3,}; table: cut off at byte 99 of \d+$/.test(said)) {
    throw new Error(`the browser said ${said}\n${stdout}`);
  }
  console.log(`${process.argv[2]}: ${said}`);
} finally {
  server.close();
  await rm(profile, { recursive: true, force: true, maxRetries: 9 });
}
