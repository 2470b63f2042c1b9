"""The extension inside of real DuckDBs."""

import gzip
import json
import os
import pathlib
import re
import subprocess
import threading

import duckdb
import pytest

from conftest import EXTENSION, ROUTES, TOP, connect, fails, make, one

def image(folder, *options):
    """An image of ROUTES, by the command."""
    for profile in "debug", "release":
        command = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", TOP / "target")) / profile / "popfib"
        if command.exists():
            break
    else:
        pytest.skip("images in DuckDB: the command popfib is not built")
    (folder / "routes.txt").write_text(ROUTES)
    made = folder / "routes.fib"
    subprocess.run([command, "compile", "--table", folder / "routes.txt", "-o", made, *options], check=True)
    return made


def test_what_a_table_says_of_itself(db):
    value = [{"name": "value", "type": "VARCHAR"}]
    assert make(db, "t", ROUTES) == ("t", 2, 1, 0, 0, None, value)
    assert make(db, "t", ROUTES + "10.0.0.0/8 other\n") == ("t", 2, 1, 1, 0, None, value)
    assert make(db, "t", ROUTES + "nonsense\n", ", skip_invalid := true")[4] == 1
    assert make(db, "t", "10.0.0.1/8 x\n", ", mask := true")[1] == 1
    assert one(db, "SELECT lpm('t', '10.9.9.9')") == ("x",)


def test_the_built_in_table(db):
    assert db.execute("CALL popfib_table('asn', 'default')").fetchone()[:3] == ("asn", 901899, 160147)
    assert one(db, "SELECT lpm('asn', '8.8.8.8'), lpm_int('asn', '8.8.8.8'), lpm_prefix('asn', '8.8.8.8')") == ("15169", 15169, "8.8.8.0/24")
    counts = "SELECT count(*), count(DISTINCT prefix), bool_and(lpm_int('asn', split_part(prefix, '/', 1)) >= 0) FROM popfib_routes('asn')"
    assert one(db, counts) == (901899 + 160147, 901899 + 160147, True)
    columns = db.execute("CALL popfib_table('asn', 'default', columns := '*')").fetchone()[6]
    assert columns == [{"name": "asn", "type": "BIGINT"}, {"name": "as_name", "type": "VARCHAR"}]
    assert one(db, "SELECT lpm('asn', '8.8.8.8', 'as_name'), lpm_int('asn', '8.8.8.8')") == ("Google LLC", 15169)
    fails(db, "CALL popfib_table('asn', 'default', columns := 'name')", 'no column "name" in "asn", "as_name"')


def test_options(db):
    records = "\n".join(json.dumps({"network": f"10.{n}.0.0/16", "country": {"iso_code": code}, "city": "x"}) for n, code in enumerate(("AT", "CH")))
    make(db, "t", records, ", format := 'json-lines', columns := 'country.iso_code'")
    assert one(db, "SELECT lpm('t', '10.1.0.1')") == ("CH",)
    for columns, names in {"'*'": ["country.iso_code", "city"], "['city', 'country.iso_code']": ["city", "country.iso_code"], "['city']": ["city"]}.items():
        said = make(db, "t", records, f", columns := {columns}")
        assert [column["name"] for column in said[6]] == names
    for wrong in "[]", "1", "[NULL, 'city']":
        fails(db, f"CALL popfib_table('t', getvariable('popfib_content'), columns := {wrong})", "columns: a name, a list of names, or '*' for all")
    fails(db, "CALL popfib_table('t', getvariable('popfib_content'), columns := 'town')", 'no column "town" in "country.iso_code", "city"')
    make(db, "t", records, ", columns := NULL")
    fails(db, "CALL popfib_table('t', getvariable('popfib_content'), format := 'nonsense')", "format: ", "text")
    fails(db, "CALL popfib_table('t', getvariable('popfib_content'), value := 'nonsense')", "value: ")
    fails(db, "CALL popfib_table('t', getvariable('popfib_content'), peer := 'nonsense')", "peer: ")
    fails(db, "CALL popfib_table('t', getvariable('popfib_content'), no_option := 1)", "no_option")


