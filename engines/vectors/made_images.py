"""Images made by hand, of sections in their order: what changed.py changes."""

import math
import pathlib
import struct
import zlib

TOP = pathlib.Path(__file__).resolve().parents[2]
RECORDS = TOP / "engines" / "vectors" / "records.fib"
WIDTHS = TOP / "crates" / "popfib" / "tests" / "data" / "v3.fib"


def sections(image):
    """The sections of a valid image by table, key width and kind."""
    entries = struct.iter_unpack("<IHHQQII", image[64:64 + 32 * struct.unpack_from("<I", image, 12)[0]])
    return {(table, width, kind): image[start:start + length] for table, width, kind, start, length, _, _ in entries}


def image_of(found, in_order=True):
    entries, content, end = b"", b"", 64 + 32 * len(found)
    for (table, width, kind), section in sorted(found.items()) if in_order else found.items():
        content += bytes(-end % 64)
        end += -end % 64
        entries += struct.pack("<IHHQQII", table, width, kind, end, len(section), 0, 0)
        content += section
        end += len(section)
    head = b"\x89POPFIB\n" + struct.pack("<HHIQ", 3, 0, len(found), 0) + bytes(40)
    return mended(head + entries + content)


def mended(image):
    """With the right length and checksums, as far as there are sections."""
    image = bytearray(image)
    if len(image) < 64:
        return bytes(image)
    end = 64 + 32 * struct.unpack_from("<I", image, 12)[0]
    for at in range(64, min(end, len(image) - 31), 32):
        start, length = struct.unpack_from("<QQ", image, at + 8)
        if start + length <= len(image):
            struct.pack_into("<I", image, at + 24, zlib.crc32(image[start:start + length]))
    struct.pack_into("<QI", image, 16, len(image), zlib.crc32(image[64:end]))
    struct.pack_into("<I", image, 60, zlib.crc32(image[:60]))
    return bytes(image)


def words(*numbers):
    return struct.pack(f"<{len(numbers)}I", *numbers)


