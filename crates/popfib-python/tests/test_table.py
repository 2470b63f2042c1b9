"""The dictionary: every method, every kind of key, every documented error."""

import copy
import gc
import ipaddress
import pickle
import weakref

import pytest

import popfib
from conftest import Oracle, probes, random_prefix


@pytest.fixture
def t():
    return popfib.Table(
        [
            ("10.0.0.0/8", "a"),
            ("10.1.0.0/16", "b"),
            ("10.1.1.0/24", "c"),
            ("2001:db8::/32", "d"),
            ("::ffff:0:0/96", "mapped"),
        ]
    )


def test_longest_match(t):
    assert t["10.1.1.1"] == "c"
    assert t["10.1.2.1"] == "b"
    assert t["10.2.0.0/16"] == "a"
    assert t["10.1.0.0/16"] == "b"
    assert t["2001:db8::1"] == "d"
    assert t.get("11.0.0.0") is None
    assert t.get("11.0.0.0", 5) == 5
    assert t.get_key("10.1.2.3") == "10.1.0.0/16"
    assert t.get_key("11.0.0.0") is None
    assert t.longest_match("10.1.1.9") == ("10.1.1.0/24", "c")
    assert t.longest_match("::1") is None
    assert "10.9.9.9" in t and "11.0.0.0" not in t


def test_exact(t):
    assert t.has_key("10.0.0.0/8") and not t.has_key("10.0.0.0/9")
    assert not t.has_key("10.0.0.0")
    assert t.get_exact("10.1.0.0/16") == "b"
    assert t.get_exact("10.1.0.0/17", "no") == "no"


def test_families_do_not_mix(t):
    assert t["::ffff:10.1.1.1"] == "mapped"
    assert t["10.1.1.1"] == "c"
    assert t.get("::a01:101") is None
    t["0.0.0.0/0"] = "v4"
    assert t.get("::a01:101") is None
    t["::/0"] = "v6"
    assert (t["1.1.1.1"], t["::1"]) == ("v4", "v6")
    assert len(t) == 7


def test_relatives(t):
    assert t.parent("10.1.1.0/24") == "10.1.0.0/16"
    assert t.parent("10.0.0.0/8") is None
    assert t.parent("10.1.1.7") == "10.1.1.0/24"
    assert t.children("10.0.0.0/8") == ["10.1.0.0/16", "10.1.1.0/24"]
    assert t.children("10.1.1.0/24") == []
    assert t.supernets("10.1.1.0/24") == [("10.0.0.0/8", "a"), ("10.1.0.0/16", "b"), ("10.1.1.0/24", "c")]
    assert t.subnets("10.1.0.0/16") == [("10.1.0.0/16", "b"), ("10.1.1.0/24", "c")]


def test_changes(t):
    t["10.1.0.0/16"] = "B"
    assert t["10.1.2.3"] == "B" and len(t) == 5
    del t["10.1.0.0/16"]
    assert t["10.1.2.3"] == "a" and len(t) == 4
    assert t.pop("10.1.1.0/24") == "c"
    assert t.pop("10.1.1.0/24", None) is None
    assert t.setdefault("10.0.0.0/8", "new") == "a"
    assert t.setdefault("12.0.0.0/8", "new") == "new" == t["12.1.1.1"]
    t.update({"13.0.0.0/8": 1})
    t.update([("13.1.0.0/16", 2), ["13.2.0.0/16", 3]])
    t.update(popfib.Table({"14.0.0.0/8": 4}))
    assert [t["13.9.9.9"], t["13.1.1.1"], t["13.2.2.2"], t["14.1.1.1"]] == [1, 2, 3, 4]
    t.clear()
    assert len(t) == 0 and not t and list(t) == []
    t["1.0.0.0/8"] = 1
    assert t["1.1.1.1"] == 1


def test_iteration(t):
    keys = ["10.0.0.0/8", "10.1.0.0/16", "10.1.1.0/24", "::ffff:0.0.0.0/96", "2001:db8::/32"]
    assert list(t) == list(t.keys()) == keys
    assert list(t.values()) == ["a", "b", "c", "mapped", "d"]
    assert dict(t.items()) == dict(t) == {k: t.get_exact(k) for k in keys}
    walk = t.items()
    assert walk.__length_hint__() == 5
    next(walk)
    assert walk.__length_hint__() == 4
    t["10.0.0.0/8"] = "replaced, which is no change of size"
    next(walk)
    del t["10.0.0.0/8"]
    with pytest.raises(RuntimeError, match="during iteration"):
        next(walk)
    t.clear()
    assert list(t) == []


