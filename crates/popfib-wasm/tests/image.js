// Images of any records, as docs/image-format.md describes them: also of such as popfib does not write.

import { crc32 } from "node:zlib";

const encoder = new TextEncoder();
const TYPES = { text: 1, signed: 2, unsigned: 3, float: 4, boolean: 5 };

function words(...numbers) {
  return new Uint8Array(Uint32Array.from(numbers).buffer);
}

function joined(...parts) {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  parts.reduce((at, part) => (bytes.set(part, at), at + part.length), 0);
  return bytes;
}

/** The sums up to each number, the first of them left out. */
function ends(lengths) {
  let end = 0;
  return words(...lengths.map((length) => (end += length)));
}

/** The sections of different values of a type. */
function scalars(type, values) {
  switch (type) {
    case "text": {
      const texts = values.map((text) => encoder.encode(text));
      return [joined(...texts), ends(texts.map(({ length }) => length))];
    }
    case "float":
      return [new Uint8Array(Float64Array.from(values).buffer)];
    case "boolean":
      return [Uint8Array.from(values, Number)];
    default:
      return [new Uint8Array(BigInt64Array.from(values, (number) => BigInt.asIntN(64, BigInt(number))).buffer)];
  }
}

/**
 * An image of one table, in which every IPv4 address matches record 1.
 *
 * A column is `[name, type, rows]`: a value for each record, null where it is absent; an array is a list. Without columns there are no
 * records.
 */
export function imageOf(columns) {
  const sections = [[0, 0, 1, new Uint8Array()], [1, 0, 1, encoder.encode("name\tall\n")]];
  const count = columns[0]?.[2].length ?? 0;
  const rows = Array(count).fill(0n);
  const entries = [];
  const values = [];
  let bit = 0n;
  columns.forEach(([name, type, cells], column) => {
    const isList = cells.some(Array.isArray);
    const codes = new Map();
    const intern = (value) => codes.get(value) ?? codes.set(value, codes.size + 1).get(value);
    const lists = [];
    cells.forEach((cell, row) => {
      const code = cell === null ? 0 : isList ? lists.push(cell.map(intern)) : intern(cell);
      rows[row] |= BigInt(code) << bit;
    });
    const bits = 32 - Math.clz32(isList ? lists.length : codes.size);
    bit += BigInt(bits);
    entries.push(Uint8Array.of(TYPES[type], isList, bits, 0), words(encoder.encode(name).length, codes.size, lists.length));
    const contents = scalars(type, [...codes.keys()]);
    if (isList) {
      contents[2] = ends(lists.map(({ length }) => length));
      contents[3] = words(...lists.flat());
    }
    contents.forEach((content, part) => values.push([1, 0, 64 + 4 * column + part, content]));
  });
  if (count > 0) {
    const stride = Math.max(1, Math.ceil(Number(bit) / 8));
    const names = columns.map(([name]) => encoder.encode(name));
    const packed = new Uint8Array(stride * count + 7);
    rows.forEach((row, n) => {
      for (let at = stride * n; row > 0n; row >>= 8n) {
        packed[at++] = Number(row & 255n);
      }
    });
    sections.push([1, 0, 4, joined(words(count, columns.length, stride, 0), ...entries, ...names)], [1, 0, 5, packed], ...values);
  }
  const description = joined(Uint8Array.of(0, 0, 1, 16, 255, 0, 0, 0), words(0, 0, 0, 0, 1, 0, 1, 0));
  sections.push([1, 32, 16, description], [1, 32, 17, words(1)], [1, 32, 18, words(1, 0, 0)]);

  const table = [];
  const contents = [];
  let end = 64 + 32 * sections.length;
  for (const [of, width, kind, content] of sections) {
    const start = Math.ceil(end / 64) * 64;
    table.push(words(of, width | (kind << 16), start, 0, content.length, 0, crc32(content), 0));
    contents.push(new Uint8Array(start - end), content);
    end = start + content.length;
  }
  const entriesOfSections = joined(...table);
  const magic = Uint8Array.of(0x89, 0x50, 0x4f, 0x50, 0x46, 0x49, 0x42, 0x0a, 3, 0, 0, 0);
  const head = joined(magic, words(sections.length, end, 0, crc32(entriesOfSections)), new Uint8Array(32));
  return joined(head, words(crc32(head)), entriesOfSections, ...contents);
}
