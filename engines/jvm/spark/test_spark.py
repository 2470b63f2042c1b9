"""The functions of Spark SQL in a real session of two executors, against the vectors of all engines and the command.

POPFIB is the command, POPFIB_SPARK_JAR the jar.
"""

import ipaddress
import json
import os
import pathlib
import random
import re
import subprocess
import sys

import pyspark
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(TOP / "engines/vectors"))
import comparison  # noqa: E402

VECTORS = json.loads((TOP / "target/vectors/vectors.json").read_text(encoding="utf-8"))
RECORDS = [json.loads(line) for line in (TOP / "engines/vectors/records.jsonl").read_text(encoding="utf-8").splitlines()]
RECORDS_FIB = str(TOP / "engines/vectors/records.fib")


@pytest.fixture(scope="module")
def spark():
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.task.maxFailures", 1)
    builder = builder.config("spark.jars", os.environ["POPFIB_SPARK_JAR"]).config("spark.ui.enabled", "false")
    # Spark 4 finds them in the jar by itself; that it is told to use them as well does no harm.
    if not pyspark.__version__.startswith("4.0."):
        builder = builder.config("spark.sql.extensions", "popfib.spark.PopfibExtensions")
    session = builder.config("spark.log.level", "ERROR").config("spark.sql.shuffle.partitions", 3).getOrCreate()
    yield session
    session.stop()


@pytest.fixture(params=["compiled", "interpreted"])
def each_way(request, spark):
    """Spark's code for a query, and what it falls back to."""
    if request.param == "interpreted":
        spark.conf.set("spark.sql.codegen.wholeStage", "false")
        spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    yield spark
    spark.conf.unset("spark.sql.codegen.wholeStage")
    spark.conf.unset("spark.sql.codegen.factoryMode")


def compiled(path, routes):
    """An image at the path, put in the place of what is there as a whole."""
    lines = "".join(f"{prefix} {value}\n" for prefix, value in routes)
    command = [os.environ["POPFIB"], "compile", "-", "-o", str(path)]
    subprocess.run(command, input=lines.encode(), check=True, capture_output=True)
    return str(path)


def record_of(address, columns=None):
    """The record of the longest match, from the file that the image was made of."""
    address = ipaddress.ip_address(address)
    best = None
    for record in RECORDS:
        prefix = ipaddress.ip_network(record["prefix"])
        if address in prefix and (best is None or prefix.prefixlen > best[0]):
            best = prefix.prefixlen, record
    return best and best[1]


def message(error):
    return str(getattr(error.value, "desc", None) or error.value)


@pytest.mark.parametrize("name", VECTORS["tables"])
def test_vectors(each_way, tmp_path, name):
    spark, table = each_way, VECTORS["tables"][name]
    routes, questions = table["routes"], table["questions"]
    image = compiled(tmp_path / f"{name}.fib", routes)
    rows = []
    for n, (text, packed, _) in enumerate(questions):
        packed = bytes.fromhex(packed)
        number = int.from_bytes(packed, "big") if len(packed) == 4 else None
        small = number if number is not None and number < 2**31 else None
        rows.append((n, text, packed, small, number))
    frame = spark.createDataFrame(rows, "id int, text string, packed binary, small int, number bigint")
    calls = [f"popfib_lookup({column}, '{image}')" for column in ("text", "packed", "small", "number")]
    found = frame.selectExpr("id", "small", "number", *calls).collect()
    assert len(found) == len(questions)
    for row in found:
        covering = questions[row[0]][2]
        value = routes[covering[-1]][1] if covering else None
        small, number = (None if number is None else value for number in row[1:3])
        assert tuple(row[3:]) == (value, value, small, number), questions[row[0]]
    # The prefix, all routes, and what is an address.
    for column in ("text", "packed", "small", "number"):
        calls = [f"popfib_prefix({column}, '{image}')", f"popfib_all({column}, '{image}')", f"popfib_is_address({column})"]
        for n, prefix, all_routes, is_address in frame.where(f"{column} IS NOT NULL").selectExpr("id", *calls).collect():
            covering = [tuple(routes[route]) for route in questions[n][2]]
            assert prefix == (covering[-1][0] if covering else None), questions[n]
            assert (all_routes and [tuple(route) for route in all_routes]) == (covering or None), questions[n]
            assert is_address is True


