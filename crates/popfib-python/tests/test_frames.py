"""pandas, Polars, DuckDB and Spark: each against the real library, where it is there."""

import importlib.util
import ipaddress
import json
import shutil
import subprocess
import sys
import textwrap

import pytest

import popfib
from conftest import TOP

ADDRESSES = ["10.1.1.1", "11.0.0.0", None, "2001:db8::1", "10.9.9.9"]


@pytest.fixture
def names():
    return popfib.Table({"10.0.0.0/8": "a", "10.1.0.0/16": "b", "2001:db8::/32": "d"})


@pytest.fixture
def numbers():
    return popfib.Table({"10.0.0.0/8": 1, "10.1.0.0/16": 2, "2001:db8::/32": 3})


def test_integers_with_gaps_in_pandas(tmp_path):
    pd = pytest.importorskip("pandas")
    import popfib.pandas  # noqa: F401

    path = tmp_path / "t.csv"
    path.write_text(
        "network,asn,id,up,lat,full\n10.0.0.0/8,64500,18446744073709551615,true,48.0,1\n"
        "11.0.0.0/8,,,,47.5,2\n"
    )
    t = popfib.load(path, columns="*")
    kinds = {"asn": "Int64", "id": "UInt64", "up": "boolean", "lat": "float64", "full": "int64"}
    s = pd.Series(["10.1.1.1", "11.1.1.1"])
    for categorical in [False] + [True] * (importlib.util.find_spec("pyarrow") is not None):
        frame = s.popfib.lookup(t, columns="*", categorical=categorical)
        assert {name: str(kind) for name, kind in frame.dtypes.items()} == kinds
        assert frame["asn"].sum() == 64500 and frame["asn"].isna().sum() == 1
        assert frame["id"][0] == 2**64 - 1 and frame["lat"].sum() == 95.5


def test_pandas(names, numbers):
    pd = pytest.importorskip("pandas")
    import popfib.pandas  # noqa: F401

    s = pd.Series(ADDRESSES, index=list("vwxyz"), name="src")
    found = s.popfib.lookup(names)
    assert (list(found.index), found.name) == (list("vwxyz"), "src")
    assert [None if pd.isna(v) else v for v in found] == ["b", None, None, "d", "a"]
    found = s.popfib.lookup(names, categorical=True)
    assert found.dtype == "category" and list(found.index) == list("vwxyz")
    assert [None if pd.isna(v) else v for v in found] == ["b", None, None, "d", "a"]
    assert [None if pd.isna(v) else v for v in s.popfib.lookup(numbers)] == [2, None, None, 3, 1]
    assert list(pd.Series([0x0A010101], dtype="uint32").popfib.lookup(numbers)) == [2]
    assert list(s.astype("category").popfib.lookup(names).dropna()) == ["b", "d", "a"]
    assert list(s.astype(object).popfib.lookup(names).dropna()) == ["b", "d", "a"]
    assert len(s[:0].popfib.lookup(names)) == 0
    with pytest.raises(ValueError, match="row 0: 'x'"):
        pd.Series(["x"]).popfib.lookup(names, invalid="raise")
    assert pd.Series(["x"]).popfib.lookup(names).isna().all()
    plain = lambda found: [None if pd.isna(value) else value for value in found]
    # IPv4 addresses as numbers, by any type that pandas gives them.
    for dtype in ["int32", "int64", "uint64", "UInt32", "Int64", "UInt64", "int64[pyarrow]", "category"]:
        found = pd.Series([0x0A010101, 1], dtype=dtype, index=[7, 8]).popfib.lookup(names)
        assert plain(found) == ["b", None] and list(found.index) == [7, 8], dtype
    assert plain(pd.Series([0x0A010101, None, 2**32, -1], dtype="Int64").popfib.lookup(names)) == ["b", None, None, None]
    with pytest.raises(ValueError, match="row 1: -1: numbers of IPv4"):
        pd.Series([1, -1]).popfib.lookup(names, invalid="raise")
    with pytest.raises(TypeError, match="dtype float64"):
        pd.Series([1.5]).popfib.lookup(names)
    assert names.lookup_many([None, float("nan"), pd.NA, pd.NaT], output="list") == [None] * 4
    assert list(names.lookup_many(s, output="list")) == ["b", None, None, "d", "a"]


