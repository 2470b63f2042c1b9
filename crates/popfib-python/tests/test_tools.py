"""Tables put together and compared, and origins validated, against `ipaddress` and by hand."""

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


def fewest(found):
    networks = [ipaddress.ip_network(prefix) for prefix in found]
    for version in 4, 6:
        of = [network for network in networks if network.version == version]
        assert list(ipaddress.collapse_addresses(of)) == of


def test_set_algebra():
    rng = random.Random(17)
    for _ in range(150):
        one, other = random_table(rng), random_table(rng)
        a, b = addresses(one), addresses(other)
        for operation, wanted in [
            (popfib.union, a | b),
            (popfib.intersection, a & b),
            (popfib.difference, a - b),
            (popfib.symmetric_difference, a ^ b),
        ]:
            found = operation(one, other)
            assert addresses(found) == wanted
            assert all(value is True for value in found.values())
            fewest(found)
        inverse = popfib.complement(one)
        everything = popfib.Table({"0.0.0.0/0": True, "::/0": True})
        assert popfib.union(one, inverse) == everything
        assert len(popfib.intersection(one, inverse)) == 0
        for prefix, how in popfib.compare(one, other):
            inside = addresses([prefix])
            wanted = "whole" if inside <= b else "part" if inside & b else "none"
            assert how == wanted
        assert [prefix for prefix, _ in popfib.compare(one, other)] == list(one)


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
    for function in popfib.union, popfib.compare, popfib.diff:
        with pytest.raises(TypeError):
            function(table, {"10.0.0.0/8": 1})
    table.close()
    with pytest.raises(ValueError, match="closed"):
        popfib.complement(table)


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


def test_bad_vrps(tmp_path):
    path = tmp_path / "vrps.json"
    path.write_text('[{"prefix":"10.0.0.0/8","asn":1},\n{"prefix":"10.0.0.0/8","maxLength":7,"asn":1}]')
    with pytest.raises(ValueError, match=r"vrps\.json:2: 10\.0\.0\.0/8: 7: the maximum length is less"):
        popfib.load_vrps(path)
    vrps = popfib.load_vrps(path, skip_invalid=True)
    assert (len(vrps), vrps.skipped) == (1, 1)
    with pytest.raises(FileNotFoundError):
        popfib.load_vrps(tmp_path / "none")
