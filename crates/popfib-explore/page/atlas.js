// The part of the page around the map: which table, family and colours it shows, its legend, what was searched for, and a log's
// networks on it.

import { formatPrefix, mask, parsePrefix } from "./addresses.js";
import { button, by, counted, element, grouped, percent, tableOf } from "./dom.js";
import { HilbertMap } from "./map.js";
import { colours } from "./palette.js";
import { LARGEST, Space } from "./space.js";
import { columnsOf, familyOf, nameOf, saidOf } from "./tables.js";

/** The values and routes that a search shows, and the networks of a log. */
const HITS = 12;
const ROUTES = 50;
const DOTS = 2000;

export class Atlas {
  /** `pick` looks up an address, `changed` hears whether a step back leads here, `remove` takes a table away. */
  constructor({ ask, tables, pick, changed, remove }) {
    Object.assign(this, { ask, tables, changed, remove });
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.number = 0;
    this.family = null;
    this.search = null;
    /** What was counted of a log: its name, and the lines of each network. */
    this.log = null;
    this.turn = 0;
    this.map = new HilbertMap(by("canvas"), { ask, pick, hear: (heard) => this.hear(heard), moved: () => changed(false) });
    by("table").addEventListener("change", () => this.choose(Number(by("table").value), this.family, null));
    by("family").addEventListener("change", () => this.choose(this.number, by("family").value, by("colour").value));
    by("colour").addEventListener("change", () => this.choose(this.number, this.family, by("colour").value));
    by("nearer").addEventListener("click", () => this.zoom(1));
    by("farther").addEventListener("click", () => this.zoom(-1));
    by("whole").addEventListener("click", () => this.map.move(0.5, 0.5, 0));
    by("find").addEventListener("submit", (event) => {
      event.preventDefault();
      this.find(by("wanted").value.trim());
    });
    by("clear").addEventListener("click", () => this.find(""));
    by("drop").addEventListener("click", () => this.remove(this.number));
    this.dark.addEventListener("change", () => {
      this.map.repaint(this.dark.matches);
      if (this.rows) {
        this.legend();
      }
    });
  }

  zoom(by) {
    const { x, y, zoom } = this.map.view;
    this.map.move(x, y, zoom + by);
  }

  get table() {
    return this.tables[this.number];
  }

  /** The names of the tables, again when one has come. */
  list() {
    const options = this.tables.map((table, at) => element("option", { value: at }, table.name));
    by("table").replaceChildren(...options);
    by("table").value = this.number;
    by("table").parentElement.hidden = this.tables.length < 2;
    by("drop").hidden = !this.table.isDropped;
  }

  /** Shows a family of a table by a colouring; null is the usual one. */
  choose(number, family, colour) {
    return (this.isChosen = this.change(number, family, colour));
  }

  async change(number, family, colour) {
    const { families } = this.tables[number];
    // A list has only families with routes; an image says how many there are.
    const there = Object.keys(families).filter((name) => families[name].routes !== 0);
    if (there.length === 0) {
      this.list();
      by("legend").replaceChildren(element("p", {}, `${this.tables[number].name} has no route.`));
      return;
    }
    const isOther = number !== this.number || !this.map.space;
    this.number = number;
    this.list();
    this.family = there.includes(family) ? family : there[0];
    const names = columnsOf(this.table);
    by("family").replaceChildren(...there.map((name) => element("option", { value: name }, { ipv4: "IPv4", ipv6: "IPv6" }[name])));
    by("family").value = this.family;
    by("colour").replaceChildren(...names.map((name, at) => element("option", { value: at }, name)), element("option", { value: "length" }, "prefix length"), element("option", { value: "depth" }, "depth"));
    const main = Math.max(0, this.table.records?.columns.findIndex(({ kind }) => kind === "text") ?? 0);
    this.colour = colour !== null && [...by("colour").options].some(({ value }) => value === colour) ? colour : String(main);
    by("colour").value = this.colour;
    // What is marked is a value of the column that the map is coloured by.
    if (isOther || (this.search && String(this.search.column) !== this.colour)) {
      this.unmark();
    }
    const { width, length, blocks } = await this.ask("space", { table: number, family: this.family });
    this.space = new Space(width, length, blocks);
    await this.repaint();
    this.changed(true);
  }

