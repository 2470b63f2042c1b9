"""Records: every column of the vectors by each function, and columns with hard names."""

import ipaddress
import itertools
import json
import threading

import duckdb
import pytest

from conftest import HAS_FILES, TOP, connect, fails, make, one

IMAGE = (TOP / "engines" / "vectors" / "records.fib").read_bytes()
LINES = [json.loads(line) for line in (TOP / "engines" / "vectors" / "records.jsonl").read_text(encoding="utf-8").splitlines()]
TYPES = {
    "country": "VARCHAR",
    "asn": "BIGINT",
    "names.city": "VARCHAR",
    "tags": "VARCHAR[]",
    "ports": "BIGINT[]",
    "rate": "DOUBLE",
    "up": "BOOLEAN",
    "delta": "BIGINT",
    "id": "UBIGINT",
}


def cell(line, column):
    for key in column.split("."):
        line = line.get(key) if line else None
    return line


def text(value):
    """As the command writes it."""
    if isinstance(value, list):
        return ",".join(str(element).replace("\\", "\\\\").replace(",", "\\,") for element in value)
    return value if value is None or isinstance(value, str) else json.dumps(value)


EXPECTED = {line["prefix"]: {column: cell(line, column) for column in TYPES} for line in LINES}
NETWORKS = {ipaddress.ip_network(prefix): cells for prefix, cells in EXPECTED.items()}


def questions():
    """The first and the last address of each prefix, and the record of the longest one that has it."""
    for network in NETWORKS:
        for address in network[0], network[-1]:
            matches = [of for of in NETWORKS if of.version == address.version and address in of]
            yield str(address), NETWORKS[max(matches, key=lambda of: of.prefixlen)]


@pytest.fixture
def records(db):
    said = make(db, "t", IMAGE, ", vrf := 'records'")
    assert {column["name"]: column["type"] for column in said[6]} == TYPES
    assert said[1:3] == (5, 3)
    db.execute("CREATE TABLE q (address VARCHAR)")
    db.executemany("INSERT INTO q VALUES (?)", [[address] for address, _ in questions()])
    return db


def test_every_column_of_every_prefix(records):
    asked = dict(questions())
    assert {id(cells) for cells in asked.values()} == {id(cells) for cells in NETWORKS.values()}
    for column in TYPES:
        rows = records.execute(f"SELECT address, lpm('t', address, '{column}') FROM q").fetchall()
        assert rows and all(value == text(asked[address][column]) for address, value in rows), column
    # Without a column: that of the value.
    assert all(value == text(asked[address]["asn"]) for address, value in records.execute("SELECT address, lpm('t', address) FROM q").fetchall())


def test_numbers(records):
    asked = dict(questions())
    for column in "asn", "delta":
        rows = records.execute(f"SELECT address, lpm_int('t', address, '{column}'), lpm_float('t', address, '{column}') FROM q").fetchall()
        assert all(i == f == asked[address][column] for address, i, f in rows), column
    rows = records.execute("SELECT address, lpm_float('t', address, 'rate') FROM q").fetchall()
    assert all(value == asked[address]["rate"] for address, value in rows)
    fails(records, "SELECT lpm_int('t', address, 'id') FROM q", "table 't'", "'18446744073709551615' is no integer of 64 bits with a sign")
    fails(records, "SELECT lpm_int('t', address, 'rate') FROM q", "'1.5' is no integer")
    fails(records, "SELECT lpm_int('t', address, 'ports') FROM q", "'22,443' is no integer")
    fails(records, "SELECT lpm_float('t', address, 'country') FROM q", "is no number")
    fails(records, "SELECT lpm_float('t', address, 'up') FROM q", "is no number")