def test_pandas_without_pyarrow():
    pytest.importorskip("pandas")
    script = textwrap.dedent("""
        import sys
        sys.modules["pyarrow"] = None
        import pandas as pd
        import popfib, popfib.pandas
        t = popfib.Table({"10.0.0.0/8": "a", "2001:db8::/32": "d"})
        plain = lambda found: [None if pd.isna(value) else value for value in found]
        texts = ["10.0.0.1", "11.0.0.1", None, "2001:db8::1"]
        for dtype in None, object, "string", "category":
            found = pd.Series(texts, dtype=dtype).popfib.lookup(t)
            assert plain(found) == ["a", None, None, "d"], dtype
        for dtype in "int64", "uint32", "Int64", "UInt32":
            assert plain(pd.Series([0x0A000001, 7], dtype=dtype).popfib.lookup(t)) == ["a", None], dtype
            assert t.lookup_many(pd.Series([0x0A000001, 7], dtype=dtype), output="list") == ["a", None], dtype
        column = pd.Series([0x0A000001, None, -1], dtype="Int64")
        assert plain(column.popfib.lookup(t)) == ["a", None, None]
        try:
            column.popfib.lookup(t, invalid="raise")
        except ValueError as error:
            assert str(error) == "row 2: -1: numbers of IPv4 addresses are 0 to 4294967295"
        else:
            raise AssertionError("-1 is no address")
        try:
            column.popfib.lookup(t, categorical=True)
        except ImportError as error:
            assert "pip install pyarrow" in str(error)
        else:
            raise AssertionError("pyarrow is not there")
        print("done")
    """)
    run = subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.PIPE, text=True)
    assert run.stdout == "done\n"


def test_polars(names, numbers):
    pl = pytest.importorskip("polars")
    import popfib.polars  # noqa: F401

    df = pl.DataFrame({"src": ADDRESSES})
    found = df.select(pl.col("src").popfib.lookup(names))
    assert found["src"].to_list() == ["b", None, None, "d", "a"] and found.schema["src"] == pl.String
    lazy = df.lazy().with_columns(x=pl.col("src").popfib.lookup(numbers))
    assert lazy.collect_schema()["x"] == pl.Int64
    assert lazy.collect()["x"].to_list() == [2, None, None, 3, 1]
    assert df["src"].popfib.lookup(names).name == "src"
    for dtype in pl.UInt32, pl.Int32, pl.Int64, pl.UInt64:
        assert pl.Series([0x0A010101, None, 1], dtype=dtype).popfib.lookup(numbers).to_list() == [2, None, None]
    assert df["src"].cast(pl.Categorical).popfib.lookup(names).to_list() == ["b", None, None, "d", "a"]
    assert pl.Series([bytes([10, 1, 1, 1])]).popfib.lookup(names).to_list() == ["b"]
    assert pl.Series([None]).popfib.lookup(names).to_list() == [None]
    assert df[:0]["src"].popfib.lookup(names).to_list() == []
    lists = popfib.Table({"10.0.0.0/8": ["x"]})
    assert df["src"].popfib.lookup(lists).to_list() == [["x"], None, None, None, ["x"]]
    assert pl.Series(["x"]).popfib.lookup(names).to_list() == [None]
    with pytest.raises(ValueError, match="row 0: 'x'"):
        pl.Series(["x"]).popfib.lookup(names, invalid="raise")
    grouped = df.with_columns(as_=pl.col("src").popfib.lookup(names)).group_by("as_").len()
    assert dict(grouped.iter_rows()) == {"a": 1, "b": 1, "d": 1, None: 2}


def test_duckdb(names, numbers):
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    from popfib.duckdb import register

    connection = duckdb.connect()
    register(connection, "name_of", names)
    register(connection, "number_of", numbers)
    connection.execute("CREATE TABLE flows (src VARCHAR)")
    connection.executemany("INSERT INTO flows VALUES (?)", [(a,) for a in ADDRESSES])
    rows = connection.execute("SELECT src, name_of(src), number_of(src) FROM flows").fetchall()
    assert rows == [
        ("10.1.1.1", "b", 2),
        ("11.0.0.0", None, None),
        (None, None, None),
        ("2001:db8::1", "d", 3),
        ("10.9.9.9", "a", 1),
    ]
    many = "SELECT count(name_of('10.' || (i % 256) || '.0.1')) FROM range(100000) t(i)"
    assert connection.execute(many).fetchone() == (100_000,)
    assert connection.execute("SELECT name_of('x')").fetchone() == (None,)
    with pytest.raises(TypeError, match="all values are str"):
        register(connection, "bad", popfib.Table({"10.0.0.0/8": []}))


def blocks(path):
    """The examples of a document that are no doctests."""
    parts = path.read_text().split("```python\n")[1:]
    return [part.split("```")[0] for part in parts if not part.startswith(">>>")]


@pytest.mark.parametrize("folder", [TOP, TOP / "crates" / "popfib-python"])
def test_the_readme(folder):
    np = pytest.importorskip("numpy")
    (block,) = blocks(folder / "README.md")
    *statements, one, many = block.strip().splitlines()
    names = {}
    exec("\n".join(statements), names)
    assert repr(eval(one, names)) == one.partition("# ")[2].partition(":")[0]
    found = eval(many, names)
    assert isinstance(found, np.ndarray) and repr(found) == many.partition("# ")[2]


