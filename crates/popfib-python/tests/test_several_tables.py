"""`popfib.lookup_many`: several tables at a time are what each says by itself."""

import ipaddress
import random

import pytest

import popfib
from conftest import probes, random_prefix

OUTPUTS = ["values", "indices", "list", "arrow", "prefixes", "matches", "arrow-prefixes"]


@pytest.fixture
def tables():
    asn = popfib.Table({"10.0.0.0/8": 64500, "10.1.0.0/16": 64501, "2001:db8::/32": 64502})
    country = popfib.Table({"10.0.0.0/9": "CH", "2001:db8::/33": "JP"})
    return {"asn": asn, "country": country, "empty": popfib.Table()}


ADDRESSES = ["10.1.2.3", "10.200.0.1", None, "192.0.2.1", "2001:db8::1", "2001:db8:8000::1"]


def test_sets_beside_tables(tmp_path):
    table, found = popfib.Table({"10.0.0.0/8": "a"}), popfib.IPSet(["10.0.0.0/9", "11.0.0.0/8"])
    rows = ["10.1.1.1", "10.200.1.1", "11.1.1.1", "12.1.1.1", None, "x"]
    expected = [True, False, True, False, None, None]
    for tables in {"t": table, "s": found}, {"s": found}:
        answers = popfib.lookup_many(tables, rows, output="list", invalid="null")
        assert list(answers) == list(tables) and answers["s"] == expected
    answers = popfib.lookup_many({"t": table, "s": found}, rows, output="list", prefixes=True, invalid="null")
    assert list(answers) == ["t_prefix", "t", "s"] and answers["s"] == expected
    for output in "indices", "prefixes", "matches", "arrow-prefixes":
        with pytest.raises(ValueError, match="a set has no values and no matches"):
            popfib.lookup_many({"s": found}, rows, output=output, invalid="null")


def as_list(column):
    """The rows of any output."""
    if hasattr(column, "__arrow_c_array__"):
        return pytest.importorskip("pyarrow").array(column).to_pylist()
    return list(column)


def columns():
    yield ADDRESSES
    yield iter(ADDRESSES)
    np = pytest.importorskip("numpy")
    yield np.array(ADDRESSES, dtype=object)


def test_a_column_for_each_table(tables):
    answers = popfib.lookup_many(tables, ADDRESSES, output="list")
    assert answers == {
        "asn": [64501, 64500, None, None, 64502, 64502],
        "country": ["CH", None, None, None, "JP", None],
        "empty": [None] * 6,
    }
    assert list(answers) == ["asn", "country", "empty"]
    assert popfib.lookup_many({}, ADDRESSES) == {}
    assert popfib.lookup_many(tables, []).keys() == tables.keys()


def test_prefixes_come_before_their_values(tables):
    answers = popfib.lookup_many(tables, ADDRESSES, output="list", prefixes=True)
    assert list(answers) == ["asn_prefix", "asn", "country_prefix", "country", "empty_prefix", "empty"]
    assert answers["asn_prefix"] == ["10.1.0.0/16", "10.0.0.0/8", None, None, "2001:db8::/32", "2001:db8::/32"]
    assert answers["country"] == ["CH", None, None, None, "JP", None]


@pytest.mark.parametrize("output", OUTPUTS)
def test_every_output_of_every_column(tables, output):
    if output == "values" or output == "indices":
        pytest.importorskip("numpy")
    for column in columns():
        answers = popfib.lookup_many(tables, column, output=output)
        for name, table in tables.items():
            assert as_list(answers[name]) == as_list(table.lookup_many(ADDRESSES, output=output))
    if output in ("values", "indices", "list", "arrow"):
        answers = popfib.lookup_many(tables, ADDRESSES, output=output, prefixes=True)
        for name, table in tables.items():
            assert as_list(answers[name]) == as_list(table.lookup_many(ADDRESSES, output=output))
            want = table.lookup_many(ADDRESSES, output="prefixes")
            assert as_list(answers[f"{name}_prefix"]) == want
    else:
        with pytest.raises(ValueError, match="prefixes=True goes with"):
            popfib.lookup_many(tables, ADDRESSES, output=output, prefixes=True)


