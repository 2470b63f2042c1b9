#!/usr/bin/env python3
"""Makes target/vectors, which the tests of every door ask for, unless this program has made it already.

    engines/vectors/generate.py

`comparison.py` says what is in the larger part of it: one table in two versions, and a hundred thousand questions. vectors.json
has small tables of hard cases, with all routes that cover an address. Its oracle is Python's `ipaddress`, by a scan of all routes; it shares no code with popfib.

    {"tables": {NAME: {"routes": [[PREFIX, VALUE], ...], "questions": [[ADDRESS, BYTES, ROUTES], ...]}}, "invalid": [TEXT, ...]}

BYTES is the address in network order, in hex: 8 digits for IPv4, 32 for IPv6. ROUTES are the numbers of all routes that
cover it, from 0 on, the shortest first: the last one is the longest match, none is no match. A VALUE is a text, empty in a
list of prefixes. `invalid` are texts that are no address.
"""

import hashlib
import ipaddress
import json
import os
import pathlib
import random
import sys
import tempfile

import comparison

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE.parents[1] / "target" / "vectors"

INVALID = [
    "", " ", "x", "10.0.0", "10.0.0.1.2", "10.0.0.256", "10.0.0.01", "10.0.0.1/32", " 10.0.0.1", "10.0.0.1 ", "10.0.0.1:80",
    "0x0a000001", "167772161", "1::2::3", ":::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "12345::", "::1%eth0", "[::1]",
    "::10.0.0", "2001:db8::/32", "10.0.0.1\n", "é", "10.0.0.1" * 20,
]


def edges():
    """Values of every length about those where engines change their form, and prefixes side by side."""
    values = ["a", "elevenbytes", "twelve-bytes", "thirteen-byte", "a-value-that-is-rather-long-and-then-some", "zürich", "日本"]
    prefixes = [
        "0.0.0.0/1", "10.0.0.0/8", "10.0.0.0/9", "10.128.0.0/9", "10.1.0.0/16", "10.1.2.0/24", "10.1.2.3/32", "10.1.2.4/30",
        "128.0.0.0/1", "192.0.2.0/24", "192.0.2.255/32", "255.255.255.255/32", "::/0", "::ffff:0.0.0.0/96", "::ffff:10.1.0.0/112",
        "2001:db8::/32", "2001:db8::/33", "2001:db8:8000::/33", "2001:db8::1/128", "fe80::/10", "8000::/1",
        "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128",
    ]
    return [[prefix, values[n % len(values)]] for n, prefix in enumerate(prefixes)]


def nested(rng):
    """A prefix of every length above one address of each family; the values are whole numbers."""
    routes = []
    for make, width in (ipaddress.IPv4Network, 32), (ipaddress.IPv6Network, 128):
        address = rng.getrandbits(width)
        routes += [[str(make((address >> (width - n) << (width - n), n))), str(n - 7)] for n in range(width + 1)]
    rng.shuffle(routes)
    return routes


def crowded(rng, values):
    """Routes that share few long beginnings, so that many cover each other."""
    routes = {}
    for make, width in (ipaddress.IPv4Network, 32), (ipaddress.IPv6Network, 128):
        starts = [rng.getrandbits(width) for _ in range(6)]
        for _ in range(40):
            length = min(width, max(1, int(rng.gauss(width * 0.6, width * 0.2))))
            free = rng.getrandbits(width) & ((1 << rng.randrange(width)) - 1)
            bits = (rng.choice(starts) ^ free) >> (width - length) << (width - length)
            routes[str(make((bits, length)))] = rng.choice(values)
    return [list(route) for route in routes.items()]


def spellings(address):
    if address.version == 6 and address.ipv4_mapped:
        # `str` of it differs between versions of Python.
        number = int(address.ipv4_mapped)
        yield from (f"::ffff:{number >> 16:x}:{number & 0xffff:x}", f"::FFFF:{address.ipv4_mapped}")
        return
    yield str(address)
    if address.version == 6:
        yield address.exploded.upper()


def questions(rng, routes):
    networks = [ipaddress.ip_network(prefix) for prefix, _ in routes]
    addresses = {ipaddress.ip_address(text) for text in ("0.0.0.0", "255.255.255.255", "::", "::1", "::ffff:10.1.2.3", "8.8.8.8")}
    for network in networks:
        make, highest = type(network.network_address), 2 ** network.max_prefixlen - 1
        first, last = int(network.network_address), int(network.broadcast_address)
        near = (first - 1, first, rng.randint(first, last), last, last + 1)
        addresses |= {make(number) for number in near if 0 <= number <= highest}
    found = []
    for address in sorted(addresses, key=lambda address: (address.version, int(address))):
        covering = [n for n, network in enumerate(networks) if address.version == network.version and address in network]
        covering.sort(key=lambda n: networks[n].prefixlen)
        found += [[text, address.packed.hex(), covering] for text in spellings(address)]
    return found


def generate():
    rng = random.Random("popfib")
    tables = {
        "edges": edges(),
        "numbers": nested(rng),
        "list": crowded(rng, [""]),
    }
    parts = []
    for name, routes in tables.items():
        rows = {"routes": routes, "questions": questions(rng, routes)}
        lists = (f'"{key}": [\n' + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows[key]) + "\n]" for key in rows)
        parts.append(f'"{name}": {{' + ",\n".join(lists) + "}")
    invalid = json.dumps(INVALID, ensure_ascii=False)
    return '{"tables": {\n' + ",\n".join(parts) + '},\n"invalid": ' + invalid + "}\n"


def files():
    yield "vectors.json", generate()
    yield from comparison.files(random.Random("popfib"))


def main():
    if sys.argv[1:]:
        sys.exit(__doc__)
    sources = b"".join((HERE / name).read_bytes() for name in ("generate.py", "comparison.py"))
    stamp, made_by = FOLDER / "made-by", hashlib.sha256(sources).hexdigest()
    if stamp.exists() and stamp.read_text() == made_by:
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    # Two at a time make the same, each file as a whole; the last one says that all are there.
    for name, text in [*files(), ("made-by", made_by)]:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", newline="", dir=FOLDER, delete=False) as file:
            file.write(text)
        os.chmod(file.name, 0o644)
        os.replace(file.name, FOLDER / name)


if __name__ == "__main__":
    main()