def test_records_join(records):
    """Typed, and by the record's number as the lookup has it."""
    asked = dict(questions())
    columns = ", ".join(f'"{column}"' for column in TYPES)
    rows = records.execute(f"SELECT address, {columns} FROM q JOIN popfib_records('t') ON record = lpm_record('t', address)").fetchall()
    assert len(rows) == len(list(questions()))
    for address, *values in rows:
        assert dict(zip(TYPES, values)) == asked[address], address
        # True is 1 to Python.
        assert type(values[6]) is type(asked[address]["up"])
    described = {name: kind for name, kind, *_ in records.execute("DESCRIBE FROM popfib_records('t')").fetchall()}
    assert described == {"record": "UINTEGER", **TYPES}
    count, *numbers = one(records, "SELECT count(*), min(record), max(record), count(DISTINCT record) FROM popfib_records('t')")
    assert [count] * 2 == [numbers[1], numbers[2]] and numbers[0] == 1
    # Two prefixes have equal records.
    assert count == len(EXPECTED) - 2


def test_routes(records):
    rows = records.execute("FROM popfib_routes('t')").fetchall()
    assert {prefix: dict(zip(TYPES, values)) for prefix, *values in rows} == EXPECTED
    assert [name for name, *_ in records.execute("DESCRIBE FROM popfib_routes('t')").fetchall()] == ["prefix", *TYPES]
    assert records.execute("SELECT up, prefix FROM popfib_routes('t') WHERE asn = 64500 AND id IS NULL").fetchall() == [(None, "10.1.2.0/24")]
    [covering] = one(records, "SELECT lpm_all('t', '10.1.2.3')")
    assert [(route["prefix"], route["value"]) for route in covering] == [(p, text(EXPECTED[p]["asn"])) for p in ("0.0.0.0/0", "10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "10.1.2.3/32")]


def test_nulls(records):
    assert one(records, "SELECT lpm('t', NULL, 'asn'), lpm('t', '10.1.2.3', NULL), lpm_int(NULL, '10.1.2.3', 'asn'), lpm_record('t', NULL), lpm('t', 'x', 'asn')") == (None,) * 5
    assert one(records, "SELECT lpm_record('t', 'x'), typeof(lpm_record('t', '10.1.2.3'))") == (None, "UINTEGER")
    fails(records, "SELECT lpm('t', 'x', 'asn', 'error')", "'x' is no address")
    fails(records, "SELECT lpm_record('t', 'x', 'error')", "'x' is no address")


def test_names_of_columns_as_a_column(records):
    """A column for each row, and a table for each; NULL among them."""
    make(records, "u", "0.0.0.0/0 other\n")
    sql = """SELECT CASE n % 4 WHEN 0 THEN 't' WHEN 1 THEN 'u' WHEN 2 THEN 't' END AS t, CASE n % 4 WHEN 0 THEN 'asn' WHEN 1 THEN 'value' WHEN 2 THEN 'names.city' END AS c,
             CASE n % 3 WHEN 0 THEN '10.0.0.1' WHEN 1 THEN '2001:db8::2' END AS a FROM range(10000) r(n)"""
    expected = {("t", "asn", "10.0.0.1"): "64500", ("u", "value", "10.0.0.1"): "other", ("t", "names.city", "10.0.0.1"): "Wien"}
    rows = records.execute(f"SELECT t, c, a, lpm(t, a, c) FROM ({sql})").fetchall()
    assert len(rows) == 10000 and all(value == expected.get((t, c, a)) for t, c, a, value in rows)
    fails(records, "SELECT lpm('t', '10.0.0.1', CASE n WHEN 7 THEN 'town' ELSE 'asn' END) FROM range(9) r(n)", "table 't': no column \"town\" in \"country\", \"asn\", \"names.city\"")


def test_tables_of_an_image(db):
    make(db, "c", IMAGE, ", vrf := 'country'")
    assert one(db, "SELECT lpm('c', '10.1.2.3'), lpm_record('c', '10.1.2.3') > 0") == ("AT", True)
    fails(db, "CALL popfib_table('t', getvariable('popfib_content'))", "an image of 2 tables", '"records", "country"; vrf := \'NAME\' chooses')
    fails(db, "CALL popfib_table('t', getvariable('popfib_content'), vrf := 'x')", '"records", "country"')
    said = make(db, "t", IMAGE, ", vrf := 'records', columns := ['up', 'names.city']")
    assert said[6] == [{"name": "up", "type": "BOOLEAN"}, {"name": "names.city", "type": "VARCHAR"}]
    assert one(db, "SELECT lpm('t', '10.1.2.3'), lpm('t', '10.1.2.3', 'names.city')") == ("true", "Wien")
    assert db.execute("SELECT DISTINCT up FROM popfib_records('t') ORDER BY ALL").fetchall() == [(False,), (True,), (None,)]
    fails(db, "CALL popfib_table('t', getvariable('popfib_content'), vrf := 'records', columns := ['up', 'town'])", 'no column "town" in "country"')
    assert [(name, len(columns)) for name, columns in db.execute("SELECT name, columns FROM popfib_tables()").fetchall()] == [("c", 1), ("t", 2)]


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_hard_names(db):
    names = ["record", "A", "a", "a_1", 'with "quotes"', "with 'one'", "line\nend", "ä", "Ä", "record_1"]
    content = lines({"network": "10.0.0.0/8", **{name: n for n, name in enumerate(names)}}, {"network": "10.1.0.0/16", "A": 99})
    said = make(db, "t", content, ", format := 'json-lines', columns := '*'")
    assert sorted(column["name"] for column in said[6]) == sorted(names)
    # By their own names, which lookups take as they are.
    for n, name in enumerate(names):
        assert one(db, "SELECT lpm('t', '10.0.0.1', $1), lpm_int('t', '10.0.0.1', $1)", [name]) == (str(n), n)
    relation = db.execute("FROM popfib_records('t')")
    shown = [column[0] for column in relation.description]
    assert len({name.lower() if name.isascii() else name for name in shown}) == len(shown) == len(names) + 1
    own = [column["name"] for column in said[6]]
    assert shown[0] == "record" and all(s == o or s.rsplit("_", 1)[0] == o for s, o in zip(shown[1:], own))
    rows = relation.fetchall()
    assert rows[0] == (1, *(names.index(name) for name in own))
    for n, name in enumerate(shown):
        quoted = name.replace('"', '""')
        assert one(db, f"SELECT \"{quoted}\" FROM popfib_records('t') WHERE record = 1") == (rows[0][n],), name
    shown = [column[0] for column in db.execute("FROM popfib_routes('t')").description]
    assert shown[0] == "prefix" and "record" in shown
    fails(db, "SELECT lpm('t', '10.0.0.1', 'c\nd')", 'no column "c\\nd" in ')


def test_integers_of_all_sizes(db):
    """Up to 64 bits without a sign; a column of both signs beyond that has texts."""
    high, low = 2**64 - 1, -(2**63)
    make(db, "t", lines({"network": "10.0.0.0/8", "u": high, "s": low, "mixed": high, "us": [1, high], "wide": 2**100}, {"network": "11.0.0.0/8", "u": 0, "s": 1, "mixed": low, "us": [7], "wide": 1}), ", format := 'json-lines', columns := '*'")
    types = {name: kind for name, kind, *_ in db.execute("DESCRIBE FROM popfib_records('t')").fetchall()}
    assert types == {"record": "UINTEGER", "u": "UBIGINT", "s": "BIGINT", "mixed": "VARCHAR", "us": "UBIGINT[]", "wide": "VARCHAR"}
    rows = db.execute("SELECT u, s, mixed, us, wide FROM popfib_records('t') ORDER BY u").fetchall()
    assert rows == [(0, 1, str(low), [7], "1"), (high, low, str(high), [1, high], str(2**100))]
    assert one(db, "SELECT lpm_int('t', '10.0.0.1', 's'), lpm('t', '11.0.0.1', 'us')") == (low, "7")


def test_many_records(db):
    """More rows than a chunk, of short and long texts and lists."""
    count = 20000
    rows = [{"network": f"10.{n >> 8}.{n & 255}.0/24", "n": n, "name": "x" * (n % 30), "list": [f"element {m}" for m in range(1 + n % 5)]} for n in range(count)]
    make(db, "t", lines(*rows), ", format := 'json-lines', columns := '*'")
    db.execute("SET threads = 2")
    sql = "SELECT n, name, list, lpm('t', a, 'name'), lpm('t', a, 'list'), lpm_int('t', a, 'n') FROM (SELECT (167772160 + m * 256)::UINTEGER AS a FROM range(20000) r(m)) JOIN popfib_records('t') ON record = lpm_record('t', a)"
    joined = db.execute(sql).fetchall()
    assert len(joined) == count
    for n, name, elements, name_text, list_text, number in joined:
        row = rows[n]
        assert (name, elements, name_text, list_text, number) == (row["name"], row["list"], row["name"], text(row["list"]), n)
    assert one(db, "SELECT count(*), sum(n) FROM popfib_routes('t')") == (count, count * (count - 1) // 2)
    assert one(db, "SELECT count(*) FROM popfib_routes('t')") == one(db, "SELECT count(*) FROM popfib_records('t')") == (count,)
    assert len(db.execute("SELECT name FROM popfib_records('t') LIMIT 7").fetchall()) == 7


def test_prepared_statements(db):
    make(db, "t", "10.0.0.0/8 old\n")
    for what in "records", "routes":
        db.execute(f"PREPARE {what} AS SELECT value FROM popfib_{what}('t')")
        assert db.execute(f"EXECUTE {what}").fetchall() == [("old",)]
    if not HAS_FILES:
        # Not while there is a statement that reads records, as nothing tells when it runs.
        for replaced in "FROM popfib_table('t', getvariable('popfib_content'))", "CALL popfib_drop('t')":
            fails(db, replaced, "a statement that runs or is prepared reads records of table 't'", "1.5.6")
        db.execute("DEALLOCATE records")
    make(db, "t", "10.0.0.0/8 new\n11.0.0.0/8 newer\n")
    if not HAS_FILES:
        db.execute("PREPARE records AS SELECT value FROM popfib_records('t')")
        assert db.execute("EXECUTE routes").fetchall() == db.execute("EXECUTE records").fetchall() == [("new",), ("newer",)]
        return
    for what in "records", "routes":
        assert db.execute(f"EXECUTE {what}").fetchall() == [("new",), ("newer",)]
    make(db, "t", lines({"network": "10.0.0.0/8", "a": 1, "b": 2}), ", format := 'json-lines', columns := '*'")
    for what in "records", "routes":
        # Bound again, or refused, as the version has it.
        fails(db, f"EXECUTE {what}")
    db.execute("CALL popfib_drop('t')")
    fails(db, "EXECUTE records", "there is no table 't'")
    fails(db, "FROM popfib_records(NULL)", "NULL")


def test_a_statement_has_one_table(db):
    """Two tables take the name in turn while statements join by numbers of records, which mean other records in each."""
    rows = [{"network": f"10.0.{n}.0/24", "name": f"n{n}", "number": n} for n in range(200)]
    tables = [lines(*rows), lines(*[dict(row, number=row["number"] + 1000) for row in reversed(rows)])]
    options = ", format := 'json-lines', columns := '*'"
    make(db, "t", tables[0], options)
    db.execute("CREATE TABLE a AS SELECT (10 << 24) + (n % 200) * 256 AS a FROM range(200000) r(n)")
    ended = threading.Event()

    def replace():
        with db.cursor() as other:
            for at in itertools.cycle((1, 0)):
                if ended.is_set():
                    break
                try:
                    make(other, "t", tables[at], options)
                except duckdb.Error as error:
                    assert not HAS_FILES and "reads records" in str(error)

    thread = threading.Thread(target=replace)
    thread.start()
    good = refused = 0
    try:
        for join in "LEFT JOIN", "RIGHT JOIN", "JOIN":
            for _ in range(8):
                try:
                    wrong = db.execute(f"""SELECT count(*) FROM a {join} popfib_records('t') r ON r.record = lpm_record('t', a)
                        WHERE r.number % 1000 <> (a // 256) % 256""").fetchone()
                    assert wrong == (0,)
                    good += 1
                except duckdb.Error as error:
                    assert "was replaced" in str(error)
                    refused += 1
        # Without a join each function has the table of then.
        wrong = (0,) if not HAS_FILES else db.execute("""SELECT count(*) FROM a WHERE 'n' || lpm_int('t', a, 'number') % 1000 <> lpm('t', a, 'name')
            OR lpm_int('t', a, 'number') <> lpm_int('t', a, 'number')""").fetchone()
        assert wrong == (0,)
    finally:
        ended.set()
        thread.join()
    assert good > refused


def test_several_columns_of_one_column_of_addresses(db):
    """Addresses are looked up once for all columns; those that differ in a few rows, or in nulls, are not the same."""
    rows = [{"network": f"10.{n}.0.0/16", "a": f"a{n}", "b": n, "c": n / 2} for n in range(256)] + [{"network": "2001:db8::/32", "a": "six", "b": 6, "c": 6.5}]
    make(db, "t", lines(*rows), ", format := 'json-lines', columns := '*'")
    make(db, "u", lines(*[dict(row, a=row["a"] + "u") for row in rows]), ", format := 'json-lines', columns := '*'")
    # x, y and z have the same rows but those in the middle of a chunk; of each form in which addresses come.
    forms = {
        "VARCHAR": "CASE WHEN {odd} THEN '2001:db8::' || (n % 7) ELSE '10.' || (n % 256) || '.100.' || (100 + {shift}) END",
        "short": "'10.' || ((n + {shift}) % 256) || '.1.1'",
        "UINTEGER": "(167772160 + ((n + {shift}) % 256) * 65536)::UINTEGER",
        "BIGINT": "167772160::BIGINT + ((n + {shift}) % 256) * 65536",
        "BLOB": "unhex('0A' || lpad(format('{{:x}}', (n + {shift}) % 256), 2, '0') || '0101')",
        "long": "CASE WHEN {odd} THEN '2001:db9:' ELSE '2001:db8:' END || '1:0:0:0:0:' || (n % 7)",
        "mixed": "CASE n % 3 WHEN 0 THEN '1' || ((n + {shift}) % 10) || '.1.1.1' WHEN 1 THEN '10.1.' || (n % 256) || '.' || (n % 200) ELSE '2001:db8:0:0:0:0:' || (n % 9999) END",
        "UHUGEINT": "CASE WHEN {odd} THEN '42540766411282592856903984951653826561'::UHUGEINT ELSE n::UHUGEINT END",
    }
    middle = "n % 2048 = 1000"
    for form, sql in forms.items():
        x = sql.format(odd="false", shift="0")
        y = sql.format(odd=middle, shift=f"CASE WHEN {middle} THEN 1 ELSE 0 END")
        db.execute(f"CREATE OR REPLACE TABLE q AS SELECT n, {x} AS x, {y} AS y, CASE WHEN n % 2048 <> 1000 THEN {x} END AS z FROM range(30000) r(n)")
        # Each column of answers by itself, in a statement of its own.
        asked = [f"{function}('{table}', {address}{rest})" for address in "xyz" for table in "tu" for function, rest in
                 (("lpm", ", 'a'"), ("lpm_int", ", 'b'"), ("lpm_float", ", 'c'"), ("lpm_record", ""), ("lpm_prefix", ""))]
        alone = [[value for (value,) in db.execute(f"SELECT {each} FROM q ORDER BY n").fetchall()] for each in asked]
        for order in asked, asked[::-1], asked[::3] + asked[1::3] + asked[2::3]:
            together = db.execute(f"SELECT {', '.join(order)} FROM q ORDER BY n").fetchall()
            assert [list(column) for column in zip(*together)] == [alone[asked.index(each)] for each in order], form
        assert alone[0] != alone[10], form
        if form not in ("UHUGEINT", "mixed", "long"):
            assert alone[0] != alone[20] and alone[10] != alone[20], form
            assert alone[0][1000] == "a232" and alone[5][1000] == "a232u" and alone[20][1000] is None
