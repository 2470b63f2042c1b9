// Compiled, not run: what the package's types promise.

import { compile, Table, type Column, type Match, type Row, type Value } from "popfib";

export async function use(file: Uint8Array): Promise<[Value | null, Match | null]> {
  const table: Table = await Table.from(await compile(file));
  const numbers: Uint32Array = table.lookupMany(new Uint32Array([1]), { numbers: new Uint32Array(1), invalid: (index) => index + 1 });
  table.lookupMany(["::1"] as const);
  const values: (Value | null)[] = Array.from(numbers, (number) => table.value(number));
  table.lookupMany([1, "::1", new Uint8Array(4)]);
  // @ts-expect-error: one address is no array of them
  table.lookupMany("::1");
  // @ts-expect-error: made by Table.from
  new Table();
  const number: number | undefined = table.longestMatch("10.0.0.1")?.number;
  return [values[number ?? 0] ?? table.lookup(table.size), table.longestMatch("10.0.0.1")];
}

/** The columns of any table. */
export async function columns(image: ArrayBuffer): Promise<Row | null> {
  const table = await Table.from(image, { table: "records" });
  // @ts-expect-error: the name of a table is a text
  await Table.from(image, { table: 1 });
  const column: Column = table.column("asn");
  const numbers = table.lookupMany(["10.0.0.1"]);
  switch (column.type) {
    case "integer":
    case "float":
      return { sum: column.values(numbers).reduce((sum, value) => sum + value, column.value(1) ?? 0) };
    case "bigint":
      return { big: column.lookup("10.0.0.1") ?? 0n, bigs: column.values(numbers).filter((value) => value !== null) };
    case "boolean": {
      const truths: (boolean | null)[] = column.values(numbers);
      return { all: truths.every((truth) => truth) };
    }
    case "text": {
      const texts: (string | null)[] = column.values(numbers);
      return { text: column.lookup("::1")?.toUpperCase() ?? null, texts: texts.map(String) };
    }
    case "list of texts":
      // @ts-expect-error: lists are frozen
      column.value(1)?.push("");
      return { texts: column.value(1)?.map((text) => text.trim()) ?? null };
    case "list of integers":
    case "list of floats":
      return { highest: Math.max(...(column.values(numbers)[0] ?? [])) };
    case "list of bigints":
      return { bigs: column.value(1) };
    case "list of booleans":
      return { truths: column.value(1) };
  }
}

interface City {
  country: string | null;
  tags: readonly string[] | null;
}

/** Records as the caller says that they are. */
export async function typed(image: ArrayBuffer): Promise<string | undefined> {
  const table = await Table.from<City>(image);
  const record = table.get("10.0.0.1") ?? table.record(1);
  table.column("tags");
  // @ts-expect-error: no such column
  table.column("city");
  if (record) {
    // @ts-expect-error: records are frozen
    record.country = "AT";
  }
  return record?.country?.toLowerCase() ?? record?.tags?.[0];
}