@pytest.mark.parametrize(
    "key",
    [
        "10.1.1.7",
        b"\x0a\x01\x01\x07",
        (0x0A010107, 4),
        (0x0A010107, 4, 32),
        (b"\x0a\x01\x01\x07", 32),
        ipaddress.ip_address("10.1.1.7"),
        ipaddress.ip_network("10.1.1.7"),
        "10.1.1.7/255.255.255.255",
        (0x0A010100, 4, 24),
        (b"\x0a\x01\x01\x00", 24),
        ipaddress.ip_network("10.1.1.0/24"),
        "10.1.1.0/255.255.255.0",
    ],
)
def test_keys_v4(t, key):
    assert t[key] == "c"
    t[key] = "new"
    assert t.get_exact(key) == "new"
    assert t[key] == "new"


@pytest.mark.parametrize(
    "key",
    [
        "2001:db8::7",
        bytes.fromhex("20010db8" + "0" * 24),
        (0x20010DB8 << 96, 6),
        (0x20010DB8 << 96, 6, 33),
        (bytes.fromhex("20010db8" + "0" * 24), 40),
        ipaddress.ip_address("2001:db8::7"),
        ipaddress.ip_network("2001:db8::/48"),
    ],
)
def test_keys_v6(t, key):
    assert t[key] == "d"
    t[key] = "new"
    assert t.get_exact(key) == "new"


@pytest.mark.parametrize(
    ("key", "error", "words"),
    [
        ("", ValueError, "not an address"),
        ("hello", ValueError, "'hello': not an address"),
        ("10.0.0.256", ValueError, "not an address"),
        ("010.0.0.1", ValueError, "not an address"),
        ("10.0.0.0/33", ValueError, "more than 32"),
        ("::/129", ValueError, "more than 128"),
        ("10.0.0.0/x", ValueError, "not a number"),
        ("10.0.0.1/8", ValueError, "host bits"),
        ("10.0.0.0/255.0.255.0", ValueError, "not contiguous"),
        ("\ud800", ValueError, "surrogates"),
        ("x" * 10**6, ValueError, r"x\.\.\.'"),
        (b"", ValueError, "4 or 16 bytes, not 0"),
        (b"12345", ValueError, "4 or 16 bytes, not 5"),
        (7, TypeError, r"\(number, 4\)"),
        (True, TypeError, r"\(number, 4\)"),
        ((7, 5), ValueError, "4 or 6, not 5"),
        ((-1, 4), ValueError, "negative or too large"),
        ((2**32, 4), ValueError, "negative or too large"),
        ((2**128, 6), ValueError, "negative or too large"),
        ((1, 4, 8), ValueError, "host bits"),
        ((0, 4, 33), ValueError, "more than 32"),
        ((0, 6, 10**30), ValueError, "more than 128"),
        ((0, 4, -1), ValueError, "negative"),
        ((0, 4, "8"), TypeError, "length is an int"),
        ((), TypeError, "a key is"),
        ((1,), TypeError, "a key is"),
        ((1, 4, 8, 9), TypeError, "a key is"),
        ((b"1234",), TypeError, "a key is"),
        (("10.0.0.0", 8), TypeError, "a key is"),
        (None, TypeError, "not NoneType"),
        ([1], TypeError, "not list"),
        (1.5, TypeError, "not float"),
        (ipaddress.ip_interface("10.0.0.1/8"), TypeError, "interface"),
        (ipaddress.ip_address("fe80::1%eth0"), ValueError, "scope"),
    ],
)
def test_bad_keys(t, key, error, words):
    before = list(t.items())
    for use in (
        lambda: t[key],
        lambda: t.__setitem__(key, 1),
        lambda: t.__delitem__(key),
        lambda: key in t,
        lambda: t.get(key),
        lambda: t.get_exact(key),
        lambda: t.get_key(key),
        lambda: t.has_key(key),
        lambda: t.parent(key),
        lambda: t.children(key),
        lambda: t.supernets(key),
        lambda: t.subnets(key),
        lambda: t.pop(key, None),
        lambda: t.setdefault(key),
        lambda: t.update([(key, 1)]),
    ):
        with pytest.raises(error, match=words):
            use()
    assert list(t.items()) == before


