"""The page of a table, its answers in a browser beside the table's, and what a notebook shows."""

from __future__ import annotations

import base64
import html.parser
import json
import os
import pathlib
import random
import shutil
import stat
import subprocess
import time
import webbrowser

import popfib
import pytest
from conftest import TOP, probes, random_prefix, rss

MARKUP = "<img src=x onerror=alert(1)>&\"'</script></table>"


@pytest.fixture(scope="session")
def answers():
    """What a page answers for addresses, by the browser of scripts/test-explore."""
    names = "chromium", "chromium-browser", "google-chrome"
    chromium = next(filter(None, map(shutil.which, names)), None)
    if not chromium or not shutil.which("node"):
        pytest.skip("the page of a table in a browser: no Chromium or Node")
    script = TOP / "crates/popfib-explore/tests/answers.js"

    def ask(page, addresses):
        done = subprocess.run(
            ["node", script, page],
            input="\n".join(addresses),
            env={**os.environ, "CHROMIUM": chromium},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return ask


def test_answers_of_the_page_are_those_of_the_table(answers, tmp_path):
    rng = random.Random(51)
    values = ["east", 64500, None, 1.5, {"site": "west"}, MARKUP, "", True]
    table = popfib.Table({random_prefix(rng, rng.choice([4, 6])): rng.choice(values) for _ in range(300)})
    # A route that no address shows, as longer ones take all of it.
    table.update({"10.0.0.0/24": "hidden", "10.0.0.0/25": "low", "10.0.0.128/25": "high"})
    page = table.explore(tmp_path / "random.html")
    assert page == str(tmp_path / "random.html")
    asked = probes(rng, list(table), 2000)
    found = [table.longest_match(address) for address in asked]
    assert answers(page, asked) == [[match[0], str(match[1])] if match else ["-", "-"] for match in found]
    text = pathlib.Path(page).read_text()
    assert MARKUP not in text and "<title>" in text


def test_a_page_has_all_columns_of_an_image(answers, tmp_path):
    rows = [
        '{"network": "10.0.0.0/8", "asn": 64500, "tags": ["a", "b"], "geo": {"country": "DE"}}',
        '{"network": "10.1.0.0/16", "asn": 64501}',
        '{"network": "2001:db8::/32", "geo": {"country": "<b>FR</b>"}}',
    ]
    (tmp_path / "rows.json").write_text("\n".join(rows))
    popfib.join({"t": tmp_path / "rows.json"}, tmp_path / "rows.fib")
    table = popfib.open(tmp_path / "rows.fib")
    page = table.explore(tmp_path / "rows.html")
    asked = ["10.0.0.1", "10.1.0.1", "2001:db8::1", "192.0.2.1"]
    assert list(table.columns) == ["t.asn", "t.tags", "t.geo.country"]
    assert answers(page, asked) == [
        ["10.0.0.0/8", "64500", "a,b", "DE"],
        ["10.1.0.0/16", "64501", "-", "-"],
        ["2001:db8::/32", "-", "-", "<b>FR</b>"],
        ["-", "-", "-", "-"],
    ]
    # Changed, it has one column.
    table["10.2.0.0/16"] = "new"
    table.explore(tmp_path / "changed.html")
    assert "<td>value</td><td>object</td>" in table._repr_html_()


def test_a_list_has_no_values(answers, tmp_path):
    (tmp_path / "blocked.txt").write_text("10.0.0.0/8\n")
    page = popfib.load(tmp_path / "blocked.txt").explore(tmp_path / "blocked.html")
    assert answers(page, ["10.0.0.1"]) == [["10.0.0.0/8", ""]]
    page = popfib.Table().explore(tmp_path / "empty.html")
    assert pathlib.Path(page).stat().st_size > 50_000


def test_without_a_path_the_browser_opens_it(monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) or True)
    path = popfib.Table({"10.0.0.0/8": "a"}).explore()
    assert opened == [pathlib.Path(path).as_uri()] and pathlib.Path(path).parent == tmp_path
    assert path.endswith(".html") and pathlib.Path(path).read_text().startswith("<!doctype html>")
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    monkeypatch.setattr(webbrowser, "open", lambda url: False)
    with pytest.warns(UserWarning, match="no browser was found to open /"):
        path = popfib.Table().explore()
    assert os.path.exists(path)


