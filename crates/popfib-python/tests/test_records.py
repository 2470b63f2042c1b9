"""Columns of records: every one of engines/vectors, and those of tables that have one."""

import copy
import gc
import ipaddress
import json
import pickle
import threading

import pytest

import popfib
from conftest import TOP

FOLDER = TOP / "engines" / "vectors"


@pytest.fixture
def lines():
    """The records of the vectors by their prefixes, each column by its name."""
    text = (FOLDER / "records.jsonl").read_text(encoding="utf-8")
    found = {}
    for line in map(json.loads, text.splitlines()):
        if names := line.pop("names", None):
            line["names.city"] = names["city"]
        found[ipaddress.ip_network(line.pop("prefix"))] = line
    return found


@pytest.fixture
def table():
    with popfib.open(FOLDER / "records.fib", table="records") as table:
        yield table


@pytest.fixture
def addresses(lines):
    """The ends of each prefix and those beside them, and what is none."""
    found = []
    for network in lines:
        first, last = int(network[0]), int(network[-1])
        kind = type(network[0])
        numbers = [n for n in (first - 1, first, last, last + 1) if 0 <= n < 1 << network.max_prefixlen]
        found += [str(kind(n)) for n in numbers]
    return [*found, None]


def wanted(lines, address, column):
    if address is None:
        return None
    address = ipaddress.ip_address(address)
    covering = [network for network in lines if network.version == address.version and address in network]
    return lines[max(covering, key=lambda network: network.prefixlen)].get(column)


def test_columns(table, lines, addresses):
    assert table.columns == list(table.schema)
    expected = {name: [wanted(lines, address, name) for address in addresses] for name in table.columns}
    assert table.lookup_many(addresses, columns="*", output="list") == expected
    some = ["tags", "id", "country"]
    found = table.lookup_many(addresses, columns=some, output="list")
    assert list(found) == some and found == {name: expected[name] for name in some}
    for address in filter(None, addresses):
        record = table.record(address)
        assert record == {name: wanted(lines, address, name) for name in table.columns}
        assert [*map(type, record.values())] == [type(wanted(lines, address, name)) for name in table.columns]


def test_arrays(table, lines, addresses):
    np = pytest.importorskip("numpy")
    found = table.lookup_many(addresses, columns="*")
    for name, column in found.items():
        expected = [wanted(lines, address, name) for address in addresses]
        if name == "rate":
            assert column.dtype == np.float64
            assert [None if np.isnan(value) else value for value in column] == expected
        else:
            assert column.dtype == object and list(column) == expected
    # Where all rows have a value, it has its type.
    full = ["10.0.0.1", "10.1.2.3"]
    found = table.lookup_many(full, columns=["asn", "delta", "id", "up", "country"])
    assert [column.dtype for column in found.values()] == [np.int64, np.int64, np.uint64, np.bool_, object]
    assert list(found["id"]) == [18446744073709551615] * 2 and list(found["up"]) == [True, True]


def test_arrow(table, lines, addresses):
    pa = pytest.importorskip("pyarrow")
    found = {name: pa.array(column) for name, column in table.lookup_many(addresses, columns="*", output="arrow").items()}
    types = {
        "country": pa.dictionary(pa.uint32(), pa.string()), "asn": pa.int64(), "tags": pa.list_(pa.field("item", pa.string(), False)),
        "ports": pa.list_(pa.field("item", pa.int64(), False)), "rate": pa.float64(), "up": pa.bool_(), "id": pa.uint64(),
    }
    assert {name: found[name].type for name in types} == types
    for name, column in found.items():
        column.validate(full=True)
        assert column.to_pylist() == [wanted(lines, address, name) for address in addresses], name
    # Types do not hang on the rows.
    empty = {name: pa.array(column) for name, column in table.lookup_many([], columns="*", output="arrow").items()}
    assert {name: column.type for name, column in empty.items()} == {name: column.type for name, column in found.items()}


