"""docs/image-format.md: the reader that it shows answers as popfib does, so the page says all that one needs, and says it right."""

import ctypes
import ipaddress
import json
import os
import re
import shutil
import struct
import subprocess
import sys

import pytest

import popfib
from conftest import TOP, probes, random_prefix, rounds

PAGE = (TOP / "docs" / "image-format.md").read_text(encoding="utf-8")
VECTORS = json.loads((TOP / "target" / "vectors" / "vectors.json").read_text(encoding="utf-8"))

sys.path.append(str(TOP / "engines" / "vectors"))
import changed  # noqa: E402


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)


@pytest.fixture(scope="module")
def page():
    """What the blocks of Python define, in the order of the page."""
    return changed.page()


class Reader:
    """An image by the page alone."""

    def __init__(self, page, table, path):
        table.save(path)
        self.page = page
        [self.found] = page["tables"](path.read_bytes()).values()
        columns, records = page["records"](self.found)
        assert columns == ["value"]
        self.names = [record and record[0] for record in records]
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


def test_images_say_where_their_routes_come_from(page, tmp_path):
    """Also after they were read, copied or changed, and whatever columns they have: data has licences."""

    def sources(table):
        table.save(tmp_path / "again.fib")
        [found] = page["tables"]((tmp_path / "again.fib").read_bytes()).values()
        return [pair for pair in page["metadata"](found[0, 1]) if pair[0] in ("source", "licence", "date", "description")]

    listed = tmp_path / "sites.txt"
    listed.write_text("10.0.0.0/8 inside\n")
    assert sources(popfib.Table({"10.0.0.0/8": "inside"})) == [("source", "Python")]
    assert sources(popfib.load(listed)) == [("source", str(listed))]
    built_in = sources(popfib.default_table())
    assert any(key == "licence" for key, _ in built_in)
    opened = popfib.open(tmp_path / "again.fib")
    assert sources(opened) == built_in
    changed = opened.copy()
    changed["192.0.2.0/24"] = "mine"
    assert sources(changed) == built_in
    records = popfib.open(TOP / "engines" / "vectors" / "records.fib", table="records")
    assert ("source", "records.jsonl") in sources(records)


def test_records(page):
    """Records of every type, as their source has them."""
    folder = TOP / "engines" / "vectors"
    tables = page["tables"]((folder / "records.fib").read_bytes())
    assert list(tables) == ["records", "country"]
    found = tables["records"]
    metadata = page["metadata"](found[0, 1])
    assert ("description", "records of every type") in metadata and ("source", "records.jsonl") in metadata
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
    # The table of one column, whose value may be absent.
    found = tables["country"]
    names, records = page["records"](found)
    assert (names, records) == (["country"], [None, ["ZZ"], ["AT"], [None]])
    for line in lines:
        network = ipaddress.ip_network(line["prefix"])
        _, length, number = page["longest_match"](found, network.max_prefixlen, int(network.broadcast_address))
        if length == network.prefixlen:
            assert records[number] == [line.get("country") or None], line


@pytest.mark.parametrize(
    ("bits", "halves"),
    [(18, True), (18, False), (24, True)],
)
def test_flat(page, tmp_path, rng, command, bits, halves):
    """Flat tables, with entries of 16 bits and of 32, beside those with runs."""
    routes = {}
    for number in range(2_000):
        routes[random_prefix(rng, 4 if number % 2 else 6, crowded=number % 4 < 2)] = f"v{number % 9 if halves else number}"
    # So many next hops that 16 bits do not hold them.
    more = 0 if halves else 40_000
    routes |= {f"10.{n >> 8}.{n & 255}.0/24": f"w{n}" for n in range(more)}
    text, image = tmp_path / "flat.txt", tmp_path / "flat.fib"
    text.write_text("".join(f"{prefix} {value}\n" for prefix, value in routes.items()))
    subprocess.run([command, "compile", "--table", text, "--size", "balanced", f"--direct-bits={bits}", "-o", image], check=True)
    [found] = page["tables"](image.read_bytes()).values()
    table = popfib.Table(routes)
    _, records = page["records"](found)
    fibs = {width: page["Fib"](found, width, 16) for width in (32, 128)}
    # Of 24 bits the balanced tables are those of IPv6.
    assert (fibs[32].is_flat, fibs[128].is_flat) == (bits != 24, bits == 24)
    for address in map(ipaddress.ip_address, probes(rng, list(routes), 2_000)):
        width, key = address.max_prefixlen, int(address)
        expected = table.longest_match(str(address))
        match = page["longest_match"](found, width, key)
        number = fibs[width].lookup(key)
        assert number == (match[2] if match else 0)
        assert records[number] == (expected and [expected[1]]), address
        assert (match and match[1]) == (expected and ipaddress.ip_network(expected[0]).prefixlen), address


