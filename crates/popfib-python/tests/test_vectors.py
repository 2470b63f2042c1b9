"""The answers that every engine gives: engines/vectors."""

import json

import pytest

import popfib
from conftest import TOP

VECTORS = json.loads((TOP / "target" / "vectors" / "vectors.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", VECTORS["tables"])
def test_tables(name):
    routes, questions = VECTORS["tables"][name].values()
    table = popfib.Table(map(tuple, routes))
    for text, packed, covering in questions:
        covering = [tuple(routes[n]) for n in covering]
        for key in text, bytes.fromhex(packed), (int(packed, 16), 4 if len(packed) == 8 else 6):
            assert table.longest_match(key) == (covering[-1] if covering else None), key
        assert table.supernets(text) == covering, text
    texts = [text for text, *_ in questions]
    matches = [tuple(routes[covering[-1]]) if covering else None for *_, covering in questions]
    assert table.lookup_many(texts, output="matches") == matches


def test_what_is_no_address():
    table = popfib.Table({"0.0.0.0/0": "any", "::/0": "any"})
    for text in VECTORS["invalid"]:
        assert table.lookup_many([text], output="list", invalid="null") == [None], text
        with pytest.raises(ValueError):
            table.lookup_many([text], output="list")
