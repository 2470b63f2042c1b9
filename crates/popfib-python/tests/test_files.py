"""Loading, saving and opening tables, and all that can be wrong with a file."""

import ctypes
import datetime
import errno
import gzip
import inspect
import io
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import pytest

import popfib
from conftest import TOP

ROUTES = "# a table\n10.0.0.0/8 east\n10.1.0.0/16,west\n2001:db8::/32\teast\n192.0.2.1 host\n"


@pytest.fixture
def routes(tmp_path):
    path = tmp_path / "routes.txt"
    path.write_text(ROUTES)
    return path


def test_load(routes, tmp_path):
    t = popfib.load(routes)
    assert dict(t.items()) == {
        "10.0.0.0/8": "east",
        "10.1.0.0/16": "west",
        "192.0.2.1/32": "host",
        "2001:db8::/32": "east",
    }
    assert t.dictionary() == [None, "east", "west", "host"]
    assert popfib.load(str(routes), "text") == t == popfib.load(routes, format="text")
    packed = tmp_path / "routes.gz"
    packed.write_bytes(gzip.compress(ROUTES.encode()))
    assert popfib.load(packed) == t
    lengths = popfib.load(routes, decode=len)
    assert lengths["10.9.9.9"] == 4
    t["10.2.0.0/16"] = "new"
    assert t["10.2.0.1"] == "new" and t["10.1.0.1"] == "west"


def test_load_warns_of_what_the_table_lacks(tmp_path, recwarn):
    path = tmp_path / "routes\n.csv"
    path.write_text("prefix,service\n10.0.0.0/8,AMAZON\n10.0.0.0/8,S3\n10.1.0.0/16,\n10.2.0.0/99,EC2\n")
    t = popfib.load(path, skip_invalid=True)
    assert list(t.items()) == [("10.0.0.0/8", "S3"), ("10.1.0.0/16", None)]
    assert all(warning.category is UserWarning and warning.filename == __file__ for warning in recwarn)
    assert [str(warning.message).rpartition(": ")[2] for warning in recwarn] == [
        "1 route replaced by a later line for the same prefix",
        "1 invalid line skipped",
        "1 route without a value",
    ]
    assert str(recwarn[0].message).startswith(str(tmp_path / r"routes\n.csv: "))
    with warnings.catch_warnings(), pytest.raises(UserWarning, match="replaced"):
        warnings.simplefilter("error")
        popfib.load(path, skip_invalid=True)


def test_load_has_the_options_of_the_command():
    source = (TOP / "crates/popfib-cli/src/args.rs").read_text()
    body = re.search(r"struct ReadArgs \{(.*?)\n\}", source, re.DOTALL).group(1)
    options = set(re.findall(r"pub\(crate\) (\w+):", body))
    assert len(options) > 10
    # Values may be of any type. What commands say of themselves is no option.
    options = options - {"is_list", "takes_literals", "every_table"} | {"decode", "path"}
    # Those by which a table is the one of a later time are options of `popfib convert` alone.
    converts = (TOP / "crates/popfib-cli/src/convert.rs").read_text()
    later = set(re.findall(r"    (updates|until): ", converts))
    assert later == {"updates", "until"}
    options |= later
    assert set(inspect.signature(popfib.load).parameters) == options


def test_load_of_what_the_user_says_where_it_is(tmp_path):
    path = tmp_path / "t"
    path.write_text("host,bits,name\n10.0.0.0,255.0.0.0,a\n")
    t = popfib.load(path, prefix_column="host", length_column="bits")
    assert dict(t.items()) == {"10.0.0.0/8": "a"}
    path.write_text('config firewall address\n  edit "lan"\n    set subnet 10.1.0.0 255.255.0.0\n')
    with pytest.raises(ValueError, match='t:1: "config": not an address'):
        popfib.load(path)
    assert dict(popfib.load(path, "any").items()) == {"10.1.0.0/16": True}
    assert dict(popfib.load(path, value_regex='edit "(.*)"').items()) == {"10.1.0.0/16": "lan"}
    with pytest.raises(ValueError, match="value_regex '\\(a\\)\\(b\\)': one group at most"):
        popfib.load(path, value_regex="(a)(b)")
    path.write_text("010.0.0.1 a\n")
    with pytest.raises(ValueError, match="leading zeros"):
        popfib.load(path)
    assert list(popfib.load(path, leading_zeros=True)) == ["10.0.0.1/32"]
    image = tmp_path / "t.fib"
    popfib.join({"a": path}, image, leading_zeros=True)
    assert popfib.open(image)["10.0.0.1"] == "a"
    with pytest.raises(ValueError, match="leading zeros"):
        popfib.join({"a": path}, image)
    packed = tmp_path / "t.gz"
    packed.write_bytes(gzip.compress(b"10.0.0.0/8 a\n" * 1000))
    assert len(popfib.load(packed, max_size=13000)) == 1
    with pytest.raises((ValueError, OSError), match="12999"):
        popfib.load(packed, max_size=12999)


