"""Tables made smaller and compared, and origins validated, against `ipaddress` and by hand."""

from __future__ import annotations

import ipaddress
import random

import pytest

import popfib


def addresses(prefixes):
    """Every address of prefixes inside 10.0.0.0/24 or 2001:db8::/120."""
    return {address for prefix in prefixes for address in ipaddress.ip_network(prefix)}


def random_table(rng):
    table = popfib.Table()
    for _ in range(rng.randrange(8)):
        length = rng.randint(0, 8)
        bits = rng.getrandbits(8) >> (8 - length) << (8 - length)
        if rng.random() < 0.5:
            table[f"10.0.0.{bits}/{24 + length}"] = rng.randrange(3)
        else:
            table[f"2001:db8::{bits:x}/{120 + length}"] = rng.randrange(3)
    return table


def test_aggregate():
    rng = random.Random(18)
    for _ in range(50):
        table = random_table(rng)
        for method in "ortc", "simple":
            smaller = popfib.aggregate(table, method=method)
            assert len(smaller) <= len(table)
            for address in addresses(["10.0.0.0/24", "2001:db8::/120"]):
                assert smaller.get(address) == table.get(address)
    values = popfib.Table({"10.0.0.0/9": ["east"], "10.128.0.0/9": ["west"]})
    assert popfib.aggregate(values, method="simple") == values
    assert popfib.aggregate(values)["10.0.0.1"] is values["10.0.0.1"]
    with pytest.raises(ValueError, match="there are: ortc, simple"):
        popfib.aggregate(values, method="best")


def test_diff():
    old = popfib.Table({"10.0.0.0/8": "a", "10.1.0.0/16": "b", "::/0": 1})
    new = popfib.Table({"10.0.0.0/8": "a", "10.2.0.0/16": "b", "::/0": 2})
    assert popfib.diff(old, new) == [
        ("10.1.0.0/16", "b", None),
        ("10.2.0.0/16", None, "b"),
        ("::/0", 1, 2),
    ]
    assert popfib.diff(old, old.copy()) == []

    class Odd:
        def __eq__(self, other):
            raise ArithmeticError

    with pytest.raises(ArithmeticError):
        popfib.diff(popfib.Table({"::/0": Odd()}), popfib.Table({"::/0": Odd()}))


def test_what_is_no_table():
    table = popfib.Table()
    with pytest.raises(TypeError):
        popfib.diff(table, {"10.0.0.0/8": 1})
    table.close()
    with pytest.raises(ValueError, match="closed"):
        popfib.aggregate(table)


def test_vrps(tmp_path):
    path = tmp_path / "vrps.csv"
    path.write_text(
        "ASN,IP Prefix,Max Length\nAS64500,10.0.0.0/16,16\nAS64501,10.0.0.0/16,24\nAS0,2001:db8::/32,48\n"
    )
    vrps = popfib.load_vrps(path)
    assert len(vrps) == 3 and vrps.skipped == 0
    assert repr(vrps) == "<popfib.Vrps: 2 IPv4 and 1 IPv6 VRPs>"
    assert vrps.validate("10.0.0.0/16", 64500) == "valid"
    assert vrps.validate("10.0.0.0/17", "64500") == "invalid-length"
    assert vrps.validate("10.0.0.0/17", "AS64501") == "valid"
    assert vrps.validate(ipaddress.ip_network("10.0.0.0/16"), "{64500,64501}") == "invalid-as"
    assert vrps.validate("10.0.0.0/16", None) == "invalid-as"
    assert vrps.validate("2001:db8::/32", 0) == "invalid-as"
    assert vrps.validate("192.0.2.0/24", 64500) == "not-found"
    assert vrps.covering("10.0.1.0/24") == [
        ("10.0.0.0/16", 16, 64500),
        ("10.0.0.0/16", 24, 64501),
    ]
    for origin in "64500_64501", "east", -1, 1 << 32:
        with pytest.raises(ValueError):
            vrps.validate("10.0.0.0/16", origin)
    with pytest.raises(TypeError):
        vrps.validate("10.0.0.0/16", 1.5)


def test_rov(tmp_path):
    path = tmp_path / "vrps.csv"
    rng = random.Random(19)
    rows = []
    for _ in range(60):
        length = rng.randint(20, 30)
        network = ipaddress.ip_network((0x0A000000 | rng.getrandbits(10), length), strict=False)
        rows.append((network, rng.randint(length, 32), rng.randrange(4)))
    for _ in range(20):
        length = rng.randint(110, 125)
        network = ipaddress.ip_network((0x20010DB8 << 96 | rng.getrandbits(12), length), strict=False)
        rows.append((network, rng.randint(length, 128), rng.randrange(4)))
    lines = "".join(f"AS{asn},{network},{longest}\n" for network, longest, asn in rows)
    path.write_text("ASN,IP Prefix,Max Length\n" + lines)
    vrps = popfib.load_vrps(path)

    def state(prefix, origin):
        network = ipaddress.ip_network(prefix)
        covering = [
            row for row in rows if row[0].version == network.version and network.subnet_of(row[0])
        ]
        own = [row for row in covering if row[2] == origin and origin]
        if any(network.prefixlen <= longest for _, longest, _ in own):
            return "valid"
        return "invalid-length" if own else "invalid-as" if covering else "not-found"

    table = popfib.Table({"11.0.0.0/8": "1_{2,3}_2"})
    for _ in range(2000):
        length = rng.randint(18, 32)
        prefix = ((0x0A000000 | rng.getrandbits(10)) >> 32 - length << 32 - length, 4, length)
        table[prefix] = rng.choice([0, 1, 2, 3, "1", "AS2", "{1,2}", None])
    for _ in range(200):
        length = rng.randint(108, 128)
        bits = 0x20010DB8 << 96 | rng.getrandbits(12)
        table[(bits >> 128 - length << 128 - length, 6, length)] = rng.randrange(4)
    rows_found = popfib.rov(table, vrps)
    expected = []
    for prefix, value in table.items():
        origins = {"1": 1, "AS2": 2, "{1,2}": None}
        for origin in [1, None, 2] if value == "1_{2,3}_2" else [origins.get(value, value)]:
            expected.append((prefix, origin, state(prefix, origin)))
    assert rows_found == expected
    assert {row[2] for row in rows_found} == {"valid", "invalid-as", "invalid-length", "not-found"}
    for value, error in ("east", ValueError), (-1, ValueError), (1.5, TypeError):
        table["10.0.0.0/8"] = value
        with pytest.raises(error, match=r"10\.0\.0\.0/8: "):
            popfib.rov(table, vrps)
    # What no route has any more is nobody's origin.
    table["10.0.0.0/8"] = 1
    assert len(popfib.rov(table, vrps)) == len(expected) + 1