  get by() {
    return /^\d+$/.test(this.colour) ? Number(this.colour) : this.colour;
  }

  async repaint() {
    const { number, family, by: how, search } = this;
    const by = search ? search.column : how;
    this.rows = await this.ask("paint", { table: number, family, by, search });
    this.map.show(this.table, number, family, this.space, this.dark.matches);
    this.legend();
    this.dots();
  }

  /** The legend, which says in words what the map shows in colours. */
  legend() {
    const lengths = this.rows.filter(({ colour }) => colour >= 32).map(({ colour }) => colour - 32);
    const all = colours(this.dark.matches, lengths.length > 0 ? [Math.min(...lengths), Math.max(...lengths)] : [0, 1]);
    const name = this.search ? columnsOf(this.table)[this.search.column] : typeof this.by === "number" ? columnsOf(this.table)[this.by] : this.by;
    const rows = this.rows.map((row) => {
      const swatch = element("span", { class: "swatch" });
      const isFound = this.search && row.code === this.search.code;
      const colour = this.search && row.code !== undefined ? (isFound ? 16 : 11 + (row.code & 3)) : row.colour;
      swatch.style.backgroundColor = `rgb(${all[colour].join(" ")})`;
      const text = row.code === undefined ? row.what : saidOf(name, row.what) || "listed";
      const value = row.code === undefined ? text : button(text, () => this.show(row), { class: "link", title: "Show where it is" });
      return [swatch, value, percent(row.share)];
    });
    const { length, blocks } = this.space;
    const space = this.family === "ipv4" ? "all IPv4 addresses" : `the IPv6 space in use, ${counted(blocks.length, "block")} of /${length}`;
    by("about").textContent =
      this.family === "ipv4"
        ? ""
        : `Of IPv6 the map shows the blocks of /${length} that routes use, without the gaps. No route takes more room than a /${LARGEST}: of a shorter one, as 2002::/16 of 6to4, the map shows the first /${LARGEST}, and what longer routes have of it.`;
    if (this.log) {
      const dot = element("span", { class: "swatch dot" });
      rows.push([dot, `lines of ${this.log.name}: the larger, the more`, ""]);
    }
    by("legend").replaceChildren(tableOf(`Share of ${space}, by ${name}`, [element("span", { class: "hidden" }, "colour"), name, "share"], rows, [2]));
  }

  /** Shows one value of the legend. */
  async show({ code, what }) {
    const column = this.search?.column ?? this.by;
    await this.mark({ column, code, value: what });
  }

  async mark(hit) {
    const turn = this.begin();
    const name = columnsOf(this.table)[hit.column];
    this.search = { column: hit.column, code: hit.code, value: hit.value };
    this.colour = by("colour").value = String(hit.column);
    by("wanted").value = saidOf(name, hit.value);
    by("clear").hidden = false;
    await this.repaint();
    this.changed(true);
    const { count, routes } = await this.ask("routesWith", { table: this.number, column: hit.column, code: hit.code, most: ROUTES });
    const rows = routes.map(({ words, length, record }) => [
      button(formatPrefix(words, length), () => this.go(familyOf(words), { words, length }), { class: "link code" }),
      nameOf(this.table, record),
    ]);
    const caption = count > routes.length ? `The first ${routes.length} of ${counted(count, "route")}` : counted(count, "route");
    this.tell(turn, `The map shows ${name} ${hit.value || "listed"}.`, tableOf(caption, ["Prefix", "Record"], rows));
  }

