"""`IPSet` beside sets of the addresses themselves, and beside netaddr, where it is there."""

from __future__ import annotations

import copy
import ipaddress
import itertools
import pickle
import threading

import pytest

import popfib
from conftest import random_prefix, rounds
from popfib import IPSet

# All addresses that random sets are of.
SPACE = [*ipaddress.ip_network("10.0.0.0/24"), *ipaddress.ip_network("2001:db8::/120")]


def addresses(prefixes):
    """Every address of prefixes inside of the space."""
    return {address for prefix in prefixes for address in ipaddress.ip_network(prefix)}


def random_items(rng):
    """What sets are made of, in every form, and its addresses."""
    items, expected = [], set()
    for _ in range(rng.randrange(8)):
        if rng.random() < 0.4:
            start = rng.choice([0, 256])
            first, last = sorted(rng.sample(range(start, start + 256), 2))
            first, last, found = SPACE[first], SPACE[last], SPACE[first : last + 1]
            form = rng.choice([f"{first}-{last}", f"{first} - {last}", (str(first), str(last)), (first, last)])
        else:
            length = rng.randint(0, 8)
            bits = rng.getrandbits(8) >> (8 - length) << (8 - length)
            start, width = rng.choice([(0, 24), (256, 120)])
            network = ipaddress.ip_network((SPACE[start + bits], width + length))
            family, number = network.version, int(network.network_address)
            forms = [
                network,
                str(network),
                (number, family, network.prefixlen),
                (network.network_address.packed, network.prefixlen),
            ]
            found, form = list(network), rng.choice(forms)
        items.append(form)
        expected.update(found)
    return items, expected


def collapsed(found):
    """The prefixes that `ipaddress` makes of addresses."""
    of = lambda version: ipaddress.collapse_addresses(a for a in found if a.version == version)
    return [str(network) for version in (4, 6) for network in of(version)]


def test_algebra(rng):
    whole = IPSet(["10.0.0.0/24", "2001:db8::/120"])
    for _ in range(rounds(100, 1000)):
        (items, a), (others, b) = random_items(rng), random_items(rng)
        one, other = IPSet(items), IPSet(iter(others))
        assert list(one) == collapsed(a) and len(one) == len(list(one))
        assert one.address_count == len(a) and bool(one) == bool(a)
        for found, by_name, expected in [
            (one | other, one.union(others), a | b),
            (one & other, one.intersection(others), a & b),
            (one - other, one.difference(others), a - b),
            (one ^ other, one.symmetric_difference(others), a ^ b),
            (one.complement() & whole, whole.difference(one), set(SPACE) - a),
        ]:
            assert list(found) == list(by_name) == collapsed(expected)
            assert found == by_name and hash(found) == hash(by_name)
        assert (one == other, one != other) == (a == b, a != b)
        assert (one <= other, one < other) == (a <= b, a < b)
        assert (one >= other, one > other) == (a >= b, a > b)
        assert one.issubset(others) == (a <= b) and one.issuperset(others) == (a >= b)
        assert one.isdisjoint(others) == a.isdisjoint(b)
        assert (one & other) <= one <= (one | other)
        assert [*one.ipv4, *one.ipv6] == list(one)
        assert list(one.addresses()) == [str(address) for address in SPACE if address in a]
    assert one.union() is one
    assert one.union(others, SPACE[:3]) == one | other | IPSet(SPACE[:3])


def test_members(rng):
    np = pytest.importorskip("numpy")
    for _ in range(rounds(15, 200)):
        items, a = random_items(rng)
        found = IPSet(items)
        texts = [str(address) for address in SPACE]
        expected = [address in a for address in SPACE]
        assert [text in found for text in texts] == [address in found for address in SPACE] == expected
        column = found.contains(texts)
        assert column.dtype == bool and column.tolist() == expected
        assert found.contains([*texts, None], output="list") == [*expected, None]
        numbers = np.array([int(address) for address in SPACE[:256]], dtype=np.uint32)
        assert found.contains(numbers, threads=2).tolist() == expected[:256]
        packed = np.array([list(address.packed) for address in SPACE[256:]], dtype=np.uint8)
        assert found.contains(packed).tolist() == expected[256:]
        for _ in range(20):
            others, b = random_items(rng)
            for item, inside in [(item, addresses_of(item)) for item in others]:
                assert (item in found) == (inside <= a)


