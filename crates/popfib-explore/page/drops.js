// Files that the user drops on the page, or chooses: a log is counted, an image or a list becomes a table beside the others.

import { by, counted, element, grouped, percent, tableOf } from "./dom.js";
import { readImage } from "./image.js";
import { Addresses } from "./routes.js";
import { columnsOf, saidOf, tableOfList, textOf } from "./tables.js";

/** The values of a log that are shown. */
const BARS = 20;

export class Drops {
  /** `add` takes new tables, `atlas` shows the networks of a log. */
  constructor({ ask, tables, atlas, add }) {
    Object.assign(this, { ask, tables, atlas, add });
    by("file").addEventListener("change", () => this.take(by("file").files[0]));
    by("forget").addEventListener("click", () => this.show(null));
    const { documentElement: page } = document;
    for (const name of ["dragover", "drop"]) {
      page.addEventListener(name, (event) => {
        if (event.dataTransfer?.types.includes("Files")) {
          event.preventDefault();
          page.classList.toggle("dropping", name === "dragover");
        }
      });
    }
    page.addEventListener("dragleave", () => page.classList.remove("dropping"));
    page.addEventListener("drop", (event) => this.take(event.dataTransfer?.files[0]));
  }

  say(text) {
    by("taken").textContent = text;
  }

  async take(file) {
    if (!file) {
      return;
    }
    this.say(`${file.name}: reading`);
    try {
      const kind = await this.ask("kind", { file });
      if (kind === "log") {
        await this.count(file);
      } else {
        await this.open(file, kind);
      }
    } catch (error) {
      this.say(`${file.name}: ${error.message}`);
    }
  }

  async open(file, kind) {
    const opened = await this.ask("openFile", { file, kind });
    const name = (table) => (table.name === "" || kind === "list" ? file.name : table.name);
    const tables =
      kind === "image"
        ? readImage(new Uint8Array(opened.buffer), false).map((table) => Object.assign(table, { name: name(table) }))
        : [tableOfList(file.name, opened.texts, Object.fromEntries(opened.segments.map(([family, parts]) => [family, Object.assign(new Addresses(parts.width, 1), parts)])))];
    this.say(`${file.name}: ${counted(tables.length, "table")}, ${tables.map((table) => table.name).join(", ")}`);
    tables.forEach((table) => (table.isDropped = true));
    await this.add(tables, opened.first);
  }

  async count(file) {
    const { number } = this.atlas;
    const table = this.tables[number];
    const told = (bytes) => this.say(`${file.name}: ${grouped(Math.round(bytes / 2 ** 20))} MiB read`);
    const counts = await this.ask("count", { file, table: number }, told);
    const column = typeof this.atlas.by === "number" ? this.atlas.by : 0;
    const names = columnsOf(table);
    // The records by the value of the column.
    const byValue = new Map();
    const put = (text, count) => byValue.set(text, (byValue.get(text) ?? 0) + count);
    for (const [record, count] of counts.records) {
      const cell = record === 0 ? null : table.records ? textOf(table.records.cell(record, column)) : String(record);
      const none = record === 0 ? "no match" : `without ${names[column]}`;
      put(cell === null ? none : saidOf(names[column], cell) || "listed", count);
    }
    const without = counts.without > 0 ? `, ${grouped(counts.without)} without an address` : "";
    if (without) {
      put("no address", counts.without);
    }
    const top = [...byValue].sort((a, b) => b[1] - a[1]);
    const rows = top.slice(0, BARS).map(([text, count]) => {
      const bar = element("span", { class: "amount" });
      bar.style.width = `${(100 * count) / top[0][1]}%`;
      return [text, grouped(count), percent(count / counts.lines), element("span", { class: "room", "aria-hidden": "true" }, bar)];
    });
    this.say(`${file.name}: ${counted(counts.lines, "line")}${without}`);
    const caption = top.length > BARS ? `The ${BARS} most frequent of ${counted(top.length, "value")}` : "Values by lines";
    this.show({ name: file.name, networks: counts.networks }, tableOf(`${caption}, by ${names[column]}`, [names[column], "lines", "share", element("span", { class: "hidden" }, "bar")], rows, [1, 2]));
  }

  /** Shows what was counted of a log, and its dots on the map; null takes them away. */
  show(log, ...bars) {
    by("bars").replaceChildren(...bars);
    by("forget").hidden = !log;
    this.atlas.log = log;
    this.atlas.legend();
    this.atlas.dots();
    if (!log) {
      this.say("");
    }
  }
}
