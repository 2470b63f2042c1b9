// The page: the image that it carries is opened and answers at once; the worker, made of the same script, unpacks the rest meanwhile.
// What is shown is in the address behind `#`, so a link carries it.

import { Atlas } from "./atlas.js";
import { by, element, grouped } from "./dom.js";
import { Drops } from "./drops.js";
import { readImage } from "./image.js";
import { IN_LINK, Lookup } from "./lookup.js";
import { free } from "./memory.js";
import { columnsOf } from "./tables.js";
import { work } from "./worker.js";

/** How much base64 is decoded at a time: as a whole, it would be there three times until memory is collected. */
const PIECE = 2 ** 18;

const decoded = (text) => (Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), (byte) => byte.charCodeAt(0)));

/** The bytes that an element of the page carries: gzip, in base64. */
async function carried(id) {
  const text = by(id).textContent;
  by(id).remove();
  // The last four bytes of gzip are the length of what is in it.
  const end = decoded(text.slice(-8));
  const bytes = new Uint8Array(new DataView(end.buffer).getUint32(end.length - 4, true));
  const { readable, writable } = new DecompressionStream("gzip");
  const [reader, writer] = [readable.getReader(), writable.getWriter()];
  const write = async () => {
    for (let at = 0; at < text.length; at += PIECE) {
      const piece = decoded(text.slice(at, at + PIECE));
      await writer.write(piece);
      free(piece);
    }
    await writer.close();
  };
  const read = async () => {
    for (let at = 0; ; ) {
      const { value, done } = await reader.read();
      if (done) {
        return;
      }
      bytes.set(value, at);
      at += value.length;
      free(value);
    }
  };
  await Promise.all([write(), read()]);
  return bytes.buffer;
}

/** A worker of the page's own script, as a function that asks it. */
function startWorker() {
  // A classic worker, in which the script is as strict as in the page: a page that was opened as a file may start no other.
  const address = URL.createObjectURL(new Blob(['"use strict";', by("program").textContent], { type: "text/javascript" }));
  const worker = new Worker(address);
  const waiting = new Map();
  let next = 1;
  worker.addEventListener("message", ({ data: { id, result, error, progress } }) => {
    const { resolve, reject, hear } = waiting.get(id);
    if (progress !== undefined) {
      hear?.(progress);
      return;
    }
    waiting.delete(id);
    if (error === undefined) {
      resolve(result);
    } else {
      reject(new Error(error));
    }
  });
  worker.addEventListener("error", ({ message }) => {
    waiting.forEach(({ reject }) => reject(new Error(message || "there is not enough memory")));
    waiting.clear();
  });
  return (what, data, hear) =>
    new Promise((resolve, reject) => {
      const id = next++;
      waiting.set(id, { resolve, reject, hear });
      worker.postMessage({ id, what, ...data });
    });
}

async function start() {
  for (const [name, feature] of [["decompress gzip (DecompressionStream)", globalThis.DecompressionStream], ["run workers", globalThis.Worker], ["paint in workers (createImageBitmap)", globalThis.createImageBitmap]]) {
    if (!feature) {
      by("asked").textContent = `This browser cannot ${name}. A version of 2023 or later can.`;
      return;
    }
  }
  const buffer = await carried("image");
  const tables = readImage(new Uint8Array(buffer), false);
  describe(tables);
  let atlas = null;
  const link = { isOpen: true };
  // A step is what the button Back undoes; the map is moved without any.
  const changed = (isStep) => {
    if (link.isOpen) {
      return;
    }
    clearTimeout(link.timer);
    const hash = () => `#${linkOf(lookup, atlas)}`;
    if (!isStep) {
      // Browsers refuse addresses that change too often.
      link.timer = setTimeout(() => history.replaceState(null, "", hash()), 300);
    } else if (hash() !== location.hash) {
      history.pushState(null, "", hash());
    }
  };
  const ask = startWorker();
  const opening = carried("hidden").then((hidden) => ask("open", { buffer, hidden: new TextDecoder().decode(hidden) }));
  const afterOpening = async (...question) => {
    await opening;
    return ask(...question);
  };
  const lookup = new Lookup({ ask: afterOpening, tables, changed, show: async (number, family, match) => {
    if (number !== atlas.number) {
      await atlas.choose(number, family, null);
    }
    await atlas.go(family, match);
  } });
  atlas = new Atlas({ ask: afterOpening, tables, changed, pick: (words) => lookup.lookAt(words), remove: async (number) => {
    await afterOpening("remove", { table: number });
    tables.splice(number, 1);
    lookup.look(by("query").value);
    atlas.number = -1;
    await atlas.choose(0, atlas.family, null);
  } });
  new Drops({
    ask: afterOpening,
    tables,
    atlas,
    add: async (more, first) => {
      more.forEach((table, at) => (tables[first + at] = table));
      lookup.look(by("query").value);
      await atlas.choose(first, atlas.family, null);
    },
  });
  // For tests.
  globalThis.explorer = { tables, lookup, atlas };
  by("asked").textContent = "";
  const asked = new URLSearchParams(location.hash.slice(1));
  if (asked.has("look")) {
    by("query").value = asked.get("look");
    lookup.look(by("query").value);
  }
  document.documentElement.dataset.state = "answers";
  await follow(asked, atlas);
  link.isOpen = false;
  // A link to another view of this page, and a step back or forward.
  addEventListener("hashchange", async () => {
    clearTimeout(link.timer);
    link.isOpen = true;
    const to = new URLSearchParams(location.hash.slice(1));
    by("query").value = to.get("look") ?? "";
    lookup.look(by("query").value);
    await follow(to, atlas).finally(() => (link.isOpen = false));
  });
  document.documentElement.dataset.state = "map";
}