def test_load_of_several_peers(tmp_path):
    path = tmp_path / "dump.txt"
    line = "TABLE_DUMP2|1|B|192.0.2.{0}|{1}|10.0.0.0/8|{2}|IGP|198.51.100.{0}|0|0||NAG||\n"
    path.write_text(line.format(1, 64500, "64500 64510 64520") + line.format(2, 64501, "64501 64530"))
    assert list(popfib.load(path, peer=0).values()) == ["198.51.100.1"]
    assert list(popfib.load(path, peer="AS64501", value="origin-as", decode=int).values()) == [64530]
    assert list(popfib.load(path, peer="192.0.2.2", value="peer").values()) == ["192.0.2.2"]
    with pytest.raises(ValueError, match="no route in it from peer AS7"):
        popfib.load(path, peer="AS7")


def test_load_at_a_later_time(tmp_path):
    path, files = tmp_path / "dump.txt", [tmp_path / "later", tmp_path / "earlier"]
    path.write_text("TABLE_DUMP2|1779000000|B|192.0.2.1|64501|10.0.0.0/8|64501 64511|IGP|192.0.2.1|0|0||NAG||\n")
    files[0].write_text("BGP4MP|1779000120|A|192.0.2.2|64502|10.1.0.0/16|64502 64512|IGP|192.0.2.2|0|0||NAG||\n")
    files[1].write_text(
        "BGP4MP|1779000030|A|192.0.2.2|64502|10.0.0.0/8|64502 64511|IGP|192.0.2.2|0|0||NAG||\n"
        "BGP4MP|1779000060|W|192.0.2.1|64501|10.0.0.0/8\n"
    )
    at = lambda until=None, **options: dict(popfib.load(path, updates=files, until=until, **options).items())
    first, last = {"10.0.0.0/8": "192.0.2.2"}, {"10.0.0.0/8": "192.0.2.2", "10.1.0.0/16": "192.0.2.2"}
    with warnings.catch_warnings():
        # What was applied is no warning.
        warnings.simplefilter("error")
        assert at() == at(1779000120) == last
        assert at(value="origin-as", decode=int) == {"10.0.0.0/8": 64511, "10.1.0.0/16": 64512}
        seconds = 1779000119.999999
        zone = datetime.timezone(datetime.timedelta(hours=5))
        for until in seconds, int(seconds), datetime.datetime.fromtimestamp(seconds, zone):
            assert at(until) == first
        assert at(datetime.datetime.fromtimestamp(1779000120, zone)) == last
        assert at(1779000000) == {"10.0.0.0/8": "192.0.2.1"}
        assert dict(popfib.load(path, updates=[]).items()) == {"10.0.0.0/8": "192.0.2.1"}
    with pytest.raises(ValueError, match="the table is of 2026-05-17T06:40:00Z, after the time"):
        at(1778999999)
    files[0].write_text("BGP4MP|1778999999|W|192.0.2.1|64501|10.0.0.0/8\n")
    with pytest.warns(UserWarning, match="1 update before the table of 2026-05-17T06:40:00Z left out"):
        assert at() == first