def test_invalid(each_way, tmp_path):
    spark = each_way
    image = compiled(tmp_path / "all.fib", [("0.0.0.0/0", "four"), ("::/0", "six")])
    texts = [*VECTORS["invalid"], None, "10.0.0.1", "::1"]
    packed = [b"", b"abc", b"abcde", b"a" * 15, b"a" * 17, None, b"abcd", b"a" * 16]
    numbers = [-1, -(2**63), 2**32, 2**63 - 1, None, 0, 2**32 - 1]
    small = [-1, -(2**31), None, 0, 2**31 - 1]
    of_both = ["four", "six"]
    kinds = (texts, "string", of_both), (packed, "binary", of_both), (numbers, "bigint", ["four"] * 2), (small, "int", ["four"] * 2)
    for column, type, good in kinds:
        frame = spark.createDataFrame([(n, value) for n, value in enumerate(column)], f"n int, a {type}")
        found = dict(frame.select("n", F.expr(f"popfib_lookup(a, '{image}', 'null')")).collect())
        bad = len(column) - 3
        assert [found[n] for n in range(len(column))] == [None] * (bad + 1) + good
        # However often a query asks for it, and of an address that is absent it is not known.
        valid = frame.where("popfib_is_address(a) OR a IS NULL").selectExpr("n", "popfib_is_address(a)").orderBy("n").collect()
        assert [row[1] for row in valid] == [None, True, True], valid
        assert frame.selectExpr("count_if(NOT popfib_is_address(a))").first()[0] == bad
        for n in range(bad):
            with pytest.raises(Exception, match="is not an address") as error:
                frame.where(f"n = {n}").selectExpr(f"popfib_record(a, '{image}', 'error')").collect()
            if type == "string":
                assert f"popfib_record: '{column[n]}' is not an address" in message(error)
        last = frame.where(f"n >= {bad}").orderBy("n").selectExpr(f"popfib_lookup(a, '{image}', 'error')")
        assert [row[0] for row in last.collect()] == [None, *good]


def test_records(each_way):
    spark = each_way
    addresses = ["10.9.9.9", "10.1.9.9", "10.1.2.9", "10.1.2.3", "192.0.2.1", "2001:db8::7", "2001:db8::1", "3000::", "x", None]
    frame = spark.createDataFrame([(n, a) for n, a in enumerate(addresses)], "n int, a string")
    frame = frame.withColumn("r", F.expr(f"popfib_record(a, '{RECORDS_FIB}#records')")).cache()
    types = {field.name: field.dataType.simpleString() for field in frame.schema["r"].dataType.fields}
    assert types == {
        "country": "string",
        "asn": "bigint",
        "names.city": "string",
        "tags": "array<string>",
        "ports": "array<bigint>",
        "rate": "double",
        "up": "boolean",
        "delta": "bigint",
        "id": "decimal(20,0)",
    }
    for n, record in frame.select("n", "r").collect():
        want = record_of(addresses[n]) if addresses[n] not in ("x", None) else None
        if want is None:
            assert record is None
            continue
        want = {**want, "names.city": want.get("names", {}).get("city")}
        assert record.asDict() == {name: want.get(name) for name in types}, addresses[n]
    one = frame.selectExpr("n", "r.asn + 1", "r.`names.city`", "r.ports[0]", "r.id").where("r.country = 'AT' AND n < 1")
    assert [tuple(row) for row in one.collect()] == [(0, 64501, "Wien", 22, 18446744073709551615)]
    # The other table of the file, which has one column.
    other = frame.selectExpr("n", f"popfib_record(a, '{RECORDS_FIB}#country') AS o", f"popfib_lookup(a, '{RECORDS_FIB}#country') AS v")
    assert all((o and o[0]) == v for _, o, v in other.collect())
    assert other.schema["o"].dataType.simpleString() == "struct<country:string>"
    frame.unpersist()


def test_the_table_of_all_doors(spark, tmp_path):
    """The comparison of all doors: engines/vectors/comparison.py."""
    folder, calls = TOP / "target/vectors", ["popfib_is_address(text)"]
    for file, options in ("first.csv", []), ("second.jsonl", ["--mapped"]):
        image = tmp_path / f"{file}.fib"
        command = [os.environ["POPFIB"], "compile", str(folder / file), "--columns", "*", "-o", str(image), *options]
        subprocess.run(command, check=True, capture_output=True)
        calls += [f"popfib_prefix(text, '{image}')", f"popfib_record(text, '{image}')"]
    versions = [list(comparison.asked(folder, version)) for version in range(2)]
    frame = spark.createDataFrame([(n, text) for n, (text, *_) in enumerate(versions[0])], "n int, text string")
    rows = frame.selectExpr("n", *calls).collect()
    assert sorted(row[0] for row in rows) == list(range(len(versions[0])))
    for n, is_address, *found in rows:
        want = []
        for text, expected, answer in (version[n] for version in versions):
            assert is_address == expected, text
            want += [answer[0], dict(zip(comparison.COLUMNS, answer[1]))] if answer else [None, None]
        assert [value.asDict() if isinstance(value, tuple) else value for value in found] == want, text