def test_numbers_of_numpy(t):
    np = pytest.importorskip("numpy")
    for number in (np.uint32(0x0A010101), np.int64(0x0A010101)):
        assert t[(number, 4)] == t[(number, np.uint8(4), np.int64(32))] == "c"
    assert t[np.str_("10.1.1.1")] == t[np.bytes_(b"\x0a\x01\x01\x01")] == "c"
    for key, error, words in (
        (np.uint32(1), TypeError, r"\(number, 4\)"),
        ((np.int64(-1), 4), ValueError, "negative or too large"),
        ((np.float64(1), 4), TypeError, "a key is"),
        (np.float64(1), TypeError, "not float64"),
        ((0, 4, np.float32(8)), TypeError, "length is an int"),
        (np.zeros(4, np.uint8), TypeError, "not ndarray"),
    ):
        with pytest.raises(error, match=words):
            t[key]


def test_wrong_calls(t):
    """A slip of the keyboard is an error that says so."""
    for use in (
        lambda: popfib.Table({}, {}),
        lambda: popfib.Table(a=1),
        lambda: t.get(),
        lambda: t.get("10.0.0.1", default=1),
        lambda: t.update({}, {}),
        lambda: t.update(a=1),
        lambda: t.lookup_many(),
        lambda: t.lookup_many([], outptu="list"),
        lambda: t.lookup_many([], output=None),
        lambda: t.lookup_many([], invalid=1),
        lambda: t.lookup_many([], threads=1.5),
        lambda: popfib.load("x", decod=int),
        lambda: popfib.open("x", mmap=True),
        lambda: popfib.default_table(int),
        lambda: popfib.canonical("10.0.0.0/8", True),
        lambda: popfib.ArrowColumn(),
        lambda: popfib.Routes(),
        lambda: t[:],
        lambda: t + t,
    ):
        with pytest.raises(TypeError):
            use()
    for use in (lambda: t.lookup, lambda: t.popitem, lambda: setattr(t, "x", 1)):
        with pytest.raises(AttributeError):
            use()


def test_canonical():
    assert popfib.canonical("2001:DB8:0::/32") == ("2001:db8::", 32, 6)
    assert popfib.canonical("10.0.0.1/8", mask=True) == ("10.0.0.0", 8, 4)
    assert popfib.canonical((1, 6)) == ("::1", 128, 6)
    for key, error in (("10.0.0.1/8", ValueError), ("x", ValueError), ((1, 4, 8), ValueError), (7, TypeError)):
        with pytest.raises(error):
            popfib.canonical(key)
    with pytest.raises(ValueError):
        popfib.canonical("x", mask=True)


def test_key_errors(t):
    for use, words in (
        (lambda: t["11.0.0.0"], "no route matches 11.0.0.0"),
        (lambda: t["0.0.0.0/5"], "no route covers 0.0.0.0/5"),
        (lambda: t.__delitem__("11.0.0.0/8"), "no route 11.0.0.0/8"),
        (lambda: t.pop("11.0.0.0/8"), "no route 11.0.0.0/8"),
    ):
        with pytest.raises(KeyError, match=words):
            use()


def test_wrong_routes():
    for routes, error in (
        (7, TypeError),
        ([7], TypeError),
        ([("10.0.0.0/8",)], TypeError),
        (["10.0.0.0/8"], TypeError),
        ([("10.0.0.0/8", 1, 2)], TypeError),
        ([("x", 1)], ValueError),
    ):
        with pytest.raises(error):
            popfib.Table(routes)
    with pytest.raises(TypeError):
        popfib.Table().pop("10.0.0.0/8", 1, 2)


class Hostile:
    """Raises wherever a container might ask something of its values."""

    def __hash__(self):
        raise RuntimeError("hash")

    def __eq__(self, other):
        raise RuntimeError("eq")

    def __bool__(self):
        raise RuntimeError("bool")


def test_values_of_any_kind():
    hostile = [Hostile(), Hostile()]
    values = [1, 1.0, True, None, "1", b"1", [], [], {}, (), -0.0, 0.0, float("nan"), *hostile, 10**40]
    t = popfib.Table((f"10.0.{n}.0/24", value) for n, value in enumerate(values))
    for _ in range(2):
        for n, value in enumerate(values):
            found = t[f"10.0.{n}.1"]
            assert type(found) is type(value)
            if isinstance(value, (int, float, str, bytes)):
                assert repr(found) == repr(value)
            else:
                assert found is value
    # Equal text is one value of the dictionary, equal lists are two.
    t = popfib.Table({"1.0.0.0/8": "".join(["a", "b"]), "2.0.0.0/8": "ab", "3.0.0.0/8": [], "4.0.0.0/8": []})
    assert t.dictionary() == [None, "ab", [], []]