def test_bad_updates(tmp_path, monkeypatch):
    path, update = tmp_path / "t.txt", tmp_path / "u.txt"
    path.write_text(ROUTES)
    update.write_text("A 10.0.0.0/8 west\n")
    assert popfib.load(path, updates=(name for name in [update]))["10.9.9.9"] == "west"
    packed = tmp_path / "u.gz"
    packed.write_bytes(gzip.compress(b"A 10.0.0.0/8 west\n" * 1000))
    naive = datetime.datetime(2026, 5, 17)
    for options, error, words in [
        ({"updates": str(update)}, TypeError, r"updates is a list of paths: \[path\] of one"),
        ({"updates": update}, TypeError, "updates is a list of paths"),
        ({"updates": [5]}, TypeError, "int"),
        ({"updates": [tmp_path / "missing"]}, FileNotFoundError, "missing"),
        ({"updates": [packed], "max_size": 17999}, (ValueError, OSError), "17999"),
        ({"updates": [update], "until": 5}, ValueError, "updates without times"),
        ({"until": 5}, ValueError, "until goes with updates"),
        ({"updates": [update], "until": naive}, ValueError, "until has no time zone"),
        ({"updates": [update], "until": "noon"}, TypeError, "until is a datetime, or seconds since 1970 as an int or float, not str"),
        ({"updates": [update], "until": -1}, ValueError, "until is a time from 1970 on, not -1"),
        ({"updates": [update], "until": float("nan")}, ValueError, "until is a time from 1970 on, not NaN"),
        ({"updates": [update], "until": 10**30}, ValueError, "until is a time from 1970 on"),
    ]:
        with pytest.raises(error, match=words):
            popfib.load(path, **options)
    # A file of that name, and not standard input.
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError):
        popfib.load(path, updates=["-"])
    update.rename("-")
    assert popfib.load(path, updates=["-"])["10.9.9.9"] == "west"


@pytest.mark.parametrize(
    ("text", "options", "error", "words"),
    [
        ("", {}, ValueError, "there is no route"),
        ("10.0.0.0/8 a\nhello there\n", {}, ValueError, r"bad\.txt:2: "),
        ("10.0.0.1/8 a\n", {}, ValueError, r":1: .*host bits"),
        (ROUTES, {"format": "exe"}, ValueError, "format 'exe': no such format"),
        (ROUTES, {"value": "colour"}, ValueError, "value 'colour': there are"),
        (ROUTES, {"peer": "x"}, ValueError, "peer 'x'"),
        (ROUTES, {"peer": -1}, ValueError, "peer '-1'"),
        (ROUTES, {"peer": 1.5}, TypeError, "a peer is"),
        (ROUTES, {"format": "image"}, ValueError, "not a popfib image"),
        (ROUTES, {"decode": int}, ValueError, "invalid literal"),
        (ROUTES, {"decode": 7}, TypeError, "not callable"),
    ],
)
def test_bad_files(tmp_path, text, options, error, words):
    path = tmp_path / "bad.txt"
    path.write_text(text)
    with pytest.raises(error, match=words) as caught:
        popfib.load(path, **options)
    assert "\n" not in str(caught.value)


def test_which_value_of_a_record(tmp_path):
    path = tmp_path / "records.csv"
    path.write_text("network,asn,name\n10.0.0.0/8,64500,East\n2001:db8::/32,64501,West\n")
    assert list(popfib.load(path, columns="asn", decode=int).values()) == [64500, 64501]
    one = popfib.load(path, columns="name")
    assert (list(one.values()), one.schema, one.record("10.1.2.3")) == (["East", "West"], {"name": "text"}, {"name": "East"})
    assert one.lookup_many(["10.1.2.3", "8.8.8.8"], columns="name", output="list") == {"name": ["East", None]}
    with pytest.raises(ValueError, match="no column"):
        popfib.load(path, columns="country")
    with pytest.warns(UserWarning, match=r"column \"asn\" is read, not \"name\"; `columns='\*'` reads all"):
        alone = popfib.load(path)
    with pytest.raises(ValueError, match=r"`columns='\*'` keeps all when a file is loaded"):
        alone.lookup_many(["10.1.2.3"], columns=["name"])
    for columns, names in [("*", ["asn", "name"]), (["name", "asn"], ["name", "asn"])]:
        t = popfib.load(path, columns=columns)
        assert t.columns == names and t.schema["asn"] == "integer"
        assert t.record("10.1.2.3") == {"asn": 64500, "name": "East"}
        assert t["2001:db8::1"] == t.record("2001:db8::1")[names[0]]
        found = t.lookup_many(["10.1.2.3", "8.8.8.8"], columns="*", output="list")
        assert found == {"asn": [64500, None], "name": ["East", None]}
        t.save(tmp_path / "records.fib")
        assert popfib.open(tmp_path / "records.fib").record("10.1.2.3") == t.record("10.1.2.3")
        assert dict(t) == {"10.0.0.0/8": t["10.1.2.3"], "2001:db8::/32": t["2001:db8::1"]}
        t["10.2.0.0/16"] = 7
        assert t["10.2.2.3"] == 7 and t["10.1.2.3"] in (64500, "East")
    for wrong in [7, [], [7], None.__class__]:
        with pytest.raises(TypeError, match="columns is a name, a list of names, or '\\*' for all"):
            popfib.load(path, columns=wrong)
    listed = tmp_path / "list.txt"
    listed.write_text("10.0.0.0/8\n2001:db8::/32\n")
    members = popfib.load(listed)
    assert (members["10.1.2.3"], members.get("8.8.8.8")) == (True, None)