def test_values_as_text(spark, tmp_path):
    """Values that are no text are written as the command writes them."""
    floats = [1.5, -0.25, 0.1, 123456789.125]
    lists = [["vpn", "a,b"], ["\\"], ["x"]]
    kinds = {"f": floats, "l": lists, "b": [True, False], "i": [-7, 7], "u": [2**64 - 1, 1]}
    for name, values in kinds.items():
        table, image = tmp_path / f"{name}.jsonl", tmp_path / f"{name}.fib"
        table.write_text("".join(json.dumps({"prefix": f"10.0.{n}.0/24", name: value}) + "\n" for n, value in enumerate(values)))
        command = [os.environ["POPFIB"], "compile", str(table), "--columns", name, "-o", str(image)]
        subprocess.run(command, check=True, capture_output=True)
        addresses = [f"10.0.{n}.1" for n in range(len(values))]
        out = subprocess.run([os.environ["POPFIB"], "lookup", "-t", str(image), *addresses], check=True, capture_output=True)
        want = [line.split("\t")[2] for line in out.stdout.decode().splitlines()]
        calls = [f"popfib_lookup('{address}', '{image}')" for address in addresses]
        assert list(spark.sql(f"SELECT {', '.join(calls)}").first()) == want


def test_constants(spark, tmp_path):
    one = compiled(tmp_path / "one.fib", [("10.0.0.0/8", "a")])
    call = f"popfib_lookup('10.0.0.1', '{one}'), popfib_lookup(NULL, '{one}'), popfib_record(X'0a000001', '{one}')"
    assert tuple(spark.sql(f"SELECT {call}").first()) == ("a", None, ("a",))
    # A constant record goes to the executors.
    frame = spark.range(4).repartition(2).selectExpr("id", f"popfib_record('10.0.0.1', '{one}') AS r").where("rand() >= 0")
    assert [row.r.asDict() for row in frame.collect()] == [{"value": "a"}] * 4
    # As functions of Python have it.
    frame = spark.createDataFrame([("10.9.9.9",)], "a string").select(F.call_udf("popfib_lookup", F.col("a"), F.lit(one)))
    assert [tuple(row) for row in frame.collect()] == [("a",)]


def test_joins_and_filters(spark, tmp_path):
    """As many rows as take two executors some work, beside what the command answers for each."""
    rng = random.Random(1)
    first = compiled(tmp_path / "first.fib", [(f"{a}.{b}.0.0/16", f"n{(a * b) % 97}") for a in range(1, 224) for b in range(0, 256, 5)])
    second = compiled(tmp_path / "second.fib", [(f"{a}.0.0.0/7", f"h{a}") for a in range(0, 224, 4)] + [("2000::/3", "global")])
    addresses = [str(ipaddress.ip_address(rng.randrange(2**32))) for _ in range(30000)]
    addresses += [f"2001:db8:{n:x}::1" for n in range(1000)]
    values = []
    for image in first, second:
        text = "\n".join(addresses).encode()
        out = subprocess.run([os.environ["POPFIB"], "lookup", "-t", image], input=text, check=True, capture_output=True).stdout
        values.append([line.split("\t")[2] for line in out.decode().splitlines()])
        assert len(values[-1]) == len(addresses)
    rows = [(a, n) for n, a in enumerate(addresses)]
    spark.createDataFrame(rows, "src string, bytes int").repartition(4).createOrReplaceTempView("flows")
    known = [f"n{n}" for n in range(0, 97, 2)]
    spark.createDataFrame([(name, name.upper()) for name in known], "name string, title string").createOrReplaceTempView("titles")
    query = f"""
        SELECT title, popfib_lookup(src, '{second}') AS half, count(*), sum(bytes)
        FROM flows JOIN titles ON popfib_lookup(src, '{first}') = name
        WHERE popfib_lookup(src, '{second}') IS NOT NULL GROUP BY ALL
    """
    want = {}
    for n, (name, half) in enumerate(zip(*values)):
        if name in known and half != "-":
            count, total = want.get((name.upper(), half), (0, 0))
            want[name.upper(), half] = count + 1, total + n
    assert {(t, h): (c, s) for t, h, c, s in spark.sql(query).collect()} == want and len(want) > 900


