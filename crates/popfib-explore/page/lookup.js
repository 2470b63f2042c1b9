// The part of the page that looks up: a text in, a row for each of its addresses and prefixes out, and for one of them its way, the
// routes that cover it and the longer ones near it.

import { formatAddress, formatPrefix, found, parseLine } from "./addresses.js";
import { button, by, counted, element, grouped, save, tableOf } from "./dom.js";
import { answerOf, cellsOf, columnsOf, familyOf, matchOf, nameOf } from "./tables.js";
import { wayOf } from "./way.js";

/** The rows that are shown at first, and with each further click. */
const ROWS = 50;
/** The most columns that a phone shows below each other. */
const STACK = 9;
/** The longest text that a link carries. */
export const IN_LINK = 500;
/** In place of an answer that is not known yet. */
const LATE = -1;
/** The longer routes that are shown. */
const NEAREST = 12;

/** The lines without an answer that are named, and how much of each. */
const NAMED = 5;
const NAME = 40;

/**
 * The addresses and prefixes of a text, as `{ text, words, length }`, and what else its lines are, as `{ line, text, reason }`. A line
 * that is one of them costs least.
 */
export function asked(text) {
  const questions = [];
  const others = [];
  text.split("\n").forEach((line, at) => {
    const whole = line.trim();
    if (whole === "") {
      return;
    }
    const { words, length, reason, isPrefix } = parseLine(whole);
    const count = questions.length;
    if (words) {
      questions.push({ text: whole, words, length });
    } else if (!isPrefix) {
      questions.push(...found(whole));
    }
    if (questions.length === count) {
      others.push({ line: at + 1, text: whole, reason });
    }
  });
  return { questions, others };
}

