"""The answers that every engine gives, of each type of column."""

import ipaddress

import pytest

from conftest import VECTORS, as_text, make

# The forms of an address: for a family, the type of the column, and SQL that makes it of text and bytes.
FORMS = {
    "VARCHAR": (None, "text"),
    "BLOB": (None, "unhex(hex)"),
    "UINTEGER": (4, "number::UINTEGER"),
    "BIGINT": (4, "number::BIGINT"),
    "UBIGINT": (4, "number::UBIGINT"),
    "UHUGEINT": (6, "number::UHUGEINT"),
    # The structure that the type INET is.
    "INET": (None, "CASE WHEN family IS NOT NULL THEN {'ip_type': (family / 2 - 1)::UTINYINT, 'address': signed, 'mask': 32::USMALLINT} END"),
}


@pytest.fixture(params=VECTORS["tables"])
def asked(request, db):
    """A table, and its questions as a table `q` with the rows that are expected."""
    routes, questions = VECTORS["tables"][request.param].values()
    # A list is one without values; elsewhere a value is one word.
    make(db, request.param, as_text(routes))
    db.execute("CREATE TABLE q (id INTEGER, text VARCHAR, hex VARCHAR, family INTEGER, number UHUGEINT, signed HUGEINT)")
    rows = []
    for n, (text, packed, _) in enumerate(questions):
        family, number = (4 if len(packed) == 8 else 6), int(packed, 16)
        # INET keeps IPv6 so that it sorts as a signed number.
        rows.append([n, text, packed, family, number, number - (1 << 127 if family == 6 else 0)])
    # Nulls among them, so that both ways through a column are gone.
    rows += [[len(rows) + n] + [None] * 5 for n in range(3)]
    values = ("(" + ",".join("NULL" if cell is None else f"'{cell}'" for cell in row) + ")" for row in rows)
    db.execute(f"INSERT INTO q VALUES {','.join(values)}")
    covering = [[tuple(routes[n]) for n in found] for *_, found in questions] + [[]] * 3
    return db, request.param, covering


@pytest.mark.parametrize("form", FORMS)
def test_forms(asked, form):
    db, name, covering = asked
    family, column = FORMS[form]
    # Casts of numbers that don't fit are errors, though the row is left out: the column is made first.
    where = f"family = {family} OR family IS NULL" if family else "true"
    db.execute(f"CREATE TABLE a AS SELECT id, {column} AS address FROM (FROM q WHERE {where})")
    sql = f"SELECT id, lpm('{name}', address), lpm_prefix('{name}', address), lpm_all('{name}', address) FROM a ORDER BY id"
    rows = db.execute(sql).fetchall()
    assert len(rows) > 20
    for n, value, prefix, routes in rows:
        expected = covering[n]
        assert (prefix, value) == (expected[-1] if expected else (None, None)), n
        assert [(route["prefix"], route["value"]) for route in routes or []] == expected, n


def test_integers(db):
    routes, questions = VECTORS["tables"]["numbers"].values()
    make(db, "t", as_text(routes))
    for text, _, covering in questions:
        expected = int(routes[covering[-1]][1]) if covering else None
        assert db.execute("SELECT lpm_int('t', $1)", [text]).fetchone() == (expected,), text


def test_what_is_no_address(db):
    make(db, "t", "0.0.0.0/0 any\n::/0 any\n")
    for text in VECTORS["invalid"]:
        assert db.execute("SELECT lpm('t', $1), lpm_prefix('t', $1), lpm_all('t', $1)", [text]).fetchone() == (None,) * 3, text
        with pytest.raises(Exception, match="is no address"):
            db.execute("SELECT lpm('t', $1, 'value', 'error')", [text])


def test_the_oracle():
    for table in VECTORS["tables"].values():
        networks = [ipaddress.ip_network(prefix) for prefix, _ in table["routes"]]
        for text, packed, covering in table["questions"][::17]:
            address = ipaddress.ip_address(bytes.fromhex(packed))
            assert address == ipaddress.ip_address(text)
            assert {n for n, network in enumerate(networks) if address in network} == set(covering)