def test_a_key_that_raises_in_hash(t):
    with pytest.raises(TypeError, match="not Hostile"):
        t[Hostile()]


def test_equality(t):
    other = popfib.Table(t)
    assert t == other and not t != other
    other["10.1.0.0/16"] = "x"
    assert t != other
    other["10.1.0.0/16"] = "b"
    assert t == other
    del other["10.0.0.0/8"]
    assert t != other
    other["10.0.0.0/9"] = "a"
    assert len(t) == len(other) and t != other
    assert t != {} and t != 7
    with pytest.raises(TypeError):
        hash(t)
    h = popfib.Table({"10.0.0.0/8": Hostile()})
    assert h == h and h == h.copy()
    with pytest.raises(RuntimeError, match="eq"):
        h == popfib.Table({"10.0.0.0/8": Hostile()})


def test_equality_may_use_the_table(t):
    class Curious:
        def __eq__(self, other):
            a["11.0.0.0/8"] = 1
            return True

    a = popfib.Table({"10.0.0.0/8": Curious()})
    assert a == popfib.Table({"10.0.0.0/8": Curious()})
    assert len(a) == 2


def test_deletion_may_use_the_table():
    seen = []

    class Last:
        def __del__(self):
            seen.append(t.get("10.0.0.1"))
            t["12.0.0.0/8"] = "from __del__"

    t = popfib.Table({"10.0.0.0/8": Last()})
    t["10.0.0.0/8"] = "new"
    t["10.0.0.0/8"] = Last()
    del t["10.0.0.0/8"]
    t["10.0.0.0/8"] = Last()
    t.clear()
    assert seen == ["new", None, None] and t["12.1.1.1"] == "from __del__"


def test_copies(t):
    t["12.0.0.0/8"] = inner = ["list"]
    for other in (t.copy(), copy.copy(t), popfib.Table(t)):
        assert other == t and other["12.1.1.1"] is inner
        other["13.0.0.0/8"] = 1
        assert "13.0.0.0" not in t
    deep = copy.deepcopy(t)
    assert deep == t and deep["12.1.1.1"] is not inner
    t["14.0.0.0/8"] = t
    deep = copy.deepcopy(t)
    assert deep["14.1.1.1"] is deep


def test_pickle(t):
    t["12.0.0.0/8"] = t["13.0.0.0/8"] = shared = ["list"]
    del t["10.1.0.0/16"]
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        other = pickle.loads(pickle.dumps(t, protocol))
        assert other == t and list(other.items()) == list(t.items())
        assert other["12.1.1.1"] is other["13.1.1.1"] is not shared
    t["14.0.0.0/8"] = t
    other = pickle.loads(pickle.dumps(t))
    assert other["14.1.1.1"] is other
    for bad in ((b"x", b"", []), (bytes(9), b"", []), (bytes(4) + b"\x21\1\0\0\0", b"", [1]), (b"", b"", 7), (1, 2)):
        with pytest.raises(ValueError):
            popfib.Table().__setstate__(bad)


class Named(popfib.Table):
    """A table with a name."""


