#!/usr/bin/env python3
"""`popfib clickhouse` beside ClickHouse's own dictionary of prefixes (`ip_trie`), on the same data, by one thread.

    lab/bench/clickhouse.py [--table FILE] [--addresses N] [--runs N] [--image FILE --columns A,B,...]

Looks up the same random hosts of random IPv4 routes as numbers and as text, and prints medians of the runs in millions a
second, with the slowest and the fastest: by CPU time of ClickHouse and of the process that answers together, and by the
clock. The answers of both are compared. With an image and columns of it that are texts or numbers, a tuple of these is compared
with a function for each. FILE is read by popfib; the built-in table if not given. Needs chdb (PyPI) and
`cargo build --profile dist -p popfib-cli`.
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "engines/clickhouse"))

from engine import TOP, Engine  # noqa: E402

POPFIB = TOP / "target/dist/popfib"


def cpu():
    """Seconds of CPU of this process and of those it started, while they run."""
    taken = time.process_time()
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parent = int((path / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if parent == os.getpid():
                taken += int((path / "schedstat").read_text().split()[0]) / 1e9
        except (FileNotFoundError, ProcessLookupError):
            pass
    return taken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table")
    parser.add_argument("--addresses", type=int, default=5_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--image", help="an image with records")
    parser.add_argument("--columns", default="", help="columns of it, separated by commas")
    args = parser.parse_args()
    options = "--table table.fib"
    functions = [
        ("lpm_number", "UInt32", "Nullable(String)", options),
        ("lpm_uint32", "UInt32", "UInt32", options + " --answer uint32"),
        ("lpm_prefix", "UInt32", "Nullable(String)", options + " --answer prefix"),
        ("lpm_text", "String", "Nullable(String)", options),
        ("lpm_text_uint32", "String", "UInt32", options + " --answer uint32"),
    ]
    if args.image:
        of = f"--table {os.path.abspath(args.image)} --columns "
        command = [POPFIB, "clickhouse", "--table", args.image, "--columns", args.columns, "--xml", "all"]
        xml = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        [of_all] = re.findall("<return_type>(.*)</return_type>", xml)
        functions.append(("lpm_all", "UInt32", of_all, of + args.columns))
        functions += [(f"lpm_of_{n}", "UInt32", "Nullable(String)", of + name) for n, name in enumerate(args.columns.split(","))]
    with Engine(functions, POPFIB) as engine:
        measure_all(engine, args)


def measure_all(engine, args):
    table = ["--table", os.path.abspath(args.table)] if args.table else []
    image = engine.files / "table.fib"
    subprocess.run([POPFIB, "compile", *table, "-o", image], check=True)
    text = subprocess.run([POPFIB, "routes", "--table", image], check=True, stdout=subprocess.PIPE, text=True).stdout
    rows = [line.split(None, 1) for line in text.splitlines()]
    rows = [(prefix, value[0].strip() if value else "") for prefix, *value in rows if ":" not in prefix]
    (engine.files / "routes.tsv").write_text("".join(f"{prefix}\t{value}\n" for prefix, value in rows))
    engine.query(f"CREATE TABLE routes ENGINE = Memory AS SELECT *, rowNumberInAllBlocks() AS id FROM file('{engine.files}/routes.tsv', TSV, 'prefix String, value String')")
    count = len(rows)
    # The hosts are drawn by ClickHouse and stand in no order.
    engine.query(f"""CREATE TABLE hosts ENGINE = Memory AS SELECT n, IPv4NumToString(n) AS src FROM (
        SELECT toUInt32(toIPv4(splitByChar('/', prefix)[1]) + sipHash64(i) % bitShiftLeft(1::UInt64, 32 - toUInt8(splitByChar('/', prefix)[2]))) AS n, i
        FROM (SELECT number AS i, sipHash64(number, 1) % {count} AS id FROM numbers({args.addresses})) AS drawn
        JOIN (SELECT id::UInt64 AS id, prefix FROM routes) AS routes USING id ORDER BY sipHash64(i, 2)) SETTINGS max_threads = 1""")
    is_number = all(value.isdecimal() and int(value) < 1 << 32 for _, value in rows)
    values = len({value for _, value in rows})
    for name, kind in [("trie", "String")] + [("trie_uint32", "UInt32")] * is_number:
        engine.query(f"""CREATE DICTIONARY {name} (prefix String, value {kind} DEFAULT {"''" if kind == "String" else 0}) PRIMARY KEY prefix
            SOURCE(CLICKHOUSE(QUERY 'SELECT prefix, value FROM routes')) LAYOUT(ip_trie()) LIFETIME(0)""")
        engine.query(f"SYSTEM RELOAD DICTIONARY {name}")
    print(f"ClickHouse {engine.version} (chdb), 1 thread; {count} IPv4 routes, {values} values;")
    print(f"{args.addresses} hosts of random routes; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)

    def measure(name, *expressions):
        sums = ", ".join(f"sum(sipHash64(assumeNotNull({expression})) % 1000)" for expression in expressions)
        sql = f"SELECT count(), {sums} FROM hosts SETTINGS max_threads = 1"
        times, answers = [], None
        for _ in range(args.runs + 1):
            start, clock = cpu(), time.monotonic()
            answers = engine.query(sql)
            times.append((cpu() - start, time.monotonic() - clock))
        # The first run warms up: the process starts and opens the image.
        rates = sorted(args.addresses / taken / 1e6 for taken, _ in times[1:])
        clock = args.addresses / statistics.median(clock for _, clock in times[1:]) / 1e6
        print(f"{name:40} {statistics.median(rates):7.2f} M/s ({rates[0]:.2f} to {rates[-1]:.2f}); by the clock {clock:.2f}", flush=True)
        return answers, statistics.median(rates)

    def compare(name, ours, theirs, what="ip_trie"):
        (answers, rate), (expected, other) = measure(*ours), measure(*theirs)
        if answers != expected:
            raise SystemExit(f"{name}: {answers}, not {expected}")
        print(f"{'':40} popfib has {rate / other:.1f} times the rate of {what}", flush=True)

    if args.image:
        names = args.columns.split(",")
        elements = [f"toString(assumeNotNull(tupleElement(lpm_all(n), {at + 1})))" for at in range(len(names))]
        each = [f"lpm_of_{at}(n)" for at in range(len(names))]
        measure("popfib, the first column", each[0])
        compare("columns", (f"popfib, a tuple of {len(names)}", *elements), (f"popfib, {len(names)} functions", *each), "a function for each")
        return
    measure("the column alone, UInt32", "n")
    compare("numbers", ("popfib, UInt32 to String", "lpm_number(n)"), ("ip_trie, the same", "dictGet('trie', 'value', tuple(n))"))
    if is_number:
        compare("numbers", ("popfib, UInt32 to UInt32", "lpm_uint32(n)"), ("ip_trie, the same", "dictGet('trie_uint32', 'value', tuple(n))"))
    measure("popfib, UInt32 to the prefix", "lpm_prefix(n)")
    measure("the column alone, String", "src")
    compare("text", ("popfib, String to String", "lpm_text(src)"), ("ip_trie, the same (toIPv4)", "dictGet('trie', 'value', tuple(toIPv4(src)))"))
    if is_number:
        compare("text", ("popfib, String to UInt32", "lpm_text_uint32(src)"), ("ip_trie, the same (toIPv4)", "dictGet('trie_uint32', 'value', tuple(toIPv4(src)))"))


if __name__ == "__main__":
    main()
