"""The functions of popfib_xdp.h: a program in C loads tables, and its answers are those of programs in the kernel and of `popfib lookup`."""

import json
import os
import random
import shutil
import subprocess
import tempfile
import unittest

import kernel
import tables
import test_lookups
from tables import IPV4, IPV6, POPFIB, popfib
from test_lookups import looked_up

CAPI = f"{kernel.TOP}/crates/popfib-capi"
BUILT = os.path.dirname(POPFIB)
MATCHES = 1
COUNT = 300 if test_lookups.IS_QUICK else 3000


def setUpModule():
    global FOLDER, PROGRAM, LIBRARIES, COMPILER
    missing = [program for program in ("cc", "c++", "make") if not shutil.which(program)]
    if missing:
        raise unittest.SkipTest(f"skipped: popfib_xdp.h: no {' '.join(missing)}")
    if not os.path.exists(f"{BUILT}/libpopfib_capi.so"):
        raise unittest.SkipTest(f"skipped: popfib_xdp.h: no libpopfib_capi.so in {BUILT}")
    test_lookups.setUpModule()
    FOLDER = tempfile.mkdtemp()
    kernel.shell("make", "--silent", "-C", CAPI, "install", f"built={BUILT}", "CARGO=false", f"DESTDIR={FOLDER}", "PREFIX=/usr")
    LIBRARIES = f"{FOLDER}/usr/lib"
    PROGRAM = f"{FOLDER}/xdp"
    COMPILER = ["cc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", f"{FOLDER}/usr/include"]
    kernel.shell(*COMPILER, "-I", f"{CAPI}/tests", f"{CAPI}/tests/xdp.c", "-L", LIBRARIES, "-lpopfib", "-o", PROGRAM)
    kernel.shell("c++", "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-x", "c++", "-I", f"{FOLDER}/usr/include", "-fsyntax-only",
                 "-", input='#include "popfib_xdp.h"\nint main() { return popfib_error()[0]; }\n')


def program(*arguments, before=(), **options):
    """Runs the program in C: status, output, and what it says."""
    done = subprocess.run([*before, "env", f"LD_LIBRARY_PATH={LIBRARIES}", PROGRAM, *map(str, arguments)], text=True, capture_output=True,
                          check=False, **options)
    return done.returncode, done.stdout, done.stderr


def digits(width, address):
    return f"{4 if width == IPV4 else 6} {address:0{width // 4}x}"