def test_subclass():
    t = Named({"10.0.0.0/8": 1})
    for other in (copy.copy(t), copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
        assert type(other) is Named and other == t
    assert repr(t) == "<test_table.Named: 1 IPv4 and 0 IPv6 routes>"


def test_repr(t):
    assert repr(t) == "<popfib.Table: 3 IPv4 and 2 IPv6 routes>"
    t["14.0.0.0/8"] = t
    assert "4 IPv4" in repr(t)


def test_close(t):
    with t as same:
        assert same is t
    assert repr(t) == "<popfib.Table: closed>"
    for use in (
        lambda: t["10.0.0.1"],
        lambda: len(t),
        lambda: list(t),
        lambda: t.__setitem__("10.0.0.0/8", 1),
        lambda: t.lookup_many(["10.0.0.1"], output="list"),
        lambda: t.copy(),
        lambda: t.clear(),
        lambda: t.save("nowhere"),
        lambda: t.nbytes,
    ):
        with pytest.raises(ValueError, match="closed"):
            use()
    t.close()


def test_garbage_is_collected():
    class Thing:
        pass

    thing = Thing()
    t = popfib.Table({"10.0.0.0/8": thing})
    thing.table = t
    thing.walk = iter(t)
    gone = weakref.ref(thing)
    table_gone = weakref.ref(t)
    del thing, t
    gc.collect()
    assert gone() is None and table_gone() is None


def test_values_are_freed():
    class Thing:
        pass

    thing = Thing()
    gone = weakref.ref(thing)
    t = popfib.Table({"10.0.0.0/8": thing, "11.0.0.0/8": thing})
    del thing
    del t["10.0.0.0/8"]
    assert gone() is not None
    t["11.0.0.0/8"] = 1
    assert gone() is None
    assert len(t.dictionary()) == 2 + 1
    t["12.0.0.0/8"] = "in the freed place"
    assert set(t.dictionary()) == {None, 1, "in the freed place"}


def test_a_copy_is_another_table():
    t = popfib.Table((f"10.{n}.0.0/16", n) for n in range(200))
    other, state = t.copy(), pickle.dumps(t)
    t["10.7.0.0/16"] = "changed"
    del t["10.8.0.0/16"]
    other["10.9.0.0/16"] = "changed too"
    assert (t["10.7.0.1"], other["10.7.0.1"], other["10.8.0.1"]) == ("changed", 7, 8)
    assert (t["10.9.0.1"], other.lookup_many(["10.9.0.1"], output="list")) == (9, ["changed too"])
    assert pickle.loads(state)["10.9.0.1"] == 9


def test_many_routes_at_once():
    """The last of a prefix stays; what was read before an error is there; values without routes are gone."""
    t = popfib.Table([("10.0.0.0/8", "a"), ("10.0.0.0/8", "b"), ("::/0", "c")])
    assert list(t.items()) == [("10.0.0.0/8", "b"), ("::/0", "c")]
    assert {*t.dictionary()} == {None, "b", "c"}
    t.update([("10.0.0.0/8", "d"), ("11.0.0.0/8", "e"), ("::/0", "f"), ("10.0.0.0/8", "g")])
    assert list(t.values()) == ["g", "e", "f"] and {*t.dictionary()} == {None, "g", "e", "f"}
    with pytest.raises(ValueError, match="host bits"):
        t.update([("12.0.0.0/8", 1), ("13.0.0.0/8", 2), ("14.0.0.0/8", 3), ("10.0.0.1/8", 4), ("15.0.0.0/8", 5)])
    assert [*t][:4] == ["10.0.0.0/8", "11.0.0.0/8", "12.0.0.0/8", "13.0.0.0/8"] and len(t) == 6
    # Of itself, and while it is walked: no prefix comes or goes.
    t.update((prefix, str(value)) for prefix, value in t.items())
    for prefix in t:
        t.update(dict.fromkeys([*t], prefix))
    assert {*t.values()} == {"::/0"}
    t.update([])
    assert len(t) == 6


@pytest.mark.parametrize("seed", range(12))
def test_against_a_scan(rng, seed):
    t, oracle = popfib.Table(), Oracle()
    values = ["a", "b", "c", 1, 2, None, ("t",)]
    for step in range(120):
        if oracle.routes and rng.random() < 0.25:
            prefix = str(rng.choice(list(oracle.routes)))
            oracle.remove(prefix)
            del t[prefix]
        else:
            prefix, value = random_prefix(rng, rng.choice([4, 6])), rng.choice(values)
            oracle.insert(prefix, value)
            t[prefix] = value
        if step % 40 == 39:
            t = t.copy()
        if step % 10 == 9 and oracle.routes:
            known = [str(route) for route in oracle.routes]
            addresses = probes(rng, known, 20)
            expected = [oracle.longest_match(a) for a in addresses]
            assert [t.longest_match(a) for a in addresses] == expected
            found = [e and e[1] for e in expected]
            assert [t.get(a) for a in addresses] == found
            assert t.lookup_many(addresses, output="list") == found
            for key in [*rng.sample(known, 1), random_prefix(rng, 4), random_prefix(rng, 6)]:
                above, below = oracle.covering(key), oracle.inside(key)
                assert [p for p, _ in t.supernets(key)] == [str(p) for p in above]
                assert [p for p, _ in t.subnets(key)] == [str(p) for p in below]
                assert t.get_key(key) == (str(above[-1]) if above else None)
                assert t.children(key) == [str(p) for p in below if str(p) != key]
    assert list(t.items()) == oracle.items()
    assert pickle.loads(pickle.dumps(t)) == t
