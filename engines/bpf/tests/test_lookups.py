"""The header's lookups in the kernel: compared with those of the library, while tables change, and where the map is full of nonsense."""

import array
import glob
import os
import random
import signal
import struct
import subprocess
import tempfile
import time
import unittest

import kernel
import tables
from tables import IPV4, IPV6, POPFIB, popfib

COUNT = 1 << 20
DATA = os.path.join(kernel.TOP, "../shared/data/tables")
IS_QUICK = os.environ.get("POPFIB_QUICK") == "1"
FORMS = [[], ["--size", "balanced"], ["--direct-bits", "18", "--size", "balanced"],
         ["--direct-bits", "24", "--size", "balanced"], ["--direct-bits", "0"],
         ["--direct-bits", "3"], ["--no-aggregation", "--direct-bits", "17"]]

# Routes of a family, and different values.
SIZES = [(1, 1), (3, 2), (300, 5), (3000, 40000)]
if not IS_QUICK:
    SIZES += [(20000, 100000), (90000, 70)]


def setUpModule():
    global FOLDER, SETTINGS, ADDRESSES, IDS, ANSWERS, PROGRAMS
    FOLDER = tempfile.mkdtemp()
    kernel.load_all(kernel.compiled("tests/lookups.bpf.c", FOLDER), "lookups")
    SETTINGS = kernel.memory(kernel.pinned("settings"), 24)
    ADDRESSES = kernel.memory(kernel.pinned("addresses"), 16 * COUNT)
    IDS = kernel.memory(kernel.pinned("ids"), 4 * COUNT)
    ANSWERS = kernel.memory(kernel.pinned("answers"), 16 * COUNT)
    PROGRAMS = {name: kernel.pinned(f"lookups/{name}") for name in ("all4", "all6")}


def looked_up(width, addresses):
    """Number, value, number of the match and its length of each address: four lists."""
    ADDRESSES[:16 * len(addresses)] = tables.packed(width, addresses)
    return looked_up_again(width, len(addresses))


def looked_up_again(width, count):
    SETTINGS[:16] = struct.pack("QQ", count, 1)
    result = kernel.run(PROGRAMS["all4" if width == IPV4 else "all6"])
    assert result[0] == 2, result
    found = array.array("I", ANSWERS[:16 * count])
    return found[::4], found[1::4], found[2::4], found[3::4]


