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

/** A table of rows, each a list of texts and elements; columns of numbers are set to the right. */
export function tableOf(caption, headings, rows, numeric = []) {
  const side = (at) => (numeric.includes(at) ? { class: "number" } : {});
  return element(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    element(
      "table",
      {},
      element("caption", {}, caption),
      element("thead", {}, element("tr", {}, ...headings.map((heading, at) => element("th", { scope: "col", ...side(at) }, heading)))),
      element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((cell, at) => element("td", side(at), cell))))),
    ),
  );
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
