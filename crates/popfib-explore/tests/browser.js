// A headless Chromium by its DevTools protocol over a pipe: no package is needed, and no port is opened.

import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe", "--enable-precise-memory-info"];

export class Browser {
  static async start(command) {
    const browser = new Browser();
    browser.profile = await mkdtemp(join(tmpdir(), "popfib-explore-"));
    browser.process = spawn(command, [...OPTIONS, `--user-data-dir=${browser.profile}`], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    // Also where a test ends early.
    process.on("exit", () => browser.process.kill());
    browser.ended = new Promise((resolve) => browser.process.on("close", resolve));
    [browser.to, browser.from] = browser.process.stdio.slice(3);
    browser.next = 1;
    browser.waiting = new Map();
    browser.listeners = new Map();
    let rest = "";
    browser.from.setEncoding("utf8");
    browser.from.on("data", (text) => {
      const messages = (rest + text).split("\0");
      rest = messages.pop();
      messages.forEach((message) => browser.hear(JSON.parse(message)));
    });
    return browser;
  }

  hear({ id, method, params, result, error, sessionId }) {
    if (id === undefined) {
      this.listeners.get(sessionId)?.(method, params);
      return;
    }
    const { resolve, reject } = this.waiting.get(id);
    this.waiting.delete(id);
    if (error) {
      reject(new Error(error.message));
    } else {
      resolve(result);
    }
  }

  send(method, params = {}, sessionId) {
    return new Promise((resolve, reject) => {
      const id = this.next++;
      this.waiting.set(id, { resolve, reject });
      this.to.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }

  /** A new page of this size. */
  async page({ width = 1280, height = 900, scheme = "light" } = {}) {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this, sessionId, targetId);
    for (const domain of ["Page", "Runtime", "Log", "Network", "DOM"]) {
      await page.send(`${domain}.enable`);
    }
    await page.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width < 500 });
    await page.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
    return page;
  }

  async stop() {
    this.process.kill();
    await this.ended;
    await rm(this.profile, { recursive: true, force: true, maxRetries: 9 });
  }
}

class Page {
  constructor(browser, sessionId, targetId) {
    Object.assign(this, { browser, sessionId, targetId, faults: [], requests: [] });
    browser.listeners.set(sessionId, (method, params) => {
      if (method === "Runtime.exceptionThrown") {
        this.faults.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
      } else if (method === "Log.entryAdded" && params.entry.level !== "info" && params.entry.level !== "verbose") {
        this.faults.push(params.entry.text);
      } else if (method === "Runtime.consoleAPICalled" && ["error", "warning", "assert"].includes(params.type)) {
        this.faults.push(params.args.map(({ value }) => value).join(" "));
      } else if (method === "Network.requestWillBeSent") {
        this.requests.push(params.request.url);
      }
    });
  }

  send(method, params) {
    return this.browser.send(method, params, this.sessionId);
  }

  /** The value of an expression in the page, after the promise that it may be. */
  async run(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) {
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    }
    return result.value;
  }

  /** Waits until an expression is true; fails after these seconds. */
  async until(expression, seconds = 30) {
    const end = Date.now() + 1000 * seconds;
    while (!(await this.run(expression))) {
      if (Date.now() > end) {
        throw new Error(`not within ${seconds} s: ${expression}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async open(url) {
    await this.send("Page.navigate", { url });
  }

  async key(key, modifiers = 0) {
    const text = key.length === 1 ? key : key === "Enter" ? "\r" : undefined;
    await this.send("Input.dispatchKeyEvent", { type: "keyDown", key, text, modifiers, windowsVirtualKeyCode: { Tab: 9, Enter: 13, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40 }[key] });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", key });
  }

  async mouse(type, x, y, more = {}) {
    await this.send("Input.dispatchMouseEvent", { type, x, y, ...more });
  }

  /** Gives a file input these files. */
  async choose(selector, files) {
    const { root } = await this.send("DOM.getDocument");
    const { nodeId } = await this.send("DOM.querySelector", { nodeId: root.nodeId, selector });
    await this.send("DOM.setFileInputFiles", { nodeId, files });
  }

  /** The bytes of a PNG of the page. */
  async screenshot(whole = false) {
    const { data } = await this.send("Page.captureScreenshot", { format: "png", captureBeyondViewport: whole });
    return Buffer.from(data, "base64");
  }

  async close() {
    await this.browser.send("Target.closeTarget", { targetId: this.targetId });
  }
}