def addresses_of(item):
    return {address for address in map(ipaddress.ip_address, IPSet([item]).addresses())}


def test_column_forms():
    np = pytest.importorskip("numpy")
    found = IPSet(["10.0.0.0/8", "2001:db8::/32"])
    column = ["10.1.1.1", None, "11.0.0.0", "2001:db8::1"]
    assert found.contains(column).tolist() == [True, False, False, True]
    assert found.contains(column, output="list") == [True, None, False, True]
    assert found.contains(["x", "10.0.0.1"], invalid="null", output="list") == [None, True]
    assert found.contains(np.array([], dtype=np.uint32)).tolist() == []
    assert IPSet().contains(["10.0.0.1", None], output="list") == [False, None]
    with pytest.raises(ValueError, match="row 1: 'x'"):
        found.contains(["10.0.0.1", "x"])
    with pytest.raises(ValueError, match="'values', 'list' or 'arrow', not 'indices'"):
        found.contains(column, output="indices")
    with pytest.raises(TypeError, match="a column of addresses"):
        found.contains("10.0.0.1")
    pa = pytest.importorskip("pyarrow")
    arrow = found.contains(pa.array(column), output="arrow")
    assert pa.array(arrow).to_pylist() == [True, None, False, True]
    words = pa.array(column).dictionary_encode()
    assert pa.array(found.contains(words, output="arrow")).to_pylist() == [True, None, False, True]
    assert found.contains(pa.chunked_array([column, column])).tolist() == [True, False, False, True] * 2


def test_parts(rng):
    for _ in range(rounds(50, 200)):
        items, a = random_items(rng)
        found = IPSet(items)
        ranges = found.ranges()
        assert IPSet(ranges) == found and IPSet(f"{first}-{last}" for first, last in ranges) == found
        ends = [tuple(map(ipaddress.ip_address, ends)) for ends in ranges]
        for (_, last), (first, _) in itertools.pairwise(ends):
            assert last.version != first.version or int(last) + 1 < int(first)
        for length in 0, 24, 26, 32, 120, 122, 128:
            split, subnets = [], []
            for network in map(ipaddress.ip_network, collapsed(a)):
                new = min(length, network.max_prefixlen)
                split += network.subnets(new_prefix=new) if new > network.prefixlen else [network]
                if network.prefixlen <= length <= network.max_prefixlen:
                    subnets += network.subnets(new_prefix=length)
            assert list(found.split(length)) == [str(network) for network in split]
            assert list(found.subnets(length)) == [str(network) for network in subnets]
    # One at a time, out of more than any memory holds.
    assert next(IPSet("::/0").subnets(64)) == "::/64" and next(IPSet("::/0").addresses()) == "::"
    for length in -1, 129:
        with pytest.raises(ValueError, match=f"from 0 to 128, not {length}"):
            found.split(length)


def test_coverage(rng):
    for _ in range(rounds(50, 200)):
        (items, a), (others, b) = random_items(rng), random_items(rng)
        found, other = IPSet(items), IPSet(others)
        table = popfib.Table((prefix, 1) for prefix in other)
        for prefixes in other, table, list(other), reversed(list(other)):
            prefixes = list(prefixes) if not isinstance(prefixes, popfib.Table) else prefixes
            covered = found.coverage(prefixes)
            assert [prefix for prefix, _ in covered] == list(prefixes)
            for prefix, how in covered:
                inside = addresses([prefix])
                assert how == ("whole" if inside <= a else "part" if inside & a else "none")
    # As they are, also where one covers another.
    assert IPSet("10.0.0.0/9").coverage(popfib.Table({"10.0.0.0/8": 1, "10.0.0.0/16": 2})) == [
        ("10.0.0.0/8", "part"),
        ("10.0.0.0/16", "whole"),
    ]


