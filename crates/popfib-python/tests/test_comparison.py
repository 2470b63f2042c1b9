"""The comparison of all doors: engines/vectors/comparison.py."""

import shutil
import sys

import pytest

import popfib
from conftest import TOP

sys.path.append(str(TOP / "engines" / "vectors"))
import comparison  # noqa: E402

FOLDER = TOP / "target" / "vectors"


def check(table, version):
    asked = list(comparison.asked(FOLDER, version))
    texts = [text for text, *_ in asked]
    found = table.lookup_many(texts, columns="*", output="list", invalid="null")
    assert list(found) == comparison.COLUMNS
    expected = [answer[1] if answer else [None] * 5 for *_, answer in asked]
    for n, name in enumerate(comparison.COLUMNS):
        assert found[name] == [values[n] for values in expected], name
        assert {*map(type, found[name])} == {type(values[n]) for values in expected}, name
    prefixes = table.lookup_many(texts, output="prefixes", invalid="null")
    assert list(prefixes) == [answer and answer[0] for *_, answer in asked]
    for text, is_address, answer in asked[::37]:
        if is_address:
            assert table.record(text) == (answer and dict(zip(comparison.COLUMNS, answer[1]))), text


@pytest.mark.filterwarnings("ignore:.*routes")
def test_the_table_of_all_doors(tmp_path):
    path = tmp_path / "t.csv"
    shutil.copy(FOLDER / "first.csv", path)
    check(popfib.load(path, columns="*"), 0)
    mapped = popfib.load(FOLDER / "second.jsonl", columns="*", mapped=True)
    mapped.save(tmp_path / "t.fib")
    with popfib.Watcher(path, columns="*") as watcher:
        # The same format, and an image.
        shutil.copy(FOLDER / "second.jsonl", tmp_path / "next")
        (tmp_path / "next").rename(path)
        watcher.reload()
        assert watcher.current.schema["tags"] == "list of texts"
        (tmp_path / "t.fib").rename(path)
        watcher.reload()
        check(watcher.current, 1)
