"""What every engine answers, asked of ClickHouse; and what goes wrong there."""

import ipaddress
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time

import pytest

from engine import TOP, Engine

# What POPFIB names, or what cargo builds for tests.
POPFIB = os.environ.get("POPFIB", TOP / "target/debug/popfib")
sys.path.append(str(TOP / "engines/vectors"))
import comparison  # noqa: E402

VECTORS = json.loads((TOP / "target/vectors/vectors.json").read_text(encoding="utf-8"))
GUIDE = (TOP / "docs/clickhouse.md").read_text(encoding="utf-8")

# The types of an argument: the family, and SQL that makes it of the text and the bytes of an address.
FORMS = {
    "String": (None, "text"),
    "Nullable(String)": (None, "if(id % 7 = 6, NULL, text)"),
    "IPv4": (4, "toIPv4(text)"),
    "UInt32": (4, "toUInt32(toIPv4(text))"),
    "Nullable(UInt32)": (4, "if(id % 7 = 6, NULL, toUInt32(toIPv4(text)))"),
    "IPv6": (16, "toIPv6(text)"),
    "Nullable(IPv6)": (16, "if(id % 7 = 6, NULL, toIPv6(text))"),
    "FixedString(16)": (16, "toFixedString(unhex(hex), 16)"),
}
ROUTES = "10.0.0.0/8 east\n10.1.0.0/16 4294967296\n2001:db8::/32 64500\n"


def as_text(routes):
    return "".join(f"{prefix} {value}".rstrip() + "\n" for prefix, value in routes)