/** What is shown, as a link carries it. */
function linkOf(lookup, atlas) {
  const link = new URLSearchParams();
  // A link is no place for a long list.
  if (lookup.text && lookup.text.length <= IN_LINK) {
    link.set("look", lookup.text);
  }
  link.set("table", atlas.table.name);
  if (!atlas.family) {
    return link;
  }
  link.set("family", atlas.family);
  link.set("by", /^\d+$/.test(atlas.colour) ? columnsOf(atlas.table)[atlas.colour] : `/${atlas.colour}`);
  const { x, y, zoom } = atlas.map.view;
  if (zoom > 0) {
    link.set("view", [x.toFixed(6), y.toFixed(6), zoom.toFixed(2)].join(","));
  }
  if (atlas.search) {
    link.set("find", `${columnsOf(atlas.table)[atlas.search.column]}=${atlas.search.value}`);
  }
  return link;
}

/** Shows what a link carries. */
async function follow(link, atlas) {
  const number = Math.max(0, atlas.tables.findIndex(({ name }) => name === link.get("table")));
  const names = columnsOf(atlas.tables[number]);
  const colour = link.get("by");
  const column = names.indexOf(colour);
  atlas.unmark();
  await atlas.choose(number, link.get("family"), column >= 0 ? String(column) : (colour?.slice(1) ?? null));
  const [, of, value] = /^([^=]*)=(.*)$/s.exec(link.get("find") ?? "") ?? [];
  if (value) {
    const { hits } = await atlas.ask("search", { table: number, text: value, most: 50 });
    const hit = hits.find((hit) => hit.value === value && names[hit.column] === of);
    // A search says what is not there.
    await (hit ? atlas.mark(hit) : atlas.find(value));
  }
  const view = (link.get("view") ?? "").split(",").map(Number);
  atlas.map.move(...(view.length === 3 && view.every(Number.isFinite) ? view : [0.5, 0.5, 0]));
}

/** Where the tables come from, and their terms. */
function describe(tables) {
  const sources = tables.flatMap((table) => table.sources.map((source) => [table.name, source.description ?? source.source, source.licence, source.date]));
  by("sources").replaceChildren(...sources.map((parts) => element("li", {}, [...new Set(parts.filter(Boolean))].join(", "))));
  const shown = tables.filter(({ name }, at) => at === 0 || name !== "special");
  const routes = shown.map((table) => {
    const families = Object.entries(table.families).filter(([, { routes }]) => routes > 0);
    const counts = families.map(([family, { routes }]) => `${grouped(routes)} ${{ ipv4: "IPv4", ipv6: "IPv6" }[family]}`);
    const said = `${counts.join(" and ") || "no"} route${families.length === 1 && families[0][1].routes === 1 ? "" : "s"}`;
    return shown.length > 1 ? `${table.name}: ${said}` : said;
  });
  by("routes").textContent = routes.join("; ");
}

if (typeof document === "undefined") {
  work();
} else {
  start().catch((error) => {
    by("asked").textContent = `The page cannot be shown: ${error.message}`;
  });
}
