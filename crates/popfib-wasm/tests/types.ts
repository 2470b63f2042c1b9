// Compiled, not run: what the package's types promise.

import { compile, Table, type Match } from "popfib";

export async function use(file: Uint8Array): Promise<[string | undefined, Match | undefined]> {
  const table: Table = await Table.from(await compile(file));
  const numbers: Uint32Array = table.lookupMany(new Uint32Array([1]), { numbers: new Uint32Array(1), invalid: (index) => index + 1 });
  table.lookupMany(["::1"] as const);
  const values: (string | undefined)[] = Array.from(numbers, (number) => table.value(number));
  table.lookupMany([1, "::1", new Uint8Array(4)]);
  // @ts-expect-error: one address is no array of them
  table.lookupMany("::1");
  // @ts-expect-error: made by Table.from
  new Table();
  return [values[0] ?? table.lookup(table.size), table.longestMatch("10.0.0.1")];
}