  /** Nothing is marked from now on, and nothing found. */
  unmark() {
    this.turn++;
    this.search = null;
    this.map.mark = null;
    by("wanted").value = "";
    by("found").replaceChildren();
    by("clear").hidden = true;
  }

  /** Begins what takes time, in place of what was found before; what began later counts. */
  begin() {
    this.tell(++this.turn, this.map.space ? "Searching…" : "Searching, when the table is unpacked…");
    return this.turn;
  }

  /** Says what was found. */
  tell(turn, text, ...parts) {
    if (turn === this.turn) {
      by("found").replaceChildren(element("p", { role: "status" }, text), ...parts);
    }
  }

  /** Searches for a prefix, an AS or a value. */
  async find(text) {
    if (text === "") {
      this.unmark();
      await this.repaint();
      this.changed(true);
      return;
    }
    const turn = this.begin();
    await this.isChosen.catch(() => {});
    if (turn !== this.turn) {
      return;
    }
    const prefix = parsePrefix(text);
    if (prefix) {
      const wasMarked = this.search !== null;
      this.unmark();
      by("wanted").value = text;
      if (wasMarked) {
        await this.repaint();
      }
      await this.go(familyOf(prefix.words), prefix);
      return;
    }
    const { count, hits } = await this.ask("search", { table: this.number, text, most: HITS });
    if (count === 0) {
      this.tell(turn, `Nothing is called “${text}”. An AS is written AS64500, a prefix 192.0.2.0/24.`);
      return;
    }
    const [best] = hits;
    if (count === 1 || (best.rank === 0 && hits[1]?.rank !== 0)) {
      await this.mark(best);
      return;
    }
    const names = columnsOf(this.table);
    const rows = hits.map((hit) => [button(hit.value, () => this.mark(hit), { class: "link" }), names[hit.column], grouped(hit.routes)]);
    this.tell(
      turn,
      counted(count, "value"),
      tableOf(count > hits.length ? `The first ${hits.length}` : "Values", ["Value", "Column", "Routes"], rows, [2]),
    );
  }

  /** Shows a prefix, also of the other family. */
  async go(family, { words, length }) {
    const turn = ++this.turn;
    if (!this.table.families[family]) {
      this.tell(turn, "The table has no route of that family.");
      return;
    }
    if (family !== this.family) {
      await this.choose(this.number, family, this.colour);
    }
    if (!this.map.go(words, length)) {
      this.tell(this.turn, `${formatPrefix(words, length)} is not on the map: no route uses it, or only one shorter than /${LARGEST}.`);
      return;
    }
    if (!this.search) {
      this.tell(this.turn, `The map shows ${formatPrefix(words, length)}.`);
      by("clear").hidden = false;
    }
    this.changed(true);
    by("canvas").scrollIntoView({ block: "nearest" });
  }

  hear(heard) {
    const tip = by("tip");
    tip.hidden = !heard;
    if (!heard) {
      return;
    }
    tip.textContent = heard.text;
    const { width } = this.map.size;
    const room = Math.max(0, Math.min(heard.px + 14, width - tip.offsetWidth - 4));
    tip.style.left = `${room}px`;
    tip.style.top = `${heard.py + 18}px`;
    if (this.map.isKeyed) {
      by("said").textContent = heard.text;
    }
  }

  /** The networks of a log on the map, the ones with most lines. */
  dots() {
    const of = this.log?.networks[this.family];
    if (!of) {
      this.map.dots = [];
      this.map.draw();
      return;
    }
    const top = [...of].sort((a, b) => b[1] - a[1]).slice(0, DOTS);
    const most = top[0]?.[1] ?? 1;
    const words = (network) => (this.family === "ipv4" ? [network >>> 0] : mask([...network.split(" ").map((word) => Number(word) >>> 0), 0, 0], 48));
    this.map.dots = top.flatMap(([network, count]) => {
      const place = this.map.placeOf(words(network));
      return place ? [{ ...place, weight: count / most }] : [];
    });
    this.map.draw();
  }
}