def test_beside_python(spark, tmp_path):
    """popfib.spark answers the same, also for prefixes in a join."""
    popfib_spark = pytest.importorskip("popfib.spark", reason="popfib.spark is not installed")
    rng = random.Random(2)
    addresses = [str(ipaddress.ip_address(rng.randrange(2**32))) for _ in range(20000)]
    addresses += [str(ipaddress.ip_address((0x2000 << 112) + (rng.randrange(2**16) << 96))) for _ in range(2000)]
    addresses += [question[0] for question in VECTORS["tables"]["numbers"]["questions"]] + VECTORS["invalid"] + [None]
    frame = spark.createDataFrame([(n, a) for n, a in enumerate(addresses)], "n int, src string").repartition(3)
    for name, table in VECTORS["tables"].items():
        image = compiled(tmp_path / f"beside-{name}.fib", table["routes"])
        both = popfib_spark.lookup(frame, "src", image, value="python").withColumn("ours", F.expr(f"popfib_lookup(src, '{image}')"))
        if not any(value for _, value in table["routes"]):
            # The value of a list of prefixes, which is empty as text.
            both = both.replace("true", "", "python")
        both.createOrReplaceTempView("both_ways")
        assert spark.sql("SELECT count(*) FROM both_ways WHERE NOT python <=> ours").first()[0] == 0
        joined = "SELECT b.{0}, count(*) FROM both_ways a JOIN both_ways b ON a.{0} = b.{0} AND a.n + 1 = b.n WHERE a.n % 3 > 0 GROUP BY 1"
        found = [set(map(tuple, spark.sql(joined.format(way)).collect())) for way in ("python", "ours")]
        assert found[0] == found[1] != set()


def test_files_that_are_sent(spark, tmp_path):
    """Two files of one name in different folders: the one that was sent is meant by its name, the other by its path."""
    (tmp_path / "sent").mkdir()
    spark.sql(f"ADD FILE '{compiled(tmp_path / 'sent' / 'sent.fib', [('10.0.0.0/8', 'sent')])}'")
    other = compiled(tmp_path / "sent.fib", [("10.0.0.0/8", "other")])
    frame = spark.range(8).repartition(4).selectExpr("'10.0.0.' || id AS a")
    both = frame.selectExpr("popfib_lookup(a, 'sent.fib')", f"popfib_lookup(a, '{other}')").distinct().collect()
    assert [tuple(row) for row in both] == [("sent", "other")]


def test_reload(spark, tmp_path):
    path = tmp_path / "table.fib"
    frame = spark.range(8).repartition(4).selectExpr("'10.0.0.' || id AS a")
    frame.createOrReplaceTempView("again")
    query = f"SELECT DISTINCT popfib_lookup(a, '{path}') AS v, popfib_record(a, '{path}').value AS r FROM again"
    planned = None
    for version in range(3):
        compiled(path, [("10.0.0.0/8", f"version-{version}")])
        want = [(f"version-{version}",) * 2]
        assert [tuple(row) for row in spark.sql(query).collect()] == want
        # Planned with the first: its tasks take what is there when they begin.
        planned = planned or spark.sql(query)
        again = planned.selectExpr("v", "r", f"{version}").drop(f"{version}")
        assert [tuple(row) for row in again.collect()] == want
    # A damaged file: what is planned goes on with the table before it, and nothing new is planned.
    good = path.read_bytes()
    (tmp_path / "damaged").write_bytes(good[:-1] + b"?")
    (tmp_path / "damaged").rename(path)
    again = planned.selectExpr("v", "r", "1").drop("1")
    assert [tuple(row) for row in again.collect()] == want
    with pytest.raises(Exception) as error:
        spark.sql(query)
    assert "table.fib" in message(error) and len(message(error).split("\n\n")[0].splitlines()) == 1
    # Another type of what a query was planned with.
    csv = tmp_path / "typed.csv"
    csv.write_text("prefix,other\n10.0.0.0/8,7\n")
    subprocess.run([os.environ["POPFIB"], "compile", str(csv), "--columns", "*", "-o", str(path)], check=True, capture_output=True)
    with pytest.raises(Exception, match="no column value of type STRING any more"):
        planned.selectExpr("r", "2").collect()
    assert [tuple(row) for row in spark.sql(f"SELECT DISTINCT popfib_record(a, '{path}').other FROM again").collect()] == [(7,)]


