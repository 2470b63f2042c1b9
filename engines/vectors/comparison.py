"""One table for all doors, in two versions, and a hundred thousand questions with the right answers.

The oracle is a dictionary for each length of prefixes; it shares no code with popfib. `generate.py` writes into target/vectors:

    first.csv       the table: prefix, and the columns name, asn, score, up and tags, which is text
    second.jsonl    what takes its place: a tenth of the routes are others, all records; `tags` is a list, texts may be empty
    first.tsv       the routes: prefix and columns, as the command prints them; `~` is an absent value. Of several lines for a
    second.tsv      prefix it has the last. At the end of second.tsv stand IPv4 routes as IPv4-mapped addresses find them
    questions.tsv   text, number of the route in first.tsv, number of the route in second.tsv: from 1, 0 without a match, and `-`
                    where the text is no address

In the first table IPv4-mapped addresses are IPv6 and nothing else. The second is to be read with --mapped, or what is called so:
they have the routes of IPv4, too, beside those of IPv6 which lead there.
"""

import ipaddress
import json

COLUMNS = ["name", "asn", "score", "up", "tags"]
ABSENT = "~"
MAPPED = 0xFFFF << 32
INVALID = ["", "x", "10.0.0", "10.0.0.256", "10.0.0.01", "10.0.0.1.2", "1::2::3", "12345::", "1:2:3:4:5:6:7", "0x0a000001", "é", "2001:db8::g"]
NAMES = [
    "Wien", "a,b", 'said "yes"', '"', ",", '"",""', "日本", "日本,東京", "zürich", "it's", "back\\slash", "\\N", "NULL", "null", "true", "48", "-", "#1",
    "semi;colon", "a  b", "<&>", "{1,2}", "{", "twelve-bytes", "a-value-that-is-rather-long-" * 4, "🛰", "x=y", "$1", "%s", "[1]",
]
TAGS = ["vpn", "a,b", "日本", "back\\slash", 'say "x"', "cloud", "b", "1"]


def text_of(width, number):
    if width == 32:
        return f"{number >> 24}.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
    if number >> 32 == 0xFFFF:
        # `str` of it differs between versions of Python.
        return f"::ffff:{text_of(32, number & 0xFFFFFFFF)}"
    return str(ipaddress.IPv6Address(number))


def shown(value):
    """A value as the command prints it."""
    if isinstance(value, list):
        return ",".join(element.replace("\\", "\\\\").replace(",", "\\,") for element in value)
    return ABSENT if value is None else value if isinstance(value, str) else json.dumps(value)


def routes(rng):
    """Pairs of a width, the bits of an address and a length: of every length above a few addresses, in crowds, and anywhere."""
    found = {}
    for width, count, common in (32, 18000, 22), (128, 8000, 44):
        starts = [rng.getrandbits(width) for _ in range(1500)]
        chains = [(rng.choice(starts), length) for length in range(1, width + 1) for _ in range(3)]
        for _ in range(count - len(chains)):
            length = min(width, max(6, round(rng.gauss(common, width / 8))))
            chains.append((rng.choice(starts) ^ rng.getrandbits(width) >> rng.randrange(width), length))
        for address, length in chains:
            found[width, address >> (width - length) << (width - length), length] = None
    # Some of IPv6 that lead to IPv4-mapped addresses.
    for width, bits, length in rng.sample(sorted(found), 300):
        if width == 32:
            found[128, MAPPED | bits, 96 + length] = None
    return list(found)


def record(rng, is_second):
    score = round(rng.uniform(-99, 9999), rng.choice([0, 1, 2]))
    tags = rng.sample(TAGS, rng.randint(1, 3))
    present = [
        "" if is_second and rng.random() < 0.1 else rng.choice(NAMES) + rng.choice(["", f" {rng.randrange(999)}"]),
        rng.choice([rng.randrange(1 << 32), rng.randrange(65536), -7, 0]),
        int(score) if is_second and score == int(score) else score + 0.0,
        rng.random() < 0.5,
        tags if is_second else shown(tags),
    ]
    return [None if rng.random() < 0.15 else value for value in present]


def version(rng, keys, is_second):
    """The lines of a table: a route and its record; some are followed by another for the same route."""
    pool = [record(rng, is_second) for _ in range(2000)] + [[None] * 5] * 20
    lines = [(key, rng.choice(pool)) for key in keys]
    lines += [(key, rng.choice(pool)) for key in rng.sample(keys, 100)]
    return lines