class Answers(unittest.TestCase):
    def compare(self, image, routes, count):
        """Loads an image and compares the answers of programs with its own."""
        popfib("xdp", "load", "--matches", image)
        self.check(image, routes, count)
        popfib("xdp", "verify", "--random", "10000", image)

    def check(self, table, routes, count):
        """Compares the answers of programs with those of `popfib lookup`."""
        for width, of_family in routes.items():
            for part in tables.batches(tables.probes(width, of_family, count), COUNT):
                found = looked_up(width, part)
                wanted = tables.answers(table, width, part)
                for address, number, value, match, length, right in zip(part, *found, wanted):
                    if (number > 0, value, length) != right or number != match:
                        self.fail((tables.text(width, address), number, value, match, length, right))

    def compiled(self, path, *options):
        image = f"{FOLDER}/image.fib"
        popfib("compile", path, "-o", image, *options)
        return image

    def test_random_tables_in_all_forms(self):
        """Tables of all forms that an image can have, with few and many values."""
        for seed, (count, values) in enumerate(SIZES):
            routes = {width: tables.random_routes(width, count, seed, values=values) for width in (IPV4, IPV6)}
            if seed == 1:
                routes[IPV4][0, 0] = routes[IPV6][0, 0] = 9
            path = tables.write(f"{FOLDER}/random.txt", *routes.items())
            lists = {width: list(of_family) for width, of_family in routes.items()}
            for form in FORMS:
                with self.subTest(count=count, form=form):
                    self.compare(self.compiled(path, *form), lists, 2000)

    def test_several_tables(self):
        """Each by its id: the number that its name is, or its place."""
        self.addCleanup(IDS.__setitem__, slice(None), bytes(4 * COUNT))
        texts, lists = [], []
        for seed in range(3):
            routes = {width: tables.random_routes(width, 2000, seed, values=70) for width in (IPV4, IPV6)}
            texts.append(tables.write(f"{FOLDER}/{seed}.txt", *routes.items()))
            lists.append({width: list(of_family) for width, of_family in routes.items()})
        by_name, by_place = (("3", "0", "70000"), (3, 0, 70000)), [(("3", other, "1"), (0, 1, 2)) for other in ("red", "03")]
        for (names, ids), forms in ((by_name, FORMS[:3] if IS_QUICK else FORMS), *[(named, FORMS[:1]) for named in by_place]):
            for form in forms:
                with self.subTest(names=names, form=form):
                    image = f"{FOLDER}/several.fib"
                    popfib("compile", *map("=".join, zip(names, texts)), "-o", image, *form)
                    popfib("xdp", "load", "--matches", "--vrf", "*", image)
                    for name, id, text, routes in zip(names, ids, texts, lists):
                        IDS[:] = struct.pack("I", id) * COUNT
                        self.check(text, routes, 2000)
                        popfib("xdp", "verify", "--random", "1000", "--id", id, "--vrf", name, image)
                    for none in (max(ids) + 1, 1 << 31, *{1, 69999}.difference(ids)):
                        IDS[:] = struct.pack("I", none) * COUNT
                        found = looked_up(IPV4, [address for address, _ in lists[0][IPV4]])
                        self.assertEqual([any(part) for part in found], [False] * 4)
                        self.assertIn("\t-\t-\n", popfib("xdp", "lookup", "--id", none, tables.text(IPV4, lists[0][IPV4][0][0])))
                    self.assertEqual(int(popfib("xdp", "show", "--json").partition('"tables":')[2].split(",")[0]), max(ids) + 1)

    def test_built_in_table(self):
        path = f"{FOLDER}/built-in.txt"
        with open(path, "w", encoding="utf-8") as file:
            file.write(popfib("convert", "--to", "text"))
        routes = tables.read(path)
        if IS_QUICK:
            routes = {width: random.Random(1).sample(of_family, 20000) for width, of_family in routes.items()}
        self.compare(self.compiled(path, "--size", "balanced"), routes, 100_000)

    @unittest.skipIf(IS_QUICK, "it takes minutes")
    def test_full_tables(self):
        paths = [path for path in sorted(glob.glob(f"{DATA}/*.txt.gz")) if "fib64" in path or "tier1" in path]
        paths = os.environ["POPFIB_TABLES"].split(":") if "POPFIB_TABLES" in os.environ else paths
        if not paths:
            self.skipTest("skipped: full tables in BPF programs: no ../shared/data")
        for path in paths:
            routes = tables.read(path)
            for form in FORMS[:2]:
                with self.subTest(path=os.path.basename(path), form=form):
                    self.compare(self.compiled(path, *form), routes, 1_000_000)

    def test_tables_without_matches(self):
        with open(f"{FOLDER}/few.txt", "w", encoding="ascii") as file:
            file.write("10.0.0.0/8 AS64500\n2001:db8::/32 7\n")
        popfib("xdp", "load", f"{FOLDER}/few.txt")
        found = looked_up(IPV4, [tables.parsed("10.1.2.3"), tables.parsed("11.1.2.3")])
        self.assertEqual([list(part) for part in found], [[1, 0], [64500, 0], [0, 0], [0, 0]])
        found = looked_up(IPV6, [tables.parsed("2001:db8::1")])
        self.assertEqual([list(part) for part in found], [[2], [7], [0], [0]])

    def test_numbers_of_a_file(self):
        with open(f"{FOLDER}/hops.txt", "w", encoding="ascii") as file:
            file.write("10.0.0.0/8 192.0.2.1\n11.0.0.0/8 192.0.2.2\n")
        with open(f"{FOLDER}/ids.txt", "w", encoding="ascii") as file:
            file.write("# next hop, number\n192.0.2.2 7\n192.0.2.1\t9\n192.0.2.3 1\n")
        popfib("xdp", "load", "--ids", f"{FOLDER}/ids.txt", f"{FOLDER}/hops.txt")
        _, values, _, _ = looked_up(IPV4, [tables.parsed("10.0.0.1"), tables.parsed("11.0.0.1")])
        self.assertEqual(list(values), [9, 7])
        popfib("xdp", "load", f"{FOLDER}/hops.txt")
        _, values, _, _ = looked_up(IPV4, [tables.parsed("10.0.0.1"), tables.parsed("11.0.0.1")])
        self.assertEqual(list(values), [1, 2])