class XdpOfC(unittest.TestCase):
    def run_program(self, *arguments, **options):
        status, output, said = program(*arguments, **options)
        self.assertEqual((status, said), (0, ""))
        return output

    def shown(self, pin="-", map_name="popfib"):
        """What the program shows, which is what the command shows."""
        found = self.run_program("show", pin)
        report = json.loads(popfib("xdp", "show", "--map", map_name, "--json"))
        kind = ["number", "itself", "id"].index(report["value"])
        self.assertEqual(found.split(), [str(number) for number in (
            report["generation"], report["bytes"], report["ipv4"]["routes"], report["ipv6"]["routes"], report["values"], kind,
            int(report["matches"]))])
        return report

    def answers(self, width, addresses, pin="-"):
        """Number, value, length and text of each address."""
        lines = self.run_program("lookup", pin, input="".join(f"{digits(width, address)}\n" for address in addresses)).splitlines()
        self.assertEqual(len(lines), len(addresses))
        for line in lines:
            number, value, length, text = line.split(" ", 3)
            yield int(number), int(value), int(length), text

    def test_arguments(self):
        self.run_program("arguments")
        self.assertFalse(os.path.exists(f"{kernel.BPFFS}/c_arguments"))

    def test_tables(self):
        """Next hops of tables that C has made: in the kernel, by C, and by a text of the same routes."""
        for flags in (MATCHES, 0):
            with self.subTest(flags=flags):
                routes = {width: tables.random_routes(width, COUNT, flags + width, values=1000) for width in (IPV4, IPV6)}
                # A high one.
                routes[IPV4][0x0a000000, 8] = 65_000_000
                path = tables.write(f"{FOLDER}/tables.txt", *routes.items())
                lines = [f"{digits(width, address)} {length} {number}\n"
                         for width, of_family in routes.items() for (address, length), number in of_family.items()]
                self.run_program("tables", "-", flags, input="".join(lines))
                report = self.shown()
                self.assertEqual((report["ipv4"]["routes"], report["ipv6"]["routes"], report["values"]), (
                    len(routes[IPV4]), len(routes[IPV6]), 0))
                for width, of_family in routes.items():
                    addresses = list(tables.probes(width, list(of_family), 1000))
                    in_kernel = zip(*looked_up(width, addresses))
                    by_c = self.answers(width, addresses)
                    for address, right, of_kernel, of_c in zip(addresses, tables.answers(path, width, addresses), in_kernel, by_c):
                        _, number, length = right
                        wanted = (number, number, number if flags else 0, length if flags else 0)
                        self.assertEqual(of_kernel, wanted, tables.text(width, address))
                        self.assertEqual(of_c, (number, number, length if flags and number else -1, "-"), tables.text(width, address))

    def test_images(self):
        """The same image by C and by the command: the same words in the map, and the same answers."""
        routes = {width: tables.random_routes(width, COUNT, width, values=200) for width in (IPV4, IPV6)}
        image = f"{FOLDER}/image.fib"
        popfib("compile", tables.write(f"{FOLDER}/image.txt", *routes.items()), "-o", image)
        popfib("xdp", "load", "--matches", image)
        by_command = bytes(kernel.table_memory()[0])
        self.run_program("image", "-", MATCHES, image)
        by_c = bytearray(kernel.table_memory()[0])
        before, after = (int.from_bytes(words[12:16], "little") for words in (by_command, by_c))
        self.assertEqual(after, before + 1)
        by_c[12:16] = by_command[12:16]
        self.assertEqual(by_c, by_command)
        self.assertEqual(self.shown()["value"], "itself")
        for width, of_family in routes.items():
            addresses = random.Random(2).sample(list(tables.probes(width, list(of_family), 1000)), 1000)
            for (number, value, length, text), right in zip(self.answers(width, addresses), tables.answers(image, width, addresses)):
                self.assertEqual((number > 0, value, max(length, 0)), right)
                self.assertEqual(text, str(value) if number else "-")

    def test_guide(self):
        """The example of docs/c.md."""
        path, image, example = (f"{FOLDER}/{name}" for name in ("drop.txt", "drop.fib", "guide"))
        with open(path, "w", encoding="ascii") as file:
            file.write("192.0.2.0/24 spam\n198.51.100.0/24 scan\n")
        popfib("compile", path, "-o", image)
        source = kernel.shell("sh", f"{CAPI}/tests/guide.sh", f"{kernel.TOP}/docs/c.md", "7")
        kernel.shell(*COMPILER, "-x", "c", "-", "-L", LIBRARIES, "-lpopfib", "-o", example, input=source)
        self.assertEqual(kernel.shell(example, image, env={**os.environ, "LD_LIBRARY_PATH": LIBRARIES}), "spam\n")

    def test_columns(self):
        """The value of a record is that of the column, and texts may be longer than the place for them."""
        path, image = f"{FOLDER}/columns.csv", f"{FOLDER}/columns.fib"
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"prefix,asn,name\n192.0.2.0/24,64500,Büro\n198.51.100.0/24,64501,{'x' * 63}\n")
        popfib("compile", path, "--columns", "*", "-o", image)
        addresses = [tables.parsed("192.0.2.1"), tables.parsed("198.51.100.1"), 1]
        pin = f"{kernel.BPFFS}/c_columns"
        self.run_program("image", pin, 0, image, "asn")
        self.assertEqual(list(self.answers(IPV4, addresses, pin)), [(1, 64500, -1, "64500"), (2, 64501, -1, "64501"), (0, 0, -1, "-")])
        self.run_program("image", pin, 0, image, "name")
        self.assertEqual(self.shown(pin, "c_columns")["generation"], 2)
        self.assertEqual(list(self.answers(IPV4, addresses, pin)), [(1, 1, -1, "Büro"), (2, 2, -1, "x" * 63), (0, 0, -1, "-")])
        self.run_program("remove", pin)
        self.assertFalse(os.path.exists(pin))

    def test_refusals(self):
        """Each is one line, and leaves what is loaded."""
        routes, image, values = f"{FOLDER}/one.txt", f"{FOLDER}/one.fib", f"{FOLDER}/values.fib"
        with open(routes, "w", encoding="ascii") as file:
            file.write("10.0.0.0/8 1\n")
        popfib("compile", routes, "-o", image)
        popfib("compile", routes, "--keep", "values", "-o", values)
        popfib("xdp", "load", image)
        generation = self.shown()["generation"]
        other, nowhere = f"{kernel.BPFFS}/c_other", f"{kernel.BPFFS}/c_nowhere"
        kernel.shell("bpftool", "map", "create", other, "type", "array", "key", "4", "value", "4", "entries", "1", "name", "x")
        empty = f"{kernel.BPFFS}/c_empty"
        kernel.load(kernel.compiled("examples/mark.bpf.c", FOLDER), "c_mark", "classifier")
        os.rename(f"{kernel.BPFFS}/marks", empty)
        none = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
        only_bpf = ["setpriv", "--bounding-set=-all,+bpf", "--inh-caps=-all"]
        something = "something else than a map for tables of popfib is pinned there"
        cases = [
            ([], ["image", "-", 0, routes], f"-74 {routes}: not an image"),
            ([], ["image", "-", 0, f"{FOLDER}/missing.fib"], f"-2 {FOLDER}/missing.fib: no such"),
            ([], ["image", "-", 0, image, "owner"], "-2 image: no column 'owner' in the image"),
            ([], ["image", "-", MATCHES, values], "-61 image: the image was compiled without its routes"),
            ([], ["image", other, 0, image], f"-17 image: {other}: {something}"),
            ([], ["tables", other, 0], f"-17 tables: {other}: {something}"),
            ([], ["image", f"{kernel.BPFFS}/c_mark", 0, image], f"-17 image: {kernel.BPFFS}/c_mark: {something}"),
            ([], ["remove", other], f"-17 remove: {other}: {something}"),
            ([], ["image", f"{FOLDER}/x", 0, image], f"-20 image: {FOLDER}: no folder of a BPF file system"),
            ([], ["show", nowhere], f"-2 show: {nowhere}: no map is pinned there"),
            ([], ["lookup", nowhere], f"-2 lookup: {nowhere}: no map is pinned there"),
            ([], ["remove", nowhere], f"-2 remove: {nowhere}: no map is pinned there"),
            ([], ["show", empty], f"-2 show: {empty}: no table is loaded"),
            (none, ["image", nowhere, 0, image], f"-1 image: {nowhere}: cannot make the map: Operation not permitted"),
            (only_bpf, ["show", "-"], f"-1 show: {kernel.BPFFS}/popfib: cannot find the table that is loaded: Operation not permitted"),
        ]
        for before, arguments, start in cases:
            with self.subTest(arguments=arguments):
                status, output, said = program(*arguments, before=before, input="4 0a000001\n" if arguments[0] == "lookup" else "")
                self.assertEqual((status, output), (2, ""))
                self.assertTrue(said.startswith(start), said)
                self.assertEqual(said.count("\n"), 1)
        # Loading takes no more than CAP_BPF.
        self.run_program("image", "-", 0, image, before=only_bpf)
        self.assertEqual(self.shown()["generation"], 0)
        self.run_program("image", "-", 0, image)
        self.assertFalse(os.path.exists(nowhere))
        self.assertTrue(os.path.exists(other))
        self.assertGreater(generation, 0)