def test_cover(rng):
    for _ in range(rounds(50, 200)):
        items, a = random_items(rng)
        found = IPSet(items)
        for at_most in 1, 2, 3, 8:
            cover, least = found.cover(at_most)
            assert len(cover.ipv4) <= at_most and len(cover.ipv6) <= at_most
            assert found <= cover and (cover - found).address_count == least
            if len(found.ipv4) <= at_most and len(found.ipv6) <= at_most:
                assert cover == found
        # By one prefix there is one way.
        for family in found.ipv4, found.ipv6:
            if family:
                first, last = ipaddress.ip_address(family.ranges()[0][0]), ipaddress.ip_address(family.ranges()[-1][1])
                smallest = ipaddress.ip_network(first)
                while last not in smallest:
                    smallest = smallest.supernet()
                assert list(family.cover(1)[0]) == [str(smallest)]
    for at_most in 0, -1:
        with pytest.raises(ValueError, match="at_most is a number from 1 on"):
            found.cover(at_most)


def test_compare(rng):
    for _ in range(rounds(20, 100)):
        named = {name: random_items(rng) for name in "abcd"}
        rows = popfib.compare({name: items for name, (items, _) in named.items()})
        sets = {name: found for name, (_, found) in named.items()}
        assert len(rows) in (0, 4, 8)
        for row in rows:
            version = {"IPv4": 4, "IPv6": 6}[row["family"]]
            of = {name: {a for a in found if a.version == version} for name, found in sets.items()}
            own = of.pop(row["list"])
            assert row["addresses"] == len(own) and row["prefixes"] == len(collapsed(own))
            assert row["unique"] == len(own - set().union(*of.values()))
            assert row["shared"] == {name: len(own & other) for name, other in of.items()}
    with pytest.raises(TypeError, match="a mapping of names to sets, not list"):
        popfib.compare([IPSet()])
    assert popfib.compare({}) == []


def test_of_tables(rng):
    for _ in range(rounds(50, 200)):
        table, routes = popfib.Table(), {}
        for _ in range(rng.randrange(8)):
            length = rng.randint(0, 8)
            network = ipaddress.ip_network((SPACE[rng.getrandbits(8) >> (8 - length) << (8 - length)], 24 + length))
            table[network] = routes[network] = rng.choice("abc")
        assert list(IPSet(table)) == collapsed(addresses(routes))
        calls = []
        found = IPSet(table, where=lambda value: calls.append(value) or value != "b")
        assert len(calls) == len(set(calls)) <= 3
        longest = {}
        for network in sorted(routes, key=lambda network: network.prefixlen):
            longest.update(dict.fromkeys(network, routes[network]))
        assert list(found) == collapsed(a for a, value in longest.items() if value != "b")
    assert IPSet(table.keys()) == IPSet(list(table)) == IPSet(dict(table.items())) == IPSet(table)
    with pytest.raises(TypeError, match="where asks for the values of a Table"):
        IPSet(["10.0.0.0/8"], where=bool)
    with pytest.raises(TypeError, match="where asks"):
        IPSet(where=bool)
    with pytest.raises(ZeroDivisionError):
        IPSet(popfib.Table({"10.0.0.0/8": 1}), where=lambda value: 1 / 0)
    table.close()
    with pytest.raises(ValueError, match="closed"):
        IPSet(table)


def test_of_an_image(tmp_path):
    popfib.Table({"5.0.0.0/8": "RU", "5.128.0.0/9": "US"}).save(tmp_path / "t.fib")
    with popfib.open(tmp_path / "t.fib") as image:
        assert list(IPSet(image)) == ["5.0.0.0/8"]
        assert list(IPSet(image, where=lambda country: country == "RU")) == ["5.0.0.0/9"]


