"""The type INET itself, where its extension is installed."""

from duckdb_extensions import import_extension

from conftest import ROUTES, connect, make, one


def test_inet():
    import_extension("inet")
    with connect() as db:
        db.execute("LOAD inet")
        make(db, "t", ROUTES)
        addresses = ["10.1.2.3", "10.1.2.3/24", "2001:db8::1", "8000::", "::", "255.255.255.255"]
        for address in addresses:
            host = address.split("/")[0]
            assert one(db, f"SELECT lpm_prefix('t', '{address}'::INET)") == one(db, f"SELECT lpm_prefix('t', '{host}')"), address
        assert one(db, "SELECT lpm('t', '10.1.2.3'::INET), lpm('t', NULL::INET)") == ("a-value-of-more-than-twelve-bytes", None)
        db.execute("CREATE TABLE f AS SELECT ('10.' || (n % 4) || '.0.1')::INET AS src FROM range(10000) r(n)")
        assert one(db, "SELECT count(*) FROM f WHERE lpm('t', src) = 'inside'") == (7500,)
