"""`lookup_many`: every kind of column and of answer, and what is wrong with others."""

import array
import ipaddress
import subprocess
import sys
import textwrap

import pytest

import popfib
from conftest import rss

np = pytest.importorskip("numpy")

V4 = ["10.1.1.1", "10.9.9.9", "11.0.0.0", "255.255.255.255", "0.0.0.0"]
V6 = ["2001:db8::1", "::", "2001:db9::", "ffff:" * 7 + "ffff"]


@pytest.fixture
def t():
    return popfib.Table(
        {"10.0.0.0/8": "a", "10.1.0.0/16": "b", "255.255.255.255/32": "last", "2001:db8::/32": "d", "ffff::/16": "end"}
    )


def expected(t, addresses):
    return [None if a is None else t.get(a) for a in addresses]


def packed(addresses):
    return b"".join(ipaddress.ip_address(a).packed for a in addresses)


def numbers(addresses):
    return np.array([int(ipaddress.ip_address(a)) for a in addresses], dtype=np.uint32)


def columns(addresses):
    """The same addresses of one family as every kind of numpy array."""
    raw = packed(addresses)
    width = len(raw) // len(addresses)
    rows = np.frombuffer(raw, np.uint8).reshape(-1, width)
    yield rows
    yield np.asfortranarray(rows)
    yield np.repeat(rows, 2, axis=0)[::2]
    yield np.frombuffer(raw, f"S{width}")
    yield np.frombuffer(raw, f"V{width}")
    yield np.array(addresses)
    yield np.array(addresses, dtype=object)
    yield np.array([ipaddress.ip_address(a) for a in addresses])
    if width == 4:
        yield numbers(addresses)
        yield numbers(addresses).astype(">u4")
        yield np.repeat(numbers(addresses), 3)[::3]


@pytest.mark.parametrize("addresses", [V4, V6])
def test_numpy(t, addresses):
    want = expected(t, addresses)
    for column in columns(addresses):
        found = t.lookup_many(column)
        assert found.dtype == object and found.tolist() == want
        indices = t.lookup_many(column, output="indices")
        assert indices.dtype == np.uint32
        assert [t.dictionary()[i] for i in indices] == want
        assert t.lookup_many(column, output="list") == want


def test_out(t):
    for column in list(columns(V4)) + list(columns(V6)) + [V4, []]:
        whole = np.full(len(column) + 2, 77, np.uint32)
        out = whole[1:-1]
        found = t.lookup_many(column, output="indices", out=out)
        assert found is out
        assert out.tolist() == t.lookup_many(column, output="indices").tolist()
        assert whole[0] == whole[-1] == 77
    # Rows that are no address are written too.
    kinds = [["10.1.1.1", None], np.array(["10.1.1.1", "x"]), [None] * 1000]
    try:
        import pyarrow as pa
    except ImportError:
        pass
    else:
        kinds += [pa.array(kinds[0]), pa.array(kinds[0]).dictionary_encode(), pa.array([1, None], pa.uint32())]
    for column in kinds:
        out = np.full(len(column), 77, np.uint32)
        want = [0 if v is None else 2 for v in t.lookup_many(column, output="list", invalid="null")]
        assert t.lookup_many(column, output="indices", invalid="null", out=out).tolist() == want
    # With threads, and again and again.
    column = np.random.default_rng(1).integers(0, 2**32, 100_000, dtype=np.uint32)
    out = np.empty(len(column), np.uint32)
    for threads in (1, 3):
        out.fill(77)
        t.lookup_many(column, output="indices", threads=threads, out=out)
        assert (out == t.lookup_many(column, output="indices")).all()