def test_beside_netaddr(rng):
    netaddr = pytest.importorskip("netaddr")

    def same(found, other):
        expected = sorted(other.iter_cidrs(), key=lambda cidr: (cidr.version, cidr.first))
        assert list(map(ipaddress.ip_network, found)) == [ipaddress.ip_network(str(cidr)) for cidr in expected]

    for _ in range(rounds(60, 400)):
        lists = [[random_prefix(rng, rng.choice((4, 6))) for _ in range(rng.randrange(12))] for _ in range(2)]
        (a, b), (x, y) = map(IPSet, lists), map(netaddr.IPSet, lists)
        same(a, x)
        same(IPSet(x), x)
        same(a | b, x | y)
        same(a & b, x & y)
        same(a - b, x - y)
        same(a ^ b, x ^ y)
        assert (a <= b, a < b, a == b) == (x <= y, x < y, x == y)
        assert a.isdisjoint(b) == x.isdisjoint(y)
        assert a.address_count == x.size
        for prefix in lists[1]:
            network = netaddr.IPNetwork(prefix)
            assert (network in a) == (prefix in a) == (network in x)
            assert (network.ip in a) == (network.ip in x)
    assert list(IPSet(netaddr.IPNetwork("10.1.2.3/8"))) == ["10.0.0.0/8"]
    assert list(IPSet([netaddr.IPGlob("10.1.*.*"), netaddr.IPAddress("::1")])) == ["10.1.0.0/16", "::1/128"]
    some = IPSet(netaddr.IPRange("10.0.0.1", "10.0.0.6"))
    assert some.ranges() == [("10.0.0.1", "10.0.0.6")]
    assert netaddr.IPRange("10.0.0.2", "10.0.0.6") in some
    assert netaddr.IPRange("10.0.0.2", "10.0.0.7") not in some
    assert IPSet([(netaddr.IPAddress("10.0.0.1"), netaddr.IPAddress("10.0.0.6"))]) == some
    # Keys of tables, too.
    table = popfib.Table({netaddr.IPNetwork("10.0.0.0/8"): 1})
    assert table[netaddr.IPAddress("10.1.1.1")] == table[netaddr.IPNetwork("10.1.1.1/16")] == 1
    assert table.lookup_many([netaddr.IPAddress("10.1.1.1")], output="list") == [1]
    with pytest.raises(ValueError, match="10.0.0.1-10.0.0.6 is no single prefix"):
        table[netaddr.IPRange("10.0.0.1", "10.0.0.6")]


def test_counts_of_all():
    assert IPSet("::/0").address_count == 1 << 128
    assert IPSet().complement().address_count == (1 << 128) + (1 << 32)
    assert IPSet("::1-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff").address_count == (1 << 128) - 1
    assert IPSet("10.0.0.0/8").nbytes > 0
    assert IPSet().cover(1) == (IPSet(), 0)


def test_as_objects():
    found = IPSet(["10.0.0.0/8", "2001:db8::/32", "192.0.2.1-192.0.2.9"])
    assert repr(IPSet(["10.0.0.0/8"])) == "popfib.IPSet(['10.0.0.0/8'])" and eval(repr(IPSet("::/0"))) == IPSet("::/0")
    assert repr(found) == "<popfib.IPSet: 5 IPv4 and 1 IPv6 prefixes>"
    for copied in pickle.loads(pickle.dumps(found)), copy.copy(found), copy.deepcopy(found), IPSet(found):
        assert copied == found and {copied: 1}[found] == 1
    with pytest.raises(AttributeError):
        found.extra = 1
    assert found != list(found) and found != set(found)
    for operation in (lambda: found | ["10.0.0.0/8"], lambda: ["10.0.0.0/8"] - found, lambda: found < 1):
        with pytest.raises(TypeError):
            operation()
    more = found
    more |= IPSet("1.1.1.1")
    assert "1.1.1.1" in more and "1.1.1.1" not in found
    assert IPSet("10.0.0.*") == IPSet("10.0.0.0-255") == IPSet("10.0.0.7/24", mask=True) == IPSet("10.0.0/24")
    assert IPSet(b"\x0a\0\0\1") == IPSet("10.0.0.1") == IPSet(ipaddress.ip_address("10.0.0.1"))
    assert IPSet("::ffff:10.0.0.1").ipv4 == IPSet() and not IPSet()


