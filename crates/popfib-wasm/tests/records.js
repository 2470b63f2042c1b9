// The records of engines/vectors in whatever runs JavaScript: every column of every prefix, beside the lines they were made of.

/** What the columns of table `records` are in JavaScript. */
const TYPES = {
  country: "text",
  asn: "integer",
  "names.city": "text",
  tags: "list of texts",
  ports: "list of integers",
  rate: "float",
  up: "boolean",
  delta: "integer",
  // Its highest value is 2^64 - 1.
  id: "bigint",
};

/** A prefix as its first address, a number, and its last. */
function range(prefix) {
  const [text, length] = prefix.split("/");
  const isIpv4 = !text.includes(":");
  const groups = (part) => (part ? part.split(":") : []);
  const [before, after] = text.split("::");
  const parts = isIpv4
    ? text.split(".")
    : [...groups(before), ...Array(8 - groups(before).length - groups(after).length).fill("0"), ...groups(after)];
  const [bits, size, width] = isIpv4 ? [8n, 4, 32n] : [16n, 16, 128n];
  const first = parts.reduce((sum, part) => (sum << bits) | BigInt(isIpv4 ? part : `0x${part}`), 0n);
  return { size, first, last: first + (1n << (width - BigInt(length))) - 1n, length: Number(length) };
}

function bytesOf({ address, size }) {
  return Uint8Array.from({ length: size }, (_, at) => Number((address >> BigInt(8 * (size - 1 - at))) & 255n));
}

function textOf({ address, size }) {
  const bytes = bytesOf({ address, size });
  return size === 4 ? bytes.join(".") : Array.from({ length: 8 }, (_, at) => (256 * bytes[2 * at] + bytes[2 * at + 1]).toString(16)).join(":");
}

/** A line's members by dotted names, null where a column is absent. */
function recordOf(line) {
  const record = Object.fromEntries(Object.keys(TYPES).map((name) => [name, null]));
  const flatten = (members, path) => {
    for (const [name, value] of Object.entries(members)) {
      if (typeof value === "object" && !Array.isArray(value)) {
        flatten(value, `${path}${name}.`);
      } else {
        record[path + name] = TYPES[path + name] === "bigint" ? BigInt(value) : value;
      }
    }
  };
  // No number of JavaScript has so many digits.
  const { prefix, ...members } = JSON.parse(line.replace(/("id":)(\d+)/, '$1"$2"'));
  flatten(members, "");
  return { ...range(prefix), record };
}

function shown(value) {
  return JSON.stringify(value, (_, value) => (typeof value === "bigint" ? `${value}n` : Object.is(value, NaN) ? "NaN" : value));
}

/** Asks for every column in every way; returns how many answers there were, and throws at the first that is wrong. */
export async function askRecords({ Table }, image, lines) {
  let answers = 0;
  const same = (given, expected, what) => {
    answers++;
    if (shown(given) !== shown(expected)) {
      throw new Error(`${what}: ${shown(given)}, not ${shown(expected)}`);
    }
  };
  const routes = lines.trimEnd().split("\n").map(recordOf);
  const table = await Table.from(image, { table: "records" });
  same(table.size, routes.length, "size");
  same(Object.fromEntries(table.columns.map(({ name, type }) => [name, type])), TYPES, "columns");

  const questions = routes.flatMap(({ size, first, last }) => [first, last, (first + last) / 2n].map((address) => ({ size, address })));
  const matches = questions.map(({ size, address }) => {
    const holding = routes.filter((route) => route.size === size && route.first <= address && address <= route.last);
    return holding.reduce((best, route) => (route.length > best.length ? route : best)).record;
  });
  const texts = questions.map(textOf);
  const numbers = table.lookupMany(texts);
  questions.forEach((question, at) => {
    const keys = [texts[at], bytesOf(question), ...(question.size === 4 ? [Number(question.address)] : [])];
    for (const key of keys) {
      same(table.get(key), matches[at], `get(${key})`);
      same(table.lookup(key), matches[at].asn, `lookup(${key})`);
      for (const column of table.columns) {
        same(column.lookup(key), matches[at][column.name], `${column.name} of ${key}`);
      }
    }
    same(table.record(numbers[at]), matches[at], `record of ${texts[at]}`);
  });
  for (const column of table.columns) {
    const isNumber = ["integer", "float"].includes(column.type);
    const expected = matches.map((record) => record[column.name]);
    same(Array.from(numbers, (number) => column.value(number)), expected, `${column.name}, one at a time`);
    const values = column.values(numbers);
    same(values instanceof Float64Array, isNumber, `the array of ${column.name}`);
    same(Array.from(values), expected.map((value) => (isNumber ? value ?? NaN : value)), column.name);
    same(table.column(column.name) === column, true, column.name);
  }

  const country = await Table.from(image, { table: "country" });
  same(country.columns.map(({ name, type }) => [name, type]), [["country", "text"]], "columns of country");
  for (const [address, value] of [["10.1.2.3", "AT"], ["11.0.0.0", "ZZ"], ["2001:db8::1", null]]) {
    same(country.get(address), { country: value }, address);
    same(country.lookup(address), value, address);
  }
  return answers;
}