def test_errors(tmp_path):
    table = popfib.Table({"10.0.0.0/8": "a"})
    with pytest.raises(FileNotFoundError) as error:
        table.explore(tmp_path / "none" / "page.html")
    assert error.value.filename == str(tmp_path / "none" / "page.html")
    with pytest.raises(IsADirectoryError):
        table.explore(tmp_path)
    with pytest.raises(TypeError):
        table.explore(5)

    class Odd:
        def __str__(self):
            raise ArithmeticError

    old = tmp_path / "page.html"
    old.write_text("old")
    table["10.1.0.0/16"] = Odd()
    for path in [old, None]:
        with pytest.raises(ArithmeticError):
            table.explore(path)
    with pytest.raises(ArithmeticError):
        table._repr_html_()
    table.close()
    with pytest.raises(ValueError, match="the table is closed"):
        table.explore(old)
    assert table._repr_html_() is None
    if pathlib.Path("/dev/full").exists():
        with pytest.raises(OSError, match="No space left"):
            popfib.Table().explore("/dev/full")
    # What failed left nothing behind, and the old file as it was.
    assert old.read_text() == "old" and os.listdir(tmp_path) == ["page.html"]


class Reader(html.parser.HTMLParser):
    """The texts of cells, and whether each tag is closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.rows, self.images = [], [], []

    def handle_starttag(self, tag, attributes):
        if tag == "img":
            self.images.append(dict(attributes))
            return
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data


def read(table):
    reader = Reader()
    reader.feed(table._repr_html_())
    reader.close()
    assert reader.open == []
    return reader


def test_what_a_notebook_shows():
    class Mine(popfib.Table):
        pass

    table = Mine({"0.0.0.0/2": MARKUP, "1.0.0.0/8": "x" * 99, "10.0.0.0/16": 7, "200.1.1.0/24": 8, "::/0": "six"})
    shown = read(table)
    assert shown.rows == [
        ["family", "routes", "prefix lengths"],
        ["IPv4", "4", "/2 to /24"],
        ["IPv6", "1", "/0 to /0"],
        ["column", "type", "different values"],
        ["value", "object", "5"],
        ["colour", "value", "share of the map"],
        ["■", MARKUP[:40] + "…", f"{100 * (64 * 256 - 257) / 65536:.2f} %"],
        ["■", "x" * 40 + "…", "0.39 %"],
        ["■", "7", "< 0.01 %"],
        ["■", "8", "< 0.01 %"],
    ]
    [image] = shown.images
    start = "data:image/png;base64,"
    assert image["src"].startswith(start) and "Map of IPv4" in image["alt"]
    assert base64.b64decode(image["src"][len(start) :]).startswith(b"\x89PNG")
    assert "Mine</strong>, " in table._repr_html_() and "<img src=x" not in table._repr_html_()
    empty = read(popfib.Table({"::1": "host"}))
    assert empty.images == [] and empty.rows[1] == ["IPv4", "0", ""]


def test_a_notebook_shows_the_columns_of_an_image(tmp_path):
    columns = ", ".join(f'"c{n}": {n}' for n in range(30))
    (tmp_path / "rows.json").write_text(f'{{"network": "10.0.0.0/8", {columns}}}\n')
    popfib.join({"t": tmp_path / "rows.json"}, tmp_path / "rows.fib")
    table = popfib.open(tmp_path / "rows.fib")
    rows = read(table).rows
    assert rows[4] == ["t.c0", "integer", "1"] and len(rows) == 1 + 2 + 1 + 20 + 2
    assert "<p>and 10 more columns</p>" in table._repr_html_()


@pytest.mark.heavy
def test_a_large_table_takes_little(tmp_path):
    table = popfib.default_table(columns="as_name")
    start = time.process_time()
    shown = table._repr_html_()
    assert time.process_time() - start < 2 and len(shown) < 50_000
    before = rss()
    start = time.process_time()
    page = table.explore(tmp_path / "page.html")
    assert time.process_time() - start < 20 and os.path.getsize(page) < 9e6
    assert rss() - before < 100e6