export class Lookup {
  /** `ask` asks the worker, `tables` are all tables, `show` shows a prefix of a table on the map. */
  constructor({ ask, tables, show, changed }) {
    Object.assign(this, { ask, tables, show, changed });
    by("look").addEventListener("submit", (event) => {
      event.preventDefault();
      this.look(by("query").value);
      this.changed(true);
    });
    by("query").addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        by("look").requestSubmit();
      }
    });
    by("save").addEventListener("click", () => save("lookups.csv", this.csv()));
  }

  /** Looks up everything that a text has. */
  look(text) {
    this.text = text;
    Object.assign(this, asked(text));
    this.answers = this.tables.map((table) => Float64Array.from(this.questions, ({ words }) => answerOf(table, words)));
    this.shown = 0;
    const late = this.late();
    this.tell();
    if (late.length > 0) {
      this.complete(text, late);
    }
  }

  /** Says and shows the answers. */
  tell() {
    const { text, questions, others } = this;
    const { length } = questions;
    const what = length === 1 ? "1 address or prefix" : `${grouped(length)} addresses and prefixes`;
    const matches = this.tables.flatMap((table, number) => {
      const matched = this.answers[number].reduce((sum, answer) => sum + (answer > 0 ? 1 : 0), 0);
      const said = matched === 1 ? "1 match" : `${grouped(matched)} matches`;
      return this.isSpecial(table) ? [] : [this.several() ? `${said} in ${table.name}` : said];
    });
    const named = others.slice(0, NAMED).map(({ line, text, reason }) => `line ${line}, “${text.length > NAME ? `${text.slice(0, NAME)}…` : text}”, ${reason}`);
    const more = others.length > NAMED ? ["…"] : [];
    const left = others.length > 0 ? [`${counted(others.length, "line")} not looked up: ${[...named, ...more].join("; ")}`] : [];
    by("asked").textContent = [...(length > 0 ? [`${what}: ${matches.join(", ")}`] : []), ...left].join("; ");
    by("unlinked").hidden = text.length <= IN_LINK;
    by("save").hidden = length < 2;
    this.list();
    by("detail").replaceChildren();
    if (length > 0 && this.answers.every(([first]) => first !== LATE)) {
      this.detail(0);
    }
  }

  /**
   * The questions whose answers take all routes, and which are LATE meanwhile: that of a prefix is the longest route that covers all of
   * it, and the match of its first address is longer.
   */
  late() {
    const late = [];
    this.answers.forEach((answers, table) =>
      this.questions.forEach(({ words, length }, at) => {
        if (length < 32 * words.length && answers[at] % (32 * words.length + 1) > length) {
          answers[at] = LATE;
          late.push({ table, at, words, length });
        }
      }),
    );
    return late;
  }

  async complete(text, late) {
    const right = await this.ask("covers", { questions: late });
    if (this.text === text) {
      late.forEach(({ table, at }, number) => (this.answers[table][at] = right[number]));
      this.shown = 0;
      this.tell();
    }
  }

  /** The rows of the list, ROWS more than before. */
  list() {
    const { length } = this.questions;
    if (length < 2) {
      by("answers").replaceChildren();
      return;
    }
    this.shown = Math.min(length, this.shown + ROWS);
    const rows = this.questions.slice(0, this.shown).map(({ text }, at) => [
      button(text, () => this.detail(at, true), { class: "link code" }),
      ...this.tables.flatMap((table, number) => this.cells(table, number, at)),
    ]);
    const headings = ["Address", ...this.headings()];
    const table = tableOf("Answers", headings, rows, [], headings.length <= STACK ? "stack" : null);
    const more = this.shown < length ? button(`Show more of ${counted(length, "row")}`, () => this.list()) : null;
    by("answers").replaceChildren(...[table, more].filter(Boolean));
  }

  headings() {
    // The special registries say little that is not in their first column.
    return this.tables.flatMap((table) => (this.isSpecial(table) ? ["special"] : ["prefix", ...columnsOf(table)].map((name) => (this.several() ? `${table.name} ${name}` : name))));
  }

  isSpecial(table) {
    return table.name === "special" && this.tables.length > 1;
  }

  several() {
    return this.tables.filter((table) => !this.isSpecial(table)).length > 1;
  }

  cells(table, number, at) {
    const isSpecial = this.isSpecial(table);
    if (this.answers[number][at] === LATE) {
      return isSpecial ? ["…"] : ["…", ...columnsOf(table).map(() => "…")];
    }
    const match = matchOf(this.answers[number][at], this.questions[at].words);
    if (!match) {
      return isSpecial ? ["-"] : ["-", ...columnsOf(table).map(() => "-")];
    }
    const cells = cellsOf(table, match.record).map((cell) => cell ?? "-");
    return isSpecial ? [cells[0]] : [formatPrefix(match.words, match.length), ...cells];
  }

  csv() {
    const field = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const rows = this.questions.map(({ text }, at) => [text, ...this.tables.flatMap((table, number) => this.cells(table, number, at))]);
    return [["address", ...this.headings()], ...rows].map((row) => `${row.map(field).join(",")}\n`).join("");
  }

  /** Everything about one question. */
  async detail(at, scrolls) {
    const question = this.questions[at];
    const title = element("h3", { tabindex: "-1" }, question.text);
    const parts = this.tables.map((table, number) => this.about(table, number, question, matchOf(this.answers[number][at], question.words)));
    by("detail").replaceChildren(title, ...parts.flatMap(({ parts }) => parts));
    if (scrolls) {
      title.focus();
    }
    for (const { later } of parts) {
      await later?.().catch((error) => (by("asked").textContent = `Other routes cannot be shown: ${error.message}`));
    }
  }

  about(table, number, { words, length }, match) {
    if (!match && this.isSpecial(table)) {
      return { parts: [] };
    }
    const heading = element("h4", {}, this.isSpecial(table) ? "Special-purpose addresses (IANA)" : table.name);
    if (!match) {
      return { parts: [heading, element("p", {}, "No route matches.")], later: this.laterOf(table, number, words, length, null, heading) };
    }
    const cells = cellsOf(table, match.record);
    const record = element("dl", {}, ...columnsOf(table).flatMap((name, at) => (cells[at] === null ? [] : [element("dt", {}, name), element("dd", {}, cells[at] || "listed")])));
    const prefix = formatPrefix(match.words, match.length);
    const place = element("p", {}, "matches ", element("strong", { class: "code" }, prefix), " ");
    if (this.isSpecial(table)) {
      return { parts: [heading, place, record] };
    }
    place.append(button("Show on the map", () => this.show(number, familyOf(words), match)));
    // A prefix takes all routes, and no way through the table.
    const way = length === 32 * words.length ? wayOf(table, familyOf(words), words) : null;
    const steps = way && element("details", { open: this.questions.length === 1 }, element("summary", {}, "The way through the table"), way);
    const routes = element("div", {}, element("p", {}, "Other routes come when the table is unpacked."));
    return { parts: [heading, place, record, routes, steps].filter(Boolean), later: this.laterOf(table, number, words, length, match, routes) };
  }

  /** What needs all routes. */
  laterOf(table, number, words, length, match, place) {
    return async () => {
      const { covering, inside } = await this.ask("routes", { table: number, words: [...words], length, match, most: NEAREST });
      const row = ({ words, length, record }) => [element("span", { class: "code" }, formatPrefix(words, length)), nameOf(table, record)];
      const parts = [];
      if (covering.length > 0) {
        parts.push(tableOf("Covering routes", ["Prefix", "Record"], covering.map(row)));
      }
      if (inside.count > 0) {
        const caption = inside.routes.length < inside.count ? `More specific routes: the nearest of ${counted(inside.count, "route")}` : "More specific routes";
        parts.push(tableOf(caption, ["Prefix", "Record"], inside.routes.map(row)));
      }
      if (match) {
        place.replaceChildren(...parts);
      } else {
        place.after(...parts);
      }
    };
  }

  /** Looks up an address that was chosen on the map. */
  lookAt(words) {
    by("query").value = formatAddress(words);
    this.look(by("query").value);
    this.changed(true);
  }
}
