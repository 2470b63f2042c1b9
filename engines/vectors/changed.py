#!/usr/bin/env python3
"""Writes images that are changed by hand and at random, each with what a reader finds in it; all readers' tests compare with that.

    engines/vectors/changed.py FILE [COUNT [SEED]]    COUNT changed at random (10000), the same for one SEED (1)

The Python of docs/image-format.md decides. FILE has parts, each after its length, a word: addresses in hex, a line each; then for
each image its name, its bytes, and what is found: nothing if a reader refuses it, otherwise for each table, of one name the first

    table NAME
    routes COUNT              of both families
    NUMBER MATCH              for each address its next hop, 0 for none, and the longest match: "2/24", "2/?" without section 48, "-"
    VALUE	VALUE ...     of each record, up to 50; "~" is absent; tabs and line feeds are written as blanks

FILE is left as it is if it is newer than what it is made of.
"""

import decimal
import math
import pathlib
import random
import re
import struct
import sys
import zlib

import made_images
from made_images import IPV4, IPV6, NAMES, RECORDS, TOP, WIDTHS, bases, both, fib, image_of, mended, metadata, records, routes_of, table, words

PAGE = TOP / "docs" / "image-format.md"
MOST_RECORDS = 50


def page():
    """What the blocks of Python of the page define."""
    names = {}
    exec("\n".join(re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)), names)
    return names


# ---------------------------------------------------------------- what a reader finds


def addresses():
    ipv4 = ["0a010203", "0a010204", "0a010000", "0a000000", "0affffff", "00000000", "ffffffff", "c0000201", "80000000", "40000000"]
    ipv6 = ["20010db8" + 24 * "0", "20010db8" + 23 * "0" + "1", "20010db880000000" + 16 * "0", "20010db9" + 24 * "0", 32 * "0", 32 * "f",
            20 * "0" + "ffff0a010203", "8" + 31 * "0", "fe80" + 28 * "0"]
    next_bits = random.Random("addresses").getrandbits
    return ipv4 + [f"{next_bits(32):08x}" for _ in range(10)] + ipv6 + [f"{next_bits(128):032x}" for _ in range(5)]