def test_open_files(tmp_path):
    text = "10.0.0.0/8 a\n2001:db8::/32 b\n"
    path = tmp_path / "t.txt.gz"
    path.write_bytes(gzip.compress(text.encode()))
    with path.open("rb") as packed:
        for file in [io.StringIO(text), io.BytesIO(text.encode()), packed]:
            assert dict(popfib.load(file)) == {"10.0.0.0/8": "a", "2001:db8::/32": "b"}
    assert len(popfib.load_set(io.StringIO(text))) == len(popfib.load_set(path))
    assert popfib.load_updates(io.StringIO("announce 10.0.0.0/8 a\n")) == [("10.0.0.0/8", "a")]
    with pytest.raises(ValueError, match="<file>:2: "):
        popfib.load(io.StringIO("10.0.0.0/8 a\nx\n"))
    with (tmp_path / "named.txt").open("w+") as named:
        named.write("10.0.0.0/8 a\nx\n")
        named.seek(0)
        with pytest.raises(ValueError, match="named.txt:2: "):
            popfib.load(named)


def test_mapped_addresses(tmp_path):
    text = "10.0.0.0/8 a\n::ffff:10.1.0.0/112 own\n"
    mapped, as_they_are = (popfib.load(io.StringIO(text), mapped=mapped) for mapped in (True, False))
    asked = ["::ffff:10.2.0.1", "::ffff:10.1.0.1", "10.2.0.1", "::10.2.0.1"]
    assert mapped.lookup_many(asked, output="list") == ["a", "own", "a", None]
    assert as_they_are.lookup_many(asked, output="list") == [None, "own", "a", None]
    mapped.save(tmp_path / "t.fib")
    assert popfib.open(tmp_path / "t.fib").lookup_many(asked, output="list") == ["a", "own", "a", None]
    (tmp_path / "t.txt").write_text(text)
    popfib.join({"t": tmp_path / "t.txt"}, tmp_path / "joined.fib", mapped=True)
    assert popfib.open(tmp_path / "joined.fib").lookup_many(asked, output="list") == ["a", "own", "a", None]


def test_the_built_in_table_of_one_address():
    assert popfib.lookup("8.8.8.8") == {"prefix": "8.8.8.0/24", "asn": 15169, "as_name": "Google LLC"}
    assert popfib.lookup("192.0.2.1") is None
    with pytest.raises(ValueError, match="'x'"):
        popfib.lookup("x")


def test_lenient_loads(tmp_path):
    path = tmp_path / "odd.txt"
    path.write_text("10.0.0.0/8 a\nhello there\n10.1.2.3/16 b\n")
    assert list(popfib.load(path, skip_invalid=True)) == ["10.0.0.0/8"]
    assert list(popfib.load(path, skip_invalid=True, mask=True)) == ["10.0.0.0/8", "10.1.0.0/16"]


