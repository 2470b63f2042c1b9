// The way of a lookup, step by step, as `popfib draw lookup` draws it: which bits of the address each step reads, which entry or slot
// they select, and what is found there. The compiled table is that of longest matches: its values are a record and a length.

import { formatPrefix } from "./addresses.js";
import { counted, element, grouped } from "./dom.js";
import { cellsOf, columnsOf, matchOf, saidOf } from "./tables.js";

/** The steps of an address in a table as a list; null where the table is not compiled. */
export function wayOf(table, family, words) {
  const fib = table.families[family];
  if (!fib?.answer) {
    return null;
  }
  const steps = [];
  const answer = fib.answer(words, (step) => steps.push(step));
  const match = matchOf(answer, words);
  const end = match ? `${formatPrefix(match.words, match.length)}: ${labelOf(table, match.record)}` : "no route matches";
  const bits = Array.from(words, (word) => word.toString(2).padStart(32, "0")).join("");
  return element("ol", { class: "way" }, ...steps.map((step, at) => stepOf(table, words, bits, step, at)), element("li", { class: "end" }, end));
}

/** What there is little room for. */
function labelOf(table, record) {
  const cells = cellsOf(table, record);
  return saidOf(columnsOf(table)[0], cells[0]) || "listed";
}

function stepOf(table, words, bits, step, at) {
  const { kind, offset, bits: count, index } = step;
  const entries = count === 0 ? "1 entry" : `${grouped(2 ** count)} entries`;
  const what = {
    root: `Root table: ${entries}`,
    page: `Page: ${entries} below that of the root table`,
    flat: `Flat block: ${entries}, stored one by one`,
    block: `Block: 64 slots in ${counted(step.firsts?.length ?? 0, "run")}`,
  }[kind];
  const last = offset + count;
  const read =
    count === 0
      ? element("p", {}, "no bits: the only entry")
      : element(
          "p",
          { class: "bits" },
          `bits ${offset} to ${last - 1} of the address: `,
          element("span", { class: "code" }, bits.slice(Math.max(0, offset - 12), offset), element("mark", {}, bits.slice(offset, last)), last < bits.length ? "…" : ""),
          `, ${kind === "block" ? "slot" : "entry"} ${grouped(index)}`,
        );
  const parts = kind === "block" ? slotsOf(table, words, step) : [barOf(index, 2 ** count)];
  return element("li", {}, element("h4", {}, `${at + 1}. ${what}`), read, ...parts);
}

/** A table of many entries, and where the one is that is read. */
function barOf(index, entries) {
  const mark = element("span", { class: "mark" });
  mark.style.left = `${((index + 0.5) / entries) * 100}%`;
  return element("div", { class: "bar", "aria-hidden": "true" }, mark);
}

/** The 64 bits of a block, and the values of its runs. */
function slotsOf(table, words, { firsts, values, index, run }) {
  const starts = new Set(firsts);
  let runs = 0;
  const slots = Array.from({ length: 64 }, (_, slot) => {
    runs += starts.has(slot) ? 1 : 0;
    return element("span", { class: `${runs % 2 ? "odd" : "even"}${slot === index ? " read" : ""}` }, starts.has(slot) ? "1" : "0");
  });
  const texts = values.map((value) => {
    if (value >>> 31) {
      return "block";
    }
    const match = matchOf(value, words);
    return match ? `${labelOf(table, match.record)} /${match.length}` : "none";
  });
  const chips = texts.map((text, at) => element("span", { class: `${at % 2 ? "even" : "odd"}${at === run ? " read" : ""}` }, text));
  return [
    element("div", { class: "slots", "aria-hidden": "true" }, ...slots),
    element("p", {}, `${counted(run + 1, "bit")} set in slots 0 to ${index}: value ${run + 1}, ${texts[run]}`),
    element("div", { class: "values", "aria-hidden": "true" }, ...chips),
  ];
}
