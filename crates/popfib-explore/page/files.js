// Files that are dropped on the page: bytes in; a table, or the addresses of a log out. It runs in the worker. A log is read as a
// stream, so it may be of any size; a table is kept, so it may not.

import { familyOf, found, formatPrefix, parseAddress, parsePrefix } from "./addresses.js";
import { FileError } from "./errors.js";
import { isImage, readImage } from "./image.js";
import { Routes, segmentsOfRoutes } from "./routes.js";
import { answerOf, matchOf, WIDTHS } from "./tables.js";

/** The largest table, in bytes, decompressed. */
export const MOST_BYTES = 256 * 2 ** 20;

/** A file's bytes as a stream; gzip is decompressed. */
async function streamOf(file) {
  const head = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  const stream = file.stream();
  return head[0] === 0x1f && head[1] === 0x8b ? stream.pipeThrough(new DecompressionStream("gzip")) : stream;
}

/** The next bytes of a stream. */
async function next(reader) {
  try {
    return await reader.read();
  } catch {
    throw new FileError("it is cut off or damaged");
  }
}

/** What a file is, by its first bytes: "image", "list" or "log"; FileError for what is none of them. */
export async function kindOf(file) {
  const reader = (await streamOf(file)).getReader();
  const first = [];
  let size = 0;
  for (let part; size < 65536 && !(part = await next(reader)).done; ) {
    first.push(part.value);
    size += part.value.length;
  }
  reader.cancel().catch(() => {});
  const bytes = new Uint8Array(await new Blob(first).arrayBuffer());
  if (bytes.length === 0) {
    throw new FileError("it is empty");
  }
  if (isImage(bytes)) {
    return "image";
  }
  if (bytes.includes(0)) {
    throw new FileError("it is no image, list or log that can be read here; popfib explore -t FILE reads every format");
  }
  const lines = new TextDecoder().decode(bytes).split("\n").map(routeLine).filter((line) => line !== "");
  const prefixes = lines.filter((line) => line && parsePrefix(line[0]) && line[0].includes("/"));
  return lines.length > 0 && prefixes.length > 0.9 * (lines.length - 1) ? "list" : "log";
}

/** A line of a list as its prefix and its value; "" for one without any. */
function routeLine(line) {
  const text = line.replace(/[#;].*/, "").trim();
  if (text === "") {
    return "";
  }
  const end = text.search(/[\s,]/);
  return end < 0 ? [text, ""] : [text.slice(0, end), text.slice(end).replace(/^[\s,]+/, "")];
}

async function bytesOf(file) {
  const large = () => new FileError(`it has more than ${MOST_BYTES / 2 ** 20} MiB; popfib explore -t FILE takes larger tables`);
  if (file.size > MOST_BYTES) {
    throw large();
  }
  const parts = [];
  let size = 0;
  const reader = (await streamOf(file)).getReader();
  for (let part; !(part = await next(reader)).done; ) {
    parts.push(part.value);
    if ((size += part.value.length) > MOST_BYTES) {
      reader.cancel().catch(() => {});
      throw large();
    }
  }
  return new Blob(parts).arrayBuffer();
}

/** The tables of an image, its bytes checked. */
export async function imageOfFile(file) {
  const buffer = await bytesOf(file);
  const tables = readImage(new Uint8Array(buffer), true);
  return { buffer, tables };
}

/** The table of a list: a line `PREFIX VALUE` for each route. Of two lines for one prefix the last counts. */
export async function listOfFile(file) {
  const text = new TextDecoder().decode(await bytesOf(file));
  const values = new Map();
  const routes = { ipv4: new Map(), ipv6: new Map() };
  let number = 0;
  for (const line of text.split("\n")) {
    number++;
    const route = routeLine(line);
    if (route === "") {
      continue;
    }
    const prefix = parsePrefix(route[0]);
    if (!prefix) {
      throw new FileError(`line ${number}: “${route[0].slice(0, 60)}” is no prefix; popfib explore FILE reads CSV with headings, and every other format`);
    }
    const value = values.get(route[1]) ?? values.set(route[1], values.size + 1).get(route[1]);
    routes[familyOf(prefix.words)].set(formatPrefix(prefix.words, prefix.length), { ...prefix, record: value });
  }
  const families = {};
  for (const [family, found] of Object.entries(routes)) {
    if (found.size > 0) {
      const list = new Routes(WIDTHS[family]);
      const sorted = [...found.values()].sort((a, b) => {
        const at = a.words.findIndex((word, at) => word !== b.words[at]);
        return at < 0 ? a.length - b.length : a.words[at] - b.words[at];
      });
      sorted.forEach(({ words, length, record }) => list.push(words, length, record));
      families[family] = { segments: segmentsOfRoutes(list), routes: list };
    }
  }
  if (Object.keys(families).length === 0) {
    throw new FileError("there is no prefix in it");
  }
  return { texts: [...values.keys()], families };
}

/** The first address of a line, as its words; null without one. */
function firstOf(line) {
  // Most logs begin with it.
  const end = line.search(/[\s,]/);
  const words = parseAddress(end < 0 ? line : line.slice(0, end));
  if (words) {
    return words;
  }
  for (const { words } of found(line)) {
    return words;
  }
  return null;
}

/** Counts the first addresses of a log's lines: by record, by network of a map, by address. `tell` hears of the bytes read so far. */
export async function countLines(file, table, tell) {
  const counts = { lines: 0, without: 0, records: new Map(), networks: { ipv4: new Map(), ipv6: new Map() } };
  const count = (line) => {
    if (line === "") {
      return;
    }
    counts.lines++;
    const words = firstOf(line);
    if (!words) {
      counts.without++;
      return;
    }
    const record = matchOf(answerOf(table, words), words)?.record ?? 0;
    counts.records.set(record, (counts.records.get(record) ?? 0) + 1);
    // A network of a map's dot: /24, or /48 of IPv6.
    const family = familyOf(words);
    const network = family === "ipv4" ? words[0] & 0xffffff00 : `${words[0]} ${words[1] & 0xffff0000}`;
    const networks = counts.networks[family];
    // Memory in proportion to what can be shown.
    if (networks.size < 2 ** 17 || networks.has(network)) {
      networks.set(network, (networks.get(network) ?? 0) + 1);
    }
  };
  const decoder = new TextDecoder();
  const reader = (await streamOf(file)).getReader();
  let [rest, size] = ["", 0];
  for (let part; !(part = await next(reader)).done; ) {
    tell((size += part.value.length));
    const lines = (rest + decoder.decode(part.value, { stream: true })).split("\n");
    rest = lines.pop();
    // A file without lines.
    if (rest.length > 2 ** 24) {
      throw new FileError("a line has more than 16 MiB");
    }
    lines.forEach(count);
  }
  count(rest);
  return counts;
}