def test_one_of_several_tables():
    """Which the name chooses, and no silent first."""
    path = TOP / "engines" / "vectors" / "records.fib"
    for options, message in ({}, "2 tables, of which one is used: \"records\", \"country\""), ({"table": "x"}, "no table \"x\""):
        with pytest.raises(ValueError, match=message):
            popfib.open(path, **options)
    with popfib.open(path, table="country") as t:
        assert t["10.1.9.9"] == "AT" and t["9.9.9.9"] == "ZZ"


def test_columns_of_an_image():
    """As their source has them: numbers as numbers, lists as lists, what is absent as None."""
    folder = TOP / "engines" / "vectors"
    lines = [json.loads(line) for line in (folder / "records.jsonl").read_text(encoding="utf-8").splitlines()]
    with popfib.open(folder / "records.fib", table="records", column="names.city") as t:
        assert t.schema == {
            "country": "text", "asn": "integer", "names.city": "text", "tags": "list of texts", "ports": "list of integers",
            "rate": "float", "up": "boolean", "delta": "integer", "id": "integer",
        }
        for _ in range(2):
            for line in lines:
                network = ipaddress.ip_network(line["prefix"])
                address = str(network.broadcast_address)
                if t.get_key(address) == line["prefix"]:
                    wanted = {**line, "names.city": line.get("names", {}).get("city")}
                    record = t.record(address)
                    assert record == {name: wanted.get(name) for name in t.schema}
                    assert [*map(type, record.values())] == [type(wanted.get(name)) for name in t.schema]
                    assert t[address] == wanted["names.city"]
            # A walk makes a map of the image; records stay.
            assert len(list(t)) == len(lines)
        with pytest.raises(ValueError, match="a record is that of an address"):
            t.record("10.0.0.0/8")
        t["10.0.0.0/8"] = "x"
        for ask in (lambda: t.record("10.1.1.1"), lambda: t.schema, lambda: t.lookup_many([], columns="*")):
            with pytest.raises(ValueError, match="the table was changed, so its records are gone"):
                ask()
    with pytest.raises(ValueError, match='no column "city" in "country", "asn"'):
        popfib.open(folder / "records.fib", table="records", column="city")
    with popfib.open(folder / "records.fib", table="country") as t:
        assert t.record("10.1.9.9") == {"country": "AT"} and t.schema == {"country": "text"}


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


def changed_images():
    """The addresses of engines/vectors/changed.py, and its images, each with its name and what is found."""
    path = TOP / "target" / "tmp" / "changed-images"
    subprocess.run([sys.executable, changed.__file__, path], check=True)
    content, parts, at = path.read_bytes(), [], 0
    while at < len(content):
        start = at + 4
        at = start + struct.unpack_from("<I", content, at)[0]
        parts.append(content[start:at])
    return parts[0].decode().split(), zip(parts[1::3], parts[2::3], parts[3::3])


def test_changed_images(tmp_path):
    """Images that are changed by hand and at random are refused, or answer, as the page's Python has it."""
    asked, images = changed_images()
    path, differ, count = tmp_path / "changed.fib", [], 0
    keys = [str(ipaddress.ip_address(bytes.fromhex(address))) for address in asked]
    for name, image, expected in images:
        count += 1
        if name.startswith(b"random ") and count % rounds(8, 1):
            continue
        path.write_bytes(image)
        try:
            found = found_in(path, expected.decode(), keys)
        except ValueError as error:
            # Of what it opens, Python needs values or routes.
            is_refused = "neither names of its next hops nor routes" in str(error) or not expected
            found = str(error) if not is_refused or "of which one is used" in str(error) else None
        if found:
            differ.append((name.decode(), found))
    assert count > 10_000
    assert not differ, (len(differ), differ[:20])


def found_in(path, expected, keys):
    """What is found by Python in any table and is not expected."""
    if not expected:
        popfib.open(path)
        return "not refused"
    for part in re.split("^table ", expected, flags=re.M)[1:]:
        name, routes, *lines = part.split("\n")[:-1]
        answers, records = lines[:len(keys)], [line.split("\t") for line in lines[len(keys):]]
        with popfib.open(path, table=name) as t:
            if len(t) != int(routes.removeprefix("routes ")):
                return f"{len(t)} routes"
            # Of numbers alone, which may be any, Python looks at the routes, and the FIBs may be of others.
            for key, answer in zip(keys, answers) if records else ():
                number, match = answer.split(" ")
                if "/?" not in "".join(answers):
                    prefix = t.get_key(key)
                    if (prefix and prefix.split("/")[1]) != (match.split("/")[1] if match != "-" else None):
                        return f"{key}: {prefix}, not {match}"
                record = t.record(key)
                given, wanted = record and [*map(changed.text, record.values())], records[int(number) - 1] if number != "0" else None
                if given != wanted:
                    return f"{key}: {given}, not {wanted}"
    return None


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