def test_frames(table, lines, addresses):
    expected = {name: [wanted(lines, address, name) for address in addresses] for name in table.columns}
    pd = pytest.importorskip("pandas")
    import popfib.pandas  # noqa: F401

    series = pd.Series(addresses, index=range(7, 7 + len(addresses)))
    for options in {}, {"categorical": True}:
        frame = series.popfib.lookup(table, columns="*", **options)
        assert list(frame.index) == list(series.index) and list(frame) == table.columns
        for name, column in expected.items():
            plain = [list(value) if hasattr(value, "__len__") and not isinstance(value, str) else value for value in frame[name]]
            plain = [value if isinstance(value, list) or not pd.isna(value) else None for value in plain]
            assert plain == column or name == "id" and [v and float(v) for v in column] == plain, name
    assert series[:0].popfib.lookup(table, columns=["asn"]).shape == (0, 1)
    pl = pytest.importorskip("polars")
    import popfib.polars  # noqa: F401

    frame = pl.DataFrame({"address": addresses})
    found = frame.lazy().select(pl.col("address").popfib.lookup(table, columns="*")).unnest("address")
    assert found.collect_schema() == found.collect().schema
    assert found.collect().to_dict(as_series=False) == expected
    assert pl.Series("a", [None]).popfib.lookup(table, columns=["tags", "id"]).to_list() == [{"tags": None, "id": None}]


def test_tables_of_one_column():
    table = popfib.Table({"10.0.0.0/8": "a", "10.1.0.0/16": "b", "10.2.0.0/16": None})
    assert table.columns == ["value"] and table.schema == {"value": "text"}
    assert table.record("10.1.1.1") == {"value": "b"} and table.record("11.0.0.0") is None
    addresses = ["10.0.0.1", "10.1.0.1", "10.2.0.1", "11.0.0.1"]
    assert table.lookup_many(addresses, columns=["value"], output="list") == {"value": ["a", "b", None, None]}
    assert popfib.Table({"::/0": 1}).schema == {"value": "integer"}
    assert popfib.Table({"::/0": [1]}).schema == {"value": "object"}
    pa = pytest.importorskip("pyarrow")
    # None is null, in a column of any type.
    assert pa.array(table.lookup_many(addresses, output="arrow")).to_pylist() == ["a", "b", None, None]
    assert pa.array(popfib.Table({"10.2.0.0/16": None, "::/0": 7}).lookup_many(["::1", *addresses], output="arrow")).to_pylist() == [7, *[None] * 4]


def test_default_column(lines, addresses):
    """The value of a lookup has the type of its column."""
    for name in "asn", "tags", "rate", "up", "country":
        with popfib.open(FOLDER / "records.fib", table="records", column=name) as table:
            assert [table.get(a, "?") for a in filter(None, addresses)] == [wanted(lines, a, name) for a in filter(None, addresses)]
            expected = [wanted(lines, address, name) for address in addresses]
            assert table.lookup_many(addresses, output="list") == expected
    with popfib.open(FOLDER / "records.fib", table="records", column="asn", decode=lambda asn: f"AS{asn}") as table:
        assert (table["10.0.0.1"], table["10.1.0.1"], table.record("10.0.0.1")["asn"]) == ("AS64500", None, 64500)


def test_an_image_is_saved_with_its_columns(table, lines, addresses, tmp_path):
    with popfib.open(FOLDER / "records.fib", table="records", column="asn") as table:
        found = table.lookup_many(addresses, columns="*", output="list")
        assert len(list(table)) == len(lines)  # a walk makes a map of the image
        table.save(tmp_path / "again.fib")
        table.save(tmp_path / "text.fib", encode=str)
    with popfib.open(tmp_path / "again.fib") as again:
        assert again.lookup_many(addresses, columns="*", output="list") == found
        assert again["10.0.0.1"] == 64500
    with popfib.open(tmp_path / "text.fib") as again:
        assert again["10.0.0.1"] == "64500" and again.columns == ["value"]


