"""Longest matches with their prefixes: one by one and as columns, of a map and out of an image."""

import ipaddress

import pytest

import popfib
from conftest import Oracle, probes, random_prefix, rounds
from test_columns import V4, V6, columns, numbers, t  # noqa: F401

np = pytest.importorskip("numpy")


def check(table, column, want, **options):
    """All outputs of a column say `want`, a list of pairs and None."""
    prefixes = [pair and pair[0] for pair in want]
    assert table.lookup_many(column, output="matches", **options) == want
    assert table.lookup_many(column, output="prefixes", **options) == prefixes
    try:
        import pyarrow as pa
    except ImportError:
        return
    found = pa.array(table.lookup_many(column, output="arrow-prefixes", **options))
    found.validate(full=True)
    assert found.type == pa.string() and found.to_pylist() == prefixes


@pytest.mark.parametrize("addresses", [V4, V6])
def test_every_kind_of_column(t, addresses, tmp_path):  # noqa: F811
    want = [t.longest_match(address) for address in addresses]
    assert any(want) and not all(want)
    t.save(tmp_path / "image")
    with popfib.open(tmp_path / "image") as image:
        before = image.nbytes
        for table in (t, t.copy(), image):
            for column in [*columns(addresses), addresses, tuple(addresses)]:
                check(table, column, want)
            check(table, [], [])
            check(table, [*addresses, None, "x"], [*want, None, None], invalid="null")
            check(table, addresses * 20_000, want * 20_000, threads=2)
            assert [table.get_key(address) for address in addresses] == [pair and pair[0] for pair in want]
        # Out of the image, without a copy of its routes.
        assert image.nbytes == before


def test_both_families_in_arrow_columns(t):  # noqa: F811
    pa = pytest.importorskip("pyarrow")
    rows = [address for pair in zip(V4, [*V6, None]) for address in pair] * 100
    want = [address and t.longest_match(address) for address in rows]
    for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())):
        check(t, pa.array(rows).cast(kind), want)
        check(t, pa.chunked_array([pa.array(rows[:7]), pa.array(rows[7:])]).cast(kind), want)
    check(t, pa.array([*numbers(V4).tolist(), None], pa.uint32()), [*map(t.longest_match, V4), None])


@pytest.mark.parametrize("output", ["prefixes", "matches", "arrow-prefixes"])
def test_bad_input(t, output):  # noqa: F811
    with pytest.raises(ValueError, match="row 1: 'x'"):
        t.lookup_many([V4[0], "x"], output=output)
    with pytest.raises(TypeError, match="dtype float64"):
        t.lookup_many(np.zeros(3, np.float64), output=output)
    with pytest.raises(ValueError, match="out goes with output='indices'"):
        t.lookup_many(V4, output=output, out=np.zeros(len(V4), np.uint32))
    with pytest.raises(ValueError, match="'prefixes', 'matches' or 'arrow-prefixes', not 'prefix'"):
        t.lookup_many(V4, output="prefix")
    t.close()
    with pytest.raises(ValueError, match="closed"):
        t.lookup_many(V4, output=output)


def test_rows_of_one_prefix_share_its_text(t):  # noqa: F811
    first, second = t.lookup_many(["10.9.0.1", "10.9.0.2"], output="prefixes")
    assert first == "10.0.0.0/8" and first is second


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.heavy) for n in range(1, 4))])
def test_changes_between_calls(rng, seed):
    """Values replaced, prefixes that come and go, one by one and many at once."""
    t, oracle = popfib.Table(), Oracle()
    for step in range(rounds(100, 300)):
        for _ in range(rng.choice([1, 1, 5])):
            prefix = random_prefix(rng, rng.choice([4, 6]))
            if ipaddress.ip_network(prefix) in oracle.routes and rng.random() < 0.5:
                del t[prefix]
                oracle.remove(prefix)
            else:
                t[prefix] = value = rng.randrange(5)
                oracle.insert(prefix, value)
        if len(t) < 60 and rng.random() < 0.2:
            many = {random_prefix(rng, rng.choice([4, 6])): rng.randrange(5) for _ in range(rng.choice([3, 40]))}
            t.update(many)
            for prefix, value in many.items():
                oracle.insert(prefix, value)
        if not oracle.routes:
            continue
        some = probes(rng, [str(route) for route in oracle.routes], rng.choice([1, 3, 40]))
        want = [oracle.longest_match(address) for address in some]
        check(t, some, want)
        assert [t.longest_match(address) for address in some] == want
        if step % 50 == 0:
            check(t.copy(), some, want)


@pytest.mark.heavy
def test_the_real_table(built_in, rng):
    """Columns and one by one, after changes of which each is undone."""
    t = popfib.Table(built_in.items())
    some = probes(rng, rng.sample(list(t), 3000), 20_000)
    want = [t.longest_match(address) for address in some]
    assert sum(pair is not None for pair in want) > 10_000
    for prefix, value in rng.sample(list(t.items()), 2000):
        del t[prefix]
        t[prefix] = value
    assert [t.longest_match(address) for address in some] == want
    assert [t.get_key(address) for address in some] == [pair and pair[0] for pair in want]
    check(t, some, want)
    assert [(pair and pair[1]) for pair in want] == t.lookup_many(some, output="list")


def test_prefixes_are_text_in_canonical_form():
    """Of all lengths, by the code that writes them and by `ipaddress`."""
    for bits, kind in ((32, ipaddress.IPv4Network), (128, ipaddress.IPv6Network)):
        for pattern in ("123456789abcdef0", "ff000000000000ff", "0000000000000000", "00000000ffffffff"):
            whole = int(pattern * 2, 16) >> (128 - bits)
            routes = [str(kind((whole >> (bits - n) << (bits - n), n))) for n in range(bits + 1)]
            t = popfib.Table((route, None) for route in routes)
            assert list(t) == routes
            address = str(kind(whole).network_address)
            assert t.longest_match(address) == (routes[-1], None)
            assert t.subnets(routes[0]) == [(route, None) for route in routes]
            assert t.parent(routes[-1]) == routes[-2] and t.children(routes[-2]) == [routes[-1]]
    mapped = popfib.Table({"::ffff:10.0.0.0/104": 1})
    assert mapped.get_key("::ffff:10.1.2.3") == list(mapped)[0] == popfib.Table({"::ffff:a00:0/104": 1}).get_key("::ffff:a01:203")
