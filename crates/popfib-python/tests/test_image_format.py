"""docs/image-format.md: the reader that it shows answers as popfib does, so the page says all that one needs, and says it right."""

import ctypes
import ipaddress
import json
import os
import re
import shutil
import subprocess

import pytest

import popfib
from conftest import TOP, probes, random_prefix

PAGE = (TOP / "docs" / "image-format.md").read_text(encoding="utf-8")
VECTORS = json.loads((TOP / "engines" / "vectors" / "vectors.json").read_text(encoding="utf-8"))


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)


@pytest.fixture(scope="module")
def page():
    """What the blocks of Python define, in the order of the page."""
    names = {}
    exec("\n".join(blocks("python")), names)
    return names


class Reader:
    """An image by the page alone."""

    def __init__(self, page, table, path):
        table.save(path)
        self.page, self.found = page, page["sections"](path.read_bytes())
        self.names = page["names"](self.found)
        self.fibs = {width: page["Fib"](self.found, width, 16) for width in (32, 128)}

    def ask(self, address):
        """(prefix, value) of the longest match, as the value alone agrees with."""
        address = ipaddress.ip_address(address)
        width, key = address.max_prefixlen, int(address)
        found = self.page["longest_match"](self.found, width, key)
        next_hop = self.fibs[width].lookup(key)
        assert next_hop == (found[2] if found else 0)
        return found and self.route(width, *found)

    def route(self, width, address, length, next_hop):
        network = ipaddress.IPv4Network if width == 32 else ipaddress.IPv6Network
        return network((address, length)), self.names[next_hop]

    def routes(self):
        return [self.route(width, *route) for width in (32, 128) for route in self.page["routes"](self.found, width)]


@pytest.mark.parametrize("name", VECTORS["tables"])
def test_vectors(page, tmp_path, name):
    routes, questions = VECTORS["tables"][name].values()
    reader = Reader(page, popfib.Table(map(tuple, routes)), tmp_path / "vectors.fib")
    routes = [(ipaddress.ip_network(prefix), value) for prefix, value in routes]
    order = lambda route: (route[0].version, int(route[0].network_address), route[0].prefixlen)
    assert reader.routes() == sorted(routes, key=order)
    for text, _, covering in questions:
        assert reader.ask(text) == (routes[covering[-1]] if covering else None), text


@pytest.mark.parametrize(
    ("counts", "forms"),
    [
        ((0, 0), [(0, 0, 16), (0, 0, 16)]),
        ((0, 3), [(0, 0, 16), (0, 0, 16)]),
        ((9, 40), [(0, 0, 16), (6, 0, 16)]),
        ((2_000, 1_500), [(12, 0, 16), (12, 0, 16)]),
        # So many that IPv6 has pages, and that names need more than 16 bits.
        pytest.param((90_000, 20_000), [(18, 0, 32), (16, 8, 32)], marks=pytest.mark.heavy),
    ],
)
def test_tables_of_every_form(page, tmp_path, rng, counts, forms):
    routes = {}
    for family, count in zip((4, 6), counts):
        made = {}
        while len(made) < count:
            made[random_prefix(rng, family, crowded=count < 100)] = f"v{len(made) if count > 65_535 else len(made) % 999}"
        routes |= made
    table = popfib.Table(routes)
    reader = Reader(page, table, tmp_path / "form.fib")
    assert [(fib.root_bits, fib.page_bits, reader.found[width, 16][3]) for width, fib in reader.fibs.items()] == forms
    assert len(reader.routes()) == len(table)
    addresses = probes(rng, list(routes), 500) if routes else []
    for address in [*addresses, "0.0.0.0", "255.255.255.255", "::", "ffff:" * 7 + "ffff"]:
        found, expected = reader.ask(address), table.longest_match(address)
        assert (found and (str(found[0]), found[1])) == (expected and (str(ipaddress.ip_network(expected[0])), expected[1])), address


def test_records(page):
    """Records of every type, as their source has them."""
    folder = TOP / "engines" / "vectors"
    found = page["sections"]((folder / "records.fib").read_bytes())
    names, records = page["records"](found)
    lines = [json.loads(line) for line in (folder / "records.jsonl").read_text(encoding="utf-8").splitlines()]

    def leaves(value, path=""):
        if not isinstance(value, dict):
            return {path: value}
        members = ((f"{path}.{key}" if path else key, member) for key, member in value.items())
        return {name: leaf for path, member in members for name, leaf in leaves(member, path).items()}

    assert set(names) == {name for line in lines for name in leaves(line)} - {"prefix"}
    assert len(records) == 1 + len({json.dumps({**line, "prefix": ""}, sort_keys=True) for line in lines})
    for line in lines:
        network = ipaddress.ip_network(line["prefix"])
        address, length, number = page["longest_match"](found, network.max_prefixlen, int(network.broadcast_address))
        if length == network.prefixlen:
            wanted = {**dict.fromkeys(names), **leaves(line)}
            del wanted["prefix"]
            given = dict(zip(names, records[number]))
            assert given == wanted and [*map(type, given.values())] == [type(wanted[name]) for name in names]


def test_damage(page, tmp_path, rng):
    """Whatever byte changes, the page's checks find it."""
    path = tmp_path / "damaged.fib"
    popfib.Table({"10.0.0.0/8": "a", "2001:db8::/32": "b"}).save(path)
    image = path.read_bytes()
    assert page["sections"](image)
    for cut in range(0, len(image), 7):
        with pytest.raises(ValueError):
            page["sections"](image[:cut])
    with pytest.raises(ValueError):
        page["sections"](image + b"\0")
    for at in range(len(image)):
        damaged = bytearray(image)
        damaged[at] ^= 1 << rng.randrange(8)
        with pytest.raises(ValueError):
            page["sections"](bytes(damaged))


def test_values_in_c(page, tmp_path, rng):
    """The page's C, for values of every width, beside its Python; it touches no word after those of the block."""
    # For the machine of this Python, which may be an emulated one.
    if not (compiler := shutil.which(os.environ.get("CC", "cc"))):
        pytest.skip("the C of docs/image-format.md: no C compiler")
    [code] = blocks("c")
    source, library = tmp_path / "value.c", tmp_path / "value.so"
    source.write_text(
        "#include <stdint.h>\nuint32_t value(const uint32_t *a, uint32_t place, uint32_t i, uint32_t value_bits)\n"
        f"{{\n{code}return answer;\n}}\n"
    )
    subprocess.run([compiler, "-std=c99", "-Wall", "-Werror", "-shared", "-fPIC", source, "-o", library], check=True)
    value = ctypes.CDLL(str(library)).value
    value.restype = ctypes.c_uint32
    for bits in range(1, 33):
        values = [rng.getrandbits(bits) for _ in range(64)]
        packed = sum(number << n * bits for n, number in enumerate(values))
        words = [rng.getrandbits(32) for _ in range(2)] + [packed >> 32 * n & 0xFFFFFFFF for n in range(-(-64 * bits // 32))]
        fib = page["Fib"].__new__(page["Fib"])
        fib.arena, fib.value_bits = words, bits
        array = (ctypes.c_uint32 * len(words))(*words)
        for n, number in enumerate(values):
            assert fib.narrow(0, n) == value(array, 0, n, bits) == number, (bits, n)
