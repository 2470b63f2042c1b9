"""A database with the extension: the file that POPFIB_EXTENSION names, or popfib.duckdb_extension here."""

import importlib.util
import json
import os
import pathlib

import duckdb
import pytest

TOP = pathlib.Path(__file__).parents[3]
EXTENSION = pathlib.Path(os.environ.get("POPFIB_EXTENSION", "popfib.duckdb_extension")).resolve()
VECTORS = json.loads((TOP / "target" / "vectors" / "vectors.json").read_text(encoding="utf-8"))
VERSION = tuple(int(number) for number in duckdb.__version__.split(".")[:3])
# From here on the C API lets extensions open files.
HAS_FILES = VERSION >= (1, 5, 6)
ROUTES = "10.0.0.0/8 inside\n10.1.0.0/16 a-value-of-more-than-twelve-bytes\n2001:db8::/32 documentation\n"

collect_ignore = ["test_older.py"] if HAS_FILES else ["test_files.py", "test_guide.py"]
if importlib.util.find_spec("duckdb_extension_inet") is None:
    collect_ignore.append("test_inet.py")


def connect(database=":memory:", **config):
    connection = duckdb.connect(database, config={"allow_unsigned_extensions": "true", **config})
    connection.execute(f"LOAD '{EXTENSION}'")
    return connection


@pytest.fixture
def db():
    with connect() as connection:
        yield connection


def make(db, name, content, options=""):
    """A table of the contents of a file, which every version takes."""
    content = content if isinstance(content, bytes) else content.encode()
    db.execute("CREATE OR REPLACE TEMP TABLE popfib_content AS SELECT $1::BLOB AS content", [content])
    db.execute("SET VARIABLE popfib_content = (SELECT content FROM popfib_content)")
    return db.execute(f"FROM popfib_table('{name}', getvariable('popfib_content'){options})").fetchone()


def as_text(routes):
    return "".join(f"{prefix} {value}\n" for prefix, value in routes)


def one(db, sql, parameters=()):
    return db.execute(sql, list(parameters)).fetchone()


def fails(db, sql, *words):
    with pytest.raises(duckdb.Error) as caught:
        db.execute(sql).fetchall()
    for word in words:
        assert word in str(caught.value)
    # The connection goes on.
    assert one(db, "SELECT 1") == (1,)
