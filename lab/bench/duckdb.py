#!/usr/bin/env python3
"""The DuckDB extension beside DuckDB's own ways, on the same data, by one thread.

    lab/bench/duckdb.py [--extension FILE] [--table FILE] [--addresses N] [--join-addresses N] [--runs N]

Looks up the same random hosts of random IPv4 routes as UINTEGER and as VARCHAR, and prints medians of the runs in millions
a second, with the slowest and the fastest, by CPU time. DuckDB's own ways are a range join, with the ranges of the table cut so
that they do not overlap, and an ASOF join with their first addresses; both are asked for fewer addresses, for they take longer, and
the answers of all are compared. Where a way fails or is not there, that is said. Needs DuckDB (1.5.6 or later) and an
extension that `crates/popfib-duckdb/build` has made.
"""

import argparse
import csv
import os
import statistics
import tempfile
import time

import duckdb


def ranges(routes):
    """The stretches of IPv4 addresses that have one value: (first, last, value)."""
    found, stack, at = [], [], 0

    def cut(end):
        nonlocal at
        if stack and at <= end:
            found.append((at, end, stack[-1][1]))
        at = max(at, end + 1)

    for first, last, value in routes + [(1 << 32, 1 << 32, None)]:
        while stack and stack[-1][0] < first:
            cut(stack[-1][0])
            stack.pop()
        cut(first - 1)
        at = first
        stack.append((last, value))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--extension", default="popfib.duckdb_extension")
    parser.add_argument("--table", default="default", help="file of routes; the built-in table if not given")
    parser.add_argument("--addresses", type=int, default=5_000_000)
    parser.add_argument("--join-addresses", type=int, default=200_000)
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()

    db = duckdb.connect(config={"allow_unsigned_extensions": "true", "threads": "1"})
    db.execute(f"LOAD '{os.path.abspath(args.extension)}'")
    _, ipv4, ipv6, *_ = db.execute(f"CALL popfib_table('t', '{args.table}')").fetchone()
    # Each route as its first and last address and its number; hosts are made by DuckDB, which takes no minutes.
    db.execute(f"""CREATE TABLE parts AS SELECT [x::BIGINT for x in string_split(split_part(prefix, '/', 1), '.')] AS o,
        split_part(prefix, '/', 2)::INTEGER AS len, value FROM popfib_routes('{args.table}') WHERE NOT contains(prefix, ':')""")
    db.execute("""CREATE TABLE routes AS SELECT first, first + (1::BIGINT << (32 - len)) - 1 AS last, value, row_number() OVER () - 1 AS id
        FROM (SELECT (o[1] << 24) + (o[2] << 16) + (o[3] << 8) + o[4] AS first, len, value FROM parts)""")
    routes = db.execute("SELECT first, last, value FROM routes ORDER BY first, last DESC").fetchall()
    db.execute(f"""CREATE TABLE hosts AS SELECT (first + hash(i) % (last - first + 1))::UINTEGER AS n
        FROM range({args.addresses}) r(i) JOIN routes ON id = hash(i + 1000000007) % {len(routes)} ORDER BY hash(i + 7)""")
    dotted = "concat_ws('.', n >> 24, (n >> 16) & 255, (n >> 8) & 255, n & 255)"
    db.execute(f"CREATE TABLE texts AS SELECT {dotted} AS src FROM hosts")
    few = min(args.join_addresses, args.addresses)
    db.execute(f"CREATE TABLE few AS FROM hosts LIMIT {few}")
    cut = ranges(routes)
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        csv.writer(file).writerows(cut)
        file.flush()
        types = "{'first': 'UINTEGER', 'last': 'UINTEGER', 'value': 'VARCHAR'}"
        db.execute(f"CREATE TABLE ranges AS FROM read_csv('{file.name}', header = false, columns = {types})")

    values = len({value for *_, value in routes})
    print(f"DuckDB {duckdb.__version__}, 1 thread; {ipv4} IPv4 and {ipv6} IPv6 routes, {values} values in IPv4, {len(cut)} ranges;")
    print(f"{args.addresses} hosts of random routes, {few} for joins; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)

    def measure(name, count, sql):
        times, answers = [], None
        try:
            for _ in range(args.runs):
                start = time.process_time()
                answers = db.execute(sql).fetchall()
                times.append(time.process_time() - start)
        except duckdb.Error as error:
            print(f"{name:34} failed: {str(error).splitlines()[0][:90]}")
            return answers
        rates = sorted(count / taken / 1e6 for taken in times)
        print(f"{name:34} {statistics.median(rates):8.2f} M/s ({rates[0]:.2f} to {rates[-1]:.2f})", flush=True)
        return answers

    measure("the column alone, UINTEGER", args.addresses, "SELECT sum(n) FROM hosts")
    measure("lpm of UINTEGER", args.addresses, "SELECT count(lpm('t', n)) FROM hosts")
    measure("lpm_prefix of UINTEGER", args.addresses, "SELECT count(lpm_prefix('t', n)) FROM hosts")
    if all(value.isdecimal() for *_, value in routes):
        measure("lpm_int of UINTEGER", args.addresses, "SELECT count(lpm_int('t', n)) FROM hosts")
    measure("the column alone, VARCHAR", args.addresses, "SELECT sum(length(src)) FROM texts")
    measure("lpm of VARCHAR", args.addresses, "SELECT count(lpm('t', src)) FROM texts")
    # A sum over the answers, so that none can be left out and all can be compared.
    check = "count(v), sum(hash(v) % 1000)"
    ours = measure("lpm, the few addresses", few, f"SELECT {check} FROM (SELECT lpm('t', n) AS v FROM few)")
    joins = {
        "range join": "LEFT JOIN ranges ON n BETWEEN first AND last",
        "ASOF join": "ASOF LEFT JOIN ranges ON n >= first",
    }
    for name, join in joins.items():
        # An address after the end of that range has no route.
        theirs = measure(name, few, f"SELECT {check} FROM (SELECT CASE WHEN n <= last THEN value END AS v FROM few {join})")
        if theirs is not None and theirs != ours:
            raise SystemExit(f"{name}: {theirs}, not {ours}")


if __name__ == "__main__":
    main()