def test_wrong_calls(db):
    make(db, "t", ROUTES)
    fails(db, "SELECT lpm('nobody', '10.0.0.1')", "there is no table 'nobody'", "popfib_table")
    fails(db, "SELECT lpm('t', 1.5)", "holds no addresses")
    fails(db, "SELECT lpm('t', {'a': 1})", "INET")
    fails(db, "SELECT lpm('t', '10.0.0.1', 'perhaps')", "table 't': no column \"perhaps\" in \"value\"")
    fails(db, "SELECT lpm('t', '10.0.0.1', 'value', 'perhaps')", "'null' or 'error'")
    fails(db, "SELECT lpm_prefix('t', '10.0.0.1', 'perhaps')", "'null' or 'error'")
    fails(db, "SELECT lpm('t', x, 'value', y) FROM (VALUES ('10.0.0.1', NULL::VARCHAR)) v(x, y)", "'null' or 'error'")
    fails(db, "SELECT lpm_int('t', '10.0.0.1')", "table 't': the value 'inside' is no integer")
    fails(db, "SELECT lpm('t')", "lpm")
    fails(db, "CALL popfib_table(NULL, getvariable('popfib_content'))", "NULL")
    fails(db, "CALL popfib_table('t', NULL)", "NULL")
    fails(db, "SELECT lpm('t', -1, 'value', 'error')", "no address")
    fails(db, "SELECT lpm_record('t', 4294967296, 'error')", "no address")
    fails(db, r"SELECT lpm('t', '\x01\x02'::BLOB, 'value', 'error')", "4 bytes nor 16")
    assert one(db, "SELECT lpm('t', -1), lpm('t', 4294967296), lpm('t', (-1)::HUGEINT)") == (None, None, None)


def test_bad_contents(db):
    for content, *words in [
        ("", "no route"),
        ("10.0.0.0/8 a\nnonsense\n", "BLOB:2", "nonsense"),
        (b"\0" * 100, "BLOB"),
        (gzip.compress(ROUTES.encode())[:-9], "BLOB"),
    ]:
        with pytest.raises(duckdb.Error) as caught:
            make(db, "bad", content)
        for word in words:
            assert word in str(caught.value)
    fails(db, "SELECT lpm('bad', '10.0.0.1')", "there is no table")


def test_nulls(db):
    make(db, "t", ROUTES)
    assert one(db, "SELECT lpm('t', NULL), lpm(NULL, '10.0.0.1'), lpm_prefix('t', NULL), lpm_all('t', NULL::UINTEGER), lpm_int(NULL, NULL)") == (None,) * 5
    # Constant, flat and of many chunks; nulls in every place.
    sql = """SELECT count(*) FILTER (n % 3 = 0 AND v IS NOT NULL), count(*) FILTER (n % 3 <> 0 AND v IS DISTINCT FROM 'inside')
             FROM (SELECT n, lpm('t', CASE WHEN n % 3 <> 0 THEN 167772160::UINTEGER + (n % 256)::UINTEGER END) AS v FROM range(10000) r(n))"""
    assert one(db, sql) == (0, 0)
    assert db.execute("SELECT lpm('t', NULL) FROM range(3)").fetchall() == [(None,)] * 3


def test_long_and_short_texts(db):
    """More rows than a chunk, of values of all lengths: the long ones are copied once for a chunk."""
    lengths = list(range(1, 40)) + [1000, 4000]
    make(db, "t", "".join(f"10.{n}.0.0/16 {chr(97 + n % 26) * length}\n" for n, length in enumerate(lengths)))
    rows = db.execute(f"SELECT n % {len(lengths)}, lpm('t', '10.' || (n % {len(lengths)}) || '.1.1') FROM range(20000) r(n)").fetchall()
    assert len(rows) == 20000
    assert all(value == chr(97 + n % 26) * lengths[n] for n, value in rows)
    # More different long values than a chunk keeps.
    make(db, "many", "".join(f"10.{n >> 8}.{n & 255}.0/24 a-long-value-number-{n}\n" for n in range(5000)))
    wrong = "SELECT count(*) FROM range(50000) r(n) WHERE lpm('many', (167772160 + (n % 5000) * 256)::UINTEGER) IS DISTINCT FROM 'a-long-value-number-' || (n % 5000)"
    assert one(db, wrong) == (0,)


def test_both_families_in_a_column(db):
    make(db, "t", ROUTES)
    sql = "SELECT count(*) FROM range(30000) r(n) WHERE lpm('t', CASE n % 4 WHEN 0 THEN '10.0.0.' || (n % 256) WHEN 1 THEN '2001:db8::' || (n % 1000) WHEN 2 THEN 'x' END) IS DISTINCT FROM CASE n % 4 WHEN 0 THEN 'inside' WHEN 1 THEN 'documentation' END"
    assert one(db, sql) == (0,)


