"""Rates, times and bytes of popfib beside pytricia, and beside the Rust batch lookup.

    python lab/bench/python.py [--runs 5] [--addresses 10000000] [--popfib-lab target/release/popfib-lab]
    python lab/bench/python.py --live

The table is the built-in one (a tier-1 router's, 1.06 million routes), its values are AS numbers as ints.
Each figure is the median of the runs, with the lowest and the highest in brackets; the libraries take turns.
Times are CPU times of this process, which looks up in one thread: on a busy machine others' time is not counted,
though their traffic to memory still slows all. The Rust rate is that of `popfib-lab bench`, in turns with `lookup_many`;
it goes by the wall clock, so `lookup_many` is timed by the wall clock too for their ratio, each run with its neighbour.

--live: how long bursts of 1,000 lookups take, by the wall clock, beside a thread that changes 1,000 routes a second, of a
`Table` and of a `LiveTable`.
"""

import argparse
import gc
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

import popfib

# Columns as DuckDB and Spark hand them over.
BATCH, BATCHES = 2_048, 500

CHILD = """
import gc, sys
def rss():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
import popfib
t = popfib.default_table(decode=int)
pairs = list(t.items())
del t
ints = {v: v for _, v in pairs}
pairs = [(p, ints[v]) for p, v in pairs]
gc.collect()
before = rss()
if sys.argv[1] == "popfib":
    t = popfib.Table(pairs)
else:
    import pytricia
    t = pytricia.PyTricia(128)
    u = pytricia.PyTricia(32)
    for p, v in pairs:
        (t if ":" in p else u)[p] = v
print(rss() - before)
"""


def seconds(work, clock=time.process_time):
    # As timeit does: a collection here would go over a million pairs that are not what is measured.
    gc.disable()
    start = clock()
    work()
    taken = clock() - start
    gc.enable()
    return taken


class Figure:
    def __init__(self, name, unit, bound, show=lambda x: x):
        self.name, self.unit, self.bound, self.show, self.values = name, unit, bound, show, []

    def __str__(self):
        values = sorted(self.show(value) for value in self.values)
        if not values:
            return f"{self.name:<58} -"
        spread = f"[{values[0]:.4g} .. {values[-1]:.4g}]"
        return f"{self.name:<58} {statistics.median(values):>9.4g} {self.unit:<4} {spread:<22} {self.bound}"


def of_texts(np, count):
    """A table of 732,000 random /24 with so many different texts, and addresses that hit."""
    rng = np.random.default_rng(1)
    nets = np.sort(rng.permutation(1 << 24)[:732_000]).astype(np.uint32) << 8
    table = popfib.Table(((net, 4, 24), f"v{n % count}") for n, net in enumerate(nets.tolist()))
    hosts = rng.integers(0, 256, BATCH * BATCHES, dtype=np.uint32)
    return table, rng.choice(nets, BATCH * BATCHES) | hosts


def in_sql(tables, hits):
    """Queries that ask each table for all addresses, as text: what DuckDB has for them."""
    try:
        import duckdb
        import popfib.duckdb
    except ImportError:
        print("skipped: DuckDB is not installed")
        return {}
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("CREATE TABLE hits AS SELECT unnest($1::UINTEGER[]) AS n", [hits.tolist()]).fetchall()
    address = "concat_ws('.', n >> 24, (n >> 16) & 255, (n >> 8) & 255, n & 255)"
    connection.execute(f"CREATE TABLE flows AS SELECT {address} AS src FROM hits").fetchall()
    queries = {}
    for name, table in tables.items():
        popfib.duckdb.register(connection, name, table)
        count = f"SELECT count({name}(src)) FROM flows"
        queries[name] = lambda count=count: connection.execute(count).fetchall()
        assert queries[name]() == [(len(hits),)]
    return queries