def test_the_guide(names):
    (block,) = blocks(TOP / "docs" / "python.md")
    data = {"src": ADDRESSES}
    parts = dict(part.split("\n", 1) for part in block.strip().split("\n\n"))
    assert len(parts) == 3
    for first, rest in parts.items():
        library = first.split()[1].partition(".")[2]
        module = pytest.importorskip(library)
        given = {"t": names}
        if library == "duckdb":
            given["connection"] = module.connect()
            given["connection"].execute("CREATE TABLE flows (src VARCHAR)")
            given["connection"].executemany("INSERT INTO flows VALUES (?)", [(a,) for a in ADDRESSES])
        else:
            given["df"] = module.DataFrame(data)
            given["pl"] = module
        exec(first, given)
        *statements, last = rest.strip().splitlines()
        exec("\n".join(statements), given)
        if library == "polars":
            assert eval(last, given)["origin"].to_list() == ["b", None, None, "d", "a"]
        elif library == "pandas":
            exec(last, given)
            assert given["df"]["origin"].dropna().tolist() == ["b", "d", "a"]
        else:
            assert dict(eval(last, given).fetchall()) == {"a": 1, "b": 1, "d": 1, None: 2}


@pytest.fixture(scope="module")
def spark():
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("Spark: no Java")
    pytest.importorskip("pyarrow")
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        # The workers run the interpreter of this environment.
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("popfib")
        session = builder.config("spark.ui.enabled", "false").getOrCreate()
        try:
            yield session
        finally:
            session.stop()


def test_spark(names, tmp_path, spark):
    import popfib.spark

    image = tmp_path / "names.fib"
    names.save(image)
    rows = 1_000_000
    frame = spark.range(rows).selectExpr("concat_ws('.', 9 + id % 3, id % 5, id % 256, 1) AS src")
    frame = popfib.spark.lookup(frame, "src", image, value="name")
    found = {r["name"]: r["count"] for r in frame.groupBy("name").count().collect()}
    addresses = [f"{9 + i % 3}.{i % 5}.{i % 256}.1" for i in range(rows)]
    want = {}
    for value in names.lookup_many(addresses, output="list"):
        want[value] = want.get(value, 0) + 1
    assert found == want


def test_the_guide_to_spark(tmp_path, monkeypatch, capsys, spark):
    """docs/spark.md, through Python: both ways say the same of its flows."""
    pd = pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    sources = ["8.8.8.8", "192.0.2.1", "8.8.4.4", None]
    pd.DataFrame({"src": sources, "bytes": [700, 50, 3, 9]}).to_parquet("flows.parquet")
    names = {}
    for block in blocks(TOP / "docs" / "spark.md"):
        # Spark has been somewhere else since it began.
        exec(block.replace("flows.parquet", str(tmp_path / "flows.parquet")), names)
        shown = capsys.readouterr().out
        rows = {tuple(cell.strip() for cell in line.split("|")[1:-1]) for line in shown.splitlines() if line.startswith("|")}
        assert {("15169", "703"), ("NULL", "59")} < rows, shown


def test_spark_vectors(tmp_path, spark):
    import popfib.spark

    vectors = json.loads((TOP / "target" / "vectors" / "vectors.json").read_text(encoding="utf-8"))
    for name, table in vectors["tables"].items():
        routes, questions = table["routes"], table["questions"]
        image = tmp_path / f"vectors-{name}.fib"
        popfib.Table(dict(routes)).save(image)
        asked = [(n, text, bytes.fromhex(packed)) for n, (text, packed, _) in enumerate(questions)]
        asked += [(-1 - n, text, None) for n, text in enumerate([None, *vectors["invalid"]])]
        frame = spark.createDataFrame(asked, "id int, text string, packed binary")
        frame = popfib.spark.lookup(frame, "text", image, value="v", prefix="p")
        # A table at a time is two, one after the other.
        rows = popfib.spark.lookup(frame, "packed", image).collect()
        # By SQL the same.
        popfib.spark.register(spark, "lpm", image)
        popfib.spark.register(spark, "lpm_prefix", image, answer="prefix")
        by_sql = frame.selectExpr("id", "text", "packed", "lpm(text)", "lpm_prefix(text)", "lpm(packed)")
        assert [tuple(row) for row in by_sql.collect()] == [tuple(row) for row in rows]
        assert len(rows) == len(asked) and rows[0].__fields__ == ["id", "text", "packed", "v", "p", "value"]
        is_list = not any(value for _, value in routes)
        for row in rows:
            covering = questions[row["id"]][2] if row["id"] >= 0 else []
            prefix, value = routes[covering[-1]] if covering else (None, None)
            value = "true" if value == "" and is_list else value
            same = row["p"] == prefix or ipaddress.ip_network(row["p"]) == ipaddress.ip_network(prefix)
            assert same and (row["v"], row["value"]) == (value, value), row