def test_files_that_are_not_there(tmp_path):
    missing = tmp_path / "nothing"
    for use in (popfib.load, popfib.open):
        # As Python's own open() says it.
        with pytest.raises(FileNotFoundError) as theirs:
            open(missing)
        with pytest.raises(FileNotFoundError) as ours:
            use(missing)
        assert str(ours.value) == str(theirs.value)
        assert (ours.value.errno, ours.value.filename) == (errno.ENOENT, str(missing))
        with pytest.raises(IsADirectoryError) as ours:
            use(tmp_path)
        assert (ours.value.errno, ours.value.filename) == (errno.EISDIR, str(tmp_path))
        for bad in (7, None, 1.5, []):
            with pytest.raises(TypeError, match="str, bytes or os.PathLike"):
                use(bad)
        for odd in ("", "a\0b"):
            with pytest.raises(OSError):
                use(odd)
    t = popfib.Table({"10.0.0.0/8": "a"})
    with pytest.raises(OSError, match="not a regular file"):
        t.save(tmp_path)
    with pytest.raises(TypeError, match="str, bytes or os.PathLike"):
        t.save(None)
    with pytest.raises(OSError, match="no/such"):
        popfib.Table({"10.0.0.0/8": "a"}).save(tmp_path / "no" / "such" / "place")
    if os.geteuid() != 0:
        secret = tmp_path / "secret"
        secret.write_text(ROUTES)
        secret.chmod(0)
        with pytest.raises(PermissionError):
            popfib.load(secret)


def test_paths(routes, tmp_path):
    for path in (routes, str(routes), os.fsencode(routes)):
        t = popfib.load(path)
    for path in (tmp_path / "t.fib", str(tmp_path / "t.fib"), os.fsencode(tmp_path / "t.fib")):
        t.save(path)
        assert popfib.open(path) == t


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="no file that opens and can't be read")
def test_a_file_that_can_not_be_read():
    with pytest.raises(OSError, match="/proc/self/mem") as caught:
        popfib.load("/proc/self/mem")
    assert caught.value.errno == errno.EIO


def test_save_and_open(routes, tmp_path):
    t = popfib.load(routes)
    t["10.3.0.0/16"] = "gone"
    del t["10.3.0.0/16"]
    path = tmp_path / "t.fib"
    t.save(path)
    for options in ({}, {"map": True}, {"trust": True}):
        opened = popfib.open(path, **options)
        assert len(opened) == 4 and opened["10.1.2.3"] == "west" and opened.get("11.0.0.0") is None
        assert opened.longest_match("2001:db8::1") == ("2001:db8::/32", "east")
        assert opened.lookup_many(["10.1.2.3", "::", "192.0.2.1"], output="list") == ["west", None, "host"]
        assert opened == t and list(opened.items()) == list(t.items())
        opened["10.1.0.0/16"] = "changed"
        del opened["192.0.2.1"]
        assert opened["10.1.2.3"] == "changed" and len(opened) == 3
        assert opened.dictionary().count("west") == 0
    again = popfib.open(path)
    again["12.0.0.0/8"] = "first thing is a change"
    assert again["12.1.1.1"].startswith("first") and again["10.1.2.3"] == "west"
    assert popfib.load(path) == t
    t.save(path)
    assert popfib.open(path) == t
    popfib.Table().save(path)
    assert len(popfib.open(path)) == 0


def test_images_of_other_values(tmp_path):
    path = tmp_path / "t.fib"
    t = popfib.Table({"10.0.0.0/8": {"as": 1}, "11.0.0.0/8": {"as": 2}, "12.0.0.0/8": {"as": 1}})
    with pytest.raises(TypeError, match="values that are str, not dict"):
        t.save(path)
    with pytest.raises(TypeError, match="not int"):
        t.save(path, encode=len)
    assert not path.exists()
    t.save(path, encode=json.dumps)
    assert popfib.open(path, decode=json.loads) == t
    assert popfib.open(path)["10.0.0.1"] == '{"as": 1}'


