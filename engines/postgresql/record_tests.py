"""The tests of records: their columns by every function, compared with the lines that they were made of."""

import ctypes
import ipaddress
import json
import os
import re
import sys
import time

from helpers import fails, image, put_file, quote, values
from server import TOP

sys.path.append(str(TOP / "engines/vectors"))
import comparison  # noqa: E402

RECORDS = TOP / "engines/vectors/records.fib"
LINES = [json.loads(line) for line in RECORDS.with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()]

TYPES = {
    "country": "text", "asn": "bigint", "names.city": "text", "tags": "text[]", "ports": "bigint[]", "rate": "double precision",
    "up": "boolean", "delta": "bigint", "id": "numeric",
}


def load_records(server, name="records"):
    path = put_file(server, "records.fib", RECORDS.read_bytes())
    return server.sql(f"SELECT * FROM popfib.load('{name}', '{path}')")


def flat(line):
    """The columns of a line by their paths."""
    found = {}
    for name, value in line.items():
        found |= {f"{name}.{below}": one for below, one in value.items()} if isinstance(value, dict) else {name: value}
    return found


def longest(lines, text):
    """The line whose prefix is the longest that contains an address, as a scan of all finds it."""
    address = ipaddress.ip_address(text)
    networks = [(ipaddress.ip_network(line["prefix"]), line) for line in lines]
    return max(((n, line) for n, line in networks if n.version == address.version and address in n), key=lambda found: found[0].prefixlen)[1]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def definition(types):
    return "record integer" + "".join(f", {quoted(name)} {type_}" for name, type_ in types.items())


def compile_lines(server, name, lines):
    return image(server, name, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "jsonl", "--columns", "*")


def test_vectors_of_records(server):
    """Every column at both ends of every prefix, by each way to it."""
    assert load_records(server) == [("5", "3")]
    assert server.sql("SELECT * FROM popfib.columns('records')") == list(TYPES.items())
    networks = [ipaddress.ip_network(line["prefix"]) for line in LINES]
    addresses = [str(address) for network in networks for address in (network.network_address, network.broadcast_address)]
    server.sql(f"DROP TABLE IF EXISTS q; CREATE TABLE q AS SELECT column1::int AS id, column2::inet AS a FROM ({values([[str(n), text] for n, text in enumerate(addresses)])}) v")
    # The types are those that the columns are declared to have: JSON shows them.
    rows = server.sql(f"""SELECT q.id, to_jsonb(r) - 'record' FROM q JOIN popfib.records('records') AS r({definition(TYPES)})
        ON r.record = popfib.lookup_record('records', a) ORDER BY q.id""")
    server.sql("DROP VIEW IF EXISTS geo; SELECT popfib.create_view('records', 'geo')")
    assert rows == server.sql("SELECT q.id, to_jsonb(geo) - 'record' FROM q JOIN geo ON record = popfib.lookup_record('records', a) ORDER BY q.id")
    covering = server.sql(f"""SELECT id, (SELECT to_jsonb(geo) - 'record' FROM popfib.lookup_all('records', a) found JOIN geo USING (record)
        ORDER BY masklen(prefix) DESC LIMIT 1) FROM q ORDER BY id""")
    assert rows == covering
    as_text = server.sql(f"""SELECT q.id, to_jsonb(r) - 'record' FROM q JOIN popfib.records('records') AS r({definition(dict.fromkeys(TYPES, 'text'))})
        ON r.record = popfib.lookup_record('records', a) ORDER BY q.id""")
    casts = ", ".join(f"{quote(name)}, popfib.lookup('records', a, {quote(name)}){cast}" for name, type_ in TYPES.items() for cast in [f"::{type_}"])
    by_name = server.sql(f"SELECT id, jsonb_build_object({casts}) FROM q ORDER BY id")
    assert rows == by_name
    texts = ", ".join(f"{quote(name)}, popfib.lookup('records', a, {quote(name)})" for name in TYPES)
    assert as_text == server.sql(f"SELECT id, jsonb_build_object({texts}) FROM q ORDER BY id")
    assert len(rows) == len(addresses) == 2 * len(LINES)
    present = 0
    for (n, found), text in zip(rows, addresses):
        expected = flat(longest(LINES, text))
        assert json.loads(found) == {name: expected.get(name) for name in TYPES}, (text, found, expected)
        present += len(expected) - 1
    assert present > 50
    # The column of the value, which is used if none is named: integers here.
    rows = server.sql("SELECT a, popfib.lookup('records', a), popfib.lookup_int('records', a), popfib.lookup_int('records', a, 'delta') FROM q ORDER BY id")
    for text, value, number, delta in rows:
        expected = longest(LINES, text)
        assert (value, number, delta) == tuple(str(expected[name]) if name in expected else None for name in ("asn", "asn", "delta")), text
    families = [":" in line["prefix"] for line in LINES]
    assert load_records(server, "country") == [(str(families.count(False)), str(families.count(True)))]
    assert server.sql("SELECT * FROM popfib.columns('country')") == [("country", "text")]
    assert server.sql("SELECT popfib.lookup('country', '10.1.0.1'), popfib.lookup('country', '2001:db8::7', 'country')") == [("AT", None)]