def test_columns_of_arrow(tables):
    pa = pytest.importorskip("pyarrow")
    text = pa.array(ADDRESSES)
    packed = pa.array([None if a is None else ipaddress.ip_address(a).packed for a in ADDRESSES])
    pieces = pa.chunked_array([text[:2], text[2:2], text[2:]])
    for column in [
        text,
        text.cast(pa.large_string()),
        text.cast(pa.string_view()),
        text.dictionary_encode(),
        packed,
        pieces,
        text[1:],
    ]:
        for threads in (1, 2):
            answers = popfib.lookup_many(tables, column, output="list", prefixes=True, threads=threads)
            for name, table in tables.items():
                assert answers[name] == table.lookup_many(column, output="list")
                assert answers[f"{name}_prefix"] == table.lookup_many(column, output="prefixes")
    with_numbers = pa.array([0x0A010203, None], type=pa.uint32())
    assert popfib.lookup_many(tables, with_numbers, output="list")["asn"] == [64501, None]
    # A frame takes the columns as they are.
    frame = pa.table({n: pa.array(c) for n, c in popfib.lookup_many(tables, text, output="arrow").items()})
    assert frame.column_names == ["asn", "country", "empty"]


def test_frames_take_the_columns(tables):
    pl = pytest.importorskip("polars")
    df = pl.DataFrame({"src": ADDRESSES})
    answers = popfib.lookup_many(tables, df["src"], output="arrow", prefixes=True)
    frame = df.hstack(pl.DataFrame(answers))
    assert frame.columns == ["src", *answers]
    assert frame["asn"].to_list() == [64501, 64500, None, None, 64502, 64502]
    assert frame["country_prefix"].to_list() == ["10.0.0.0/9", None, None, None, "2001:db8::/33", None]


def test_a_row_that_is_no_address(tables):
    wrong = [*ADDRESSES, "10.0.0.256"]
    kinds = [lambda rows: rows]
    try:
        import pyarrow

        kinds += [pyarrow.array, lambda rows: pyarrow.chunked_array([rows[:3], rows[3:]])]
    except ImportError:
        pass
    for kind in kinds:
        with pytest.raises(ValueError, match='row 6: "?.*10.0.0.256'):
            popfib.lookup_many(tables, kind(wrong))
        answers = popfib.lookup_many(tables, kind(wrong), output="list", invalid="null")
        assert answers["asn"] == [64501, 64500, None, None, 64502, 64502, None]


def test_what_is_no_mapping_of_tables(tables):
    for wrong in [tables["asn"], [tables["asn"]], None, "asn"]:
        with pytest.raises(TypeError, match="a mapping of names to tables, not"):
            popfib.lookup_many(wrong, ADDRESSES)
    for wrong in [{"asn": None}, {1: tables["asn"]}, {"asn": {"10.0.0.0/8": 1}}]:
        with pytest.raises(TypeError, match="a mapping of names to tables, not of"):
            popfib.lookup_many(wrong, ADDRESSES)
    twice = {"a": tables["asn"], "a_prefix": tables["asn"]}
    assert len(popfib.lookup_many(twice, ADDRESSES)) == 2
    with pytest.raises(ValueError, match="two columns would be called"):
        popfib.lookup_many(twice, ADDRESSES, prefixes=True)
    with pytest.raises(ValueError, match="output is"):
        popfib.lookup_many(tables, ADDRESSES, output="x")
    with pytest.raises(ValueError, match="threads"):
        popfib.lookup_many(tables, ADDRESSES, threads=-1)
    tables["asn"].close()
    with pytest.raises(ValueError, match="closed"):
        popfib.lookup_many(tables, ADDRESSES)


def test_many_random_addresses():
    rng = random.Random(11)
    prefixes = [random_prefix(rng, family) for family in (4, 6) for _ in range(500)]
    tables = {f"t{n}": popfib.Table({p: p for p in rng.sample(prefixes, 300)}) for n in range(3)}
    addresses = probes(rng, prefixes, 20_000)
    inputs = [addresses]
    try:
        import pyarrow

        inputs.append(pyarrow.array(addresses))
    except ImportError:
        pass
    for column in inputs:
        for threads in (1, 3):
            answers = popfib.lookup_many(tables, column, output="list", prefixes=True, threads=threads)
            for name, table in tables.items():
                # Each value is its prefix.
                assert answers[name] == answers[f"{name}_prefix"]
                assert answers[name] == [table.get(a) for a in addresses]