class Hostile(unittest.TestCase):
    def test_nonsense_in_the_map(self):
        """Whatever the words are, lookups end, and soon; the kernel stays as it is."""
        numbers = random.Random(7)
        routes = {width: tables.random_routes(width, 5000, 1) for width in (IPV4, IPV6)}
        tables.write(f"{FOLDER}/base.txt", *routes.items())
        count = 1 << 17
        addresses = {width: [numbers.getrandbits(width) for _ in range(count)] for width in (IPV4, IPV6)}
        self.addCleanup(IDS.__setitem__, slice(None), bytes(4 * COUNT))
        IDS[:2 * count] = numbers.randbytes(2 * count)
        for form in (["--direct-bits", "24"], ["--direct-bits", "18", "--size", "balanced"], [])[IS_QUICK:]:
            image = f"{FOLDER}/hostile.fib"
            popfib("compile", f"{FOLDER}/base.txt", "-o", image, *form)
            for damage in ("all", "header", "words", "pointers", "ones"):
                with self.subTest(form=form, damage=damage):
                    popfib("xdp", "load", "--matches", image)
                    words, _ = kernel.table_memory()
                    start, end = {"all": (0, len(words)), "header": (8, 512)}.get(damage, (4360, len(words)))
                    if damage == "ones":
                        words[start:end] = b"\xff" * (end - start)
                    elif damage == "pointers":
                        # All of them lead to a block.
                        found = array.array("I", numbers.randbytes((end - start) // 4 * 4))
                        words[start:end] = array.array("I", [word | 1 << 31 for word in found]).tobytes()
                    else:
                        words[start:end] = numbers.randbytes(end - start)
                    for width in (IPV4, IPV6):
                        begin = time.monotonic()
                        looked_up(width, addresses[width])
                        self.assertLess(time.monotonic() - begin, 20)
                    # From user space the same map is read as safely.
                    for address in ("10.1.2.3", "2001:db8::1"):
                        done = subprocess.run([POPFIB, "xdp", "lookup", address], capture_output=True, check=False)
                        self.assertIn(done.returncode, (0, 2), done)
                        self.assertNotIn(b"panicked", done.stderr)
        popfib("xdp", "load", image)
        popfib("xdp", "verify", f"{FOLDER}/base.txt")


class Exchange(unittest.TestCase):
    def test_a_loader_that_is_killed(self):
        """Tables take turns while programs look up, and loaders are killed at any moment: each address has the answer of one of the
        tables, and a loader after them goes on from there."""
        addresses = list(tables.probes(IPV4, [], 100_000))
        for number in (1, 2):
            routes = tables.random_routes(IPV4, 60000, number)
            tables.write(f"{FOLDER}/turn{number}.txt", (IPV4, routes))
            popfib("compile", f"{FOLDER}/turn{number}.txt", "-o", f"{FOLDER}/turn{number}.fib")
        wanted = []
        for number in (1, 2):
            popfib("xdp", "load", f"{FOLDER}/turn{number}.fib")
            wanted.append(looked_up(IPV4, addresses)[1])
        numbers, killed, seen = random.Random(3), 0, set()
        for turn in range(30 if IS_QUICK else 300):
            loader = subprocess.Popen([POPFIB, "xdp", "load", f"{FOLDER}/turn{turn // 3 % 2 + 1}.fib"])
            # One of three comes to its end, however long it takes.
            begin, patience = time.monotonic(), numbers.uniform(0, 0.05) if turn % 3 else 60
            while loader.poll() is None:
                found = looked_up_again(IPV4, len(addresses))[1]
                wrong = sum(a not in pair for a, pair in zip(found, zip(*wanted)))
                self.assertEqual(wrong, 0)
                seen |= {number for number in (0, 1) if found == wanted[number]}
                if time.monotonic() - begin > patience:
                    loader.send_signal(signal.SIGKILL)
            killed += loader.wait() == -signal.SIGKILL
        self.assertGreater(killed, 0)
        self.assertEqual(seen, {0, 1})
        generation = int(popfib("xdp", "show").split()[3])
        popfib("xdp", "load", f"{FOLDER}/turn1.fib")
        self.assertEqual(int(popfib("xdp", "show").split()[3]), generation + 1)
        self.assertEqual(looked_up_again(IPV4, len(addresses))[1], wanted[0])
