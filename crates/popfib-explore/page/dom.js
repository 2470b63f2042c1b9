// Elements of the page. Texts of tables and files become text nodes and nothing else, so markup in a name is shown and not obeyed.

/** An element with attributes and, as children, elements and texts. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) {
      made.addEventListener(name.slice(2), value);
    } else if (value !== null && value !== false) {
      made.setAttribute(name, value === true ? "" : value);
    }
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

export const by = (id) => document.getElementById(id);

/** The highest box of a table, in CSS pixels. */
const HIGHEST = 520;

/**
 * A table of rows, each a list of texts and elements, in a box that ends with a row and says what is beyond its edges; columns of numbers
 * are set to the right. A long text is cut with an ellipsis, and whole when it is pointed at; on a phone the cells of a `stack` are below
 * each other, whole and with their headings.
 */
export function tableOf(caption, headings, rows, numeric = [], kind = null) {
  const side = (at) => (numeric.includes(at) ? { class: "number" } : {});
  const cellOf = (cell, at) => {
    const isText = typeof cell === "string";
    const heading = typeof headings[at] === "string" ? headings[at] : null;
    return element("td", { ...side(at), title: isText && cell.length > 30 ? cell : null, "data-heading": heading }, cell);
  };
  const table = element(
    "table",
    { class: kind },
    element("caption", {}, caption),
    element("thead", {}, element("tr", {}, ...headings.map((heading, at) => element("th", { scope: "col", ...side(at) }, heading)))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map(cellOf)))),
  );
  const box = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, table);
  const more = element("p", { class: "soft more" });
  const tell = () => {
    const [right, bottom] = [box.scrollLeft + box.clientWidth, box.scrollTop + box.clientHeight];
    const beyond = (parts, end) => parts.filter((part) => end(part) > 2).length;
    const columns = beyond([...table.tHead.rows[0].cells], (cell) => cell.offsetLeft + cell.offsetWidth - right);
    const below = beyond([...table.tBodies[0].rows], (row) => row.offsetTop + row.offsetHeight - bottom);
    more.textContent = [below > 0 ? `↓ ${counted(below, "more row")}` : "", columns > 0 ? `→ ${counted(columns, "more column")}` : ""].filter(Boolean).join(", ");
  };
  const fit = () => {
    const rows = [...table.tBodies[0].rows];
    const ends = rows.map((row) => row.offsetTop + row.offsetHeight);
    const end = ends.at(-1) > HIGHEST ? ends.findLast((end) => end <= HIGHEST) : undefined;
    box.style.maxHeight = end ? `${end + box.offsetHeight - box.clientHeight}px` : "";
    tell();
  };
  new ResizeObserver(fit).observe(table);
  new ResizeObserver(tell).observe(box);
  box.addEventListener("scroll", tell);
  return element("div", {}, box, more);
}

export function button(text, click, attributes = {}) {
  return element("button", { type: "button", onclick: click, ...attributes }, text);
}

/** `1 route`, `2,000 routes`. */
export function counted(count, noun) {
  return `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
}

export function grouped(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A share of 1 in percent, as short as it says something. */
export function percent(share) {
  const of100 = 100 * share;
  if (of100 > 0 && of100 < 0.001) {
    return "< 0.001 %";
  }
  return `${of100 >= 1 || of100 === 0 ? of100.toFixed(1) : String(Number(of100.toPrecision(2)))} %`;
}

/** A file for the user, made of a text. */
export function save(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
