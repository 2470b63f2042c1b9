"""Beside other people's libraries, on real tables and on random ones."""

import ipaddress
import random

import pytest

import popfib
from conftest import Oracle, probes, random_prefix
from popfib.compat import pytricia as compat_pytricia
from popfib.compat import radix as compat_radix

hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies


@pytest.fixture(scope="module")
def real(real_routes):
    return popfib.Table(real_routes)


@pytest.fixture(scope="module")
def addresses(real_routes):
    rng = random.Random(7)
    prefixes = [prefix for prefix, _ in rng.sample(real_routes, 20_000)]
    return probes(rng, prefixes, 40_000)


@pytest.mark.heavy
def test_real_table_against_pytricia(real_routes, real, addresses):
    pytricia = pytest.importorskip("pytricia")
    tables = {4: pytricia.PyTricia(32), 6: pytricia.PyTricia(128)}
    for prefix, value in real_routes:
        tables[6 if ":" in prefix else 4][prefix] = value
    assert len(real) == sum(map(len, tables.values()))
    judge = [tables[6 if ":" in a else 4] for a in addresses]
    want = [table.get(a) for table, a in zip(judge, addresses)]
    assert sum(value is not None for value in want) > 10_000
    assert [real.get(a) for a in addresses] == want
    assert real.lookup_many(addresses, output="list") == want
    for a, table in list(zip(addresses, judge))[:5000]:
        key = table.get_key(a)
        assert real.get_key(a) == key
        if key is not None:
            assert real.parent(key) == table.parent(key)
            if int(key.partition("/")[2]) > 12:
                assert sorted(real.children(key)) == sorted(table.children(key))


@pytest.mark.heavy
def test_real_table_against_py_radix(real_routes, real, addresses):
    radix = pytest.importorskip("radix")
    tree = radix.Radix()
    for prefix, value in real_routes:
        tree.add(prefix).data["v"] = value
    for a in addresses[:20_000]:
        node = tree.search_best(a)
        assert real.longest_match(a) == (node and (node.prefix, node.data["v"]))
        assert [p for p, _ in real.supernets(a)] == [n.prefix for n in reversed(tree.search_covering(a))]