def test_images_of_the_command(command, tmp_path):
    """Without names or routes, as other writers may make them."""
    source, path = tmp_path / "r.txt", tmp_path / "t.fib"
    source.write_text(ROUTES)
    subprocess.run([command, "compile", "--table", source, "-o", path], check=True)
    assert popfib.open(path) == popfib.load(source)
    subprocess.run([command, "compile", "--table", source, "-o", path, "--keep", "values"], check=True)
    bare = popfib.open(path)
    assert bare["10.1.2.3"] == "west" and len(bare) == 4
    for use in (
        lambda: list(bare),
        lambda: bare.get_key("10.1.2.3"),
        lambda: bare.longest_match("10.1.2.3"),
        lambda: bare.lookup_many(["10.1.2.3"], output="prefixes"),
        lambda: bare.__setitem__("1.0.0.0/8", 1),
    ):
        with pytest.raises(ValueError, match="without its routes"):
            use()
    # Prefixes without the routes say which of them match, and no more.
    subprocess.run([command, "compile", "--table", source, "-o", path, "--keep", "prefixes"], check=True)
    some, all_ = popfib.open(path), popfib.load(source)
    addresses = ["10.1.2.3", "10.200.0.1", "9.9.9.9", "2001:db8::1"]
    assert [some.get(address) for address in addresses] == [all_.get(address) for address in addresses]
    assert [some.longest_match(address) for address in addresses] == [all_.longest_match(address) for address in addresses]
    assert list(some.lookup_many(addresses)) == list(all_.lookup_many(addresses))
    assert some.lookup_many(addresses, output="prefixes") == all_.lookup_many(addresses, output="prefixes")
    assert some.get_key("10.1.2.3") == all_.get_key("10.1.2.3")
    for use in lambda: list(some), lambda: some["10.0.0.0/8"], lambda: some.__setitem__("1.0.0.0/8", 1):
        with pytest.raises(ValueError, match="without its routes"):
            use()


