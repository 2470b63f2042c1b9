"""How docs/sql.md loads the extension, its statements, and what it says they give."""

import re

import duckdb

from conftest import EXTENSION, TOP, connect

GUIDE = (TOP / "docs" / "sql.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.M | re.S)


def test_the_load():
    [load] = blocks("python")
    names = {"duckdb": duckdb}
    exec(load.replace("/path/popfib.duckdb_extension", str(EXTENSION)), names)
    assert names["connection"].execute("FROM popfib_tables()").fetchall() == []


def test_the_guide(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "routes.txt").write_text(*blocks("text"))
    (tmp_path / "engines").symlink_to(TOP / "engines")
    statements = 0
    with connect() as db:
        for block in blocks("sql"):
            for statement, shown in re.findall(r"^(?!-- )([^;]*;)\n((?:-- [^\n]*\n)*)", block, re.M):
                rows = db.execute(statement).fetchall()
                statements += 1
                if shown:
                    assert "".join(f"-- {row}\n" for row in rows) == shown, statement
    assert statements == len(re.findall(";$", "".join(blocks("sql")), re.M))