def test_large_arrays_use_memory_again(t):
    """That of an array that is gone, and never that of one that somebody has."""
    rng = np.random.default_rng(2)
    first, second = (rng.integers(10 << 24, 11 << 24, 700_000, dtype=np.uint32) for _ in range(2))

    def look_up(column):
        return t.lookup_many(column, output="indices")

    want = [look_up(column).tolist() for column in (first, second)]
    assert want[0] != want[1]
    one, two = look_up(first), look_up(second)
    for array in (one, two):
        assert array.flags.writeable and array.flags.c_contiguous and array.ctypes.data % 4096 == 0
    assert not np.shares_memory(one, two)
    assert (one.tolist(), two.tolist()) == (want[0], want[1])
    # A view keeps it, however many come and go.
    view, last = one[5:], want[0][5:]
    del one
    for column in (first, second) * 3:
        assert look_up(column).tolist() == want[column is second]
    assert view.tolist() == last and two.tolist() == want[1]
    # Other sizes: shorter, a little longer, much longer and much shorter than what is kept.
    for count in (600_000, 699_999, 700_000, 524_288, 524_287, 1_100_000, 5_000_000, 1_000, 600_000, 0):
        column = np.resize(second, count)
        found = look_up(column)
        assert len(found) == count
        assert (found[:: max(1, count // 1000)] == np.resize(two, count)[:: max(1, count // 1000)]).all()
    # Rows without an address are 0 in memory that held answers.
    column = [None] * 600_000
    del found
    look_up(first)
    assert not look_up(column).any()


@pytest.mark.heavy
def test_large_arrays_do_not_pile_up(t):
    column = np.full(8_000_000, 0x0A010101, np.uint32)
    kept = [t.lookup_many(column, output="indices") for _ in range(4)]
    before = rss()
    del kept
    assert rss() < before - 2 * column.nbytes
    for _ in range(20):
        assert t.lookup_many(column, output="indices")[-1] == 2
    assert rss() < before - 2 * column.nbytes


def read_only(array):
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("out", "error", "words"),
    [
        ([0] * 5, TypeError, "numpy array of uint32"),
        (np.zeros(5, np.int32), TypeError, "numpy array of uint32"),
        (np.zeros(5, ">u4"), TypeError, "numpy array of uint32"),
        (np.zeros((5, 1), np.uint32), TypeError, "one dimension"),
        (np.zeros(4, np.uint32), ValueError, "4 places for 5 addresses"),
        (np.zeros(6, np.uint32), ValueError, "6 places for 5 addresses"),
        (np.zeros(10, np.uint32)[::2], ValueError, "in one piece"),
        (np.zeros(5, np.uint32)[::-1], ValueError, "in one piece"),
        (read_only(np.zeros(5, np.uint32)), ValueError, "read-only"),
    ],
)
def test_bad_out(t, out, error, words):
    with pytest.raises(error, match=words):
        t.lookup_many(V4, output="indices", out=out)


def test_out_is_not_the_addresses(t):
    column = numbers(V4)
    with pytest.raises(ValueError, match="that of the addresses"):
        t.lookup_many(column, output="indices", out=column)
    assert (column == numbers(V4)).all()
    for output in ("values", "list", "arrow"):
        with pytest.raises(ValueError, match="out goes with output='indices'"):
            t.lookup_many(column, output=output, out=np.zeros(len(column), np.uint32))


def test_iterables(t):
    mixed = V4 + V6 + [None, ipaddress.ip_address("10.1.1.1"), (1, 4), b"\x0a\x01\x01\x01", float("nan")]
    want = expected(t, mixed[:-1]) + [None]
    for column in (mixed, tuple(mixed), iter(mixed), np.array(mixed, dtype=object)):
        assert t.lookup_many(column, output="list") == want
    assert t.lookup_many([]).tolist() == []
    assert t.lookup_many(np.array([], np.uint32), output="indices").tolist() == []


def integer_types():
    """numpy's integers that hold IPv4 addresses, each with the numbers that it does not share with them."""
    return {
        "int32": [-1, -(2**31)],
        "int64": [-1, 2**32, -(2**63), 2**63 - 1],
        "uint64": [2**32, 2**64 - 1],
        ">i8": [-1, 2**40],
    }


@pytest.mark.parametrize("dtype", integer_types())
def test_integers_of_other_widths(t, dtype):
    good = [int(number) for number in numbers(V4) if number <= np.iinfo(dtype).max]
    want = expected(t, [(number, 4) for number in good])
    wrong = integer_types()[dtype]
    column = np.array((good + wrong) * 500, dtype)
    answers = (want + [None] * len(wrong)) * 500
    for threads in (1, 3):
        assert t.lookup_many(column, output="list", invalid="null", threads=threads) == answers
    assert t.lookup_many(column[::2], output="list", invalid="null") == answers[::2]
    assert t.lookup_many(np.array(good, dtype), output="list") == want
    assert t.lookup_many(np.array([], dtype), output="list") == []
    with pytest.raises(ValueError, match=f"row {len(good)}: {wrong[0]}: "):
        t.lookup_many(column)
    assert popfib.lookup_many({"t": t}, column, output="list", invalid="null") == {"t": answers}
    live = popfib.LiveTable(t.items())
    assert live.lookup_many(column, output="list", invalid="null") == answers


def test_many_threads(t):
    rng = np.random.default_rng(1)
    column = rng.integers(0, 2**32, 200_001, dtype=np.uint32)
    want = t.lookup_many(column, output="indices")
    for threads in (0, 2, 3, 16):
        assert (t.lookup_many(column, output="indices", threads=threads) == want).all()
    assert want[:2000].tolist() == [0 if (v := t.get((int(a), 4))) is None else t.dictionary().index(v) for a in column[:2000]]


def test_stale_tables_answer_right(t):
    """Before and after the compilation that enough lookups bring."""
    column = numbers(V4)
    for step in range(20):
        t[f"10.9.{step}.0/24"] = step
        assert t.lookup_many(column, output="list") == expected(t, V4)


@pytest.mark.parametrize(
    ("column", "error", "words"),
    [
        (np.zeros(3, np.int16), TypeError, "dtype int16"),
        (np.zeros(3, np.float64), TypeError, "dtype float64"),
        (np.array([7, -1]), ValueError, "row 1: -1: numbers of IPv4 addresses are 0 to 4294967295"),
        (np.array([7, -1], np.int32), ValueError, "row 1: -1: numbers of IPv4"),
        (np.array([7, 2**32]), ValueError, "row 1: 4294967296: numbers of IPv4"),
        (np.array([2**64 - 1], np.uint64), ValueError, "row 0: 18446744073709551615: numbers of IPv4"),
        (np.zeros((3, 1), np.int64), ValueError, "2 dimensions"),
        (np.zeros((3, 1), np.uint32), ValueError, "2 dimensions"),
        (np.array(7, np.uint32), ValueError, "0 dimensions"),
        (np.zeros(16, np.uint8), ValueError, r"\(n, 16\)"),
        (np.zeros((3, 5), np.uint8), ValueError, r"\(n, 16\)"),
        (np.zeros((3, 16, 1), np.uint8), ValueError, r"\(n, 16\)"),
        (np.array([b"10.0.0.1"]), TypeError, "dtype |S8"),
        (np.array(["x"]), ValueError, "row 0: 'x': not an address"),
        (["10.0.0.1", "10.0.0.0/8"], ValueError, "row 1: '10.0.0.0/8'"),
        (np.ma.array([1, 2], mask=[True, False], dtype=np.uint32), TypeError, "a masked array"),
        (np.array([(1, 2)], [("a", "u2"), ("b", "u2")]), TypeError, "dtype"),
        (np.array(["2020-01-01"], "M8[D]"), TypeError, "dtype datetime64"),
        (np.array([1j]), TypeError, "dtype complex128"),
        (np.array([True]), TypeError, "dtype bool"),
        (np.array([]), TypeError, "dtype float64"),
        (np.array("10.0.0.1"), ValueError, "0 dimensions"),
        (np.array([["10.0.0.1"]]), ValueError, "2 dimensions"),
        (np.zeros((0, 0), np.uint8), ValueError, r"\(n, 16\)"),
        (np.uint32(7), TypeError, "not uint32"),
        ([["10.0.0.1"]], TypeError, "row 0: a key is .*, not list"),
        ([1.5], TypeError, "row 0: a key is .*, not float"),
        ([(0, 4, 8)], ValueError, "row 0: 0.0.0.0/8 is a prefix"),
        (["10.0.0.1", 7], TypeError, "row 1: an int may be of either family"),
        ([np.uint32(7)], TypeError, "row 0: an int may be of either family"),
        ([b"123"], ValueError, "row 0: packed addresses"),
        ("10.0.0.1", TypeError, "one str"),
        (b"1234", TypeError, "one bytes"),
        ({"10.0.0.1": 1}, TypeError, "one dict"),
        (7, TypeError, "not int"),
        (None, TypeError, "not NoneType"),
        (array.array("I", [1]), TypeError, "either family"),
    ],
)
def test_bad_columns(t, column, error, words):
    with pytest.raises(error, match=words.replace("|", r"\|")):
        t.lookup_many(column)


def test_bad_options(t):
    with pytest.raises(ValueError, match="output is 'values'"):
        t.lookup_many([], output="numpy")
    with pytest.raises(ValueError, match="invalid is 'raise'"):
        t.lookup_many([], invalid="ignore")
    with pytest.raises(ValueError, match="0 means one for each core"):
        t.lookup_many([], threads=-1)
    with pytest.raises(OverflowError):
        t.lookup_many([], threads=2**70)
    with pytest.raises(TypeError):
        t.lookup_many([], 7)


def test_without_numpy():
    script = textwrap.dedent("""
        import sys
        sys.modules["numpy"] = None
        import popfib
        t = popfib.Table({"10.0.0.0/8": "a"})
        assert t.lookup_many(["10.0.0.1", None], output="list") == ["a", None]
        assert t.lookup_many(["10.0.0.1", None], output="matches") == [("10.0.0.0/8", "a"), None]
        assert len(t.lookup_many(["10.0.0.1", None], output="arrow")) == 2
        for output in ("values", "indices"):
            try:
                t.lookup_many(["10.0.0.1"], output=output)
            except ImportError as error:
                assert "output='list' and 'arrow' work without it" in str(error)
            else:
                raise AssertionError(output)
        print("done")
    """)
    run = subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.PIPE, text=True)
    assert run.stdout == "done\n"


def test_iterables_that_lie(t):
    class Column:
        def __init__(self, rows, length=None):
            self.rows, self.length = rows, length

        def __len__(self):
            if isinstance(self.length, Exception):
                raise self.length
            return self.length

        def __iter__(self):
            for row in self.rows:
                if isinstance(row, Exception):
                    raise row
                yield row

    for length in (0, 1, 2**62, RuntimeError("no")):
        assert t.lookup_many(Column(["10.1.1.1", "10.9.9.9"], length), output="list") == ["b", "a"]
    with pytest.raises(RuntimeError, match="row"):
        t.lookup_many(Column(["10.1.1.1", RuntimeError("row")], 2), invalid="null")

    class Hostile:
        def __hash__(self):
            raise RuntimeError("hash")

        def __float__(self):
            raise RuntimeError("float")

        def __index__(self):
            raise RuntimeError("index")

        def __eq__(self, other):
            raise RuntimeError("eq")

    with pytest.raises(TypeError, match="row 1: a key is .*, not Hostile"):
        t.lookup_many(["10.1.1.1", Hostile()])


def test_invalid_as_null(t):
    column = ["10.1.1.1", "x", "", "10.0.0.0/8", None, "::x"]
    assert t.lookup_many(column, invalid="null", output="list") == ["b", None, None, None, None, None]


def test_arrow_columns(t):
    pa = pytest.importorskip("pyarrow")
    mixed = [*V4, None, *V6] * 100
    want = expected(t, mixed)
    raw = [a and ipaddress.ip_address(a).packed for a in mixed]
    fixed4 = [a and ipaddress.ip_address(a).packed for a in [*V4, None]]
    fixed6 = [a and ipaddress.ip_address(a).packed for a in [*V6, None]]
    kinds = [
        (pa.array(mixed), want),
        (pa.array(mixed, pa.large_string()), want),
        (pa.array(mixed, pa.string_view()), want),
        (pa.array(mixed).dictionary_encode(), want),
        (pa.array(raw, pa.binary()), want),
        (pa.array(raw, pa.large_binary()), want),
        (pa.array(raw, pa.binary_view()), want),
        (pa.array(fixed4, pa.binary(4)), expected(t, [*V4, None])),
        (pa.array(fixed6, pa.binary(16)), expected(t, [*V6, None])),
        (pa.array([*numbers(V4).tolist(), None], pa.uint32()), expected(t, [*V4, None])),
        (pa.array([], pa.string()), []),
        (pa.array([None, None], pa.string()), [None, None]),
        (pa.array([None, None, None]), [None, None, None]),
    ]
    for column, answers in kinds:
        for threads in (1, 3):
            assert t.lookup_many(column, output="list", threads=threads) == answers, column.type
        assert t.lookup_many(column[2:], output="list") == answers[2:], column.type
        chunked = pa.chunked_array([column, column[1:], column[:0]], column.type)
        assert t.lookup_many(chunked, output="list") == answers + answers[1:], column.type
        answer = pa.array(t.lookup_many(column, output="arrow"))
        assert pa.types.is_dictionary(answer.type)
        answer.validate(full=True)
        assert answer.to_pylist() == answers
    with pytest.raises(ValueError, match="row 1: 'x': not an address"):
        t.lookup_many(pa.array(["10.0.0.1", "x"]))
    with pytest.raises(ValueError, match="row 3: 'x'"):
        t.lookup_many(pa.chunked_array([["10.0.0.1"], ["::", "::1", "x"]]))
    with pytest.raises(ValueError, match="row 2: 'x'"):
        t.lookup_many(pa.array(["10.0.0.1", "11.0.0.1", "x"]).dictionary_encode())
    assert t.lookup_many(pa.array(["10.0.0.1", "x"]).dictionary_encode()[:1], output="list") == ["a"]
    assert t.lookup_many(pa.array(["10.0.0.1", "x"]), invalid="null", output="list") == ["a", None]
    for kind in pa.int32(), pa.int64(), pa.uint64():
        column = pa.array([1, None, 0x0A010101, 0x0A010101], kind)
        assert t.lookup_many(column, output="list") == [None, None, "b", "b"]
        assert t.lookup_many(column.dictionary_encode(), output="list") == [None, None, "b", "b"]
    outside = pa.array([0x0A010101, 2**32, None, -1])
    assert t.lookup_many(outside, output="list", invalid="null") == ["b", None, None, None]
    with pytest.raises(ValueError, match="row 1: 4294967296: numbers of IPv4 addresses are 0 to 4294967295"):
        t.lookup_many(outside)
    import pyarrow.compute

    runs = pyarrow.compute.run_end_encode(pa.array(["10.1.1.1"] * 3))
    with pytest.raises(TypeError, match="run-end-encoded values .*run_end_decode"):
        t.lookup_many(runs)
    assert t.lookup_many(pyarrow.compute.run_end_decode(runs), output="list") == ["b"] * 3
    for bad in (pa.array([1], pa.int16()), pa.array([1.5]), pa.array([b"123"], pa.binary(3)), pa.table({"a": [1]}), pa.array([["a"]])):
        with pytest.raises(TypeError, match="a column of"):
            t.lookup_many(bad)


def test_arrow_answers(t):
    pa = pytest.importorskip("pyarrow")
    ints = popfib.Table({"10.0.0.0/8": 7, "11.0.0.0/8": -1})
    answer = pa.array(ints.lookup_many(["10.0.0.1", "11.0.0.1", "12.0.0.1"], output="arrow"))
    assert answer.type.value_type == pa.int64() and answer.to_pylist() == [7, -1, None]
    column = ints.lookup_many(["10.0.0.1"], output="arrow")
    assert len(column) == 1 and "1 rows" in repr(column)
    for _ in range(3):
        assert pa.array(column).to_pylist() == [7]
    empty = popfib.Table()
    assert pa.array(empty.lookup_many(["10.0.0.1"], output="arrow")).to_pylist() == [None]
    del ints["11.0.0.0/8"]
    assert pa.array(ints.lookup_many(["10.0.0.1", "11.0.0.1"], output="arrow")).to_pylist() == [7, None]
    truths = popfib.Table({"10.0.0.0/8": True, "11.0.0.0/8": False, "12.0.0.0/8": None})
    answer = pa.array(truths.lookup_many(["10.0.0.1", "11.0.0.1", "12.0.0.1", "13.0.0.1"], output="arrow"))
    assert answer.type.value_type == pa.bool_() and answer.to_pylist() == [True, False, None, None]
    for values, error in (([1, "a"], TypeError), ([[]], TypeError), ([True, 1], TypeError), ([True, "a"], TypeError), ([2**70], ValueError)):
        other = popfib.Table((f"{n}.0.0.0/8", v) for n, v in enumerate(values))
        with pytest.raises(error):
            other.lookup_many(["10.0.0.1"], output="arrow")


@pytest.mark.parametrize("kind", ["text", "numbers"])
def test_arrow_answers_follow_changes(rng, kind):
    """What values say is kept beside them once columns ask for it: never what an older one said."""
    pa = pytest.importorskip("pyarrow")
    lengths = [0, 1, 13, 14, 15, 16, 40, 1000]

    def value():
        if kind == "numbers":
            return rng.choice([0, -1, 2**63 - 1, -(2**63), rng.getrandbits(40)])
        return "".join(rng.choice("aé€") for _ in range(rng.choice(lengths)))

    routes = {f"10.{n >> 8}.{n & 255}.0/24": value() for n in range(1000)}
    t = popfib.Table(routes)
    column = [prefix[:-3] for prefix in routes]

    def check(table, routes):
        found = pa.array(table.lookup_many(column, output="arrow"))
        found.validate(full=True)
        assert found.to_pylist() == [routes.get(f"{address}/24") for address in column]
        assert len(set(found.dictionary.to_pylist())) == len(found.dictionary)

    before = t.nbytes
    check(t, routes)
    assert before < t.nbytes <= before + 16 * len(t.dictionary()) + sum(len(str(v).encode()) for v in routes.values())
    # Few changes between columns, of which most are read; then so many that all is.
    for changes in [1] * 20 + [50] * 20 + [1000, 1, 1]:
        old, was = t.copy(), dict(routes)
        for prefix in rng.choices(list(was), k=changes):
            if rng.random() < 0.3:
                routes.pop(prefix, None)
                t.pop(prefix, None)
            else:
                routes[prefix] = t[prefix] = value()
        check(t, routes)
        check(old, was)
    # Many that come and none that goes are read at last.
    grown = popfib.Table({next(iter(was)): value()})
    check(grown, grown)
    for prefix in was:
        grown[prefix] = routes[prefix] = value()
    before = grown.nbytes
    check(grown, routes)
    assert grown.nbytes >= before + 16 * len(set(routes.values())) - 64
    t = grown
    # Of another type from one column to the next, and back.
    for kind in ("numbers", "text"):
        for prefix in list(routes):
            del t[prefix]
        check(t, {})
        t.update(routes := {prefix: value() for prefix in was})
        check(t, routes)


def test_arrow_answers_of_text_that_is_not_utf8():
    """An error of the rows that have it alone, whether values were read before or not."""
    pa = pytest.importorskip("pyarrow")
    t = popfib.Table({f"10.0.{n}.0/24": f"v{n}" for n in range(100)})
    t["10.0.7.0/24"] = "\ud800"
    for _ in range(50):
        assert pa.array(t.lookup_many(["10.0.6.1", "10.0.8.1"], output="arrow")).to_pylist() == ["v6", "v8"]
        with pytest.raises(UnicodeEncodeError):
            t.lookup_many(["10.0.6.1", "10.0.7.1"], output="arrow")
    t["10.0.7.0/24"] = "v7"
    assert pa.array(t.lookup_many(["10.0.7.1"], output="arrow")).to_pylist() == ["v7"]


def test_objects_that_lie_about_arrow(t):
    class Liar:
        def __init__(self, answer):
            self.answer = answer

        def __arrow_c_array__(self, requested_schema=None):
            if isinstance(self.answer, Exception):
                raise self.answer
            return self.answer

    for answer in (None, (), (1, 2), RuntimeError("no")):
        with pytest.raises((TypeError, ValueError, RuntimeError)):
            t.lookup_many(Liar(answer))
    pa = pytest.importorskip("pyarrow")
    schema, data = pa.array(["10.0.0.1"]).__arrow_c_array__()
    with pytest.raises(ValueError):
        t.lookup_many(Liar((data, schema)))
    assert t.lookup_many(Liar((schema, data)), output="list") == ["a"]
    with pytest.raises(ValueError):
        t.lookup_many(Liar((schema, data)))
