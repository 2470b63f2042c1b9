"""Files, by DuckDB's own file systems: for versions whose C API has them."""

import gzip

from conftest import ROUTES, connect, fails, one


def test_files(tmp_path):
    with connect() as db:
        file = tmp_path / "it's a table.txt"
        file.write_text(ROUTES)
        name = str(file).replace("'", "''")
        assert one(db, f"CALL popfib_table('t', '{name}')")[:3] == ("t", 2, 1)
        zipped = tmp_path / "routes.gz"
        zipped.write_bytes(gzip.compress(ROUTES.encode()))
        assert one(db, f"CALL popfib_table('zipped', '{zipped}')")[:3] == ("zipped", 2, 1)
        fails(db, f"CALL popfib_table('t', '{tmp_path}/nothing')", "nothing", "No such file")
        fails(db, f"CALL popfib_table('t', '{tmp_path}')", "irectory")
        bad = tmp_path / "bad.txt"
        bad.write_text("10.0.0.0/8 a\nnonsense\n")
        fails(db, f"CALL popfib_table('t', '{bad}')", "bad.txt:2", "nonsense")
        # What failed left the table as it was; so does a file that changes or goes.
        file.write_text("")
        file.unlink()
        assert one(db, "SELECT lpm('t', '10.0.0.1')") == ("inside",)
        # Bound and explained, but not run: nothing is made.
        db.execute(f"EXPLAIN FROM popfib_table('explained', '{zipped}')")
        fails(db, "SELECT lpm('explained', '10.0.0.1')", "there is no table")


def test_columns_of_a_file(tmp_path):
    with connect() as db:
        file = tmp_path / "t.csv"
        file.write_text("network,asn,city\n10.0.0.0/8,64500,Berlin\n11.0.0.0/8,64501,Graz\n")
        note = one(db, f"SELECT notes FROM popfib_table('t', '{file}')")[0]
        assert note == "column \"asn\" is read, not \"city\"; `columns := '*'` reads all"
        fails(db, "SELECT lpm('t', '10.0.0.1', 'city')", "`columns := '*'` keeps all when a file is loaded")
        columns = "SELECT notes, columns FROM popfib_table('t', {}, columns := '*')"
        of_file = one(db, columns.format(f"'{file}'"))
        db.execute(f"SET VARIABLE f = (SELECT content FROM read_blob('{file}'))")
        assert of_file == one(db, columns.format("getvariable('f')"))
        assert of_file == (None, [{"name": "asn", "type": "BIGINT"}, {"name": "city", "type": "VARCHAR"}])
        assert one(db, "SELECT lpm('t', '10.0.0.1', 'city')") == ("Berlin",)


def test_the_settings_for_files(tmp_path):
    file, other = tmp_path / "open" / "routes.txt", tmp_path / "routes.txt"
    file.parent.mkdir()
    file.write_text(ROUTES)
    other.write_text(ROUTES)
    with connect() as db:
        db.execute(f"SET allowed_directories = ['{file.parent}/']")
        db.execute("SET enable_external_access = false")
        fails(db, f"CALL popfib_table('t', '{other}')", "disabled by configuration")
        assert one(db, f"CALL popfib_table('t', '{file}')")[:3] == ("t", 2, 1)
        # The built-in table is no file.
        assert one(db, "CALL popfib_table('asn', 'default')")[0] == "asn"
