"""`popfibd --bpf`: programs see routes as they change, and keep them when the process is killed."""

import os
import random
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.request

import kernel
import tables
from tables import IPV4, IPV6, POPFIB
from test_lookups import looked_up
from test_lookups import setUpModule as load_programs


def setUpModule():
    load_programs()


class Follow:
    """A process that follows what is written to it."""

    def __init__(self, *options, pin=kernel.BPFFS):
        self.log = tempfile.NamedTemporaryFile("w+", encoding="utf-8")
        self.process = subprocess.Popen([f"{POPFIB}d", "--updates", "-", "--bpf", pin, *options], stdin=subprocess.PIPE,
                                        stderr=self.log, text=True)

    def write(self, *lines):
        self.process.stdin.write("".join(f"{line}\n" for line in lines))
        self.process.stdin.flush()

    def handles_sigterm(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            [caught] = [line for line in status if line.startswith("SigCgt:")]
        return int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1

    def notes(self):
        with open(self.log.name, encoding="utf-8") as log:
            return log.read()

    def end(self):
        """Closes its input; it ends when programs have all of it."""
        self.process.stdin.close()
        status = self.process.wait(timeout=60)
        if status:
            raise RuntimeError(f"status {status}: {self.notes()}")

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()


def value(address):
    """What programs get for an address."""
    is_ipv6 = ":" in address
    return looked_up(IPV6 if is_ipv6 else IPV4, [tables.parsed(address)])[1][0]


def wait_for(condition, what, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"not within {seconds} s: {what}")
        time.sleep(0.005)


def wait_for_value(address, wanted):
    wait_for(lambda: value(address) == wanted, f"{wanted} for {address}, which has {value(address)}")


class LiveTables(unittest.TestCase):
    def test_programs_see_changes_and_keep_them(self):
        follow = Follow()
        follow.write("announce 10.0.0.0/8 7", "announce 2001:db8::/32 8")
        wait_for_value("10.1.2.3", 7)
        wait_for_value("2001:db8::1", 8)
        follow.write("announce 10.1.0.0/16 9")
        wait_for_value("10.1.2.3", 9)
        follow.write("withdraw 10.1.0.0/16", "withdraw 2001:db8::/32")
        wait_for_value("10.1.2.3", 7)
        wait_for_value("2001:db8::1", 0)
        follow.write("announce 10.2.0.0/16 11")
        wait_for_value("10.2.0.1", 11)
        follow.kill()
        self.assertEqual((value("10.1.2.3"), value("10.2.0.1")), (7, 11), "what was there when it was killed")
        # Programs keep it until the next process has all routes, and see nothing else in between.
        follow = Follow()
        follow.write("announce 10.0.0.0/8 13")
        for _ in range(200):
            self.assertIn((value("10.1.2.3"), value("10.2.0.1")), [(7, 11), (13, 13)])
            time.sleep(0.001)
        follow.end()
        self.assertEqual((value("10.1.2.3"), value("10.2.0.1")), (13, 13))

    def test_a_process_that_is_killed_before_it_has_all_routes(self):
        follow = Follow()
        follow.write("announce 10.0.0.0/8 7")
        follow.end()
        follow = Follow()
        follow.write("announce 10.0.0.0/8 13")
        # On a slow machine it may still be starting.
        wait_for(follow.handles_sigterm, "a handler of SIGTERM")
        time.sleep(0.5)
        follow.process.terminate()
        self.assertEqual(follow.process.wait(timeout=30), 0)
        follow.process.stdin.close()
        self.assertEqual(value("10.1.2.3"), 7)

    def test_random_changes(self):
        """Thousands of routes that come and go: at the end, and after a part of them, programs find what is there."""
        numbers = random.Random(5)
        pool = {width: list(tables.random_routes(width, 20_000, 6).items()) for width in (IPV4, IPV6)}
        routes = {IPV4: {}, IPV6: {}}
        follow = Follow()
        for part in range(6):
            lines = []
            for _ in range(20_000):
                width = numbers.choice((IPV4, IPV6))
                (address, length), number = numbers.choice(pool[width])
                prefix = f"{tables.text(width, address)}/{length}"
                if numbers.random() < 0.3:
                    routes[width].pop((address, length), None)
                    lines.append(f"withdraw {prefix}")
                else:
                    number = routes[width][address, length] = numbers.randrange(1, 2_000_000)
                    lines.append(f"announce {prefix} {number}")
            marker = 3_000_000 + part
            follow.write(*lines, f"announce 203.0.113.77/32 {marker}")
            routes[IPV4][tables.parsed("203.0.113.77"), 32] = marker
            wait_for_value("203.0.113.77", marker)
            path = tables.write(os.path.join(tempfile.gettempdir(), "follow.txt"), *routes.items())
            for width, of_family in routes.items():
                probes = list(tables.probes(width, list(of_family), 2000))
                wanted = [right[1] for right in tables.answers(path, width, probes)]
                found = list(looked_up(width, probes)[1])
                if found != wanted:
                    self.fail(next((tables.text(width, p), f, w) for p, f, w in zip(probes, found, wanted) if f != w))
        follow.end()
        self.assertEqual(follow.notes(), "")

    def test_numbers_of_values(self):
        with tempfile.NamedTemporaryFile("w", encoding="ascii") as ids:
            ids.write("east 3\nwest 4\n")
            ids.flush()
            follow = Follow("--bpf-ids", ids.name)
            follow.write("announce 10.0.0.0/8 east", "announce 10.1.0.0/16 west", "announce 10.2.0.0/16 north")
            follow.end()
        self.assertEqual((value("10.0.0.1"), value("10.1.0.1"), value("10.2.0.1")), (3, 4, 0))
        self.assertEqual(follow.notes(), "popfibd: 'north' and perhaps other values have no number: programs get 0; --bpf-ids gives them "
                                         "some\n")

    def test_metrics(self):
        follow = Follow("--http", "127.0.0.1:9187")
        follow.write("announce 10.0.0.0/8 5")
        wait_for_value("10.0.0.1", 5)

        def metrics():
            with urllib.request.urlopen("http://127.0.0.1:9187/metrics") as response:
                lines = response.read().decode().splitlines()
            pin = f'{{pin="{kernel.BPFFS}/popfib"}}'
            return {line.split()[0].replace(pin, ""): int(line.split()[1]) for line in lines if pin in line}

        wait_for(metrics, "metrics")
        first = metrics()
        self.assertEqual((first["popfib_bpf_behind"], first["popfib_bpf_refused_total"]), (0, 0))
        self.assertGreater(first["popfib_bpf_bytes"], 0)
        tables_before = first["popfib_bpf_tables_total"]
        follow.write(*(f"announce 10.{n // 256}.{n % 256}.0/24 {n}" for n in range(1, 60_000)))
        wait_for_value("10.234.95.1", 59_999)
        wait_for(lambda: metrics()["popfib_bpf_tables_total"] > tables_before, "a larger table")
        self.assertGreater(metrics()["popfib_bpf_bytes"], first["popfib_bpf_bytes"])
        follow.kill()

    def test_a_map_of_another_layout(self):
        """It is reported once, and counted; what is there stays."""
        folder = f"{kernel.BPFFS}/other"
        os.mkdir(folder)
        kernel.shell("bpftool", "map", "create", f"{folder}/inner", "type", "array", "key", "4", "value", "8", "entries", "1", "name", "i")
        kernel.shell("bpftool", "map", "create", f"{folder}/popfib", "type", "array_of_maps", "key", "4", "value", "4", "entries", "1",
                     "name", "o", "inner_map", "pinned", f"{folder}/inner")
        follow = Follow(pin=folder)
        follow.write("announce 10.0.0.0/8 6")
        wait_for(follow.notes, "a report")
        time.sleep(2)
        follow.end()
        self.assertEqual(follow.notes().count("another layout"), 1, follow.notes())

    def test_folders_that_are_none(self):
        """Or are given twice."""
        refusals = (("/tmp=lab", "no folder of a BPF file system"), (f"{kernel.BPFFS}/missing=lab", "no folder"),
                    (f"{kernel.BPFFS}=lab", "twice"), ("/tmp", "twice"))
        for folder, reason in refusals:
            done = subprocess.run([f"{POPFIB}d", "--updates", "-", "--bpf", folder, "--bpf", kernel.BPFFS], stdin=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True)
            self.assertIn(reason, done.stderr)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)