@pytest.mark.parametrize(
    "source, error, message",
    [
        ("blocked.txt", ValueError, "'blocked.txt': not an address; load_set reads files"),
        (["10.0.0.0/8", "x"], ValueError, "item 1: 'x': not an address"),
        (["10.0.0.1/8"], ValueError, "item 0: '10.0.0.1/8': host bits are set"),
        (["10.0.0.9-10.0.0.1"], ValueError, "item 0: .10.0.0.9-10.0.0.1.: the first address of the range is after"),
        (["10.0.0.9-::1"], ValueError, "of two families"),
        ([("10.0.0.0/8", "x")], ValueError, "item 0: 10.0.0.0/8: a pair is the first and the last address"),
        ([("10.0.0.9", "10.0.0.1")], ValueError, "item 0: '10.0.0.9-10.0.0.1': the first address"),
        ([1], TypeError, "item 0: an int may be of either family"),
        ([None], TypeError, "item 0: a key is .*, not NoneType"),
        ([[]], TypeError, "item 0: a key is .*, not list"),
        (1.5, TypeError, "made of a table, a set, a prefix or a range, or an iterable of these, not of float"),
        (ipaddress.ip_interface("10.0.0.1/8"), TypeError, "an interface is an address and a network"),
    ],
)
def test_what_is_no_set(source, error, message):
    with pytest.raises(error, match=message):
        IPSet(source)
    with pytest.raises(error):
        IPSet().union(source)


def test_what_cannot_be_in_a_set():
    found = IPSet("10.0.0.0/8")
    for key, error in ("x", ValueError), (1, TypeError), (None, TypeError), ("10.0.0.1/8", ValueError):
        with pytest.raises(error):
            key in found


def test_of_a_source_that_fails():
    def broken():
        yield "10.0.0.0/8"
        raise ArithmeticError

    with pytest.raises(ArithmeticError):
        IPSet(broken())


def test_threads():
    found = IPSet(f"10.{i}.{j}.0/25" for i in range(50) for j in range(250))
    start, wrong = threading.Barrier(8), []

    def ask():
        start.wait()
        # The first compiles it.
        if "10.1.1.1" not in found or found.contains(["10.1.1.200", "10.1.1.1"], output="list") != [False, True]:
            wrong.append(1)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_files(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("# blocked\n10.0.0.0/9\n10.128.0.0/9\n10.0.0.0/9\n192.0.2.1-192.0.2.9\n")
    found = popfib.load_set(path)
    assert found.ranges() == [("10.0.0.0", "10.255.255.255"), ("192.0.2.1", "192.0.2.9")]
    assert found == IPSet(popfib.load(path))
    path.write_text("net,name\n10.0.0.0/8,a\n11.0.0.1/8,b\n")
    with pytest.raises(ValueError, match="list.txt:3: "):
        popfib.load_set(path, "csv")
    assert list(popfib.load_set(path, "csv", mask=True)) == ["10.0.0.0/7"]
    with pytest.warns(UserWarning, match="1 invalid line"):
        assert list(popfib.load_set(path, prefix_column="net", skip_invalid=True)) == ["10.0.0.0/8"]
    with pytest.raises(FileNotFoundError):
        popfib.load_set(tmp_path / "none")
    with pytest.raises(ValueError, match="format 'x'"):
        popfib.load_set(path, "x")