def test_a_column_of_names(db):
    make(db, "t", ROUTES)
    make(db, "u", "10.0.0.0/8 other\n")
    make(db, "a-table-with-a-longer-name", "0.0.0.0/0 third\n")
    names = "CASE n % 4 WHEN 0 THEN 't' WHEN 1 THEN 'u' WHEN 2 THEN 'a-table-with-a-longer-name' END"
    expected = "CASE n % 4 WHEN 0 THEN 'inside' WHEN 1 THEN 'other' WHEN 2 THEN 'third' END"
    assert one(db, f"SELECT count(*) FROM range(10000) r(n) WHERE lpm({names}, '10.0.0.1') IS DISTINCT FROM {expected}") == (0,)
    lists = f"SELECT count(*) FROM range(10000) r(n) WHERE lpm_all({names}, '10.0.0.1')[1].value IS DISTINCT FROM {expected}"
    assert one(db, lists) == (0,)
    fails(db, "SELECT lpm(CASE n WHEN 7 THEN 'nobody' ELSE 't' END, '10.0.0.1') FROM range(9) r(n)", "nobody")


def test_prepared_statements_see_new_tables(db):
    make(db, "t", "10.0.0.0/8 old\n")
    db.execute("CREATE TABLE a AS SELECT '10.0.0.1' AS src")
    db.execute("PREPARE q AS SELECT lpm('t', src) FROM a")
    assert one(db, "EXECUTE q") == ("old",)
    make(db, "t", "10.0.0.0/8 new\n")
    assert one(db, "EXECUTE q") == ("new",)


def test_tables_change_under_queries():
    """Four threads ask while tables are made and dropped: each answer is of one of them, or an error of DuckDB's."""
    db = connect(threads="2")
    old, new = ("".join(f"10.{n}.0.0/16 {word}-{n}\n" for n in range(256)) for word in ("old", "a-much-longer-new-word"))
    make(db, "t", old)
    wrong, done, answers = [], threading.Event(), []

    def ask():
        cursor = db.cursor()
        sql = "SELECT count(*), count(*) FILTER (v IN ('old-' || m, 'a-much-longer-new-word-' || m) AND w IN ('old-' || m, 'a-much-longer-new-word-' || m)) FROM (SELECT n % 256 AS m, lpm('t', x) AS v, lpm('t', x, 'value') AS w FROM (SELECT n, (167772160 + (n % 256) * 65536)::UINTEGER AS x FROM range(200000) r(n)))"
        while not done.is_set():
            try:
                count, good = cursor.execute(sql).fetchone()
                answers.append(count)
                if count != good:
                    wrong.append((count, good))
            except duckdb.Error as error:
                if "there is no table 't'" not in str(error):
                    wrong.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for n in range(60):
        make(db, "t", (old, new)[n % 2])
        if n % 10 == 9:
            assert one(db, "CALL popfib_drop('t')") == (True,)
    make(db, "t", old)
    while len(answers) < 8 and not wrong:
        done.wait(0.01)
    done.set()
    for thread in threads:
        thread.join()
    assert not wrong
    db.close()


def test_drop(db):
    make(db, "t", ROUTES)
    assert one(db, "CALL popfib_drop('t')") == (True,)
    assert one(db, "CALL popfib_drop('t')") == (False,)
    fails(db, "SELECT lpm('t', '10.0.0.1')", "there is no table 't'")


def test_which_tables_there_are(db):
    assert db.execute("FROM popfib_tables()").fetchall() == []
    # More than a chunk, and what popfib_table said of each.
    said = [make(db, f"many-{n:04}", "10.0.0.0/8 x\n") for n in range(2500)]
    said.append(make(db, "t", ROUTES + "10.0.0.0/8 other\nnonsense\n", ", skip_invalid := true"))
    assert said[-1][1:5] == (2, 1, 1, 1)
    assert db.execute("FROM popfib_tables()").fetchall() == said
    assert one(db, "SELECT sum(ipv4_routes) FROM popfib_tables() WHERE name LIKE 'many-%'") == (2500,)
    db.execute("CALL popfib_drop('t')")
    assert one(db, "SELECT count(*) FROM popfib_tables()") == (2500,)
    fails(db, "FROM popfib_tables(1)", "popfib_tables")