def test_a_stream_reloads(spark, tmp_path):
    image, source = tmp_path / "stream.fib", tmp_path / "source"
    source.mkdir()
    compiled(image, [("10.0.0.0/8", "first")])
    rows = spark.readStream.schema("a string").csv(str(source)).selectExpr("a", f"popfib_lookup(a, '{image}')")
    query = rows.writeStream.format("memory").queryName("streamed").start()
    try:
        for n, name in enumerate(["first", "second"]):
            compiled(image, [("10.0.0.0/8", name)])
            (tmp_path / "part").write_text(f"10.0.0.{n}\n")
            (tmp_path / "part").rename(source / f"{n}.csv")
            query.processAllAvailable()
    finally:
        query.stop()
    assert set(map(tuple, spark.table("streamed").collect())) == {("10.0.0.0", "first"), ("10.0.0.1", "second")}


def test_the_guide(spark, tmp_path):
    """docs/spark.md: its statements, whose rows follow as comments."""
    guide = (TOP / "docs/spark.md").read_text(encoding="utf-8")
    for command in re.findall(r"^\$ (.*)", guide, re.M):
        command = re.sub(r"-o (\S+)$", rf"-o {tmp_path}/\1", command).replace("popfib compile", os.environ["POPFIB"] + " compile")
        subprocess.run(["bash", "-ec", command], cwd=TOP, check=True)
    [statements] = re.findall(r"```sql\n(.*?)```", guide, re.S)
    asked = 0
    for statement, shown in re.findall(r"^(\w.*);\n((?:--.*\n)*)", statements, re.M):
        rows = spark.sql(statement.replace("ADD FILE '", f"ADD FILE '{tmp_path}/")).collect()
        if shown:
            assert "".join(f"-- {tuple(row)}\n" for row in rows) == shown, statement
            asked += 1
    assert asked == 5


def test_refusals(spark, tmp_path):
    image = compiled(tmp_path / "t.fib", [("10.0.0.0/8", "a")])
    missing, values = tmp_path / "missing.fib", tmp_path / "values.fib"
    subprocess.run([os.environ["POPFIB"], "compile", image, "--keep", "values", "-o", str(values)], check=True, capture_output=True)
    refusals = [
        (f"popfib_lookup('10.0.0.1', '{missing}')", f"there is no table {missing}: it is neither the path"),
        ("popfib_lookup('10.0.0.1', 'missing.fib')", "nor the name of one that ADD FILE has sent"),
        (f"popfib_lookup('10.0.0.1', '{image}#x')", 't.fib: no table "x"'),
        (f"popfib_lookup('10.0.0.1', '{__file__}')", "test_spark.py"),
        (f"popfib_lookup(1.5D, '{image}')", "the address of popfib_lookup is of type DOUBLE; it can be STRING"),
        ("popfib_lookup('10.0.0.1')", "popfib_lookup has two or three arguments"),
        ("popfib_record('10.0.0.1', 7)", "the table of popfib_record has to be a constant text"),
        ("popfib_record('10.0.0.1', NULL)", "the table of popfib_record has to be a constant text"),
        (f"popfib_record(1, '{image}', 'skip')", "the last argument of popfib_record is 'null' or 'error', not 'skip'"),
        (f"popfib_is_address('10.0.0.1', '{image}')", "popfib_is_address has one argument, the address, not 2"),
        (f"popfib_prefix('10.0.0.1', '{values}')", f"popfib_prefix: {values} has not kept its routes: make it with `popfib compile --keep routes`"),
        (f"popfib_all('10.0.0.1', '{values}')", f"popfib_all: {values} has not kept its routes"),
    ]
    for call, reason in refusals:
        with pytest.raises(Exception) as error:
            spark.sql(f"SELECT {call}")
        # One line; Spark may add where it stands in the query.
        assert reason in message(error).split("\n")[0], message(error)
    with pytest.raises(Exception, match="the table of popfib_lookup has to be a constant text"):
        spark.sql("SELECT popfib_lookup(a, t) FROM VALUES ('10.0.0.1', 'x.fib') AS v(a, t)")


if __name__ == "__main__":
    sys.exit(pytest.main([__file__]))