def test_columns_of_a_query(server):
    """The same records by a query: typed columns, and every value at both ends of every prefix."""
    rows = quote(json.dumps([flat(line) for line in LINES], ensure_ascii=False))
    form = f"prefix cidr{definition(TYPES).removeprefix('record integer')}"
    server.sql(f"DROP TABLE IF EXISTS lines; CREATE TABLE lines AS SELECT * FROM jsonb_to_recordset({rows}) AS r({form})")
    families = [":" in line["prefix"] for line in LINES]
    counts = (str(families.count(False)), str(families.count(True)))
    assert server.sql("SELECT * FROM popfib.load_query('queried', 'SELECT * FROM lines')") == [counts]
    assert server.sql("SELECT * FROM popfib.columns('queried')") == list(TYPES.items())
    server.sql("DROP VIEW IF EXISTS queried; SELECT popfib.create_view('queried', 'queried')")
    networks = [ipaddress.ip_network(line["prefix"]) for line in LINES]
    for address in (str(end) for network in networks for end in (network.network_address, network.broadcast_address)):
        expected = flat(longest(LINES, address))
        [(found,)] = server.sql(f"SELECT to_jsonb(queried) - 'record' FROM queried WHERE record = popfib.lookup_record('queried', '{address}')")
        assert json.loads(found) == {name: expected.get(name) for name in TYPES}, (address, found, expected)
    # Mapped addresses have the routes of IPv4, where they have none of their own.
    assert server.sql("SELECT * FROM popfib.load_query('queried', 'SELECT * FROM lines', true)") == [(counts[0], str(len(LINES)))]
    query = "VALUES ('10.0.0.0/8', 'ten'), ('10.1.0.0/16', 'branch'), ('::ffff:10.1.0.0/112', 'own')"
    assert server.sql(f"SELECT * FROM popfib.load_query('mapped', $${query}$$, mapped => true)") == [("2", "2")]
    asked = "SELECT popfib.lookup('mapped', a), popfib.lookup_prefix('mapped', a) FROM (VALUES ('10.1.2.3'::inet), ('::ffff:10.1.2.3'), ('::ffff:10.2.2.3'), ('::a02:203')) v(a)"
    assert server.sql(asked) == [("branch", "10.1.0.0/16"), ("own", "::ffff:10.1.0.0/112"), ("ten", "::ffff:10.0.0.0/104"), (None, None)]
    # What each type of the server's becomes.
    types = {"int2": ("7", "bigint"), "int4": ("-7", "bigint"), "int8": ("9223372036854775807", "bigint"), "float4": ("1.5", "double precision"),
             "float8": ("48", "double precision"), "bool": ("true", "boolean"), "numeric": ("18446744073709551615", "numeric"),
             "numeric(5,2)": ("1.50", "double precision"), "numeric(40,30)": ("0.123456789012345678901234567890", "text"), "varchar(9)": ("ä,b", "text"),
             "date": ("2026-11-29", "text"), "inet": ("10.0.0.1", "text"), "int4[]": ("{1,2}", "bigint[]"), "int2[]": ("{-3}", "bigint[]"), "text[]": ('{"a,b",""}', "text[]"),
             "bool[]": ("{t,f}", "text[]"), "jsonb": ('{"a": 1}', "text")}
    columns = ", ".join(f"{quote(value)}::{type_} AS c{n}" for n, (type_, (value, _)) in enumerate(types.items()))
    server.sql(f"SELECT popfib.load_query('typed', $$ SELECT '10.0.0.0/8', {columns} UNION ALL SELECT '11.0.0.0/8'{', NULL' * len(types)} $$)")
    assert [type_ for _, type_ in server.sql("SELECT * FROM popfib.columns('typed')")] == [type_ for _, type_ in types.values()]
    for n, (type_, (value, _)) in enumerate(types.items()):
        expected = value.removesuffix("0") if type_ == "numeric(5,2)" else value
        assert server.sql(f"SELECT popfib.lookup('typed', '10.0.0.1', 'c{n}'), popfib.lookup('typed', '11.0.0.1', 'c{n}')") == [(expected, None)], type_
    # One value is a text called "value", of any type.
    server.sql("SELECT popfib.load_query('one', 'SELECT ''10.0.0.0/8'', ARRAY[1, 2] AS ports')")
    assert server.sql("SELECT * FROM popfib.columns('one')") == [("value", "text")]
    assert server.sql("SELECT popfib.lookup('one', '10.0.0.1')") == [("{1,2}",)]