def test_the_hint_is_a_statement(db, tmp_path):
    """What is said of an unknown name can be copied, whatever the name."""
    for name in ["t", "it's", "''", 'a"b', "two words", "x'; DROP TABLE flows; --"]:
        literal = "'" + name.replace("'", "''") + "'"
        with pytest.raises(duckdb.Error) as caught:
            one(db, f"SELECT lpm({literal}, '10.0.0.1')")
        [hint] = re.findall(r": (CALL .*) makes it", str(caught.value))
        db.execute("SET VARIABLE content = '10.0.0.0/8 inside'::BLOB")
        db.execute(hint.replace("'FILE'", "getvariable('content')"))
        assert one(db, f"SELECT lpm({literal}, '10.0.0.1')") == ("inside",)


def test_databases_have_tables_of_their_own(tmp_path):
    with connect() as one_db, connect() as other:
        make(one_db, "t", ROUTES)
        fails(other, "SELECT lpm('t', '10.0.0.1')", "there is no table 't'")
    # A database that is closed is closed: its file can be opened otherwise.
    file = str(tmp_path / "file.db")
    with connect(file) as db:
        make(db, "t", ROUTES)
        db.execute("CREATE TABLE x AS SELECT lpm('t', '10.0.0.1') AS y")
    with connect(file, access_mode="read_only") as db:
        assert one(db, "FROM x") == ("inside",)


def test_routes(db):
    make(db, "t", ROUTES)
    routes = [tuple(line.split()) for line in ROUTES.splitlines()]
    assert db.execute("FROM popfib_routes('t')").fetchall() == routes
    many = "".join(f"10.{n >> 8}.{n & 255}.0/24 {n}\n" for n in range(9000))
    make(db, "t", many)
    assert one(db, "SELECT count(*), sum(value::INTEGER), count(DISTINCT prefix) FROM popfib_routes('t')") == (9000, 8999 * 4500, 9000)
    fails(db, "FROM popfib_routes('nobody')", "there is no table 'nobody'")


def test_parts_of_a_query(db):
    """Filters, groups, joins and limits, with more than one thread."""
    make(db, "t", ROUTES)
    db.execute("SET threads = 2")
    db.execute("CREATE TABLE flows AS SELECT '10.' || (n % 4) || '.0.1' AS src, n FROM range(100000) r(n)")
    grouped = db.execute("SELECT lpm('t', src) AS v, count(*) FROM flows GROUP BY v ORDER BY v").fetchall()
    assert grouped == [("a-value-of-more-than-twelve-bytes", 25000), ("inside", 75000)]
    assert one(db, "SELECT count(*) FROM flows WHERE lpm_prefix('t', src) = '10.1.0.0/16'") == (25000,)
    assert one(db, "SELECT count(*) FROM flows JOIN popfib_routes('t') ON prefix = lpm_prefix('t', src)") == (100000,)
    assert len(db.execute("SELECT lpm('t', src) FROM flows ORDER BY n LIMIT 7").fetchall()) == 7


def test_images(db, tmp_path):
    content = image(tmp_path).read_bytes()
    assert make(db, "t", content)[:3] == ("t", 2, 1)
    assert one(db, "SELECT lpm('t', '10.1.0.1'), lpm_prefix('t', '10.1.0.1')") == ("a-value-of-more-than-twelve-bytes", "10.1.0.0/16")
    assert len(one(db, "SELECT lpm_all('t', '10.1.0.1')")[0]) == 2
    make(db, "zipped", gzip.compress(content))
    assert one(db, "SELECT lpm('zipped', '2001:db8::1')") == ("documentation",)
    for length in 8, 100, len(content) // 2, len(content) - 1:
        with pytest.raises(duckdb.Error):
            make(db, "bad", content[:length])
    for place in range(0, len(content), 97):
        damaged = bytearray(content)
        damaged[place] ^= 0x41
        with pytest.raises(duckdb.Error):
            make(db, "bad", bytes(damaged))
    without = image(tmp_path, "--keep=values").read_bytes()
    make(db, "bare", without)
    assert one(db, "SELECT lpm('bare', '10.1.0.1')") == ("a-value-of-more-than-twelve-bytes",)
    fails(db, "SELECT lpm_prefix('bare', '10.1.0.1')", "table 'bare'", "without its routes")
    fails(db, "SELECT lpm_all('bare', '10.1.0.1')", "without its routes")
    fails(db, "FROM popfib_routes('bare')", "without its routes")


def test_loaded_twice(db):
    make(db, "t", ROUTES)
    db.execute(f"LOAD '{EXTENSION}'")
    assert one(db, "SELECT lpm('t', '10.0.0.1')") == ("inside",)