def table_text(lines, is_second):
    rows = ((f"{text_of(width, bits)}/{length}", values) for (width, bits, length), values in lines)
    if is_second:
        # An absent value is null, or not there.
        objects = ({"prefix": prefix, **{c: v for c, v in zip(COLUMNS, values) if v is not None or len(prefix) % 2}} for prefix, values in rows)
        return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in objects)
    # With quotes where they are needed, and elsewhere sometimes.
    quote = lambda cell: '"' + cell.replace('"', '""') + '"' if any(c in cell for c in ',";\'') or len(cell) % 5 == 4 else cell
    cells = ([prefix, *("" if value is None else shown(value) for value in values)] for prefix, values in rows)
    return "\n".join(",".join(map(quote, row)) for row in [["prefix", *COLUMNS], *cells]) + "\n"


class Oracle:
    """The routes of a table, each a row, in a dictionary for each length."""

    def __init__(self, lines, is_mapped):
        self.rows = {}
        self.lengths = {32: {}, 128: {}}
        for key, values in lines:
            self.add(key, values)
        if is_mapped:
            # A route of IPv6 goes before that of IPv4 for the same addresses.
            for (width, bits, length), values in list(self.rows.items()):
                if width == 32 and MAPPED | bits not in self.lengths[128].get(96 + length, ()):
                    self.add((128, MAPPED | bits, 96 + length), values)
        numbers = {key: n for n, key in enumerate(self.rows, 1)}
        for width, lengths in self.lengths.items():
            self.lengths[width] = [
                (width - length, {bits >> (width - length): numbers[width, bits, length] for bits in of})
                for length, of in sorted(lengths.items(), reverse=True)
            ]

    def add(self, key, values):
        width, bits, length = key
        self.rows[key] = values
        self.lengths[width].setdefault(length, set()).add(bits)

    def row(self, width, number):
        for free, of in self.lengths[width]:
            if found := of.get(number >> free):
                return found
        return 0

    def text(self):
        return "".join(
            "\t".join([f"{text_of(width, bits)}/{length}", *map(shown, values)]) + "\n" for (width, bits, length), values in self.rows.items()
        )


def questions(rng, keys):
    """Texts of addresses, and what they are: about the ends of routes, inside of them, anywhere; some are no addresses."""
    for n in range(100_000):
        width, bits, length = rng.choice(keys)
        last = bits | (1 << (width - length)) - 1
        number = rng.choice([bits, last, bits - 1, last + 1, rng.randint(bits, last), rng.randint(bits, last)]) % (1 << width)
        if n % 50 == 0:
            number = rng.getrandbits(width)
        if n % 300 == 0:
            yield INVALID[n // 300 % len(INVALID)], None, 0
        elif width == 32 and n % 8 == 0:
            yield rng.choice([f"::ffff:{number >> 16:x}:{number & 0xFFFF:x}", f"::FFFF:{text_of(32, number)}"]), 128, MAPPED | number
        elif width == 128 and n % 16 == 0:
            yield ipaddress.IPv6Address(number).exploded.upper(), width, number
        else:
            yield text_of(width, number), width, number


def files(rng):
    """The names of all files, and what is in them."""
    old = routes(rng)
    new = sorted(set(routes(rng)) - set(old))
    new = sorted(rng.sample(old, len(old) * 9 // 10) + rng.sample(new, len(old) // 10)) + [(32, 0, 0)]
    rng.shuffle(new)
    lines = [version(rng, keys, is_second) for is_second, keys in enumerate([old, new])]
    first, second = (Oracle(each, is_second) for is_second, each in enumerate(lines))
    rows = []
    for text, width, number in questions(rng, old + new):
        answers = ["-", "-"] if width is None else [str(of.row(width, number)) for of in (first, second)]
        rows.append("\t".join([text, *answers]) + "\n")
    yield "first.csv", table_text(lines[0], False)
    yield "second.jsonl", table_text(lines[1], True)
    yield "first.tsv", first.text()
    yield "second.tsv", second.text()
    yield "questions.tsv", "".join(rows)


# ---------------------------------------------------------------- for tests in Python


def value_of(column, text, is_second):
    """A value as Python has it."""
    if text == ABSENT:
        return None
    if column == "tags" and is_second:
        parts = text.replace("\\\\", "\0").replace("\\,", "\1").split(",")
        return [part.replace("\1", ",").replace("\0", "\\") for part in parts]
    return {"asn": int, "score": float, "up": json.loads}.get(column, str)(text)


def asked(folder, version):
    """The questions of a version, 0 or 1: of each its text, whether it is an address, and its prefix and values, None without a match."""
    rows = [None]
    for line in (folder / ["first.tsv", "second.tsv"][version]).read_text(encoding="utf-8").splitlines():
        prefix, *texts = line.split("\t")
        rows.append((prefix, [value_of(column, text, version) for column, text in zip(COLUMNS, texts)]))
    for line in (folder / "questions.tsv").read_text(encoding="utf-8").splitlines():
        text, *numbers = line.split("\t")
        number = numbers[version]
        yield text, number != "-", None if number == "-" else rows[int(number)]
