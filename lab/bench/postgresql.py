#!/usr/bin/env python3
"""The PostgreSQL extension beside indexes by GiST, on the same data, in one server of its own.

    lab/bench/postgresql.py [--image FILE] [--addresses N] [--join-addresses N,...] [--runs N]

Looks up random hosts of random IPv4 routes, a column of inet, by sequential scans without parallel workers, and prints medians of the
runs in millions a second, with the slowest and the fastest, by CPU time of the server's process. Beside it the index of inet (`inet_ops`) and,
where it is installed (Debian: postgresql-15-ip4r), that of ip4r: the longest match of each of fewer addresses, of several numbers, by a
lateral join, and `popfib.lookup` of as many, with the same answers (of inet those of 1,000 and fewer, for it takes so long). The same routes with
records of four columns: one column, and three of them by three lookups and by a join of the records. FILE is an image by `popfib compile` with routes; the built-in table by default. Needs what the tests need.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "engines/postgresql"))

from server import POPFIB, TOP, Server, SqlError


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--image")
    parser.add_argument("--addresses", type=int, default=5_000_000)
    parser.add_argument("--join-addresses", default="200000,20000,1000")
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    with Server("release", settings="shared_buffers = '1GB'\nfsync = off\njit = off\nmax_wal_size = '8GB'") as server:
        measure_all(server, args)


def measure_all(server, args):
    path = server.files / "table.fib"
    # Makes the table and is not measured.
    subprocess.run(["cargo", "build", "--quiet", "--locked", "-p", "popfib-cli"], cwd=TOP, check=True)
    if args.image:
        shutil.copy(args.image, path)
    else:
        subprocess.run([POPFIB, "compile", "-t", "built-in", "-o", path], check=True)
    path.chmod(0o644)
    server.sql("CREATE EXTENSION popfib")
    [(ipv4, ipv6)] = server.sql(f"SELECT * FROM popfib.load('t', '{path}')")
    # The routes come from the table itself, so that all have the same.
    text = subprocess.run([POPFIB, "routes", "--table", path], check=True, stdout=subprocess.PIPE, text=True).stdout
    lines = (line.split(None, 1) for line in text.splitlines() if ":" not in line.split(None, 1)[0])
    routes = server.files / "routes.csv"
    routes.write_text("".join(f"{prefix}\t{rest[0] if rest else ''}\n" for prefix, *rest in lines))
    routes.chmod(0o644)
    # The same routes with records: of each AS a name, a country and up to three cities.
    lines = (line.split("\t") for line in routes.read_text().splitlines())
    named = ((prefix, value, zlib.crc32(value.encode()), zlib.crc32(prefix.encode())) for prefix, value in lines)
    rows = (f"{prefix},{value.strip()},{hash % 250},Network {hash} of somebody,City {(hash + other % 3) % 5000}" for prefix, value, hash, other in named)
    columns = server.files / "columns.csv"
    columns.write_text("network,asn,country,name,city\n" + "\n".join(rows) + "\n")
    image = server.files / "columns.fib"
    subprocess.run([POPFIB, "compile", "--table", columns, "--columns", "*", "-o", image], check=True)
    image.chmod(0o644)
    server.sql(f"SELECT popfib.load('r', '{image}')")
    numbers = sorted({min(int(number), args.addresses) for number in args.join_addresses.split(",")}, reverse=True)
    few = "; ".join(f"CREATE TABLE few_{n} AS SELECT src, src AS src4 FROM hosts LIMIT {n}" for n in numbers)
    server.sql(f"""CREATE TABLE routes (prefix inet, value text); COPY routes FROM '{routes}';
        CREATE TABLE numbered AS SELECT prefix, row_number() OVER () - 1 AS id FROM routes; CREATE INDEX ON numbered (id); ANALYZE numbered;
        SELECT setseed(0.5);
        CREATE TABLE hosts AS SELECT set_masklen(prefix + floor(random() * (1::bigint << (32 - masklen(prefix))))::bigint, 32) AS src
            FROM (SELECT floor(random() * (SELECT count(*) FROM routes))::bigint AS id FROM generate_series(1, {args.addresses})) r
            JOIN numbered USING (id) ORDER BY random();
        {few};
        CREATE INDEX ON routes USING gist (prefix inet_ops); VACUUM ANALYZE""")
    values = server.sql("SELECT count(DISTINCT value) FROM routes")[0][0]
    print(f"{server.version}, 1 process; {ipv4} IPv4 and {ipv6} IPv6 routes, {values} values in IPv4;")
    print(f"{args.addresses} hosts of random routes; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)

    def measure(name, count, sql):
        """By one connection, whose server process is asked for its CPU time before and after each run."""
        connection = server.psql()
        connection.stdin.write("SET max_parallel_workers_per_gather = 0; SELECT pg_backend_pid();\n")
        connection.stdin.flush()
        pid = int(connection.stdout.readline())
        times, answers = [], None
        try:
            for _ in range(args.runs + 1):
                start = cpu(pid)
                connection.stdin.write(f"{sql};\n")
                connection.stdin.flush()
                answers = connection.stdout.readline().strip()
                times.append(cpu(pid) - start)
        finally:
            server.finish(connection)
        # The first run warms up.
        rates = sorted(count / taken / 1e6 for taken in times[1:])
        print(f"{name:34} {statistics.median(rates):8.4g} M/s ({rates[0]:.4g} to {rates[-1]:.4g})", flush=True)
        return answers, statistics.median(rates)

    measure("the column alone", args.addresses, "SELECT count(src) FROM hosts")
    measure("the column, host(src)", args.addresses, "SELECT count(host(src)) FROM hosts")
    measure("popfib.lookup", args.addresses, "SELECT count(popfib.lookup('t', src)) FROM hosts")
    if server.sql("SELECT bool_and(value ~ '^[0-9]{1,18}$') FROM routes") == [("t",)]:
        measure("popfib.lookup_int", args.addresses, "SELECT count(popfib.lookup_int('t', src)) FROM hosts")
    measure("popfib.lookup_prefix", args.addresses, "SELECT count(popfib.lookup_prefix('t', src)) FROM hosts")
    records = "popfib.records('r') AS r(record integer, asn bigint, name text, city text) ON record = popfib.lookup_record('r', src)"
    sums = "sum(asn), count(name), max(length(city))"
    [(count,)] = server.sql("SELECT count(*) FROM popfib.records('r') AS r(record integer)")
    print(f"the same routes with {count} records of four columns:")
    measure("popfib.lookup, a column of texts", args.addresses, "SELECT count(popfib.lookup('r', src, 'name')) FROM hosts")
    measure("popfib.lookup_int, of integers", args.addresses, "SELECT count(popfib.lookup_int('r', src, 'asn')) FROM hosts")
    measure("popfib.lookup_record", args.addresses, "SELECT count(popfib.lookup_record('r', src)) FROM hosts")
    three = "popfib.lookup('r', src, 'asn')::bigint AS asn, popfib.lookup('r', src, 'name') AS name, popfib.lookup('r', src, 'city') AS city"
    by_lookup, rate = measure("three columns by popfib.lookup", args.addresses, f"SELECT {sums} FROM (SELECT {three} FROM hosts OFFSET 0) s")
    by_join, joined = measure("three columns by a join", args.addresses, f"SELECT {sums} FROM hosts JOIN {records}")
    if by_join != by_lookup:
        raise SystemExit(f"a join gives {by_join}, not {by_lookup}")
    print(f"{'':34} the join has {joined / rate:.2f} times its rate", flush=True)
    # A sum over the answers, so that none can be left out and all can be compared.
    check = "SELECT count(v), sum(hashtext(v)::bigint) FROM"
    join = "(SELECT r.value AS v FROM {}, LATERAL (SELECT value FROM {} ORDER BY {} LIMIT 1) r) s"
    others = {"GiST of inet": ("routes WHERE prefix >>= src", "masklen(prefix) DESC")}
    try:
        server.sql("CREATE EXTENSION ip4r; CREATE TABLE ranges AS SELECT prefix::cidr::iprange::ip4r AS prefix, value FROM routes; "
                   "CREATE INDEX ON ranges USING gist (prefix); VACUUM ANALYZE")
        for n in numbers:
            server.sql(f"ALTER TABLE few_{n} ALTER src4 TYPE ip4 USING host(src)::ip4; VACUUM ANALYZE few_{n}")
        others = {"GiST of ip4r": ("ranges WHERE prefix >>= src4", "@ prefix"), **others}
    except SqlError as error:
        print(f"GiST of ip4r: {error}")
    for n in numbers:
        ours, rate = measure(f"popfib.lookup, {n}", n, f"{check} (SELECT popfib.lookup('t', src) AS v FROM few_{n}) s")
        for name, (where, order) in others.items():
            if "inet" in name and n > 1000:
                continue
            answers, other = measure(f"{name}, {n}", n, f"{check} {join.format(f'few_{n}', where, order)}")
            if answers != ours:
                raise SystemExit(f"{name}, {n}: {answers}, not {ours}")
            print(f"{'':34} popfib.lookup has {rate / other:.0f} times its rate", flush=True)


def cpu(pid):
    """Seconds of CPU of a process."""
    fields = open(f"/proc/{pid}/schedstat").read().split()
    return int(fields[0]) / 1e9


if __name__ == "__main__":
    main()