def test_what_is_asked_of_records(server):
    load_records(server)
    ask = lambda sql, **who: server.sql(f"SELECT {sql}", **who)[0]
    # An empty text is a value; NULL is none, and none for NULL.
    assert ask("popfib.lookup('records', '2001:db8::7', 'country'), popfib.lookup('records', '10.1.2.9', 'country')") == ("", None)
    assert ask("popfib.lookup('records', NULL, 'asn'), popfib.lookup('records', '10.1.2.3', NULL), popfib.lookup(NULL, '10.1.2.3', 'asn')") == (None,) * 3
    assert ask("popfib.lookup_record(NULL, '10.1.2.3'), popfib.lookup_record('records', NULL), popfib.lookup_int('records', '10.1.2.3', NULL)") == (None,) * 3
    assert server.sql("SELECT * FROM popfib.columns(NULL); SELECT * FROM popfib.records(NULL) AS r(record integer)") == []
    assert ask("popfib.lookup('records', '10.1.2.3', 'tags'), popfib.lookup('records', '10.1.2.3', 'up'), popfib.lookup('records', '10.1.2.3', 'ports')") == (
        '{vpn,"a,b"}', "true", "{22,443}")
    assert ask("(popfib.lookup('records', '10.1.2.3', 'ports')::bigint[])[2] + 1") == ("444",)
    # The column may be one of the query's.
    rows = server.sql("SELECT name, popfib.lookup('records', '10.1.2.3', name) FROM (VALUES ('asn'), ('country'), (NULL), ('asn'), ('rate')) v(name)")
    assert rows == [("asn", "64500"), ("country", "AT"), (None, None), ("asn", "64500"), ("rate", "1.5")]
    # Columns in any order, some of them, one twice as another type is the server's to refuse.
    assert server.sql("SELECT country, n FROM popfib.records('records') AS r(n integer, asn bigint, country text) WHERE asn = 64500 AND country = 'AT'")[0][0] == "AT"
    rows = server.sql("SELECT count(*), count(DISTINCT record), min(record), max(record) FROM popfib.records('records') AS r(record integer)")
    assert rows[0][0] == rows[0][1] == rows[0][3] and rows[0][2] == "1"
    there = ", ".join(f'"{name}"' for name in TYPES)
    for statement in "popfib.lookup('records', '10.1.2.3', %s)", "popfib.lookup_int('records', '240.0.0.1', %s)":
        for name in "nothing", "", "ASN", 'a"b', "x" * 5000:
            fails(server, "42703", f'no column "{re.escape(name)}" in table "records"', f"SELECT {statement % quote(name)}", hint=f"There are {there}.")
    fails(server, "42703", 'no column "nothing" in', "SELECT * FROM popfib.records('records') AS r(record integer, nothing text)", hint=f"There are {there}.")
    for column, type_, right in ("asn", "integer", "bigint"), ("id", "bigint", "numeric"), ("id", "numeric(20,1)", "numeric"), ("tags", "bigint[]", "text[]"), ("up", "text[]", "boolean"):
        fails(server, "42804", f'column "{column}" of table "records" is {re.escape(right)}, not ', f"SELECT * FROM popfib.records('records') AS r(record integer, {column} {type_})",
              hint=f"Declare it as {right} or text.")
    for first in "asn bigint", "record bigint", "record text":
        fails(server, "42804", "the first column of popfib.records is the number", f"SELECT * FROM popfib.records('records') AS r({first})", hint='Begin with "record integer".')
    fails(server, "42601", "a column definition list is required", "SELECT * FROM popfib.records('records')")
    fails(server, "0A000", "materialize mode|set-valued", "SELECT popfib.records('records')")
    fails(server, "22P02", 'value "18446744073709551615" of table "records" is no bigint', "SELECT popfib.lookup_int('records', '10.1.2.3', 'id')")
    fails(server, "22P02", 'value "AT" of table', "SELECT popfib.lookup_int('records', '10.1.2.3', 'country')")
    for call in "lookup_record('nothing', '10.1.2.3')", "columns('nothing')", "create_view('nothing', 'nothing')", "lookup('nothing', '10.1.2.3', 'x')":
        fails(server, "42704", 'no table "nothing"', f"SELECT popfib.{call}")
    # Of an image with several tables, the one of that name is loaded; nothing is lost by an error.
    path = server.files / "records.fib"
    fails(server, "42704", f"{re.escape(str(path))}: an image of several tables, none of which is called \"geo\"", f"SELECT popfib.load('geo', '{path}')",
          hint='Of such an image that table is loaded which has the same name: "records", "country".')
    assert server.sql("SELECT popfib.lookup('records', '10.1.2.3', 'asn')") == [("64500",)]
    server.stop()
    server.start()
    assert server.sql("SELECT popfib.lookup('records', '10.1.2.3', 'id')") == [("18446744073709551615",)]