def text(value):
    """A value as the command prints it."""
    if value is None:
        return "~"
    if isinstance(value, list):
        return ",".join(re.sub(r"[,\\]", r"\\\g<0>", text(element)) for element in value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        if not math.isfinite(value):
            return "NaN" if math.isnan(value) else "inf" if value > 0 else "-inf"
        digits = format(decimal.Decimal(repr(value)), "f")
        return digits.rstrip("0").rstrip(".") if "." in digits else digits
    return re.sub("[\t\n]", " ", str(value))


def found_in(reader, image, asked):
    try:
        tables = reader["tables"](image)
    except ValueError:
        return ""
    lines = []
    for name, found in tables.items():
        counts = [struct.unpack_from("<Q", found[width, kind], 24)[0] for width in (32, 128)
                  for kind in [16 if (width, 16) in found else 48] if (width, kind) in found]
        lines += [f"table {name}", f"routes {sum(counts)}"]
        for address in asked:
            width, key = 4 * len(address), int(address, 16)
            fibs = {kind: reader["Fib"](found, width, kind) for kind in (16, 48) if (width, kind) in found}
            number = fibs[16].lookup(key) if 16 in fibs else fibs[48].lookup(key) // (width + 1) if 48 in fibs else 0
            match = reader["longest_match"](found, width, key) if 48 in fibs else None
            shown = f"{match[2]}/{match[1]}" if match else f"{number}/?" if number and 48 not in fibs else "-"
            lines.append(f"{number} {shown}")
        if (0, 4) in found:
            _, records = reader["records"](found)
            lines += ["\t".join(map(text, record)) for record in records[1:1 + MOST_RECORDS]]
    return "".join(f"{line}\n" for line in lines)


# ---------------------------------------------------------------- changed by hand


def put(section, at, new):
    at %= len(section)
    return section[:at] + new + section[at + len(new):]


def by_hand(of):
    """Names and images, each of one change."""
    for name, base in of.items():
        yield f"as it is: {name}", image_of(base)

    def changed(name, *changes):
        """The base with sections in place of its own; None takes one away."""
        found = dict(of[name])
        for key, section in changes:
            found.pop(key, None)
            if section is not None:
                found[key] = section
        return image_of(found)

    def edit(name, key, at, new):
        return changed(name, (key, put(of[name][key], at, new)))

    def fibs(name, at, new):
        """Both descriptions of IPv4."""
        return changed(name, *(((1, 32, kind), put(of[name][1, 32, kind], at, new)) for kind in (16, 48)))

    # The file.
    good = image_of(of["smallest"])
    start = struct.unpack_from("<Q", good, 72)[0]
    yield "a later minor version", mended(put(good, 10, b"\x09"))
    yield "version 2", mended(put(good, 8, b"\x02"))
    yield "version 4", mended(put(good, 8, b"\x04"))
    yield "a reserved byte of the header", mended(put(good, 40, b"\x01"))
    yield "a wrong checksum of the header", put(good, 60, b"\x00\x00\x00\x00")
    yield "a wrong checksum of the section table", put(put(good, 24, bytes(4)), 60, words(zlib.crc32(put(good, 24, bytes(4))[:60])))
    yield "a wrong checksum of a section", good[:-1] + bytes([good[-1] ^ 1])
    yield "a reserved byte of a section", mended(put(good, 64 + 28, b"\x01"))
    yield "a byte between sections", mended(put(good, start - 1, b"\x01"))
    yield "a byte after the last section", mended(good + b"\x00")
    yield "a byte too few", mended(good[:-1])
    yield "more sections than there is room for", mended(put(good, 12, words(2**32 - 1)))
    yield "a section fewer", mended(put(good, 12, words(len(of["smallest"]) - 1)))
    yield "a section at another place", mended(put(good, 72, struct.pack("<Q", start + 64)))
    yield "a section of all bytes there are", mended(put(good, 80, struct.pack("<Q", 2**64 - 1)))
    yield "an empty file", b""
    yield "a magic alone", good[:8]
    found = dict(of["smallest"])
    found[1, 0, 1] = found.pop((1, 0, 1))
    yield "sections out of order", image_of(found, in_order=False)
    yield "a section twice", mended(put(good, 64 + 32, good[64:72]))
    # Tables.
    only = {(0, 0, 1): metadata(None, "writer\tx")}
    yield "no sections", image_of({})
    yield "no tables", image_of(only)
    yield "a table without metadata", image_of(only | {(1, 32, 99): b""})
    yield "no metadata of the image", changed("smallest", ((0, 0, 1), None))
    yield "a number of a table is left out", image_of({(key[0] * 2, *key[1:]): section for key, section in of["smallest"].items()})
    yield "table 2^32 - 1", changed("smallest", ((2**32 - 1, 0, 1), metadata("x")))
    yield "a table of nothing", image_of(only | {(1, 0, 1): metadata("x")})
    yield "a table of records alone", image_of(table(NAMES))
    yield "one family alone", image_of(table(NAMES, both(128, IPV6, root_bits=3)))
    yield "two tables of one name", changed("types", ((2, 0, 1), metadata("t")))
    yield "two tables of one name, of which the second is damaged", changed(
        "types", ((2, 0, 1), metadata("t")), ((2, 32, 17), put(of["types"][2, 32, 17], 0, words(2**31 + 1))))
    yield "damaged records of the second table", edit("types", (2, 0, 65), 0, words(99))
    # Metadata.
    for what, content in {
        "none": b"", "a line without a name": metadata(None, "source\tx"), "a name that is empty": metadata(""),
        "a name twice": metadata("a", "name\tb"), "a byte order mark": metadata("\ufeffa"), "letters of Unicode": metadata("日本 é"),
        "C1 controls": metadata("a\x85b"), "a key that is empty": metadata("a", "\tx"), "a key that nobody knows": metadata("a", "x\ty"),
        "no line feed": metadata("a")[:-1], "no tab": metadata("a", "x"), "two tabs": metadata("a", "x\ty\tz"),
        "an empty line": metadata("a", ""), "a control character": metadata("a\x01"), "a carriage return": metadata("a\r"),
        "a delete": metadata("a\x7f"), "a zero": metadata("a\x00"), "no UTF-8": b"name\t\xff\n", "a surrogate": b"name\t\xed\xa0\x80\n",
        "an overlong letter": b"name\t\xc1\x81\n", "beyond Unicode": b"name\t\xf4\x90\x80\x80\n", "cut off inside of a letter": b"name\t\xe6\x97\n",
    }.items():
        yield f"metadata of a table: {what}", changed("smallest", ((1, 0, 1), content))
    for what, content in {
        "none": b"", "a time that is none": metadata(None, "written\tnever"), "a time before 1970": metadata(None, "written\t-1"),
        "a time beyond all": metadata(None, f"written\t{2**64}"), "writer twice": metadata(None, "writer\ta", "writer\tb"),
        "no tab": metadata(None, "x"), "no UTF-8": b"writer\t\xff\n",
    }.items():
        yield f"metadata of the image: {what}", changed("smallest", ((0, 0, 1), content))
    # Groups of sections.
    for kind in (16, 17, 18, 32, 33, 34, 48, 49, 50):
        for name in ("smallest", "flat"):
            yield f"without section {kind}: {name}", changed(name, ((1, 32, kind), None))
            yield f"an empty section {kind}: {name}", changed(name, ((1, 32, kind), b""))
    yield "routes without a FIB", changed("smallest", *(((1, 32, kind), None) for kind in (16, 17, 18, 48, 49, 50)))
    yield "routes without the longest-match FIB", changed("smallest", *(((1, 32, kind), None) for kind in (48, 49, 50)))
    yield "routes with the longest-match FIB alone", changed("smallest", *(((1, 32, kind), None) for kind in (16, 17, 18)))
    for content in (b"", b"what it holds", bytes(64)):
        for key in [(1, 0, 99), (1, 256, 99), (1, 32, 1), (1, 32, 4), (1, 0, 16), (1, 0, 48), (1, 0, 32), (0, 0, 4), (0, 0, 16), (0, 32, 16), (1, 0, 5),
                    (1, 0, 68), (1, 0, 66), (1, 0, 67), (1, 0, 16448), (1, 0, 65535), (1, 33, 16), (1, 65535, 65535), (1, 64, 16), (1, 16, 18), (1, 8, 34)]:
            yield f"needless section {key} of {len(content)} bytes", changed("smallest", (key, content))
            yield f"needless section {key} of {len(content)} bytes, without records", changed("values", (key, content))
    # Key widths 8, 16, 64.
    for (number, width, kind), section in of["v3.fib"].items():
        if width in (8, 16, 64):
            yield f"without section {kind} of width {width}", changed("v3.fib", ((number, width, kind), None))
            yield f"a damaged section {kind} of width {width}", edit("v3.fib", (number, width, kind), 0, b"\xfe")
    # Descriptions.
    for at, values in {0: (3, 25, 255), 1: (1, 8, 255), 2: (0, 1, 33), 3: (0, 8, 17, 32, 64), 4: (0, 24, 200), 5: (0, 2, 255), 6: (2, 255), 7: (1,)}.items():
        for value in values:
            yield f"byte {at} of the descriptions is {value}", fibs("smallest", at, bytes([value]))
            yield f"byte {at} of the descriptions is {value}: flat", fibs("flat", at, bytes([value]))
    for at, value in ((8, 2**64 - 1), (16, 2**64 - 1), (32, 2**64 - 1)):
        yield f"a count at {at} that is too high", fibs("smallest", at, struct.pack("<Q", value))
    for length in (39, 41):
        yield f"a description of {length} bytes", changed("values", ((1, 32, 16), (of["values"][1, 32, 16] + b"\x00")[:length]))
    for name, kind in (("values", 16), ("prefixes", 48)):
        for count in (0, 1, 2**31 - 1, 2**31, 2**32 + 6, 2**63):
            yield f"{count} routes: {name}", edit(name, (1, 32, kind), 24, struct.pack("<Q", count))
    for count in (0, 5, 7, 2**31, 2**32 + 6):
        for kind in (16, 48):
            yield f"{count} routes in section {kind} beside the other", edit("smallest", (1, 32, kind), 24, struct.pack("<Q", count))
            values = dict(of["smallest"])
            values = {key: section for key, section in values.items() if key[1] != 32 or key[2] not in (32, 33, 34)}
            yield f"{count} routes in section {kind} beside the other, without routes", image_of(
                values | {(1, 32, kind): put(values[1, 32, kind], 24, struct.pack("<Q", count))})
    nothing = {kind: b"" for kind in (32, 33, 34)}
    for name, is_flat in (("smallest", False), ("flat", True)):
        empty = both(32, [], root_bits=2, is_flat=is_flat)
        yield f"no routes: {name}", image_of(table(NAMES, empty))
        answering = {kind: put(section, 24, bytes(8)) if kind in (16, 48) else section for kind, section in both(32, IPV4, root_bits=2, is_flat=is_flat)[1].items()}
        yield f"no routes in FIBs that answer: {name}", image_of(table(NAMES, (32, answering | nothing)))
    yield "a flat FIB without root bits", image_of(table((32, fib([], 32, 16, 0) | {16: put(fib([], 32, 16, 0)[16], 6, b"\x01")})))
    yield "more bits of values than are needed", image_of(table(NAMES, (32, fib(IPV4, 32, 16, 2, value_bits=17) | fib(IPV4, 32, 48, 2, value_bits=32))))
    yield "32 bits of values", image_of(table((32, fib(IPV4, 32, 16, 2, value_bits=32))))
    short = fib([(0, 1, 200), (2**31, 1, 100)], 32, 16, 1)
    yield "bits of values too few where no block is narrow", image_of(table((32, short | {16: put(short[16], 2, b"\x01")})))
    large = fib([(0, 1, 70_000)], 32, 16, 1)
    yield "an answer above 65535", image_of(table((32, large)))
    yield "an answer above 65535 of 16 bits", image_of(table((32, large | {16: put(large[16], 3, b"\x10")})))
    # Pages, blocks and answers.
    for name in ("smallest", "flat", "values", "prefixes", "types"):
        for width in (32, 128):
            for kind in (16, 48):
                if (1, width, kind) not in of[name]:
                    continue
                root, arena = of[name][1, width, kind + 1], of[name][1, width, kind + 2]
                numbers = struct.unpack(f"<{len(root) // 4}I", root)
                last = len(arena) // 4
                for what, word in {"the highest answer": 2**31 - 1, "a length of next hop 0": 8, "beyond the arena": 2**31 | last,
                                   "beyond the arena, wide": 3 * 2**30 | last + 1, "beyond all": 2**32 - 1, "the first block": 2**31, "the second word": 2**31 + 1,
                                   "a flat block": 0b101 << 29 | 16, "a flat block with halves": 0b101 << 29 | 17, "no line of a flat block": 0b101 << 29 | 24,
                                   "a flat block that is wide": 0b111 << 29 | 16, "the last word": 2**31 | last - 1, "the last two": 2**31 | last - 2,
                                   "another pointer's": numbers[0], "another's with bit 0": numbers[0] ^ 1}.items():
                    for at in {0, len(numbers) - 1}:
                        yield f"entry {at} of root {kind} of width {width} leads to {what}: {name}", edit(name, (1, width, kind + 1), 4 * at, words(word))
                for at in range(3, min(last, 30)):
                    for what, word in (("0", 0), ("1", 1), ("of all bits", 2**32 - 1), ("4 * 33", 132), ("the entry before", struct.unpack_from("<I", arena, 4 * at - 4)[0])):
                        yield f"word {at} of arena {kind} of width {width} is {what}: {name}", edit(name, (1, width, kind + 2), 4 * at, words(word))
    for most in (2**31 - 1, 65_075_262 * 33 + 1, 65_075_261 * 33 + 33):
        prefix = fib([(0, 1, 3000)], 32, 48, 1)
        yield f"the answer {most} of longest matches", image_of(table((32, prefix | {49: words(most, 0)})))
    for value in (1, 99):
        # A block for the last two bits of the key, of which each 16th slot is reached.
        chain = [word for n in range(5) for word in (1, 0, 2**31 | (2**30 if n < 4 else 0) | 6 + 3 * n)]
        of_slots = fib([(0, 1, 1)], 32, 16, 0, value_bits=8)
        yield f"the answer {value} in a slot that no key reaches", image_of(table(NAMES, (32, of_slots | {
            17: words(0b11 << 30 | 3), 18: words(1, 0, 0, *chain, 0b11, 0, 1 | value << 8)})))
    chain = [word for n in range(6) for word in (1, 0, 0b11 << 30 | 6 + 3 * n)]
    yield "a block after the last bit", image_of(table((32, of_slots | {17: words(0b11 << 30 | 3), 18: words(1, 0, 0, *chain, 1, 0, 1)})))
    shared = [0b101 << 29 | 17] * 2
    yield "two pointers to one flat block", image_of(table((32, fib([], 32, 16, 1, is_flat=True) | {
        16: put(fib(IPV4, 32, 16, 1, is_flat=True)[16], 6, b"\x01"), 17: words(*shared), 18: words(1, 0, 0, *[0] * 13, *[2 | 1 << 16] * 32)})))
    yield "two children of one run", image_of(table((32, of_slots | {17: words(0b11 << 30 | 3), 18: words(1, 0, 0, 1, 0, 2**31 | 6, 1, 0, 3)})))
    # Arenas in common.
    rows = records([("a", 1, ["x"]), ("b", 5, [])], rows=[(1, 0)] * 3)
    last = len(of["common"][0, 32, 18]) // 4
    loop = words(1, 0, 3 << 30 | last)
    # A block of one run for each stride of a key, and one more; how many of them are too many follows from the bits of the roots.
    chain = words(*(word for n in range(7) for word in (1, 0, (3 << 30 if n < 5 else 1 << 31) | last + 3 * n + 3 if n < 6 else 1)))
    # Blocks whose every slot leads to the next: as many ways as slots to the power of the blocks.
    ways = words(*(word for n in range(4) for word in (2**32 - 1, 2**32 - 1, *[(3 << 30 if n < 3 else 1 << 31) | last + 66 * (n + 1)] * 64)), 1, 0, 1)
    for what, changes in {
        "ways without end": [((0, 32, 18), of["common"][0, 32, 18] + ways), ((1, 32, 17), put(of["common"][1, 32, 17], 0, words(3 << 30 | last)))],
        "no arena": [((0, 32, 18), None)], "no records": [((0, *key), None) for key in NAMES], "other records": [((0, *key), section) for key, section in rows.items()]
        + [((0, 0, kind), None) for kind in (64, 65) if (0, kind) not in rows], "an end of records": [((0, 0, 65), words(4, 3, 15))],
        "fewer records": [((0, *key), section) for key, section in records([("value", 1, ["x", "y"])]).items()],
        "records of its own": [((2, *key), section) for key, section in NAMES.items()], "values of its own": [((2, 0, 64), b"xyz"), ((2, 0, 65), words(1, 2, 3))],
        "an arena of its own": [((2, 32, kind), section) for kind, section in fib(IPV4, 32, 16, 8).items()], "rows of its own": [((2, 0, 5), bytes(9))],
        "no description": [((2, 32, 16), None)], "no FIB of values": [((2, 32, 16), None), ((2, 32, 17), None)], "no root": [((2, 32, 17), None)],
        **{f"byte {at} is {value}": [((2, 32, kind), put(of["common"][2, 32, kind], at, bytes([value])))]
           for kind in (16, 48) for at, value in ((2, 3), (2, 8), (3, 32), (4, 3), (5, 0), (6, 1), (0, 7))},
        "no routes in one": [((2, 32, kind), put(of["common"][2, 32, kind], 24, bytes(8))) for kind in (16, 48)] + [((2, 32, kind), b"") for kind in (32, 33, 34)],
        "a loop": [((0, 32, 18), of["common"][0, 32, 18] + loop), ((2, 32, 17), put(of["common"][2, 32, 17], 0, words(3 << 30 | last)))],
        "a loop nobody meets": [((0, 32, 18), of["common"][0, 32, 18] + loop)], "an arena cut off": [((0, 32, 18), of["common"][0, 32, 18][:-4])],
        "the first block": [((2, 32, 17), put(of["common"][2, 32, 17], 0, words(1 << 31)))], "inside of a block": [((1, 32, 17), put(of["common"][1, 32, 17], 0, words(1 << 31 | 4)))],
        "a flat block": [((1, 32, 17), put(of["common"][1, 32, 17], 0, words(0b101 << 29 | 16)))],
        **{f"{7 - n} blocks from table {number}": [((0, 32, 18), of["common"][0, 32, 18] + chain),
                                                    ((number, 32, 17), put(of["common"][number, 32, 17], 0, words((3 << 30 if n < 5 else 1 << 31) | last + 3 * n)))]
           for number in (1, 2) for n in range(1, 7)},
        **{f"{6 - n} blocks and then {6 - m}": [((0, 32, 18), of["common"][0, 32, 18] + chain), *(
            ((number, 32, 17), put(of["common"][number, 32, 17], 0, words(3 << 30 | last + 3 * at))) for number, at in ((1, n), (2, m)))]
           for n, m in ((2, 3), (3, 2), (2, 2), (2, 1))},
    }.items():
        for name in "common", "common arenas":
            yield f"{what}: {name}", changed(name, *changes)
    # Routes.
    for what, routes in {
        "out of order": [IPV4[1], IPV4[0], *IPV4[2:]], "twice": [*IPV4[:5], IPV4[4]], "lengths out of order": [(0x0A000000, 9, 1), *IPV4[1:]],
        "bits beyond the length": [(1, 1, 1), *IPV4[1:]], "a length of 33": [*IPV4[:5], (0xC0000200, 33, 3)], "a length of 255": [*IPV4[:5], (0xC0000200, 255, 3)],
        "next hop 0": [(0, 1, 0), *IPV4[1:]], "a next hop above the records": [(0, 1, 4), *IPV4[1:]], "the highest number": [(0, 1, 2**31), *IPV4[1:]],
        "all bits": [(0, 1, 2**32 - 1), *IPV4[1:]], "a length of 0 with an address": [(7, 0, 1), *IPV4[1:]], "other prefixes than the FIBs": [(0, 0, 1), *IPV4[1:]],
        "one fewer": IPV4[1:], "one more": [*IPV4, (0xD0000000, 8, 1)],
    }.items():
        for name in ("smallest", "flat"):
            yield f"routes: {what}: {name}", changed(name, *(((1, 32, kind), section) for kind, section in routes_of(routes, 32).items()))
    for what, route in {"bits beyond the length": ((0x20010DB8 << 96) + 2, 127 - 1, 2), "a length of 129": (0x20010DB8 << 96, 129, 2), "low bits": (1 << 64 | 1, 64, 2)}.items():
        yield f"IPv6 routes: {what}", changed("smallest", *(((1, 128, kind), section) for kind, section in routes_of([IPV6[0], route, *IPV6[2:]], 128).items()))
    # Records.
    def with_records(sections_of_records, count=3):
        routes = [(address, length, min(next_hop, count)) for address, length, next_hop in IPV4] if count else []
        return image_of(table(sections_of_records, both(32, routes, root_bits=2)))

    columns = [("a", 1, ["x", "é", "日本"]), ("b", 4, [1.5, math.nan, -math.inf]), ("c", 5, [True])]
    rows = [(1, 1, 1), (2, 2, 0), (3, 3, 1)]
    good = records(columns, rows)
    yield "records", with_records(good)
    for what, new in {
        "equal values": records([("a", 1, ["x", "x", "x"])]), "equal values in rows": records([("a", 2, [7, 7]), ("b", 5, [True, True])], rows=[(1, 2), (2, 1), (0, 0)]),
        "equal lists": records([("a", 2, [7], [[1], [1], [1, 1]])]), "a name that is empty": records([("", 1, ["x", "y", "z"])]),
        "a name with control characters": records([("a\n\x00\t\x7f", 1, ["x", "y", "z"])]), "a name that is no UTF-8": records([(b"\xff", 1, ["x", "y", "z"])]),
        "a name with a byte order mark": records([("\ufeff", 1, ["x", "y", "z"]), ("", 5, [])], rows=[(1, 0), (2, 0), (3, 0)]),
        "two names": records([("a", 1, ["x"]), ("a", 5, [])], rows=[(1, 0)] * 3), "a text that is no UTF-8": records([("a", 1, [b"x", b"\xff", b"y"])]),
        "texts that end inside of a character": records([("a", 1, [b"\xc3", b"\xa9", b"y"])]), "texts with control characters": records([("a", 1, ["\x00\x01", "a\tb\nc", "\x7f"])]),
        "a column without values": records([("a", 1, []), ("b", 5, [True])], rows=[(0, 1), (0, 0), (0, 1)]),
        "no column has values": records([("a", 1, []), ("b", 4, [])], rows=[(0, 0)] * 3), "no columns": {(0, 4): words(3, 0, 1, 0), (0, 5): bytes(10)},
        "more records than values": records([("a", 1, ["x", "y", "z"])], count=4), "fewer records than values": records([("a", 1, ["x", "y", "z", "w"])], count=3),
        "two columns without rows": records([("a", 1, ["x", "y", "z"]), ("b", 1, ["x", "y", "z"])]), "a value column that is none": records(columns, rows, value_column=3),
        "the last column is that of the value": records(columns, rows, value_column=2), "rows fewer than records": records(columns, rows, count=4),
        "rows more than records": records(columns, rows, count=2), "a code above the values": records([("a", 1, ["x", "y"])], rows=[(1,), (3,), (0,)]),
        "a code above the lists": records([("a", 2, [7], [[1], []])], rows=[(1,), (3,), (0,)]), "lists without values": records([("a", 2, [], [[], [], []])]),
        "an element 0": records([("a", 2, [7], [[1], [0], []])]), "an element above the values": records([("a", 2, [7], [[1], [2], []])]),
        "lists of booleans": records([("a", 5, [False, True], [[1, 2], [2], []])]), "numbers of 64 bits": records([("a", 3, [0, 2**63, 2**64 - 1])]),
        "integers of 64 bits": records([("a", 2, [-2**63, 2**63 - 1, 0])]), "floats": records([("a", 4, [5e-324, 1.7976931348623157e308, 123456789.125])]),
        "bits after the last code": good | {(0, 5): put(good[0, 5], 0, bytes([good[0, 5][0] | 0x80]))},
        "a bit in a row without codes": records([("a", 1, []), ("b", 4, [])], rows=[(0, 0)] * 3) | {(0, 5): bytes([0, 1, 0, 0, 0, 0, 0, 0, 0, 0])},
        "a byte after the rows": good | {(0, 5): put(good[0, 5], -1, b"\x01")}, "a byte too few after the rows": good | {(0, 5): good[0, 5][:-1]},
        "no rows": {key: section for key, section in good.items() if key != (0, 5)},
        "a boolean of 2": good | {(0, 72): b"\x02"}, "a float of 7 bytes": good | {(0, 68): good[0, 68][:-1]}, "more follows the names": good | {(0, 4): good[0, 4] + b"x"},
        "a name is cut off": good | {(0, 4): good[0, 4][:-1]}, "ends that descend": good | {(0, 65): words(3, 1, 9)}, "text after the last end": good | {(0, 65): words(1, 3, 8)},
        "an end beyond the text": good | {(0, 65): words(1, 3, 10)}, "ends fewer": good | {(0, 65): words(1, 3)}, "ends that are no words": good | {(0, 65): good[0, 65] + b"\x00"},
        "15 bytes": {(0, 4): good[0, 4][:15]}, "nothing": {(0, 4): b""}, "4 bytes": {(0, 4): words(3)}, "4097 columns": good | {(0, 4): put(good[0, 4], 4, words(4097))},
        **{f"byte {at} of a column is {value}": good | {(0, 4): put(good[0, 4], 16 + at, bytes([value]))}
           for at, values in {0: (0, 2, 6, 255), 1: (1, 2, 255), 2: (0, 1, 3, 33, 255), 3: (1, 15, 200), 12: (1,)}.items() for value in values},
        **{f"without section {kind}": {key: section for key, section in good.items() if key != (0, kind)} for kind in (64, 65, 68, 72)},
        **{f"lists without section {kind}": {key: section for key, section in records([("a", 2, [7], [[1], [1], []])]).items() if key != (0, kind)} for kind in (64, 66, 67)},
        "rows where there are none": NAMES | {(0, 5): bytes(10)}, "a row length where there are none": NAMES | {(0, 4): put(NAMES[0, 4], 8, words(1)), (0, 5): bytes(10)},
        "2^32 - 1 records": NAMES | {(0, 4): put(NAMES[0, 4], 0, words(2**32 - 1))}, "2^32 - 1 values": NAMES | {(0, 4): put(NAMES[0, 4], 24, words(2**32 - 1))},
        "2^32 - 1 bytes of a name": NAMES | {(0, 4): put(NAMES[0, 4], 20, words(2**32 - 1))}, "2^32 - 1 bytes of a row": good | {(0, 4): put(good[0, 4], 8, words(2**32 - 1))},
    }.items():
        yield f"records: {what}", with_records(new)
    yield "no records", with_records(records([("a", 1, [])]), count=0)
    yield "no records in rows", with_records(records([("a", 1, ["x"]), ("b", 5, [])], rows=[]), count=0)


# ---------------------------------------------------------------- changed at random


def at_random(of, count, seed):
    rng = random.Random(seed)
    names = [name for name in of if "pages" not in name]
    images = {name: image_of(base) for name, base in of.items()}
    for n in range(count):
        # Those with pages are large.
        name = rng.choice(names) if n % 250 else rng.choice(["pages", "flat pages"])
        image = bytearray(images[name])
        ranges = [struct.unpack_from("<QQ", image, at + 8) for at in range(64, 64 + 32 * len(of[name]), 32)]
        for _ in range(rng.randint(1, 3)):
            # Half of the places are in any section, however short it is; the others anywhere.
            start, length = rng.choice(ranges) if rng.random() < 0.5 else (0, len(image))
            at = min(start + rng.randrange(max(1, length)), len(image) - 4)
            word = at & ~3
            match rng.randrange(6):
                case 0 | 1:
                    image[at] ^= 1 << rng.randrange(8)
                case 2:
                    image[at] = rng.randrange(256)
                case 3:
                    image[word:word + 4] = words(rng.getrandbits(32))
                case 4:
                    other = rng.randrange(len(image) - 3) & ~3
                    image[word:word + 4] = image[other:other + 4]
                case 5:
                    image[word:word + 4] = words(rng.randrange(300))
        if rng.random() < 0.02:
            del image[rng.randrange(len(image)):]
        yield f"random {seed}/{n}: {name}", bytes(image) if rng.random() < 0.05 else mended(image)


def main():
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    path, count, seed = pathlib.Path(sys.argv[1]), *map(int, [*sys.argv[2:], *("10000", "1")[len(sys.argv) - 2:]])
    sources = [pathlib.Path(__file__), pathlib.Path(made_images.__file__), PAGE, RECORDS, WIDTHS]
    if path.exists() and path.stat().st_mtime > max(source.stat().st_mtime for source in sources):
        return
    reader, asked, of = page(), addresses(), bases()
    part = lambda content: struct.pack("<I", len(content)) + content
    verdicts = [0, 0]
    beside = path.with_name(f"{path.name}.{random.getrandbits(32)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(beside, "wb") as file:
        file.write(part("".join(f"{address}\n" for address in asked).encode()))
        for images in by_hand(of), at_random(of, count, seed):
            for name, image in images:
                found = found_in(reader, image, asked)
                verdicts[found == ""] += 1
                file.write(part(name.encode()) + part(image) + part(found.encode()))
    beside.replace(path)
    print(f"{verdicts[0]} images to be read and {verdicts[1]} to be refused")


if __name__ == "__main__":
    main()