def test_spark_errors(names, tmp_path, spark):
    import popfib.spark

    image = tmp_path / "errors.fib"
    names.save(image)
    frame = spark.createDataFrame([("10.0.0.1",), ("x",)], "src string")
    with pytest.raises(ValueError, match="no column 'dst'"):
        popfib.spark.lookup(frame, "dst", image)
    for clash in {"value": "src"}, {"value": "a", "prefix": "a"}:
        with pytest.raises(ValueError, match="there already, or twice"):
            popfib.spark.lookup(frame, "src", image, **clash)
    with pytest.raises(FileNotFoundError):
        popfib.spark.lookup(frame, "src", tmp_path / "missing.fib")
    (tmp_path / "damaged.fib").write_bytes(image.read_bytes()[:-1])
    with pytest.raises(ValueError):
        popfib.spark.lookup(frame, "src", tmp_path / "damaged.fib")
    assert [row["value"] for row in popfib.spark.lookup(frame, "src", image).collect()] == ["a", None]
    with pytest.raises(Exception, match="'x'"):
        popfib.spark.lookup(frame, "src", image, invalid="raise").collect()
    popfib.spark.register(spark, "strict", image, invalid="raise")
    with pytest.raises(Exception, match="'x'"):
        frame.selectExpr("strict(src)").collect()
    with pytest.raises(ValueError, match="'value' or 'prefix', not 'both'"):
        popfib.spark.register(spark, "lpm", image, answer="both")
    with pytest.raises(FileNotFoundError):
        popfib.spark.register(spark, "lpm", tmp_path / "missing.fib")
    popfib.Table({"10.0.0.0/8": "new"}).save(image)
    with pytest.raises(ValueError, match="another file of the name 'errors.fib' already"):
        popfib.spark.lookup(frame, "src", image)


@pytest.fixture
def truths():
    return popfib.Table({"10.0.0.0/8": True, "10.1.0.0/16": False, "2001:db8::/32": True})


@pytest.fixture
def addresses_of():
    return popfib.IPSet(["10.1.0.0/16", "2001:db8::/32"])


def test_pandas_truths(truths, addresses_of):
    pd = pytest.importorskip("pandas")
    import popfib.pandas  # noqa: F401

    s = pd.Series(ADDRESSES, index=list("vwxyz"), name="src")
    assert list(s.popfib.lookup(truths)) == [False, None, None, True, True]
    found = s.popfib.lookup(truths, categorical=True)
    assert [None if pd.isna(value) else value for value in found] == [False, None, None, True, True]
    found = s.popfib.isin(addresses_of)
    assert found.dtype == bool and found.name == "src" and list(found.index) == list("vwxyz")
    assert list(found) == [True, False, False, True, False]
    assert list(s[found]) == ["10.1.1.1", "2001:db8::1"]
    assert s[:0].popfib.isin(addresses_of).dtype == bool
    assert not pd.Series(["x"]).popfib.isin(addresses_of).any()
    with pytest.raises(ValueError, match="row 0: 'x'"):
        pd.Series(["x"]).popfib.isin(addresses_of, invalid="raise")


def test_polars_truths(truths, addresses_of):
    pl = pytest.importorskip("polars")
    import popfib.polars

    s = pl.Series("src", ADDRESSES)
    assert popfib.polars.dtype_of(truths) == pl.Boolean
    found = s.popfib.lookup(truths)
    assert found.dtype == pl.Boolean and found.to_list() == [False, None, None, True, True]
    expected = [True, False, None, True, False]
    found = s.popfib.is_in(addresses_of)
    assert (found.name, found.dtype, found.to_list()) == ("src", pl.Boolean, expected)
    lazy = pl.LazyFrame({"src": ADDRESSES}).with_columns(bad=pl.col("src").popfib.is_in(addresses_of))
    assert lazy.collect()["bad"].to_list() == expected
    assert lazy.collect_schema()["bad"] == pl.Boolean
    assert pl.Series([None], dtype=pl.Null).popfib.is_in(addresses_of).to_list() == [None]
    assert pl.Series(["x"]).popfib.is_in(addresses_of).to_list() == [None]


def test_duckdb_truths(truths, addresses_of):
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    import popfib.duckdb

    connection = duckdb.connect()
    popfib.duckdb.register(connection, "truth", truths)
    popfib.duckdb.register(connection, "is_in", addresses_of)
    rows = connection.sql(
        "SELECT truth(a), is_in(a), typeof(is_in(a)) FROM unnest(?) AS t(a)", params=[[*ADDRESSES, "x"]]
    ).fetchall()
    expected = [(False, True), (None, False), (None, None), (True, True), (True, False), (None, None)]
    assert rows == [(*pair, "BOOLEAN") for pair in expected]