def fib(routes, width, kind, root_bits, page_bits=0, is_flat=False, value_bits=None, common=None):
    """The three sections of a FIB of (address, length, next hop); the first two if it has a common arena: words, and places by blocks."""
    arena, known = common or ([1, 0, 0], None)

    def answer(key):
        inside = [route for route in routes if key >> width - route[1] == route[0] >> width - route[1]]
        _, length, next_hop = max(inside, key=lambda route: route[1], default=(0, 0, 0))
        return next_hop * (width + 1) + length if kind == 48 and next_hop else next_hop

    highest = max((next_hop * (width + 1) + length if kind == 48 else next_hop for _, length, next_hop in routes), default=0)
    value_bits = value_bits or max(1, highest.bit_length())

    def slots(key, used, bits, entry):
        over = max(0, used + bits - width)
        return [entry(key | slot >> over << max(0, width - used - bits), used + bits - over) for slot in range(1 << bits)]

    def is_deeper(key, used):
        return used < width and any(length > used and address >> width - used == key >> width - used for address, length, _ in routes)

    def flat(key, used, entry):
        entries = slots(key, used, 6, entry)
        half = width <= 32 and max(entries) < 2**15
        arena.extend([0] * (-len(arena) % 16))
        place = len(arena)
        arena.extend(low | high << 16 for low, high in zip(entries[::2], entries[1::2])) if half else arena.extend(entries)
        return 0b101 << 29 | place | half

    def entry(key, used):
        if not is_deeper(key, used):
            return answer(key)
        if is_flat and width > 32:
            return flat(key, used, entry)
        entries = slots(key, used, 6, entry)
        firsts = [slot for slot in range(64) if slot == 0 or entries[slot] != entries[slot - 1]]
        values = [entries[slot] for slot in firsts]
        is_wide = max(values) >> 31
        runs = sum(1 << slot for slot in firsts)
        place = len(arena)
        packed = sum(value << n * value_bits for n, value in enumerate(values))
        count = -(-len(values) * value_bits // 32)
        block = (runs & 0xFFFFFFFF, runs >> 32, *(values if is_wide else (packed >> 32 * n & 0xFFFFFFFF for n in range(count))))
        if known is not None:
            place = known.setdefault((is_wide, block), place)
        if place == len(arena):
            arena.extend(block)
        return 1 << 31 | is_wide << 30 | place

    def page_entry(key, used):
        if not is_deeper(key, used):
            return answer(key)
        entries = slots(key, used, page_bits, entry)
        arena.extend(entries)
        return 1 << 31 | len(arena) - len(entries)

    if is_flat and width <= 32:
        root = slots(0, 0, root_bits, lambda key, used: flat(key, used, entry))
    else:
        root = slots(0, 0, root_bits, page_entry if page_bits else entry)
    head = struct.pack("<8B4Q", root_bits, page_bits, value_bits, 16 if highest < 2**16 else 32, 255, 1, is_flat, 0, 1, 1, len(routes), 1)
    own = {} if common else {kind + 2: words(*arena)}
    return {kind: head, kind + 1: words(*root)} | own


IPV4 = [(0, 1, 1), (0x0A000000, 8, 2), (0x0A010000, 16, 1), (0x0A010200, 24, 3), (0x0A010203, 32, 2), (0xC0000200, 24, 3)]
IPV6 = [(0, 1, 1), (0x20010DB8 << 96, 32, 2), ((0x20010DB8 << 96) + 1, 128, 1), (0x20010DB88 << 92, 33, 3), (0xFE80 << 112, 10, 2)]


def metadata(name=None, *lines):
    return "".join(f"{line}\n" for line in ([] if name is None else [f"name\t{name}"]) + list(lines)).encode()


def records(columns, rows=None, count=None, value_column=0):
    """Sections of columns (name, type, values) and codes in rows. Values are bytes of numbers, or texts; of lists (values, codes)."""
    found, entries, names, all_bits = {}, b"", b"", []
    for c, (name, kind, values, *lists) in enumerate(columns):
        if kind == 1:
            texts = [value if isinstance(value, bytes) else value.encode() for value in values]
            found[0, 64 + 4 * c] = b"".join(texts)
            found[0, 65 + 4 * c] = words(*(sum(map(len, texts[:n + 1])) for n in range(len(texts))))
        else:
            found[0, 64 + 4 * c] = struct.pack(f"<{len(values)}{' qQd?'[kind - 1]}", *values)
        if lists:
            found[0, 66 + 4 * c] = words(*(sum(map(len, lists[0][:n + 1])) for n in range(len(lists[0]))))
            found[0, 67 + 4 * c] = words(*(code for codes in lists[0] for code in codes))
        highest = len(lists[0]) if lists else len(values)
        bits = highest.bit_length() if rows is not None else 0
        all_bits.append(bits)
        name = name if isinstance(name, bytes) else name.encode()
        entries += struct.pack("<BBBBIII", kind, bool(lists), bits, 0, len(name), len(values), len(lists[0]) if lists else 0)
        names += name
    stride = 0
    if rows is not None:
        stride = max(1, -(-sum(all_bits) // 8))
        numbers = (sum(code << sum(all_bits[:c]) for c, code in enumerate(row)) for row in rows)
        found[0, 5] = b"".join(number.to_bytes(stride, "little") for number in numbers) + bytes(7)
    count = count if count is not None else len(columns[0][2]) if rows is None else len(rows)
    found[0, 4] = words(count, len(columns), stride, value_column) + entries + names
    return found


NAMES = records([("value", 1, ["east", "west", "\ufeffsouth"])])


def routes_of(routes, width):
    size = width // 8
    return {32: b"".join(address.to_bytes(size, "little") for address, _, _ in routes), 33: bytes(length for _, length, _ in routes),
            34: words(*(next_hop for _, _, next_hop in routes))}


def table(*parts, number=1, name="t"):
    """The sections of an image and its table: (width, {kind: section}) and {(width, kind): section}."""
    found = {(0, 0, 1): metadata(None, "writer\tby hand", "written\t1779000000"), (number, 0, 1): metadata(name)}
    for part in parts:
        of = part if isinstance(part, dict) else {(part[0], kind): section for kind, section in part[1].items()}
        found |= {(number, *key): section for key, section in of.items()}
    return found


def both(width, routes, **options):
    """Both FIBs of a family, and its routes."""
    return width, fib(routes, width, 16, **options) | fib(routes, width, 48, **options) | routes_of(routes, width)


def common(records):
    """Tables of which the first two have these records and arenas in common, and lead to the same blocks after other numbers of bits."""
    changed = [*IPV4[:3], (0x0A010200, 24, 1), *IPV4[4:]]
    own = {key: section for key, section in table(NAMES, both(32, IPV4[:2], root_bits=1), number=3, name="c").items() if key[0] == 3}
    found = table(number=1, name="a") | table(number=2, name="b") | own | {(0, *key): section for key, section in records.items()}
    for width, kind, value_bits in ((32, 16, 2), (32, 48, 7), (128, 16, 2), (128, 48, 9)):
        arena = [1, 0, 0], {}
        for number, routes, bits in ((1, IPV4, 2), (2, changed, 8)):
            routes, bits = (routes, bits) if width == 32 else (IPV6, [0, 6][number - 1])
            of = fib(routes, width, kind, bits, value_bits=value_bits, common=arena)
            found |= {(number, width, section): content for section, content in (of | routes_of(routes, width)).items()}
        found[0, width, kind + 2] = words(*arena[0])
    return found


def bases():
    types = records([
        ("names.city", 1, ["Wien", "a,b", ""]), ("asn", 2, [-5, 2**62]), ("id", 3, [2**64 - 1]), ("rate", 4, [0.1, 1e22, -0.0, math.nan, math.inf]),
        ("up", 5, [False, True]), ("tags", 1, ["x", "y,z", "\\"], [[], [1], [3, 1, 2]]), ("ports", 2, [80, 443], [[2, 1], []]),
    ], [(1, 1, 1, 1, 1, 1, 1), (2, 2, 0, 2, 2, 2, 2), (3, 0, 0, 4, 0, 3, 0), (0, 0, 0, 5, 0, 0, 0)], value_column=3)
    other = {key: section for key, section in table(NAMES, both(32, IPV4[:2], root_bits=0), number=2, name="u").items() if key[0] == 2}
    return {
        "smallest": table(NAMES, both(32, IPV4, root_bits=2), both(128, IPV6, root_bits=0)),
        "flat": table(both(32, IPV4, root_bits=2, is_flat=True), both(128, [*IPV6[:2], *IPV6[3:]], root_bits=4, is_flat=True)),
        "common": common(NAMES), "common arenas": common({}),
        "values": table((32, fib(IPV4, 32, 16, 3)), (128, fib(IPV6, 128, 16, 3))),
        "prefixes": table((32, fib(IPV4, 32, 48, 0)), (128, fib(IPV6, 128, 48, 12))) | {
            (1, 0, 1): metadata("p", "licence\tno source", "source\ta.txt", "licence\tCC0", "source\tb.txt", "more\tx")},
        "types": table(types, both(32, [(*route[:2], n % 4 + 1) for n, route in enumerate(IPV4)], root_bits=1)) | other,
        "records.fib": sections(RECORDS.read_bytes()),
        "v3.fib": sections(WIDTHS.read_bytes()),
        "pages": table((128, fib(IPV6, 128, 16, 16, 2) | fib(IPV6, 128, 48, 16, 1))),
        "flat pages": table((128, fib(IPV6, 128, 48, 16, 3, is_flat=True))),
    }