def test_real_table_against_a_scan(real_routes):
    """A part of the real table, since `ipaddress` takes a minute to read all of it."""
    part = real_routes[:: max(1, len(real_routes) // 40_000)]
    t = popfib.Table(part)
    networks = {4: [], 6: []}
    for prefix, value in part:
        network = ipaddress.ip_network(prefix)
        networks[network.version].append((network, value))
    for a in probes(random.Random(3), [prefix for prefix, _ in part], 60):
        address = ipaddress.ip_address(a)
        found = [(n.prefixlen, str(n), v) for n, v in networks[address.version] if address in n]
        assert t.longest_match(a) == (max(found)[1:] if found else None)


def route(draw_family):
    width = 32 if draw_family == 4 else 128
    # Few first bits and all lengths, so that routes nest and touch.
    return st.tuples(st.integers(0, width), st.integers(0, 2**width - 1), st.booleans()).map(
        lambda t: spell(draw_family, *t)
    )


def spell(family, length, bits, crowded):
    width = 32 if family == 4 else 128
    if crowded:
        bits &= 0x81 << (width - 8) | 0x3
    bits = bits >> (width - length) << (width - length)
    kind = ipaddress.IPv4Network if family == 4 else ipaddress.IPv6Network
    return str(kind((bits, length)))


routes = st.one_of(route(4), route(6))
operations = st.lists(
    st.tuples(st.sampled_from(["set", "set", "set", "del", "look", "many", "copy", "update"]), routes, st.integers(0, 3)),
    max_size=60,
)


@hypothesis.settings(max_examples=200, deadline=None)
@hypothesis.given(operations)
def test_operations_against_a_scan(operations):
    t, oracle = popfib.Table(), Oracle()
    for operation, prefix, value in operations:
        known = ipaddress.ip_network(prefix) in oracle.routes
        address = str(ipaddress.ip_network(prefix).broadcast_address)
        if operation == "set":
            t[prefix] = value
            oracle.insert(prefix, value)
        elif operation == "del" and known:
            del t[prefix]
            oracle.remove(prefix)
        elif operation == "del":
            with pytest.raises(KeyError):
                del t[prefix]
        elif operation == "copy":
            old, t = t, t.copy()
            old.clear()
        elif operation == "update":
            t.update([(prefix, value - 1), *((p, v) for p, v in oracle.items()[:value]), (prefix, value)])
            oracle.insert(prefix, value)
        else:
            want = oracle.longest_match(address)
            if operation == "look":
                assert (t.get(address), t.get_key(address)) == ((want[1], want[0]) if want else (None, None))
            else:
                assert t.lookup_many([address] * 3, output="list") == [want and want[1]] * 3
                assert t.lookup_many([address] * 3, output="matches") == [want] * 3
    assert [(ipaddress.ip_network(p), v) for p, v in t.items()] == [
        (ipaddress.ip_network(p), v) for p, v in oracle.items()
    ]


@hypothesis.settings(max_examples=300, deadline=None)
@hypothesis.given(st.text(max_size=50))
def test_any_text_is_a_key_or_a_value_error(text):
    t = popfib.Table({"0.0.0.0/0": 4, "::/0": 6})
    try:
        want = ipaddress.ip_address(text).version
    except ValueError:
        want = None
    try:
        found = t[text]
    except ValueError:
        found = None
    if "%" not in text and "/" not in text:
        assert found == want
    assert t.lookup_many([text], invalid="null", output="list") == [found if "/" not in text else None]


def spelled(answer):
    """IPv6 prefixes in one spelling: of `::102:304` some write `::1.2.3.4`."""
    if isinstance(answer, (list, tuple)):
        return [spelled(part) for part in answer]
    if isinstance(answer, str) and ":" in answer:
        return str(ipaddress.ip_network(answer))
    return answer


def both(use, ours, theirs):
    """The outcome of one call on both libraries: a value, or the kind of an error."""
    out = []
    for table in (ours, theirs):
        try:
            out.append(spelled(use(table)))
        except (KeyError, ValueError) as error:
            out.append(type(error))
    return out


@pytest.mark.parametrize("family", [4, 6])
@pytest.mark.parametrize("seed", range(4))
def test_compat_pytricia_is_pytricia(family, seed, rng):
    pytricia = pytest.importorskip("pytricia")
    width = 32 if family == 4 else 128
    ours, theirs = compat_pytricia.PyTricia(width), pytricia.PyTricia(width)
    known = []
    for step in range(400):
        prefix = random_prefix(rng, family)
        known.append(prefix)
        for table in (ours, theirs):
            if step % 3:
                table[prefix] = step
            else:
                address, _, length = prefix.partition("/")
                table.insert(address, int(length), step)
        if step % 5 == 4:
            gone = rng.choice(known)
            found = both(lambda t: t.delete(gone), ours, theirs)
            assert found[0] == found[1]
        keys = [rng.choice(known), random_prefix(rng, family), *probes(rng, known, 2)]
        for key in keys:
            for use in (
                lambda t: t[key],
                lambda t: t.get(key),
                lambda t: t.get(key, "none"),
                lambda t: t.get_key(key),
                lambda t: t.has_key(key),
                lambda t: key in t,
                lambda t: t.parent(key),
                lambda t: set(spelled(t.children(key))),
                lambda t: len(t),
            ):
                found = both(use, ours, theirs)
                assert found[0] == found[1], key
    assert sorted(spelled(ours.keys())) == sorted(spelled(theirs.keys())) == sorted(spelled(list(ours)))
    for table in (ours, theirs):
        table.freeze()
        with pytest.raises(ValueError):
            table[known[0]] = 1
        table.thaw()
        table[known[0]] = 1


def outcomes(expressions, tables):
    """What each expression gives on each of the two libraries, KeyError and the like by their type."""
    for expression in expressions:
        found = []
        for make in tables:
            try:
                found.append(eval(expression, {"ipaddress": ipaddress, "t": make()}))
            except (AttributeError, KeyError, RuntimeWarning, TypeError, ValueError) as error:
                found.append(type(error))
        yield expression, *found


# What the README of pytricia tells, statement by statement, and what follows from it.
PYTRICIA = """
len(t)
t["10.0.0.0/8"], t["10.1.0.0/16"], t["10.1.0.0/24"], t["10.1.2.3"]
t["192.168.0.0/16"]
t.get("10.1.0.0/16"), t.get("10.1.0.0/32"), t.get("10.0.0.0/24"), t.get("192.168.0.0"), t.get("192.168.0.0", 5)
t.get_key("10.1.0.0/16"), t.get_key("10.1.0.0/32"), t.get_key("10.0.0.0/24"), t.get_key("192.168.0.0")
t.insert("10.2.0.0/16", "c"), t.keys(), t["10.2.3.4"]
t.insert("10.2.0.0", 16, "c"), t.keys(), t["10.2.3.4"]
t.insert(bytes([10, 0, 1, 0]), 24, 3), t.keys()
t.insert(ipaddress.IPv6Address("2001:db8:200e:abc::1"), 56, 1), t.insert("2001:db8:200e::/56", 2), sorted(t.keys())
t.insert(ipaddress.IPv6Network("2001:db8:200e::/56"), 2), t["2001:db8:200e::1"], t[ipaddress.ip_address("2001:db8:200e::1")]
t.insert("10.2.0.0/16"), 1
t.insert("10.2.0.0", 16, 1, 2)
t.__delitem__("10.0.0.0/8"), t.get("10.1.0.0/16"), t.get("10.2.0.0"), list(t)
t.__delitem__("10.2.0.0/16")
t.delete("10.1.0.0/16"), t.keys()
t.delete("10.2.0.0/16")
list(t), t.keys(), [t[prefix] for prefix in t]
"10.0.0.0/8" in t, "10.2.0.0/8" in t, "192.168.0.0/16" in t, "192.168.0.0" in t, "10.1.2.3" in t, "10.0.0.0/12" in t
t.has_key("10.1.0.0/16"), t.has_key("10.1.0.0"), t.has_key("10.0.0.0/8"), t.has_key("10.0.0.0/12")
t.parent("10.1.0.0/16"), t.parent("10.0.0.0/8")
t.parent("10.1.42.0/24")
t.__setitem__("10.1.1.0/24", "c"), t.children("10.0.0.0/8"), t.children("10.1.0.0/16"), t.children("10.1.1.0/24")
t.children("10.1.42.0/24")
t.values()
t.items()
t[10 << 24], t[(10 << 24) + (1 << 16)], t.get(1), t.get_key(10 << 24), (10 << 24) in t, 1 in t
t.insert(10 << 24, 1), t.keys()
t[b"\\x0a\\1\\1\\1"], t[ipaddress.ip_address("10.1.1.1")], t[ipaddress.ip_network("10.1.1.0/24")]
t.insert("10.2.0.5/16", 1), t.insert("10.2.0.6/16", 2), t.keys(), t.get_key("10.2.9.9"), t["10.2.0.5"], len(t)
t.insert("10.2.0.5", 16, 1), t.parent("10.2.0.0/16"), t.children("10.0.0.0/8"), t.has_key("10.2.0.0/16")
t.insert("10.2.0.5/16", 1), t.delete("10.2.0.0/16"), t.insert("10.2.0.0/16", 1), t.keys()
t.freeze(), t["10.1.1.1"], t.thaw(), t.insert("11.0.0.0/8", 1), t["11.1.1.1"]
t.freeze(), t.insert("11.0.0.0/8", 1)
t.freeze(), t.delete("10.0.0.0/8")
t.freeze(), t.__delitem__("10.0.0.0/8")
t["hello"]
"hello" in t
t.get(None), 1
t.has_key([])
t.delete(1.5)
bool(t), t == t, t != 7, hash(t) == hash(t)
"""


@pytest.mark.parametrize("bits", [32, 128])
def test_compat_pytricia_documented(bits):
    pytricia = pytest.importorskip("pytricia")

    def maker(module):
        def make():
            t = module.PyTricia(bits)
            t["10.0.0.0/8"] = "a"
            t["10.1.0.0/16"] = "b"
            return t

        return make

    for expression, theirs, ours in outcomes(PYTRICIA.strip().splitlines(), [maker(pytricia), maker(compat_pytricia)]):
        assert ours == theirs, expression


def test_compat_pytricia_makes():
    pytricia = pytest.importorskip("pytricia")
    for arguments in [(), (1,), (64,), (128,), (128, 10, True), (32, 2), ("a",), (-1,), (129,), (32, 99), (0,)]:
        found = []
        for module in (pytricia, compat_pytricia):
            try:
                found.append(module.PyTricia(*arguments).keys())
            except ValueError:
                found.append(ValueError)
        assert found[0] == found[1], arguments


def test_compat_pytricia_keys():
    pytricia = pytest.importorskip("pytricia")
    for module in (compat_pytricia, pytricia):
        t = module.PyTricia()
        t["10.0.0.0/8"] = 1
        t.insert("10.1.0.0/16", 2)
        assert t[ipaddress.ip_address("10.1.2.3")] == 2
        assert t[ipaddress.ip_network("10.2.0.0/16")] == 1
        assert t[0x0A010203] == 2 and t[b"\x0a\x01\x01\x01"] == 2
        assert t["10.1.2.3/8"] == 1
        for bad in ("hello", [1], None, 1.5):
            with pytest.raises(ValueError):
                t[bad]
            with pytest.raises(ValueError):
                t[bad] = 1
        raw = module.PyTricia(128, __import__("socket").AF_INET6, True)
        packed = bytes.fromhex("20010db8" + "0" * 24)
        raw[packed] = 1
        raw.insert((packed, 32), 2)
        assert raw.keys() == [(packed, 32), (packed, 128)]
        assert raw.get_key(packed[:15] + b"\1") == (packed, 32)


def test_compat_pytricia_pickles():
    import pickle

    t = compat_pytricia.PyTricia()
    t["10.0.0.0/8"] = "a"
    t["10.1.0.7/16"] = "b"
    t.freeze()
    other = pickle.loads(pickle.dumps(t))
    assert other["10.1.1.1"] == "b" and other.keys() == ["10.0.0.0/8", "10.1.0.7/16"]
    with pytest.raises(ValueError, match="frozen"):
        other["::/0"] = 1
    other.thaw()
    # Families are apart here, which pytricia's are not.
    other["2000::/8"] = 1
    assert other.get("32.0.0.1") is None and other["20ff::"] == 1


# What the README of py-radix tells.
RADIX = """
t.add("10.0.0.0/16").prefix, t.add("10.0.0.0", 16).prefix, t.add(network="10.0.0.0", masklen=16).prefix
t.add(packed=b"\\xac\\x12\\x16\\0", masklen=23).prefix
t.add("10.0.0.0/8") is t.search_exact("10.0.0.0/8"), t.add("10.0.0.0/8").data
t.search_exact("10.0.0.0/8").data, t.search_exact(packed=b"\\x0a\\0\\0\\0", masklen=8).data, t.search_exact("10.0.0.0/9")
t.search_best("10.123.45.6").prefix, t.search_best("10.1.0.0/17").prefix, t.search_best("11.0.0.0")
t.search_best("10.1.0.0/16").network, t.search_best("10.1.0.0/16").prefixlen, t.search_best("10.1.0.0/16").packed
t.search_best("10.1.0.0/16").family, t.search_best("2001:db8::1").family
t.search_worst("10.1.2.3").prefix, t.search_worst("11.0.0.0")
[n.prefix for n in t.search_covering("10.1.2.3")], t.search_covering("11.0.0.0")
sorted(n.prefix for n in t.search_covered("10.0.0.0/8")), t.search_covered("11.0.0.0/8")
t.add("2001:DB8::/3").prefix, t.add("::/0").prefix, t.add("10.0.0.5/8").prefix
[n.prefix for n in t.nodes()], t.prefixes(), [n.prefix for n in t]
[n.data.update(x=1) for n in t], t.search_exact("10.0.0.0/8").data
[t.delete("10.1.0.0/16") for n in t]
[t.add("11.0.0.0/8") and 1 for n in t]
t.delete("10.0.0.0/8"), t.prefixes()
t.delete("11.0.0.0/8")
t.search_exact("10.1.0.0/16").parent.prefix, t.search_exact("10.0.0.0/8").parent
setattr(t.search_exact("10.0.0.0/8"), "prefix", "x")
setattr(t.search_exact("10.0.0.0/8"), "other", "x")
bool(t), t == t, [t.delete(p) for p in t.prefixes()], bool(t)
t.add()
t.add("10.0.0.0", packed=b"abcd")
t.add("10.0.0.0", -1).prefix
t.add("10.0.0.0", -2)
t.add("10.0.0.0", 33)
t.add("10.0.0.0/8", 8)
t.add("10.0.0.0/33")
t.add("hello")
t.add(7)
t.add(b"abcd")
t.add(packed=b"abc")
t.search_best()
t.search_best("10.0.0.0", "x")
"""


def test_compat_radix_documented():
    radix = pytest.importorskip("radix")

    def maker(module):
        def make():
            t = module.Radix()
            for prefix in ("10.0.0.0/8", "10.1.0.0/16", "2001:db8::/32"):
                t.add(prefix).data["name"] = prefix
            return t

        return make

    for expression, theirs, ours in outcomes(RADIX.strip().splitlines(), [maker(radix), maker(compat_radix)]):
        assert ours == theirs, expression


def described(node):
    if node is None:
        return None
    return node.prefix, node.network, node.prefixlen, node.family, node.packed, node.data


@pytest.mark.parametrize("seed", range(4))
def test_compat_radix_is_py_radix(seed, rng):
    radix = pytest.importorskip("radix")
    ours, theirs = compat_radix.Radix(), radix.Radix()
    known = []
    for step in range(300):
        prefix = random_prefix(rng, rng.choice([4, 6]))
        known.append(prefix)
        for tree in (ours, theirs):
            if step % 3:
                tree.add(prefix).data["n"] = step
            else:
                address, _, length = prefix.partition("/")
                tree.add(address, int(length)).data["n"] = step
        if step % 6 == 5:
            gone = rng.choice(known)
            found = both(lambda t: t.delete(gone), ours, theirs)
            assert found[0] == found[1]
        for key in [rng.choice(known), random_prefix(rng, 4), *probes(rng, known, 2)]:
            packed = ipaddress.ip_address(key.partition("/")[0]).packed
            for use in (
                lambda t: described(t.search_exact(key)),
                lambda t: described(t.search_best(key)),
                lambda t: described(t.search_best(packed=packed)),
                lambda t: described(t.search_worst(key)),
                lambda t: set(spelled([n.prefix for n in t.search_covered(key)])),
                lambda t: [n.prefix for n in t.search_covering(key)],
            ):
                found = both(use, ours, theirs)
                assert found[0] == found[1], key
    assert sorted(spelled(ours.prefixes())) == sorted(spelled(theirs.prefixes()))
    assert {spelled(n.prefix): n.data for n in ours} == {spelled(n.prefix): n.data for n in theirs}
    node = ours.search_exact(max(known, key=len))
    if node is not None:
        theirs_parent = theirs.search_exact(node.prefix).parent
        assert spelled(described(node.parent)) == spelled(described(theirs_parent))
    import pickle

    again = pickle.loads(pickle.dumps(ours))
    assert {n.prefix: n.data for n in again} == {n.prefix: n.data for n in ours}
