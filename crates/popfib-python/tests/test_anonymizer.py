"""`Anonymizer` beside the sample of the original implementation, yacryptopan where it is there, and what Crypto-PAn promises."""

from __future__ import annotations

import ipaddress
import pickle

import pytest

import popfib
from conftest import rounds
from popfib import Anonymizer

# That of the sample of the original implementation.
KEY = bytes.fromhex("1522178d33a4cf80130a5b1649907d10d8988f837979652762574c2d2a842202")

# Of IPv4 from its `sample_trace_raw.dat` and `sample_trace_sanitized.dat`, of IPv6 by yacryptopan 1.0.2.
VECTORS = {
    "128.11.68.132": "135.242.180.132",
    "129.118.74.4": "134.136.186.123",
    "192.41.57.43": "252.222.221.184",
    "205.178.38.67": "242.108.198.51",
    "::": "78ff:f001:9fc0:20df:8380:b1f1:704:ec",
    "2001:db8::1": "4401:2bc:603f:d91d:27f:ff8e:e6f1:dc1e",
    "2001:4860:4860::8888": "4401:7780:2f83:ff20:8070:2f80:e7fc:b6e4",
    "fe80::1": "cf7f:c0e:1fc3:da1c:70:b18e:f7f3:2101",
    "::ffff:192.0.2.1": "::ffff:252.255.2.112",
}
BY = Anonymizer(KEY)


def random_addresses(rng, count):
    kinds = [(ipaddress.IPv4Address, 32), (ipaddress.IPv6Address, 128)]
    return [kind(rng.getrandbits(width)) for kind, width in rng.choices(kinds, k=count)]


def test_vectors_in_each_form():
    for address, expected in VECTORS.items():
        given, found = ipaddress.ip_address(address), ipaddress.ip_address(expected)
        assert BY.anonymize(address) == expected
        assert BY.anonymize(given.packed) == found.packed
        assert BY.anonymize((int(given), given.version)) == expected
        anonymized = BY.anonymize(given)
        assert anonymized == found
        assert type(anonymized) is type(given)
    assert BY.anonymize_many(list(VECTORS)) == list(VECTORS.values())
    assert BY.anonymize_many(ipaddress.ip_address(address) for address in VECTORS) == list(VECTORS.values())


def test_yacryptopan(rng):
    yacryptopan = pytest.importorskip("yacryptopan")
    for _ in range(rounds(5, 50)):
        key = rng.randbytes(32)
        by, other = Anonymizer(key), yacryptopan.CryptoPAn(key)
        for address in map(str, random_addresses(rng, 20)):
            assert ipaddress.ip_address(by.anonymize(address)) == ipaddress.ip_address(other.anonymize(address))


def test_prefixes_are_preserved(rng):
    for _ in range(rounds(20, 500)):
        by = Anonymizer(rng.randbytes(32))
        for kind, width in [(ipaddress.IPv4Address, 32), (ipaddress.IPv6Address, 128)]:
            one = rng.getrandbits(width)
            # So many first bits in common, and the next one not.
            common = rng.randrange(width)
            other = one ^ 1 << (width - 1 - common) ^ rng.getrandbits(width) >> (common + 1)
            ones = [int(by.anonymize(kind(number))) for number in (one, other)]
            assert width - (ones[0] ^ ones[1]).bit_length() == width - (one ^ other).bit_length()


def test_keys():
    digits = KEY.hex()
    for key in KEY, digits, digits.upper(), f"0x{digits}\n", digits.encode():
        assert Anonymizer(key).anonymize("192.0.2.1") == "252.255.2.112"
    assert Anonymizer(bytes(32)).anonymize("192.0.2.1") != "252.255.2.112"
    for key in b"", KEY[1:], KEY + b"x", "", digits[1:], digits + "0", "g" + digits[1:], "x" * 32, "é" * 32:
        with pytest.raises(ValueError, match=r"^a key is 32 bytes, or 64 hexadecimal digits$"):
            Anonymizer(key)
    for key in None, 5, [0] * 32:
        with pytest.raises(TypeError, match="a key is 32 bytes, or 64 hexadecimal digits, not"):
            Anonymizer(key)
    # Neither its text nor its pickle tells the key: it has none.
    assert digits not in repr(BY)
    with pytest.raises(TypeError):
        pickle.dumps(BY)


def test_cut(rng):
    by = Anonymizer.cut()
    assert by.anonymize("192.0.2.129") == "192.0.2.0"
    assert by.anonymize_many(["2001:db8:1:2::3", None]) == ["2001:db8:1::", None]
    for _ in range(rounds(100, 1000)):
        ipv4, ipv6 = rng.randint(0, 32), rng.randint(0, 128)
        by = Anonymizer.cut(ipv4=ipv4, ipv6=ipv6)
        for address in random_addresses(rng, 4):
            length = ipv4 if address.version == 4 else ipv6
            network = ipaddress.ip_network((address, length), strict=False)
            assert by.anonymize(address) == network.network_address
    for lengths, message in [
        ({"ipv4": 33}, "ipv4 is a length from 0 to 32, not 33"),
        ({"ipv6": 129}, "ipv6 is a length from 0 to 128, not 129"),
        ({"ipv4": -1}, "ipv4 is a length from 0 to 32, not -1"),
    ]:
        with pytest.raises(ValueError, match=message):
            Anonymizer.cut(**lengths)