def test_places(tmp_path):
    (tmp_path / "blocks.csv").write_text("network,geoname_id\n10.0.0.0/8,1\n")
    (tmp_path / "places.csv").write_text("geoname_id,city_name\n1,Wien\n")
    found = popfib.load(tmp_path / "blocks.csv", columns="city_name", locations=tmp_path / "places.csv")
    assert found["10.0.0.1"] == "Wien"
    with pytest.raises(FileNotFoundError):
        popfib.load(tmp_path / "blocks.csv", locations=tmp_path / "none.csv")


def test_what_is_wrong(table):
    with pytest.raises(ValueError, match='no column "city" in "country", "asn", "names.city"'):
        table.lookup_many(["10.0.0.1"], columns=["country", "city"])
    with pytest.raises(ValueError, match='no column "country" in "value"'):
        popfib.Table().lookup_many([], columns=["country"])
    for output in "indices", "prefixes", "matches", "arrow-prefixes":
        with pytest.raises(ValueError, match="goes with output='values', 'list' or 'arrow'"):
            table.lookup_many([], columns=["country"], output=output)
    with pytest.raises(TypeError, match="int"):
        table.lookup_many([], columns=7)
    with pytest.raises(TypeError, match="out is for output='indices'"):
        table.lookup_many([], columns=["country"], out=[])
    with pytest.raises(TypeError):
        table.lookup_many([], columns=[1])
    with pytest.raises(ValueError, match="row 1: 'x'"):
        table.lookup_many(["10.0.0.1", "x"], columns=["country"])
    assert table.lookup_many(["10.0.0.1", "x"], columns="country", output="list", invalid="null") == {"country": ["AT", None]}
    table["10.0.0.0/8"] = "x"
    with pytest.raises(ValueError, match="the table was changed, so its records are gone"):
        table.lookup_many([], columns="*")


def test_copies_keep_the_columns(table, lines):
    kept = ["10.0.0.0", "10.255.255.255", *(str(network[0]) for network in lines)]
    assert all(map(table.record, kept))
    for other in (
        pickle.loads(pickle.dumps(table)),
        copy.deepcopy(table),
        copy.copy(table),
        popfib.Table(table),
        pickle.loads(pickle.dumps(copy.deepcopy(table))),
    ):
        assert other.schema == table.schema and other == table
        assert [other.record(address) for address in kept] == [table.record(address) for address in kept]
        assert other.lookup_many(kept, output="list") == table.lookup_many(kept, output="list")
    # What a change has dropped stays dropped.
    table["203.0.113.0/24"] = "x"
    for other in pickle.loads(pickle.dumps(table)), copy.deepcopy(table), popfib.Table(table):
        with pytest.raises(ValueError, match="records are gone"):
            other.record(kept[0])


def test_a_live_table_takes_no_columns(table):
    with pytest.raises(TypeError, match="several columns"):
        popfib.LiveTable(table)
    assert len(popfib.LiveTable(table.items())) == len(table)


def test_damaged_pickles(table):
    ipv4, ipv6, values, image = table.__reduce__()[2]
    for bad in ((ipv4, ipv6, values, image[:-1]), (ipv4, ipv6, values[1:], image), (ipv4, ipv6, values, 7)):
        with pytest.raises(ValueError):
            popfib.Table().__setstate__(bad)


def test_finalizers_may_change_the_table():
    """The collector may run whenever a dict is made, and then it must not be by one who holds the table's lock."""
    table = popfib.open(FOLDER / "records.fib", table="records")
    address = "10.0.0.0"

    class Session:
        def __init__(self):
            self.me = self

        def __del__(self):
            table.get_exact("192.0.2.0/24")
            table.record(address)

    def work():
        for _ in range(50):
            Session()
            table.record(address)
            table.schema, table.columns
            table.lookup_many([address], columns="*", output="list")

    threshold = gc.get_threshold()
    gc.set_threshold(10)
    try:
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(20)
        assert not thread.is_alive()
    finally:
        gc.set_threshold(*threshold)
