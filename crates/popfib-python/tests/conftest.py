"""What the tests share: an oracle that scans, and tables of the Internet."""

from __future__ import annotations

import ipaddress
import os
import pathlib
import random

import pytest

import popfib

TOP = pathlib.Path(__file__).parents[3]
DATA = TOP.parent / "shared" / "data" / "tables"


def pytest_configure(config):
    config.addinivalue_line("markers", "heavy: takes seconds; left out by scripts/test-python --quick")


def rounds(few, every):
    """How long a test goes on: `every` where POPFIB_ROUNDS is "all", as `scripts/test --all` sets it; else `few`."""
    return every if os.environ.get("POPFIB_ROUNDS") == "all" else few


class Oracle:
    """Longest match by a scan of `ipaddress` networks; shares no code with popfib."""

    def __init__(self):
        self.routes = {}

    def insert(self, prefix, value):
        self.routes[ipaddress.ip_network(prefix)] = value

    def remove(self, prefix):
        del self.routes[ipaddress.ip_network(prefix)]

    def covering(self, key):
        network = ipaddress.ip_network(key)
        found = [
            route
            for route in self.routes
            if route.version == network.version and network.subnet_of(route)
        ]
        return sorted(found, key=lambda route: route.prefixlen)

    def inside(self, key):
        network = ipaddress.ip_network(key)
        found = [
            route
            for route in self.routes
            if route.version == network.version and route.subnet_of(network)
        ]
        return sorted(found, key=lambda route: (int(route.network_address), route.prefixlen))

    def longest_match(self, key):
        found = self.covering(key)
        return (str(found[-1]), self.routes[found[-1]]) if found else None

    def items(self):
        def order(route):
            return route.version, int(route.network_address), route.prefixlen

        return [(str(route), self.routes[route]) for route in sorted(self.routes, key=order)]


def random_prefix(rng, family, crowded=True):
    width = 32 if family == 4 else 128
    length = rng.choice([0, 1, 7, 8, 9, 16, 24, width - 1, width]) if rng.random() < 0.3 else rng.randint(0, width)
    bits = rng.getrandbits(width)
    if crowded:
        # Few different first bits, so that routes nest.
        bits &= rng.choice([0x81, 0x3, 0xFF]) << (width - 8) | (1 << (width // 4)) - 1 << rng.randint(0, width // 2)
    bits = bits >> (width - length) << (width - length)
    kind = ipaddress.IPv4Address if family == 4 else ipaddress.IPv6Address
    return f"{kind(bits)}/{length}"


def rss():
    """Bytes of this process in memory."""
    path = pathlib.Path("/proc/self/statm")
    if not path.exists():
        pytest.skip("memory of a process: no /proc")
    return int(path.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def probes(rng, prefixes, count):
    """Addresses in, right before and right after prefixes, and anywhere."""
    out = []
    for _ in range(count):
        network = ipaddress.ip_network(rng.choice(prefixes))
        kind = type(network.network_address)
        width = network.max_prefixlen
        first, last = int(network.network_address), int(network.broadcast_address)
        number = rng.choice([first, last, first - 1, last + 1, rng.randint(first, last), rng.getrandbits(width)])
        out.append(str(kind(number % (1 << width))))
    return out


@pytest.fixture(scope="session")
def real_routes():
    """(prefix, AS) pairs of a real table: the newest there is, else the built-in one."""
    pairs = []
    for family in "46":
        path = DATA / f"ris-as3333-20260511-v{family}.origin"
        if not path.exists():
            print(f"skipped: tests against {path.name}: not there; the built-in table takes its place")
            return list(popfib.default_table(decode=int).items())
        for line in path.read_text().splitlines():
            prefix, value = line.split()
            pairs.append((prefix, value))
    return pairs


@pytest.fixture(scope="session")
def built_in():
    return popfib.default_table(decode=int)


@pytest.fixture(scope="session")
def command():
    """The command, which `scripts/test-python` builds."""
    path = TOP / "target" / "release" / "popfib"
    if not path.exists():
        pytest.skip("tests of the command: target/release/popfib is not built")
    return path


@pytest.fixture
def rng(request):
    return random.Random(request.node.name)
