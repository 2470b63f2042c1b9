// The answers of every engine in a browser: node tests/browser.js COMMAND, a Chromium. POPFIB_PACKAGE is the package's folder.

import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

const types = { js: "text/javascript", wasm: "application/wasm", json: "application/json", html: "text/html" };
const folders = {
  "/package/": `${process.env.POPFIB_PACKAGE}/`,
  "/tests/": new URL("./", import.meta.url).pathname,
  "/records/": new URL("../../../engines/vectors/", import.meta.url).pathname,
  "/vectors/": new URL("../../../target/vectors/", import.meta.url).pathname,
};
const page = `<!doctype html><title>popfib</title><script type=module>
  import * as popfib from "/package/popfib.js";
  import { askAll } from "/tests/answers.js";
  import { askRecords } from "/tests/records.js";
  const say = (text) => fetch("/said", { method: "POST", body: text });
  try {
    const vectors = await (await fetch("/vectors/vectors.json")).json();
    const cut = (await popfib.compile("10.0.0.0/8 a\\n")).slice(0, 99);
    const refused = await popfib.Table.from(cut).catch((error) => error.message);
    const image = await (await fetch("/records/records.fib")).arrayBuffer();
    const records = await askRecords(popfib, image, await (await fetch("/records/records.jsonl")).text());
    say("answers: " + (await askAll(popfib, vectors)) + "; of records: " + records + "; " + refused);
  } catch (error) {
    say("failed: " + error);
  }
</script>`;

// The page says it itself: a browser that prints a page does so after a time, which may be too early.
let hear;
const heard = new Promise((resolve) => (hear = resolve));
const server = createServer(async (request, response) => {
  const { url } = request;
  try {
    if (url === "/said") {
      hear(Buffer.concat(await request.toArray()).toString());
    }
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
const options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-port=0", `--user-data-dir=${profile}`];
const browser = spawn(process.argv[2], [...options, `http://127.0.0.1:${server.address().port}/`], { stdio: ["ignore", "ignore", "pipe"] });
let errors = "";
browser.stderr.on("data", (text) => (errors += text));
const ended = new Promise((resolve) => browser.on("close", resolve));
browser.on("error", (error) => hear(`nothing: ${error.message}`));
browser.on("close", (code) => hear(`nothing, and ended with ${code}`));
const timer = setTimeout(hear, 120_000, "nothing for two minutes");
try {
  const said = await heard;
  if (!/^answers: \d{5,}; of records: \d{3,}; table: cut off at byte 99 of \d+$/.test(said)) {
    throw new Error(`the browser said ${said}\n${errors}`);
  }
  console.log(`${process.argv[2]}: ${said}`);
} finally {
  clearTimeout(timer);
  browser.kill();
  await ended;
  server.closeAllConnections();
  server.close();
  await rm(profile, { recursive: true, force: true, maxRetries: 9 });
}