VRFS = """\
10.0.0.0/8 via 192.0.2.1 dev a table red
2001:db8::/32 via fe80::1 dev a table red
10.0.0.0/8 via 192.0.2.2 dev a table blue
10.1.0.0/16 via 192.0.2.3 dev a table blue
"""


def test_a_table_for_each_address(tmp_path):
    path = tmp_path / "vrfs"
    path.write_text(VRFS)
    tables = popfib.TableSet(path)
    assert tables.names == ["red", "blue"]
    addresses = ["10.1.2.3", "10.1.2.3", "10.200.0.1", "2001:db8::1", "2001:db8::1", None, "10.1.2.3", "10.1.2.3"]
    names = ["red", "blue", 1, 0, "blue", "red", "green", None]
    expected = ["192.0.2.1", "192.0.2.3", "192.0.2.2", "fe80::1"] + [None] * 4
    for output in "values", "list", "arrow":
        assert as_list(tables.lookup_many(names, addresses, output=output)) == expected
    indices = tables.lookup_many(names, addresses, output="indices")
    assert [index > 0 for index in indices] == [value is not None for value in expected]
    answers = tables.lookup_many(names, addresses, columns="*", output="list")
    assert answers == tables.lookup_many(iter(names), addresses, columns=list(answers), output="list")
    assert list(answers.values()) == [expected]
    # Other numbers are those of no table.
    assert tables.lookup_many([2, -1, 2**32 - 1, 2**70], ["10.1.2.3"] * 4, output="list") == [None] * 4
    assert tables.lookup_many(["red"], ["x"], output="list", invalid="null") == [None]
    assert tables.lookup_many([], [], output="list") == []


@pytest.mark.filterwarnings("ignore:.*routes of other tables")
def test_random_tables_of_a_file_hold_what_each_says(tmp_path):
    draw, path = random.Random(73), tmp_path / "routes"
    routes = {(draw.choice("abc"), random_prefix(draw, draw.choice([4, 6]))): n for n in range(300)}
    next_hop = lambda prefix, n: f"fe80::{n:x}" if ":" in prefix else f"192.0.{n // 256}.{n % 256}"
    lines = [f"{prefix} via {next_hop(prefix, n)} dev a table {name}\n" for (name, prefix), n in routes.items()]
    path.write_text("".join(lines))
    several, single = popfib.TableSet(path), {name: popfib.load(path, vrf=name) for name in "abc"}
    keys = probes(draw, [prefix for _, prefix in routes], 3000)
    names = [draw.choice("abcd") for _ in keys]
    expected = [single[name].get(key) if name in single else None for name, key in zip(names, keys)]
    assert several.lookup_many(names, keys, output="list") == expected
    assert len(set(expected)) > 50


def test_what_is_no_column_of_tables(tmp_path):
    path = tmp_path / "vrfs"
    path.write_text(VRFS)
    tables = popfib.TableSet(path)
    for names, error, reason in [
        (["red"], ValueError, "1 tables for 2 addresses"),
        ("red", TypeError, "not one str"),
        (["red", 1.5], TypeError, "row 1: a table is a name or a number, not float"),
    ]:
        with pytest.raises(error, match=reason):
            tables.lookup_many(names, ["10.0.0.1", "10.0.0.2"])
    with pytest.raises(ValueError, match="no column"):
        # Before the tables are gone through, which are too few.
        tables.lookup_many([], ["10.0.0.1"], columns=["x"])
    for options in {"output": "prefixes"}, {"output": "indices", "columns": "*"}:
        with pytest.raises(ValueError, match="output='values'"):
            tables.lookup_many(["red"], ["10.0.0.1"], **options)
    (tmp_path / "plain.txt").write_text("10.0.0.0/8 a\n")
    with pytest.raises(ValueError, match="no tables to choose from"):
        popfib.TableSet(tmp_path / "plain.txt")