class ImageConfig(ctypes.Structure):
    """`struct popfib_image_config` of popfib.h."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("created", ctypes.c_uint64),
        ("source", ctypes.c_char_p),
        ("names", ctypes.c_void_p),
        ("name_count", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("records", ctypes.c_void_p),
    ]


def test_images_without_names(tmp_path):
    """Which the C library writes: values are the numbers, unless there are no routes to find them in."""
    library = TOP / "target" / "capi" / "root" / "usr" / "lib" / "libpopfib.so"
    if not library.exists():
        pytest.skip("images of the C library: crates/popfib-capi/test has not built it")
    c = ctypes.CDLL(str(library))
    named, path = tmp_path / "named.fib", tmp_path / "t.fib"
    popfib.Table({"10.0.0.0/8": "a", "10.1.0.0/16": "b"}).save(named)
    image, table = ctypes.c_void_p(), ctypes.c_void_p()
    # A popfib_config of all zeros but size and family.
    config = (ctypes.c_uint64 * 7)(56, 4)
    assert c.popfib_image_open(os.fsencode(named), 0, ctypes.byref(image)) == 0
    assert c.popfib_image_table(image, config, ctypes.byref(table)) == 0
    save = ImageConfig(size=ctypes.sizeof(ImageConfig))
    assert c.popfib_image_save(os.fsencode(path), ctypes.byref(save), table, None) == 0
    t = popfib.open(path)
    assert dict(t.items()) == {"10.0.0.0/8": 1, "10.1.0.0/16": 2} and t["10.1.2.3"] == 2
    save.flags = 1
    assert c.popfib_image_save(os.fsencode(path), ctypes.byref(save), table, None) == 0
    with pytest.raises(ValueError, match="neither names of its next hops nor routes"):
        popfib.open(path)
    c.popfib_free(table)
    c.popfib_image_free(image)


def test_damaged_images(tmp_path, rng):
    good, path = tmp_path / "good.fib", tmp_path / "bad.fib"
    popfib.Table({f"10.{n}.0.0/16": str(n % 7) for n in range(200)}).save(good)
    data = good.read_bytes()
    cases = [b"", data[:7], data[:64], data[:-1], data + b"x", bytes(1000)]
    for _ in range(150):
        broken = bytearray(data)
        broken[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        cases.append(bytes(broken))
    for case in cases:
        path.write_bytes(case)
        for map in (False, True):
            with pytest.raises(ValueError, match=r"bad\.fib: ") as caught:
                popfib.open(path, map=map)
            assert "\n" not in str(caught.value)


def test_a_mapped_image_survives_its_successor(tmp_path):
    path = tmp_path / "t.fib"
    popfib.Table({"10.0.0.0/8": "old"}).save(path)
    with popfib.open(path) as t:
        popfib.Table({"10.0.0.0/8": "new"}).save(path)
        assert t["10.0.0.1"] == "old"
        assert popfib.open(path)["10.0.0.1"] == "new"
    with pytest.raises(ValueError, match="closed"):
        t["10.0.0.1"]


def test_join(tmp_path, command):
    """The image that the command writes too, but for its date."""
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "drop.txt").write_text("10.0.0.0/8\n")
    (tmp_path / "lists" / "tor.txt").write_text("10.1.0.0/16\n2001:db8::/32\nhello\n")
    (tmp_path / "asn.csv").write_text("network,asn,name\n10.0.0.0/8,64500,a\n10.1.0.0/16,64501,\n")
    tables = {"bad": tmp_path / "lists", "asn": str(tmp_path / "asn.csv")}
    image = tmp_path / "all.fib"
    with pytest.raises(ValueError, match='tor.txt:3: "hello"'):
        popfib.join(tables, image)
    assert not image.exists()
    with pytest.warns(UserWarning, match="tor.txt: 1 invalid line skipped"):
        popfib.join(tables, image, columns=["bad", "asn.name", "asn.length"], prefixes=True, fill=True, skip_invalid=True)
    with popfib.open(image) as t:
        assert t["10.1.2.3"] == ["drop", "tor"] and t["10.2.2.2"] == ["drop"] and t["2001:db8::1"] == ["tor"]
    answer = subprocess.run([command, "lookup", "--json", "--table", image, "10.1.2.3"], check=True, capture_output=True).stdout
    assert json.loads(answer) == {
        "address": "10.1.2.3", "prefix": "10.1.0.0/16", "bad": ["drop", "tor"], "asn.name": "a", "asn.length": 16,
    }
    (tmp_path / "host.txt").write_text("10.1.0.1 gateway\n")
    # The name of a table may be left out of a column that only one has.
    popfib.join({"asn": tmp_path / "asn.csv", "host": tmp_path / "host.txt"}, image, columns=["name", "host"])
    with popfib.open(image) as t:
        assert t.columns == ["asn.name", "host"]
    for wrong, columns, error in [
        ({"a": tmp_path / "none"}, None, OSError),
        ({"a": tmp_path / "asn.csv", 7: "x"}, None, TypeError),
        ({"a": tmp_path / "asn.csv"}, 7, TypeError),
        ({"a": tmp_path / "asn.csv"}, "a", ValueError),
        ({"bad": tmp_path / "asn.csv", "b": image}, ["bad.asn"], ValueError),
    ]:
        with pytest.raises(error):
            popfib.join(wrong, tmp_path / "no.fib", columns=columns)
    assert not (tmp_path / "no.fib").exists()


def test_default_table(built_in):
    assert len(built_in) == 901_899 + 160_147
    assert built_in["8.8.8.8"] == 15169 and built_in["2001:4860:4860::8888"] == 15169
    assert popfib.default_table(columns="as_name")["8.8.8.8"] == "Google LLC"
    with pytest.raises(ValueError, match='no column "name" in "asn", "as_name"'):
        popfib.default_table(columns="name")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
@pytest.mark.parametrize("kind", ["endless", "silent", "no writer", "no writer, open"])
def test_interrupt(tmp_path, kind):
    """Ctrl-C ends a load within a second, also one that waits for a pipe or for somebody to write there."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    script = textwrap.dedent(f"""
        import popfib, signal
        # Programs in the background inherit that it is ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            print("ready", flush=True)
            popfib.{"open" if kind.endswith("open") else "load"}({str(pipe)!r})
        except KeyboardInterrupt:
            print("interrupted", flush=True)
            import os; os._exit(0)
    """)
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    # What does not answer ends the test, not its run.
    watchdog = threading.Timer(30, child.kill)
    watchdog.start()
    out = None
    try:
        assert child.stdout.readline() == "ready\n"
        if not kind.startswith("no writer"):
            out = os.open(pipe, os.O_WRONLY)
            os.write(out, b"10.0.0.0/8 a\n")
        if kind == "endless":
            os.set_blocking(out, False)
            end = time.monotonic() + 0.5
            while time.monotonic() < end:
                try:
                    # At most PIPE_BUF bytes: whole or not at all.
                    os.write(out, b"10.1.0.0/16 some\n" * 200)
                except BlockingIOError:
                    time.sleep(0.001)
        else:
            time.sleep(0.3)
        start = time.monotonic()
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "interrupted\n"
        assert time.monotonic() - start < 5
    finally:
        if out is not None:
            os.close(out)
        watchdog.cancel()
        child.kill()
        child.wait()
        child.stdout.close()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
@pytest.mark.parametrize("work", ["insert", "look up"])
def test_interrupt_without_files(work):
    """So it does where routes or addresses come from an iterator that runs no Python code."""

    def stop(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    # By the CPU: others may have it for seconds.
    start = time.thread_time()
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            if work == "insert":
                popfib.Table(itertools.repeat(("10.0.0.0/8", 1)))
            else:
                popfib.Table().lookup_many(itertools.repeat("10.0.0.1"), output="list")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.thread_time() - start < 1.2


def test_paths_are_escaped(tmp_path):
    path = tmp_path / "a\nb"
    with pytest.raises(FileNotFoundError) as caught:
        popfib.load(path)
    assert "\n" not in str(caught.value)


def test_lists_without_values(tmp_path):
    """Whatever is asked for, a match looks like one: the value is True."""
    path, image, joined = tmp_path / "list.txt", tmp_path / "list.fib", tmp_path / "joined.fib"
    path.write_text("10.0.0.0/8\n2001:db8::/32\n")
    table = popfib.load(path)
    table.save(image)
    assert popfib.load(image) == table
    addresses = ["10.1.1.1", "11.0.0.0", "2001:db8::1", None]
    for found in table, popfib.open(image), popfib.load(image), table.copy(), popfib.LiveTable(table):
        assert found["10.1.1.1"] is found.get("2001:db8::1") is True
        assert found.get("11.0.0.0") is None and "10.1.1.1" in found and "11.0.0.0" not in found
        assert found.longest_match("10.1.1.1") == ("10.0.0.0/8", True)
        assert found.lookup_many(addresses, output="list") == [True, None, True, None]
        assert found.lookup_many(addresses[:1], output="matches") == [("10.0.0.0/8", True)]
        assert found.value_type is bool
        both = popfib.lookup_many({"bad": found}, addresses, output="list", prefixes=True)
        assert both["bad"] == [True, None, True, None]
    for found in table, popfib.open(image):
        assert list(found.items()) == [("10.0.0.0/8", True), ("2001:db8::/32", True)]
        assert found.get_exact("10.0.0.0/8") is True and list(found.values()) == [True, True]
        assert found.schema == {"value": "boolean"} and found.record("10.1.1.1") == {"value": True}
        assert found.lookup_many(addresses, columns="*", output="list") == {"value": [True, None, True, None]}
        assert found.dictionary() == [None, True]
        # What is saved is the list again.
        found.save(tmp_path / "again.fib")
        assert popfib.load(tmp_path / "again.fib") == table
    # `decode` gets the text that the file has.
    for read in popfib.load, popfib.open:
        assert read(path if read is popfib.load else image, decode=lambda text: [text])["10.1.1.1"] == [""]
    (tmp_path / "names.txt").write_text("10.0.0.0/9 east\n11.0.0.0/8 west\n")
    popfib.join({"bad": path, "site": tmp_path / "names.txt"}, joined)
    found = popfib.open(joined)
    assert found.schema == {"bad": "boolean", "site": "text"}
    assert found.record("10.1.1.1") == {"bad": True, "site": "east"}
    assert found.record("11.1.1.1") == {"bad": None, "site": "west"}
    assert (found["10.1.1.1"], found["11.1.1.1"]) == (True, None)
    assert found.lookup_many(["10.1.1.1", "11.1.1.1"], columns=["bad"], output="list") == {"bad": [True, None]}


def test_truths_are_saved_as_a_list(tmp_path):
    popfib.Table({"10.0.0.0/8": True}).save(tmp_path / "t.fib")
    assert popfib.open(tmp_path / "t.fib")["10.1.1.1"] is True
    with pytest.raises(TypeError, match="values that are str, not bool"):
        popfib.Table({"10.0.0.0/8": False}).save(tmp_path / "t.fib")