def quote(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fails(engine, sql, *words):
    with pytest.raises(Exception) as caught:
        engine.query(sql)
    for word in words:
        assert word in str(caught.value)
    # The engine goes on.
    assert engine.query("SELECT 1") == [[1]]


@pytest.mark.parametrize("name", VECTORS["tables"])
@pytest.mark.parametrize("option", ["--table routes.txt", "--table routes.fib"])
def test_vectors(name, option):
    routes, questions = VECTORS["tables"][name].values()
    functions = []
    for n, form in enumerate(FORMS):
        functions += [(f"value_{n}", form, "Nullable(String)", option), (f"prefix_{n}", form, "Nullable(String)", option + " --answer prefix")]
        functions += [(f"covering_{n}", form, "Array(Tuple(prefix String, value Nullable(String)))", option + " --answer covering")]
    with Engine(functions, POPFIB) as engine:
        (engine.files / "routes.txt").write_text(as_text(routes), encoding="utf-8")
        subprocess.run([POPFIB, "compile", "--table", "routes.txt", "-o", "routes.fib"], cwd=engine.files, check=True, stderr=subprocess.DEVNULL)
        rows = ",".join(f"({n}, {quote(text)}, '{packed}')" for n, (text, packed, _) in enumerate(questions))
        engine.query(f"CREATE TABLE q ENGINE = Memory AS SELECT * FROM VALUES('id UInt32, text String, hex String', {rows})")
        for n, (form, (family, column)) in enumerate(FORMS.items()):
            where = f"length(hex) = {2 * family}" if family else "true"
            engine.query(f"CREATE OR REPLACE TABLE a ENGINE = Memory AS SELECT id, {column} AS a FROM q WHERE {where}")
            rows = engine.query(f"SELECT id, value_{n}(a), prefix_{n}(a), arrayMap(each -> (each.prefix, each.value), covering_{n}(a)) FROM a ORDER BY id")
            assert len(rows) > 20
            for id, value, prefix, all_routes in rows:
                covering = questions[id][2] if not ("Nullable" in form and id % 7 == 6) else []
                expected = routes[covering[-1]] if covering else [None, None]
                same = prefix == expected[0] or ipaddress.ip_network(prefix) == ipaddress.ip_network(expected[0])
                assert same and value == expected[1], (form, id, value, prefix, expected)
                assert [[ipaddress.ip_network(each[0]), each[1]] for each in all_routes] == [
                    [ipaddress.ip_network(routes[route][0]), routes[route][1]] for route in covering
                ], (form, id, all_routes)


def test_what_is_no_address():
    with Engine([("lpm", "String", "Nullable(String)", "--table any.txt"), ("plain", "String", "String", "--table any.txt")], POPFIB) as engine:
        (engine.files / "any.txt").write_text("0.0.0.0/0 any\n::/0 any\n")
        for text in VECTORS["invalid"]:
            assert engine.query(f"SELECT lpm({quote(text)}), plain({quote(text)})") == [[None, ""]], text


def test_numbers():
    routes, questions = VECTORS["tables"]["numbers"].values()
    kinds = {"Nullable(Int64)": "int64", "Int64": "int64", "Nullable(UInt32)": "uint32", "UInt32": "uint32"}
    functions = [(f"f{n}", "String", kind, f"--table {answer}.txt --answer {answer}") for n, (kind, answer) in enumerate(kinds.items())]
    with Engine(functions, POPFIB) as engine:
        (engine.files / "int64.txt").write_text(as_text(routes))
        # Numbers of 32 bits, none of them negative.
        (engine.files / "uint32.txt").write_text(as_text([[prefix, str(int(value) + 7 << 24)] for prefix, value in routes]))
        for text, _, covering in questions:
            value = int(routes[covering[-1]][1]) if covering else None
            shifted = value + 7 << 24 if covering else None
            assert engine.query(f"SELECT f0({quote(text)}), f1({quote(text)}), f2({quote(text)}), f3({quote(text)})") == [
                [value, value or 0, shifted, shifted or 0]
            ], text


def test_many_blocks_by_many_threads():
    with Engine([("lpm", "UInt32", "Nullable(String)", "--table t.txt")], POPFIB) as engine:
        (engine.files / "t.txt").write_text("10.0.0.0/8 inside\n10.1.0.0/16 branch\n")
        rows = 3_000_000
        # Two of three lie in 10.0.0.0/8, and one of 256 of them in the branch.
        sql = f"""SELECT lpm(toUInt32(if(number % 3 = 0, 0, 167772160 + intDiv(number, 3) % 16777216))) AS v, count() FROM
            numbers_mt({rows}) GROUP BY v ORDER BY v SETTINGS max_threads = 4, max_block_size = 10007"""
        branch = sum(2 for third in range(rows // 3) if third % 16777216 >> 16 == 1)
        assert engine.query(sql) == [["branch", branch], ["inside", rows * 2 // 3 - branch], [None, rows // 3]]


# By more processes than one, some of which the pool starts for it.
WIDE = """SELECT lpm('10.0.0.' || toString(number % 256)) AS v, count() FROM numbers_mt(200000) GROUP BY v
    SETTINGS max_threads = 4, max_block_size = 5003"""


def put(engine, file, value):
    (engine.files / "new.txt").write_text(f"10.0.0.0/8 {value}\n")
    (engine.files / "new.txt").rename(engine.files / file)


def test_a_new_table_under_queries():
    """As the guide has it, by files whose names tell the version: each query is answered from one table, and a new one from the newest."""
    with Engine([("lpm", "String", "Nullable(String)", "--table t-0.txt")], POPFIB) as engine:
        configuration = (engine.files / "popfib.xml").read_text()
        put(engine, "t-0.txt", "v0")
        answers, failed, done = [], [], threading.Event()

        def ask():
            while not done.is_set():
                try:
                    answers.append(engine.query(WIDE))
                except Exception as error:
                    failed.append(error)

        asking = [threading.Thread(target=ask) for _ in range(2)]
        for thread in asking:
            thread.start()
        reloads, now = 12, int(time.time())
        try:
            for n in range(1, reloads + 1):
                put(engine, f"t-{n}.txt", f"v{n}")
                (engine.files / "popfib.xml").write_text(configuration.replace("t-0.txt", f"t-{n}.txt"))
                # The engine reads it if its time is another, in seconds.
                os.utime(engine.files / "popfib.xml", (now + n, now + n))
                engine.query("SYSTEM RELOAD FUNCTION lpm")
                assert engine.query(WIDE) == [[f"v{n}", 200000]]
        finally:
            done.set()
            for thread in asking:
                thread.join()
        assert not failed
        assert all(rows == [[rows[0][0], 200000]] for rows in answers), answers
        assert len(answers) > reloads and len({value for [[value, _]] in answers}) > 3, answers


def test_a_new_table_in_place():
    """What the guide warns of happens: else its advice, and the test above, are of nothing."""
    with Engine([("lpm", "String", "Nullable(String)", "--table t.txt")], POPFIB) as engine:
        for n in range(20):
            put(engine, "t.txt", "old")
            engine.query("SYSTEM RELOAD FUNCTION lpm")
            assert engine.query("SELECT lpm('10.0.0.1')") == [["old"]]
            put(engine, "t.txt", "new")
            if len(engine.query(WIDE)) == 2:
                return
        raise AssertionError("no query was answered from both")


def test_errors_are_the_engine_s():
    functions = [
        ("missing", "String", "Nullable(String)", "--table missing.txt"),
        ("damaged", "String", "Nullable(String)", "--table damaged.fib"),
        ("number", "String", "UInt32", "--table t.txt --answer uint32"),
        ("dated", "Date", "Nullable(String)", "--table t.txt"),
        ("good", "String", "Nullable(String)", "--table t.txt"),
    ]
    with Engine(functions, POPFIB) as engine:
        (engine.files / "t.txt").write_text(ROUTES)
        subprocess.run([POPFIB, "compile", "--table", "t.txt", "-o", "whole.fib"], cwd=engine.files, check=True)
        (engine.files / "damaged.fib").write_bytes((engine.files / "whole.fib").read_bytes()[:-1])
        fails(engine, "SELECT missing('10.0.0.1')", "popfib: missing.txt: ", "No such file")
        fails(engine, "SELECT damaged('10.0.0.1')", "popfib: damaged.fib: ")
        fails(engine, "SELECT number('10.0.0.1')", "popfib: the value 'east' is no number of the type Nullable(UInt32)")
        fails(engine, "SELECT dated(today())", "popfib: standard input: block 1: an argument of the type Date;")
        fails(engine, "SELECT good('10.0.0.1', '10.0.0.2')", "good")
        assert engine.query("SELECT good('10.0.0.1'), good('10.1.0.1'), good('::')") == [["east", "4294967296", None]]


IMAGE = TOP / "engines/vectors/records.fib"
LINES = [json.loads(line) for line in (TOP / "engines/vectors/records.jsonl").read_text(encoding="utf-8").splitlines()]
TYPES = {
    "country": "Nullable(String)",
    "asn": "Nullable(Int64)",
    "names.city": "Nullable(String)",
    "tags": "Array(String)",
    "ports": "Array(Int64)",
    "rate": "Nullable(Float64)",
    "up": "Nullable(Bool)",
    "delta": "Nullable(Int64)",
    "id": "Nullable(UInt64)",
}


def cell(line, column):
    for key in column.split("."):
        line = line.get(key) if line else None
    # An array is never null.
    return [] if line is None and TYPES[column].startswith("Array") else line


def questions():
    """The first and the last address of each prefix, and its columns by the longest prefix that has it; at last what has none."""
    networks = {ipaddress.ip_network(line["prefix"]): line for line in LINES}
    for network in networks:
        for address in network[0], network[-1]:
            matches = [of for of in networks if of.version == address.version and address in of]
            line = networks[max(matches, key=lambda of: of.prefixlen)]
            yield str(address), {column: cell(line, column) for column in TYPES}
    yield "x", {column: cell({}, column) for column in TYPES}


def xml(name, *options, **environment):
    """What the command prints for a function."""
    run = subprocess.run([POPFIB, "clickhouse", "--xml", name, *options], check=True, stdout=subprocess.PIPE, **environment)
    return run.stdout.decode()


def one_file(*configurations):
    functions = [each.removeprefix("<functions>\n").removesuffix("</functions>\n") for each in configurations]
    return "<functions>\n" + "".join(functions) + "</functions>\n"


def test_columns():
    """Every column of every prefix of the vectors, all in a tuple, some, and one; by the configuration that is printed."""
    of = ["--table", str(IMAGE), "--vrf", "records"]
    some = ["up", "names.city", "tags"]
    configuration = one_file(
        xml("everything", *of, "--columns", "*"),
        xml("some", *of, "--columns", ",".join(some), "--argument", "String"),
        xml("plain", *of, "--columns", "names.city"),
        xml("number", *of, "--columns", "delta", "--answer", "int64"),
    )
    with Engine([], POPFIB, configuration) as engine:
        expected = dict(questions())
        rows = ",".join(f"({quote(address)})" for address in expected)
        engine.query(f"CREATE TABLE q ENGINE = Memory AS SELECT * FROM VALUES('a String', {rows})")
        [[kind]] = engine.query("SELECT DISTINCT toTypeName(everything(a)) FROM q")
        # Which is written over several lines.
        kind = re.sub(r"\s+", " ", kind).replace("( ", "(").replace(" )", ")")
        assert kind == "Tuple(" + ", ".join((f"`{name}`" if "." in name else name) + f" {of}" for name, of in TYPES.items()) + ")"
        elements = ", ".join(f"tupleElement(everything(a), {quote(column)})" for column in TYPES)
        answers = engine.query(f"SELECT a, {elements} FROM q SETTINGS output_format_json_quote_64bit_integers = 0")
        assert len(answers) == len(expected)
        for address, *cells in answers:
            found = dict(zip(TYPES, cells))
            assert found == expected[address], address
            # True is 1 to Python.
            assert type(found["up"]) is type(expected[address]["up"])
        for address, up, city, tags, plain, number in engine.query(f"SELECT a, some(a).up, some(a).`names.city`, some(a).tags, plain(a), number(a) FROM q"):
            cells = expected[address]
            number = None if number is None else int(number)
            assert (up, city, tags, plain, number) == (cells["up"], cells["names.city"], cells["tags"], cells["names.city"], cells["delta"]), address
        # In blocks of a row.
        blocks = engine.query("SELECT count(), sum(length(everything(a).tags)) FROM q SETTINGS max_block_size = 1")
        assert [int(n) for n in blocks[0]] == [len(expected), sum(len(cells["tags"]) for cells in expected.values())]


@pytest.mark.parametrize("version", [0, 1])
def test_comparison(version, tmp_path):
    """The comparison of all doors: engines/vectors/comparison.py; of the second an image."""
    folder = TOP / "target/vectors"
    table = folder / "first.csv"
    if version:
        table = tmp_path / "second.fib"
        compile_ = [POPFIB, "compile", folder / "second.jsonl", "--columns", "*", "--mapped", "-o", table]
        subprocess.run(compile_, check=True, stderr=subprocess.DEVNULL)
    with Engine([], POPFIB, xml("everything", "--table", str(table), "--columns", "*", stderr=subprocess.DEVNULL)) as engine:
        shutil.copy(folder / "questions.tsv", engine.files / "q.tsv")
        engine.query(f"""CREATE TABLE q ENGINE = Memory AS SELECT rowNumberInAllBlocks() AS n, a
            FROM file('{engine.files}/q.tsv', TSVRaw, 'a String, first String, second String') SETTINGS max_threads = 1""")
        columns = ", ".join(f"tupleElement(t, '{name}')" for name in comparison.COLUMNS)
        answers = engine.query(f"""SELECT a, {columns} FROM (SELECT n, a, everything(a) AS t FROM q) ORDER BY n
            SETTINGS output_format_json_quote_64bit_integers = 0""")
        asked = list(comparison.asked(folder, version))
        assert len(answers) == len(asked)
        for (text, *found), (same, _, answer) in zip(answers, asked):
            expected = list(answer[1]) if answer else [None] * 5
            # An array is never null.
            expected[4] = [] if version and expected[4] is None else expected[4]
            assert (text, found) == (same, expected)


def test_hard_names_of_columns(tmp_path):
    names = ["a`b", "c\\d", "it's", 'e"f', "g\nh", "A", "a", "1", "ä b"]
    file = tmp_path / "it's a <table> & more.json"
    file.write_text(json.dumps({"network": "10.0.0.0/8", **{name: n for n, name in enumerate(names)}}), encoding="utf-8")
    configuration = xml("hard", "--table", str(file), "--columns", "*", "--argument", "UInt32")
    with Engine([], POPFIB, configuration) as engine:
        for n, name in enumerate(names):
            [[found]] = engine.query(f"SELECT tupleElement(hard(toUInt32(167772160)), {quote(name)})")
            assert int(found) == n, name
        assert engine.query("SELECT hard(toUInt32(0)).A") == [[None]]


def test_the_guide():
    """Its blocks in their order, but the configuration, which the engine needs first."""
    blocks = [(kind, text.replace("/var/lib/clickhouse/", "")) for kind, text in re.findall(r"^```(\w+)\n(.*?)^```$", GUIDE, re.M | re.S)]
    [configuration] = [text for kind, text in blocks if kind == "xml"]
    statements = commands = 0
    with Engine([], POPFIB, configuration) as engine:
        for kind, text in blocks:
            if kind == "text":
                (engine.files / "routes.txt").write_text(text)
            elif kind == "json":
                (engine.files / "places.json").write_text(text)
            elif kind == "sh":
                # By the popfib of the tests, and in the file of the engine.
                for command in text.splitlines():
                    command = re.sub(r"^popfib ", f"{POPFIB} ", command).replace("/etc/clickhouse-server/popfib_function.xml", "popfib.xml")
                    run = subprocess.run(command, shell=True, cwd=engine.files, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                    commands += 1
                    # What is printed is what the guide has.
                    printed = run.stdout.decode().removeprefix("<functions>\n").removesuffix("</functions>\n")
                    assert printed in configuration and bool(printed) == ("--xml" in command), printed
                # However fast that was.
                os.utime(engine.files / "popfib.xml", (time.time() + commands, time.time() + commands))
            elif kind == "sql":
                for statement, shown in re.findall(r"^(?!-- )([^;]*;)\n((?:-- [^\n]*\n)*)", text, re.M):
                    rows = engine.query(statement.rstrip(";"))
                    statements += 1
                    if shown:
                        found = "".join("-- " + " | ".join("NULL" if cell is None else str(cell) for cell in row) + "\n" for row in rows)
                        assert found == shown, statement
    assert statements > 4 and commands > 4