def test_names_of_columns(server):
    odd = ['we"ird', "new\nline", "a b", "ünï", "select", "Case", "case", "%s%n", "'", "$$", "x" * 63, "y" * 70, "é" * 40, "$1;--"]
    line = {"prefix": "10.0.0.0/8"} | {name: f"value {n}" for n, name in enumerate(odd)}
    path = compile_lines(server, "odd", [line])
    server.sql(f"SELECT popfib.load('odd', '{path}')")
    assert server.sql("SELECT name, type FROM popfib.columns('odd')") == [(name, "text") for name in odd]
    for n, name in enumerate(odd):
        assert server.sql(f"SELECT popfib.lookup('odd', '10.1.2.3', {quote(name)})") == [(f"value {n}",)]
    for address in "10.1.2.3", "9.9.9.9", "::1":
        fails(server, "42703", 'no column "nothing"', f"SELECT popfib.lookup('odd', '{address}', 'nothing')")
        fails(server, "42703", 'no column "nothing"', f"SELECT popfib.lookup_int('odd', '{address}', 'nothing')")
    assert server.sql("SELECT popfib.lookup('odd', '9.9.9.9', 'case'), popfib.lookup_record('odd', '::1')") == [(None, None)]
    server.sql("SELECT popfib.create_view('odd', 'odd \"view\"')")
    [row] = server.sql('SELECT * FROM "odd ""view"""')
    assert row == ("1", *(f"value {n}" for n in range(len(odd))))
    # What the server cuts is found if it is one column's; the column record is asked for under another name of the number.
    names = [name for name, in server.sql("SELECT attname FROM pg_attribute WHERE attrelid = '\"odd \"\"view\"\"\"'::regclass AND attnum > 1 ORDER BY attnum")]
    assert names == [name if len(name.encode()) < 64 else name[: 63 // len(name[:1].encode())] for name in odd]
    path = compile_lines(server, "taken", [{"prefix": "10.0.0.0/8", "record": 7, "z" * 64: 1, "z" * 65: 2}])
    server.sql(f"SELECT popfib.load('taken', '{path}')")
    fails(server, "42701", 'column name "record" specified more than once', "SELECT popfib.create_view('taken', 'taken')")
    assert server.sql(f"SELECT * FROM popfib.records('taken') AS r(n integer, record bigint)") == [("1", "7")]
    assert server.sql(f"SELECT popfib.lookup('taken', '10.1.2.3', repeat('z', 65))") == [("2",)]
    # Characters that the server or the database does not have.
    path = compile_lines(server, "zero", [{"prefix": "10.0.0.0/8", "v": "a\0b", "w": "good"}, {"prefix": "10.1.0.0/16", "v": "ab"}])
    server.sql(f"SELECT popfib.load('zero', '{path}')")
    fails(server, "22P05", "character 0", "SELECT popfib.lookup('zero', '10.9.2.3')")
    fails(server, "22P05", "character 0", "SELECT * FROM popfib.records('zero') AS r(record integer, v text)")
    assert server.sql("SELECT popfib.lookup('zero', '10.9.2.3', 'w'), popfib.lookup('zero', '10.1.2.3', 'v')") == [("good", "ab")]
    server.sql("CREATE DATABASE narrow ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'")
    who = {"database": "narrow"}
    server.sql("CREATE EXTENSION popfib", **who)
    path = compile_lines(server, "far", [{"prefix": "10.0.0.0/8", "grün": ["ä", "ö"], "日本": 1}])
    server.sql(f"SELECT popfib.load('far', '{path}')", **who)
    assert server.sql("SELECT popfib.lookup('far', '10.1.2.3', 'grün'), r.* FROM popfib.records('far') AS r(record integer, grün text[])", **who) == [("{ä,ö}", "1", "{ä,ö}")]
    fails(server, "22P05", "no equivalent", "SELECT * FROM popfib.columns('far')", **who)
    fails(server, "42703", 'no column "blau"', "SELECT popfib.lookup('far', '10.1.2.3', 'blau')", hint='There are "gr??n", "??????".', **who)


def test_images_without_records(server):
    """Images of the C library whose next hops have no names."""
    library = ctypes.CDLL(next(TOP.glob("target/debug/libpopfib_capi.so")))
    config = (ctypes.c_uint64 * 8)(64, 4)
    table = ctypes.c_void_p()
    assert library.popfib_create(config, ctypes.byref(table)) == 0
    assert library.popfib_add(table, bytes([10, 0, 0, 0]), ctypes.c_uint8(8), 77) == 0
    path = server.files / "bare.fib"
    assert library.popfib_image_save(os.fsencode(path), None, table, None) == 0
    library.popfib_free(table)
    path.chmod(0o644)
    server.sql(f"SELECT popfib.load('bare', '{path}')")
    assert server.sql("SELECT popfib.lookup('bare', '10.1.2.3'), popfib.lookup_int('bare', '10.1.2.3') + 1, popfib.lookup_record('bare', '10.1.2.3')") == [("77", "78", "77")]
    assert server.sql("SELECT * FROM popfib.columns('bare'); SELECT * FROM popfib.records('bare') AS r(record integer)") == []
    fails(server, "42703", 'no column "value" in table "bare": it has numbers alone', "SELECT popfib.lookup('bare', '10.1.2.3', 'value')")


def test_records_under_loads(server):
    """Numbers and records of one statement are those of one table, whatever is loaded meanwhile."""
    lines = [{"prefix": f"{n}.0.0.0/8", "k": n, "name": f"n{n}"} for n in range(256)]
    paths = [compile_lines(server, f"order{turn}", lines[:: 1 - 2 * turn]) for turn in range(2)]
    first = []
    for path in paths:
        server.sql(f"SELECT popfib.load('t', '{path}')")
        first += server.sql("SELECT popfib.lookup_record('t', '3.0.0.1')")
    assert first[0] != first[1]
    # The statement takes the numbers, waits until another table is loaded, and then takes the records.
    query = """WITH numbers AS MATERIALIZED (SELECT n, popfib.lookup_record('t', (n || '.0.0.1')::inet) AS number FROM generate_series(0, 255) n),
        waited AS MATERIALIZED (SELECT pg_advisory_lock_shared(43)::text AS done FROM (SELECT sum(number) FROM numbers) s)
        SELECT count(*), count(*) FILTER (WHERE k = n AND name = popfib.lookup('t', (n || '.0.0.1')::inet, 'name')) FROM waited,
        LATERAL popfib.records('t' || done) AS r(record integer, k bigint, name text) JOIN numbers ON record = number;"""
    for path in [*paths, None]:
        holder, asker = server.psql(), server.psql()
        holder.stdin.write("SELECT pg_advisory_lock(43);\n\\echo held\n")
        holder.stdin.flush()
        while holder.stdout.readline() != "held\n":
            pass
        asker.stdin.write(query + "\n")
        asker.stdin.flush()
        end = time.monotonic() + 60
        while server.sql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") == [("0",)]:
            assert time.monotonic() < end, "it does not wait"
        server.sql(f"SELECT popfib.load('t', '{path}')" if path else "SELECT popfib.drop('t')")
        server.finish(holder, "")
        assert server.finish(asker, "") == [("256", "256")], path
    server.sql(f"SELECT popfib.load('t', '{paths[0]}')")
    # Workers could see another table, so they are not asked for numbers.
    server.sql("CREATE TABLE wide AS SELECT '10.0.0.0'::inet + n AS a FROM generate_series(0, 50000) n; ANALYZE wide")
    settings = """SET max_parallel_workers_per_gather = 4; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;"""
    plan = lambda call: "".join(line for line, in server.sql(f"{settings} EXPLAIN SELECT count(*) FROM wide WHERE {call}"))
    assert "Parallel" in plan("popfib.lookup('t', a, 'k') = '10'") and "Parallel" not in plan("popfib.lookup_record('t', a) = 10")


def test_comparison(server):
    """The comparison of all doors: engines/vectors/comparison.py; the second table takes the place of the first."""
    folder = TOP / "target/vectors"
    for version, (file, options) in enumerate([("first.csv", []), ("second.jsonl", ["--mapped"])]):
        path = image(server, "comparison", (folder / file).read_text(encoding="utf-8"), file.rsplit(".")[-1], "--columns", "*", *options)
        server.sql(f"SELECT popfib.load('comparison', '{path}')")
        types = dict(zip(comparison.COLUMNS, ["text", "bigint", "double precision", "boolean", "text[]" if version else "text"]))
        assert server.sql("SELECT * FROM popfib.columns('comparison')") == list(types.items())
        asked = [(text, answer) for text, is_address, answer in comparison.asked(folder, version) if is_address]
        questions = put_file(server, "questions.tsv", "".join(f"{n}\t{text}\n" for n, (text, _) in enumerate(asked)).encode())
        columns = ", ".join(types)
        rows = server.sql(f"""DROP TABLE IF EXISTS c; CREATE TABLE c (id int, a inet); COPY c FROM '{questions}';
            SELECT popfib.lookup_prefix('comparison', a), popfib.lookup('comparison', a, 'name'),
                r.record IS NULL,
                json_build_array({columns}) FROM c LEFT JOIN popfib.records('comparison') AS r({definition(types)})
                ON r.record = popfib.lookup_record('comparison', a) ORDER BY id""")
        assert len(rows) == len(asked)
        for (text, answer), (prefix, name, is_none, found) in zip(asked, rows):
            expected = answer or (None, [None] * 5)
            assert (prefix, name, json.loads(found)) == (expected[0], expected[1][0], expected[1]), text
            assert (is_none == "t") == (answer is None), text
