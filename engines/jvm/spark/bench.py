"""Rates of popfib_lookup in Spark SQL, of functions in Java (UDFs) that return a constant or look up, and of popfib.spark in Python.

    taskset -c 1 target/python/bin/python engines/jvm/spark/bench.py [--image FILE] [--rows 20000000] [--runs 5] [--python-runs 1]

The table is the built-in one, or an image. The addresses are random hosts of its IPv4 routes, as text in one Parquet file, which
stays in target/spark. Spark reads them in local[1], and hands the answers to a sink that drops them. Passes take turns; of each
round the rate relative to the constant is taken. Printed are medians, with the lowest and the highest, by the clock: pin it to a
core, which Spark's compiler and collector then share. What it answers is compared with Python.
Needs pyspark, pyarrow, pandas and popfib as `scripts/test-python --spark` installs them, and the jar: `mvn -Pspark package`.
"""

import argparse
import hashlib
import ipaddress
import os
import pathlib
import statistics
import sys
import time

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import popfib
import popfib.spark

TOP = pathlib.Path(__file__).resolve().parents[3]
BUILT = TOP / "engines/jvm/spark/target"


def write_hosts(path, table, rows):
    prefixes = [prefix for prefix in map(ipaddress.ip_network, table) if ":" not in str(prefix)]
    first = np.array([int(prefix.network_address) for prefix in prefixes], dtype=np.uint64)
    size = np.array([prefix.num_addresses for prefix in prefixes], dtype=np.uint64)
    rng = np.random.default_rng(1)
    numbers = pa.array([str(n) for n in range(256)])
    part = pathlib.Path(f"{path}.part")
    with pq.ParquetWriter(part, pa.schema([("src", pa.string())])) as writer:
        for start in range(0, rows, 1 << 20):
            of = rng.integers(0, len(first), min(1 << 20, rows - start))
            hosts = first[of] + rng.integers(0, 1 << 32, len(of), dtype=np.uint64) % size[of]
            octets = [numbers.take(pa.array((hosts >> np.uint64(shift) & np.uint64(255)).astype(np.int32))) for shift in (24, 16, 8, 0)]
            writer.write_table(pa.table([pc.binary_join_element_wise(*octets, ".")], names=["src"]))
    part.rename(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--image")
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--python-runs", type=int, default=1)
    parser.add_argument("--prepare", action="store_true", help="only write the addresses")
    args = parser.parse_args()
    folder = TOP / "target/spark"
    folder.mkdir(parents=True, exist_ok=True)
    image = pathlib.Path(args.image or folder / "default.fib").resolve()
    if not args.image:
        popfib.default_table().save(image)
    hosts = folder / f"hosts-{hashlib.sha256(image.read_bytes()).hexdigest()[:8]}-{args.rows}.parquet"
    if not hosts.exists():
        write_hosts(hosts, popfib.open(image), args.rows)
    if not args.prepare:
        measure_all(image, hosts, args)


def measure_all(image, hosts, args):
    [jar] = BUILT.glob("popfib-spark-*.jar")
    # For PlainUdf: a UDF of one column gets nothing else.
    os.environ["POPFIB_BENCH_IMAGE"] = str(image)
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
    # Both: a class of this path cannot use one of spark.jars.
    builder = builder.config("spark.driver.extraClassPath", f"{jar}:{BUILT / 'test-classes'}")
    # One file is one task.
    builder = builder.config("spark.sql.files.maxPartitionBytes", 1 << 40).config("spark.driver.memory", "2g")
    spark = builder.config("spark.sql.extensions", "popfib.spark.PopfibExtensions").getOrCreate()
    spark.udf.registerJavaFunction("constant", "popfib.spark.Constant", "string")
    spark.udf.registerJavaFunction("plain", "popfib.spark.PlainUdf", "string")
    texts = spark.read.parquet(str(hosts))
    print(f"Spark {spark.version}, {args.rows} rows; load average {os.getloadavg()[0]:.1f}", flush=True)
    queries = {
        "the column alone": texts,
        "constant(src)": texts.selectExpr("constant(src)"),
        "plain(src)": texts.selectExpr("plain(src)"),
        "popfib_lookup(src, ...)": texts.selectExpr(f"popfib_lookup(src, '{image}')"),
        "popfib_record(src, ...)": texts.selectExpr(f"popfib_record(src, '{image}')"),
    }
    python = {"popfib.spark.lookup": popfib.spark.lookup(texts, "src", image).select("value")}
    if hasattr(spark.sparkContext, "_jvm") and tuple(map(int, spark.version.split(".")[:2])) >= (4, 1):
        popfib.spark.register(spark, "lpm", image)
        python["popfib.spark.register"] = texts.selectExpr("lpm(src)")

    def rate(frame):
        start = time.monotonic()
        frame.write.format("noop").mode("overwrite").save()
        return args.rows / (time.monotonic() - start) / 1e6

    def show(name, rates, ratios):
        print(f"{name:32}" + "".join(
            f"{statistics.median(values):8.3g} ({min(values):.3g} to {max(values):.3g})" for values in (rates, ratios) if values
        ), flush=True)

    check = [f"SELECT count(v), sum(hash(v) % 1000L) FROM (SELECT {call} AS v FROM texts)" for call in (f"popfib_lookup(src, '{image}')", "plain(src)", "value")]
    rates = {name: [] for name in queries}
    for turn in range(args.runs + 1):
        for name, frame in queries.items():
            rates[name].append(rate(frame))
    # The first turn warms up: Java compiles.
    rates = {name: values[1:] for name, values in rates.items()}
    for name, values in rates.items():
        show(name, values, [a / b for a, b in zip(values, rates["constant(src)"])])
    ours = statistics.median(rates["popfib_lookup(src, ...)"])
    for name, frame in python.items():
        values = [rate(frame) for _ in range(args.python_runs)]
        if not values:
            continue
        show(name, values, [])
        print(f"{'':32}popfib_lookup has {ours / statistics.median(values):.3g} times its rate", flush=True)
    few = texts.limit(100_000)
    few.createOrReplaceTempView("texts")
    ours, udf = (spark.sql(query).collect() for query in check[:2])
    popfib.spark.lookup(few, "src", image).createOrReplaceTempView("texts")
    if not ours == udf == spark.sql(check[2]).collect():
        raise SystemExit("popfib_lookup does not answer as the UDF and Python do")


if __name__ == "__main__":
    main()