def test_updates(tmp_path):
    path = tmp_path / "updates.txt"
    path.write_text("A 10.0.0.0/8 1\nA 10.1.0.0/16 2\nW 10.0.0.0/8\nA 2001:db8::/32 1\nW 192.0.2.0/24\n")
    updates = popfib.load_updates(path)
    assert updates == [
        ("10.0.0.0/8", "1"),
        ("10.1.0.0/16", "2"),
        ("10.0.0.0/8", None),
        ("2001:db8::/32", "1"),
        ("192.0.2.0/24", None),
    ]
    assert updates[0][1] is updates[3][1]
    table = popfib.Table({"10.0.0.0/8": 0, "192.0.2.0/24": 5})
    table.apply(popfib.load_updates(path, "text", decode=int))
    assert list(table.items()) == [("10.1.0.0/16", 2), ("2001:db8::/32", 1)]
    table.apply({"10.1.0.0/16": None, "11.0.0.0/8": 3})
    assert list(table) == ["11.0.0.0/8", "2001:db8::/32"]
    # What differs, applied, makes one table the other.
    new = popfib.Table({"11.0.0.0/8": 4, "10.0.0.0/9": 1})
    table.apply((prefix, value) for prefix, _, value in popfib.diff(table, new))
    assert table == new
    with pytest.raises(ValueError, match="10.0.0.1/8"):
        table.apply([("10.0.0.1/8", None)])
    with pytest.raises(TypeError, match="item 0"):
        table.apply(["10.0.0.0/8"])

    dump = tmp_path / "dump.txt"
    dump.write_text(
        "BGP4MP|1|A|192.0.2.1|64501|10.0.0.0/8|1|IGP|192.0.2.11|0|0||NAG||\n"
        "BGP4MP|2|W|192.0.2.2|64502|10.0.0.0/8\n"
    )
    assert popfib.load_updates(dump, peer="AS64501") == [("10.0.0.0/8", "192.0.2.11")]
    assert popfib.load_updates(dump, peer=1) == [("10.0.0.0/8", None)]
    # The withdrawal of one peer, or of one path, leaves the others.
    assert popfib.load_updates(dump) == [("10.0.0.0/8", "192.0.2.11")] * 2
    line = "BGP4MP_AP|{0}|A|192.0.2.1|64501|10.0.0.0/8|{0}|1|IGP|192.0.2.{0}|0|0||NAG||\n"
    dump.write_text(
        line.format(1) + line.format(2) + "BGP4MP_AP|3|W|192.0.2.1|64501|10.0.0.0/8|1\n"
    )
    hops = [hop for _, hop in popfib.load_updates(dump)]
    assert hops == ["192.0.2.1", "192.0.2.1", "192.0.2.2"]
    path.write_text("A 10.0.0.0/8 1\nA 10.0.0.1/8 1\n")
    with pytest.raises(ValueError, match=r"updates\.txt:2: "):
        popfib.load_updates(path)
    assert len(popfib.load_updates(path, skip_invalid=True)) == 1
    assert len(popfib.load_updates(path, mask=True)) == 2
    with pytest.raises(ValueError, match="no such format of updates"):
        popfib.load_updates(path, "csv")
    with pytest.raises(FileNotFoundError):
        popfib.load_updates(tmp_path / "none")


def test_one_of_several_tables(tmp_path):
    path = tmp_path / "listing"
    path.write_text("10.0.0.0/8 via 192.0.2.1 dev a table blue\n10.0.0.0/8 via 192.0.2.2 dev a\n")
    assert dict(popfib.load(path, vrf="blue").items()) == {"10.0.0.0/8": "192.0.2.1"}
    assert dict(popfib.load(path, vrf="main").items()) == {"10.0.0.0/8": "192.0.2.2"}
    with pytest.raises(ValueError, match="from table"):
        popfib.load(path, vrf="red")


def test_bad_vrps(tmp_path):
    path = tmp_path / "vrps.json"
    path.write_text('[{"prefix":"10.0.0.0/8","asn":1},\n{"prefix":"10.0.0.0/8","maxLength":7,"asn":1}]')
    with pytest.raises(ValueError, match=r"vrps\.json:2: 10\.0\.0\.0/8: 7: the maximum length is less"):
        popfib.load_vrps(path)
    vrps = popfib.load_vrps(path, skip_invalid=True)
    assert (len(vrps), vrps.skipped) == (1, 1)
    with pytest.raises(FileNotFoundError):
        popfib.load_vrps(tmp_path / "none")