def test_null_and_what_is_no_address():
    assert BY.anonymize(None) is None
    assert BY.anonymize(float("nan")) is None
    for address, error, message in [
        ("x", ValueError, "'x': not an address"),
        ("10.0.0.0/8", ValueError, "not an address"),
        (ipaddress.ip_network("10.0.0.0/8"), ValueError, "10.0.0.0/8 is a prefix, not an address"),
        (b"abc", ValueError, "packed addresses have 4 or 16 bytes, not 3"),
        (1, TypeError, "an int may be of either family"),
    ]:
        with pytest.raises(error, match=message):
            BY.anonymize(address)
        with pytest.raises(error, match="row 1: .*" + message):
            BY.anonymize_many(["10.0.0.1", address])
    with pytest.raises(TypeError, match="a column of addresses is asked for, not one str"):
        BY.anonymize_many("10.0.0.1")
    with pytest.raises(ValueError, match="invalid is 'raise' or 'null'"):
        BY.anonymize_many([], invalid="x")
    with pytest.raises(ValueError, match="threads"):
        BY.anonymize_many([], threads=-1)
    found = BY.anonymize_many(["192.0.2.1", None, "x", float("nan")], invalid="null")
    assert found == ["252.255.2.112", None, None, None]
    assert BY.anonymize_many([]) == []


def test_numpy(rng):
    np = pytest.importorskip("numpy")
    addresses = random_addresses(rng, 700)
    ipv4 = [address for address in addresses if address.version == 4]
    expected = [int(BY.anonymize(address)) for address in ipv4]
    for dtype in "<u4", ">u4", "i8", "u8":
        found = BY.anonymize_many(np.array(list(map(int, ipv4)), dtype=dtype))
        assert found.dtype == np.uint32
        assert found.tolist() == expected
    for version, width in (4, 4), (6, 16):
        these = [address for address in addresses if address.version == version]
        expected = [list(BY.anonymize(address).packed) for address in these]
        packed = np.array([list(address.packed) for address in these], dtype=np.uint8)
        for column in packed, packed.view(f"V{width}").ravel(), packed.view(f"S{width}").ravel():
            found = BY.anonymize_many(column)
            assert found.dtype == np.uint8
            assert found.tolist() == expected
        assert BY.anonymize_many(packed[:0]).shape == (0, width)
    texts = list(map(str, addresses))
    assert BY.anonymize_many(np.array(texts)) == [BY.anonymize(text) for text in texts]
    # An array of numbers has no null, so what is no address is an error.
    with pytest.raises(ValueError, match="row 1: -1: numbers of IPv4 addresses are 0 to 4294967295"):
        BY.anonymize_many(np.array([1, -1]), invalid="null")


def test_threads():
    np = pytest.importorskip("numpy")
    column = np.arange(100_000, dtype=np.uint32)
    by = Anonymizer.cut(ipv4=30)
    assert (by.anonymize_many(column, threads=3) == column & ~np.uint32(3)).all()


def test_arrow(rng):
    pa = pytest.importorskip("pyarrow")
    addresses = random_addresses(rng, 300)
    texts = [*map(str, addresses), None]
    expected = [*map(str, map(BY.anonymize, addresses)), None]
    plain = pa.array(texts)
    packed = pa.array([*(address.packed for address in addresses), None], type=pa.binary())
    columns = [plain, plain.cast(pa.large_string()), plain.dictionary_encode(), pa.chunked_array([plain[:9], plain[9:]]), packed]
    for column in columns:
        found = BY.anonymize_many(column)
        assert isinstance(found, popfib.ArrowColumn)
        assert pa.array(found).equals(pa.array(expected))
    assert pa.array(BY.anonymize_many(pa.array([1, None], pa.uint32()))).to_pylist() == [BY.anonymize("0.0.0.1"), None]
    assert pa.array(BY.anonymize_many(pa.array(["x", "192.0.2.1"]), invalid="null")).to_pylist() == [None, "252.255.2.112"]
    with pytest.raises(ValueError, match="row 0: "):
        BY.anonymize_many(pa.array(["x"]))


def test_frames():
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    texts, expected = ["192.0.2.1", None, "2001:db8::1"], ["252.255.2.112", None, VECTORS["2001:db8::1"]]
    assert pl.Series(BY.anonymize_many(pl.Series(texts))).to_list() == expected
    assert BY.anonymize_many(pd.Series(texts, dtype=object)) == expected
