"""Rates of popfib in Spark beside one process of popfib, and beside Spark's own broadcast join by ranges.

    python lab/bench/spark.py [--master local[2]] [--rows 50000000] [--join-rows 20000,2000,200] [--runs 3]

The table is the built-in one, the addresses are random hosts of random IPv4 routes, as text in Parquet files. Spark reads them
and hands its answers to a sink that drops them; one process reads the same files by pyarrow. A `mapInArrow` that does nothing shows
what of it is Spark's own. Rates are in millions of
rows a second of CPU time, that of all processes under this one together: medians of the runs, with the lowest and the highest,
and the rate by the clock. The join has fewer rows, for it compares each with every range: several numbers, each beside `lpm` of as many, as
what either takes to begin weighs more the fewer there are. Their answers are compared.
Needs pyspark 4.1 or later, Java, pyarrow and pandas.
"""

import argparse
import ipaddress
import os
import pathlib
import statistics
import sys
import tempfile
import time

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import popfib
import popfib.spark

FILES = 8


def cpu():
    """Seconds of CPU of this process and all below it, those that ended among them."""
    ticks = os.sysconf("SC_CLK_TCK")
    processes = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
            processes[int(path.parent.name)] = (int(fields[1]), sum(map(int, fields[11:15])) / ticks)
        except (FileNotFoundError, ProcessLookupError):
            pass
    ours, taken = [os.getpid()], 0
    for pid in ours:
        taken += processes.get(pid, (0, 0))[1]
        ours += [child for child, (parent, _) in processes.items() if parent == pid]
    return taken


def write_hosts(folder, routes, rows, rng):
    first = np.array([int(prefix.network_address) for prefix, _ in routes], dtype=np.uint64)
    size = np.array([prefix.num_addresses for prefix, _ in routes], dtype=np.uint64)
    for file in range(FILES):
        schema = pa.schema([("src", pa.string()), ("n", pa.int64())])
        with pq.ParquetWriter(folder / f"{file}.parquet", schema) as writer:
            for start in range(0, rows // FILES, 1 << 20):
                count = min(1 << 20, rows // FILES - start)
                of = rng.integers(0, len(routes), count)
                hosts = first[of] + rng.integers(0, 1 << 32, count, dtype=np.uint64) % size[of]
                text = ["%d.%d.%d.%d" % tuple(host) for host in hosts.astype(">u4").view(np.uint8).reshape(-1, 4).tolist()]
                writer.write_table(pa.table([pa.array(text), pa.array(hosts.astype(np.int64))], schema=schema))


def ranges(routes):
    """The stretches of addresses that have one value: first, last, value."""
    found, stack, at = [], [], 0

    def cut(end):
        nonlocal at
        if stack and at <= end:
            found.append((at, end, stack[-1][1]))
        at = max(at, end + 1)

    for first, last, value in [*routes, (1 << 32, 1 << 32, None)]:
        while stack and stack[-1][0] < first:
            cut(stack[-1][0])
            stack.pop()
        cut(first - 1)
        at = first
        stack.append((last, value))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--join-rows", default="20000,2000,200")
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure_all(pathlib.Path(folder), args)


def measure_all(folder, args):
    image, hosts = folder / "origin.fib", folder / "hosts"
    hosts.mkdir()
    popfib.default_table().save(image)
    table = popfib.open(image)
    routes = [(ipaddress.ip_network(prefix), value) for prefix, value in table.items() if ":" not in str(prefix)]
    write_hosts(hosts, routes, args.rows, np.random.default_rng(1))
    rows = args.rows // FILES * FILES

    def measure(name, count, run):
        times = []
        # The first run warms up: Java compiles, workers start.
        for _ in range(args.runs + 1):
            start, clock = cpu(), time.monotonic()
            run()
            times.append((cpu() - start, time.monotonic() - clock))
        rates = sorted(count / taken / 1e6 for taken, _ in times[1:])
        clock = count / statistics.median(clock for _, clock in times[1:]) / 1e6
        print(f"{name:44} {statistics.median(rates):9.3g} M/s ({rates[0]:.3g} to {rates[-1]:.3g}); by the clock {clock:.3g}", flush=True)
        return statistics.median(rates)

    def one_process():
        for file in sorted(hosts.iterdir()):
            for batch in pq.ParquetFile(file).iter_batches(1 << 16, columns=["src"], use_threads=False):
                pa.array(table.lookup_many(batch.column(0), output="arrow")).dictionary_decode()

    print(f"{rows} hosts of random routes among {len(routes)}; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    one = measure("one process", rows, one_process)
    spark = SparkSession.builder.master(args.master).config("spark.ui.enabled", "false").config("spark.log.level", "ERROR").getOrCreate()
    print(f"Spark {spark.version}, {args.master}", flush=True)
    frame = spark.read.parquet(str(hosts))
    texts = frame.select("src")
    drop = lambda frame: frame.write.format("noop").mode("overwrite").save()
    popfib.spark.register(spark, "lpm", image)
    measure("Spark, the column alone", rows, lambda: drop(texts))
    by_function = measure("Spark, lpm(src)", rows, lambda: drop(texts.selectExpr("lpm(src) AS value")))
    by_frame = measure("Spark, popfib.spark.lookup", rows, lambda: drop(popfib.spark.lookup(texts, "src", image)))
    # What Spark takes for the way to Python and back.
    measure("Spark, mapInArrow that changes nothing", rows, lambda: drop(texts.mapInArrow(lambda batches: batches, texts.schema)))
    print(f"{'':44} lpm has {by_function / one:.2f} of the rate of one process, lookup {by_frame / one:.2f}", flush=True)

    routes.sort(key=lambda route: (route[0].network_address, route[0].prefixlen))
    cut = ranges([(int(prefix[0]), int(prefix[-1]), value) for prefix, value in routes])
    pq.write_table(pa.table(dict(zip(("first", "last", "value"), map(list, zip(*cut))))), folder / "ranges.parquet")
    spark.read.parquet(str(folder / "ranges.parquet")).createOrReplaceTempView("ranges")
    check = "SELECT count(v), sum(hash(v) % 1000L) FROM"
    join = f"{check} (SELECT /*+ BROADCAST(ranges) */ value AS v FROM few LEFT JOIN ranges ON n BETWEEN first AND last)"
    lookup = f"{check} (SELECT lpm(src) AS v FROM few)"
    for number in sorted(map(int, args.join_rows.split(",")), reverse=True):
        pq.write_table(pq.read_table(hosts / "0.parquet").slice(0, number), folder / f"few-{number}.parquet")
        spark.read.parquet(str(folder / f"few-{number}.parquet")).repartition(2).cache().createOrReplaceTempView("few")
        answers = [spark.sql(query).collect() for query in (lookup, join)]
        if answers[0] != answers[1]:
            raise SystemExit(f"the join: {answers[1]}, not {answers[0]}")
        ours = measure(f"Spark, lpm(src) of {number}", number, lambda: spark.sql(lookup).collect())
        other = measure(f"Spark, join of {number} with {len(cut)} ranges", number, lambda: spark.sql(join).collect())
        print(f"{'':44} lpm has {ours / other:.0f} times its rate", flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