def live(pairs, seconds=10):
    """Bursts of lookups beside a writer, some hundred a second."""
    import threading

    import numpy as np

    rng = np.random.default_rng(1)
    column = rng.integers(1 << 24, 224 << 24, 1_000, dtype=np.uint32)
    texts = [".".join(str(n >> shift & 255) for shift in (24, 16, 8, 0)) for n in column.tolist()]
    tables = {"Table": popfib.Table(pairs), "LiveTable": popfib.LiveTable(pairs)}
    changes = random.Random(2).sample([pair for pair in pairs if ":" not in pair[0]], 1_000)

    def change(table, done, count):
        announce = getattr(table, "announce", None) or table.__setitem__
        start = time.perf_counter()
        while not done.is_set():
            prefix, _ = changes[count[0] % len(changes)]
            announce(prefix, count[0] % 7)
            count[0] += 1
            time.sleep(max(0.0, start + count[0] / 1_000 - time.perf_counter()))

    def each(table):
        for text in texts:
            table.get(text)

    kinds = {
        "lookup_many of 1,000, list": lambda table: table.lookup_many(column, output="list"),
        "lookup_many of 1,000, matches": lambda table: table.lookup_many(column, output="matches"),
        "1,000 times t.get(str)": each,
    }
    for kind, work in kinds.items():
        for name, table in tables.items():
            done, count, times = threading.Event(), [0], []
            writer = threading.Thread(target=change, args=(table, done, count))
            start = time.perf_counter()
            writer.start()
            while time.perf_counter() < start + seconds:
                before = time.perf_counter()
                work(table)
                times.append(time.perf_counter() - before)
                time.sleep(0.001)
            done.set()
            writer.join()
            rate = count[0] / (time.perf_counter() - start)
            times.sort()
            p50, p99 = (1e3 * times[int(part * len(times))] for part in (0.5, 0.99))
            print(
                f"{kind:<30} {name:<10} median {p50:.3f} ms, 99 % within {p99:.3f}, longest {1e3 * times[-1]:.3f}; "
                f"{len(times)} bursts beside {rate:.0f} changes a second"
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--addresses", type=int, default=10_000_000)
    parser.add_argument("--popfib-lab", default="target/release/popfib-lab", help="the command, for the Rust rate")
    parser.add_argument("--live", action="store_true", help="bursts beside changes, and nothing else")
    args = parser.parse_args()

    import numpy as np

    try:
        import pytricia
    except ImportError:
        pytricia = None
        print("skipped: pytricia is not installed")
    try:
        import pyarrow as pa
    except ImportError:
        pa = None
        print("skipped: Arrow columns: pyarrow is not installed")

    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, Python {sys.version.split()[0]}")
    pairs = list(popfib.default_table(decode=int).items())
    if args.live:
        return live(pairs)
    ipv4 = [pair for pair in pairs if ":" not in pair[0]]
    t = popfib.Table(pairs)
    rng = random.Random(1)
    texts = []
    for prefix, _ in rng.choices(ipv4, k=200_000):
        address, _, length = prefix.partition("/")
        a, b, c, d = map(int, address.split("."))
        host = a << 24 | b << 16 | c << 8 | d
        host |= rng.getrandbits(32) >> int(length)
        texts.append(".".join(str(host >> shift & 255) for shift in (24, 16, 8, 0)))
    answers = np.zeros(args.addresses, dtype=np.uint32)
    column = np.random.default_rng(1).integers(0, 2**32, args.addresses, dtype=np.uint32)
    million = lambda count: lambda s: count / s / 1e6  # noqa: E731

    figures = {
        "str": Figure("t[str], M/s", "M/s", ">= 3", million(len(texts))),
        "key": Figure("t.get_key(str), M/s", "M/s", "", million(len(texts))),
        "longest": Figure("t.longest_match(str), M/s", "M/s", "", million(len(texts))),
        "longest ratio": Figure("longest_match / t[str], of neighbouring runs", "", ">= 0.8"),
        "pytricia key": Figure("pytricia.get_key(str), M/s", "M/s", "", million(len(texts))),
        "pytricia str": Figure("pytricia[str], M/s", "M/s", "", million(len(texts))),
        "many": Figure("lookup_many(uint32), indices, random addresses", "M/s", ">= 150", million(args.addresses)),
        "kept": Figure("the same, every array kept", "M/s", "", million(args.addresses)),
        "rust": Figure("Rust lookup_batch (popfib-lab bench), random addresses", "M/s", ""),
        "out": Figure("lookup_many(uint32), indices, out=", "M/s", ">= 150", million(args.addresses)),
        "wall": Figure("lookup_many by the wall clock", "M/s", "", million(args.addresses)),
        "ratio": Figure("lookup_many / Rust, of neighbouring runs", "", ">= 0.8"),
        "values": Figure("lookup_many(uint32), values", "M/s", "", million(args.addresses)),
        "arrow": Figure("lookup_many(Arrow strings), indices", "M/s", ">= 15", million(len(texts) * 10)),
        "prefixes": Figure("lookup_many(uint32), prefixes (list of str)", "M/s", "", million(args.addresses // 10)),
        "matches": Figure("lookup_many(uint32), matches (list of pairs)", "M/s", "", million(args.addresses // 10)),
        "arrow prefixes": Figure("lookup_many(uint32), arrow-prefixes", "M/s", "", million(args.addresses // 10)),
        "few": Figure(f"lookup_many(uint32), arrow, by {BATCH:,} rows", "M/s", ">= 20", million(BATCH * BATCHES)),
        "own": Figure("the same, 732,000 routes with a text each", "M/s", ">= 20", million(BATCH * BATCHES)),
        "sql few": Figure("DuckDB, count(f(address)), 64 values, one thread", "M/s", "", million(BATCH * BATCHES)),
        "sql own": Figure("the same, 732,000 routes with a text each", "M/s", "", million(BATCH * BATCHES)),
        "list": Figure("lookup_many(list of str), indices", "M/s", "", million(len(texts))),
        "build": Figure("Table(list of pairs)", "s", "<= 0.5"),
        "pytricia build": Figure("pytricia, the same pairs one by one", "s", ""),
        "open": Figure("popfib.open(image)", "ms", "<= 20", lambda s: s * 1e3),
        "map": Figure("popfib.open(image, map=True)", "ms", "", lambda s: s * 1e3),
        "trust": Figure("popfib.open(image, trust=True)", "ms", "<= 20", lambda s: s * 1e3),
    }
    if pytricia:
        judge = pytricia.PyTricia(32)
        for prefix, value in ipv4:
            judge[prefix] = value
        judge.freeze()
        assert [judge.get(a) for a in texts] == t.lookup_many(texts, output="list"), "answers differ"
    strings = pa.array(texts * 10) if pa else None
    (own, hits), (few, _) = of_texts(np, 732_000), of_texts(np, 64)
    queries = in_sql({"own": own, "few": few}, hits) if pa else {}

    def batches(table, addresses):
        for start in range(0, BATCH * BATCHES, BATCH):
            table.lookup_many(addresses[start : start + BATCH], output="arrow")

    names = popfib.default_table()
    with tempfile.TemporaryDirectory() as folder:
        image = os.path.join(folder, "table.fib")
        names.save(image)

        def each(table):
            for text in texts:
                table[text]

        def call(method):
            for text in texts:
                method(text)

        def build_pytricia():
            tables = pytricia.PyTricia(32), pytricia.PyTricia(128)
            for prefix, value in pairs:
                tables[":" in prefix][prefix] = value

        def add(name, work):
            figures[name].values.append(seconds(work))

        for _ in range(args.runs):
            add("str", lambda: each(t))
            add("key", lambda: call(t.get_key))
            add("longest", lambda: call(t.longest_match))
            figures["longest ratio"].values.append(figures["str"].values[-1] / figures["longest"].values[-1])
            if pytricia:
                add("pytricia str", lambda: each(judge))
                add("pytricia key", lambda: call(judge.get_key))
            # One after the other, as columns come, and with nothing to take memory over from.
            t.lookup_many(column, output="indices")
            add("many", lambda: t.lookup_many(column, output="indices"))
            kept = [t.lookup_many(column, output="indices")]
            add("kept", lambda: kept.append(t.lookup_many(column, output="indices")))
            del kept
            if os.path.exists(args.popfib_lab):
                command = [args.popfib_lab, "bench", "--family", "ipv4", "--traffic", "random", "--json"]
                out = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
                rates = [row["mlps"] for row in json.loads(out) if row["kernel"] not in ("scalar", "portable")]
                figures["rust"].values.append(max(rates))
                # The rate of `popfib-lab bench` is the median of its passes, so this is of as many.
                walls = [seconds(lambda: t.lookup_many(column, output="indices"), time.perf_counter) for _ in range(5)]
                figures["wall"].values.append(statistics.median(walls))
                figures["ratio"].values.append(figures["wall"].show(figures["wall"].values[-1]) / max(rates))
            add("out", lambda: t.lookup_many(column, output="indices", out=answers))
            add("values", lambda: t.lookup_many(column))
            if pa:
                add("arrow", lambda: t.lookup_many(strings, output="indices"))
            for output in ("prefixes", "matches", "arrow-prefixes"):
                part = column[: args.addresses // 10]
                add(output.replace("-", " "), lambda: t.lookup_many(part, output=output))
            add("few", lambda: batches(names, column))
            add("own", lambda: batches(own, hits))
            for name, query in queries.items():
                add(f"sql {name}", query)
            add("list", lambda: t.lookup_many(texts, output="indices"))
            add("build", lambda: popfib.Table(pairs))
            if pytricia:
                add("pytricia build", build_pytricia)
            # Once for the allocator, which has just given pytricia's memory back.
            popfib.open(image)
            add("open", lambda: popfib.open(image))
            add("map", lambda: popfib.open(image, map=True))
            add("trust", lambda: popfib.open(image, trust=True))
    for figure in figures.values():
        print(figure)
    if os.path.exists("/proc/self/statm"):
        sizes = {}
        for name in ["popfib"] + ["pytricia"] * bool(pytricia):
            out = subprocess.run([sys.executable, "-c", CHILD, name], check=True, stdout=subprocess.PIPE).stdout
            sizes[name] = int(out)
            print(f"memory of a process for the table, {name:<23} {sizes[name] / 2**20:>9.4g} MiB")
        if len(sizes) == 2:
            print(f"popfib / pytricia {sizes['popfib'] / sizes['pytricia']:>50.3f}      <= 0.25")
    print(f"Table.nbytes {t.nbytes / 2**20:>55.4g} MiB")


if __name__ == "__main__":
    main()
