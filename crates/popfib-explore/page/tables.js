// Tables as the page asks them: an address in, its match and the texts of its record out. A table is one of an image, which has
// compiled longest matches, or one of a list that was dropped in, whose segments are searched.

import { mask } from "./addresses.js";

export const WIDTHS = { ipv4: 32, ipv6: 128 };
export const familyOf = (words) => (words.length === 1 ? "ipv4" : "ipv6");

/** The answer of a table for an address: the number of the record times (width + 1), plus the length; 0 is none. */
export function answerOf(table, words) {
  const family = table.families[familyOf(words)];
  if (!family) {
    return 0;
  }
  return family.answer ? family.answer(words) : family.numbers[family.upTo(words) - 1];
}

/** The match that an answer stands for, or null. */
export function matchOf(answer, words) {
  const width = 32 * words.length;
  const length = answer % (width + 1);
  const record = (answer - length) / (width + 1);
  return record === 0 ? null : { words: mask(words, length), length, record };
}

/** The names of a table's columns. A column that is called nothing else is the value. */
export function columnsOf(table) {
  return table.records ? table.records.columns.map(({ name }) => name) : ["value"];
}

/** What a record has in all columns, as texts; null is absent. */
export function cellsOf(table, record) {
  const { records } = table;
  return records ? records.columns.map((_, column) => textOf(records.cell(record, column))) : [String(record)];
}

/** What people call a record: its first texts, or what else it has. */
export function nameOf(table, record) {
  const cells = cellsOf(table, record);
  const columns = columnsOf(table);
  const said = cells.map((cell, at) => saidOf(columns[at], cell)).filter((text) => text !== "");
  return said.slice(0, 3).join(", ") || "listed";
}

/** The value of a column as a text that says what it is. */
export function saidOf(column, cell) {
  if (cell === null || cell === "") {
    return "";
  }
  // In a joined table it is asn.asn.
  if (/(^|\.)asn$/.test(column) && /^\d+$/.test(cell)) {
    return cell === "0" ? "no AS" : `AS${cell}`;
  }
  return ["true", "false"].includes(cell) || (/^\d+$/.test(cell) && column !== "value") ? `${column} ${cell}` : cell;
}

/** A value as the command prints it; null is absent. */
export function textOf(value) {
  if (value === null || typeof value === "string") {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map((element) => textOf(element).replace(/[,\\]/g, "\\$&")).join(",");
  }
  return typeof value === "number" ? decimal(value) : String(value);
}

/** A float with all its digits in place of an exponent. */
function decimal(number) {
  if (!Number.isFinite(number)) {
    return Number.isNaN(number) ? "NaN" : number > 0 ? "inf" : "-inf";
  }
  const text = Object.is(number, -0) ? "-0" : String(number);
  const [, sign, digits, fraction = "", exponent] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(text);
  if (exponent === undefined) {
    return text;
  }
  const point = digits.length + Number(exponent);
  const all = digits + fraction;
  return sign + (point > 0 ? all.padEnd(point, "0") : `0.${"0".repeat(-point)}${all}`);
}

/** The table of a list: `texts` are its values, from record 1 on. */
export function tableOfList(name, texts, families) {
  const column = { name: "value", kind: "text", isList: false, codes: texts.length, value: (code) => texts[code - 1] ?? null };
  const records = { count: texts.length, columns: [column], code: (record) => record, cell: (record) => column.value(record) };
  return { name, sources: [], records, families };
}
