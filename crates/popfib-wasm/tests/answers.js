// The answers that every engine gives (engines/vectors), in whatever runs JavaScript: Node and browsers.

/** The text of a table's routes. A list is one without values. */
export function textOf(routes) {
  return routes.map(([prefix, value]) => `${prefix} ${value}\n`).join("");
}

function bytes(hex) {
  return Uint8Array.from({ length: hex.length / 2 }, (_, at) => parseInt(hex.slice(2 * at, 2 * at + 2), 16));
}

/** Asks every question in every way; returns how many answers there were, and throws at the first that is wrong. */
export async function askAll({ Table, compile }, vectors) {
  let answers = 0;
  const same = (given, expected, what) => {
    answers++;
    if (JSON.stringify(given) !== JSON.stringify(expected)) {
      throw new Error(`${what}: ${JSON.stringify(given)}, not ${JSON.stringify(expected)}`);
    }
  };
  for (const [name, { routes, questions }] of Object.entries(vectors.tables)) {
    const text = textOf(routes);
    for (const source of [text, new TextEncoder().encode(text), await compile(text)]) {
      const table = await Table.from(source);
      same(table.size, routes.length, name);
      const matches = questions.map(([, , covering]) => routes[covering.at(-1)]);
      // That of a list, which has no values, is true.
      const valueOf = (match) => (match ? match[1] || true : null);
      for (const [n, [address, hex]] of questions.entries()) {
        const prefix = matches[n]?.[0];
        const value = valueOf(matches[n]);
        for (const key of hex.length === 8 ? [address, parseInt(hex, 16), bytes(hex)] : [address, bytes(hex)]) {
          same(table.lookup(key), value, `${name}: ${key}`);
          const match = table.longestMatch(key);
          same(match, prefix ? { prefix, number: match?.number, value } : null, `${name}: ${key}`);
          same(table.value(match?.number ?? 0), value, `${name}: ${key}`);
          const covering = questions[n][2].map((route) => [routes[route][0], valueOf(routes[route])]);
          same(table.supernets(key).map((route) => [route.prefix, route.value]), covering, `${name}: ${key}`);
          same(table.get(key), prefix ? { value } : null, `${name}: ${key}`);
        }
      }
      const values = (numbers) => Array.from(numbers, (number) => table.value(number));
      const texts = questions.map(([address]) => address);
      same(values(table.lookupMany(texts)), matches.map(valueOf), `${name}: texts`);
      const packed = questions.map(([, hex]) => bytes(hex));
      same(values(table.lookupMany(packed)), matches.map(valueOf), `${name}: bytes`);
      const ipv6 = [...questions.keys()].filter((n) => questions[n][1].length === 32);
      const joined = bytes(ipv6.map((n) => questions[n][1]).join(""));
      same(values(table.lookupMany(joined)), ipv6.map((n) => valueOf(matches[n])), `${name}: bytes of all`);
      const ipv4 = [...questions.keys()].filter((n) => questions[n][1].length === 8);
      const keys = Uint32Array.from(ipv4, (n) => parseInt(questions[n][1], 16));
      same(values(table.lookupMany(keys)), ipv4.map((n) => valueOf(matches[n])), `${name}: numbers`);
    }
  }
  const all = await Table.from("0.0.0.0/0 any\n::/0 any\n");
  for (const address of vectors.invalid) {
    for (const ask of [() => all.lookup(address), () => all.longestMatch(address), () => all.supernets(address), () => all.lookupMany(["::", address])]) {
      let message = "no error";
      try {
        ask();
      } catch (error) {
        message = error.message;
      }
      same(/^".*" is no address( \(at 1\))?$/.test(message), true, `${JSON.stringify(address)}: ${message}`);
    }
  }
  return answers;
}
