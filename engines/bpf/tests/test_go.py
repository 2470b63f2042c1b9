"""The loader in Go, by cilium/ebpf: it finds the map that `popfib xdp load` has made, and what it attaches drops real packets."""

import os
import shutil
import signal
import subprocess
import tempfile
import unittest

import kernel
import packets
from tables import popfib
from test_lookups import IS_QUICK

EXAMPLE = f"{kernel.TOP}/engines/bpf/examples/go"
GO = {**os.environ, "PATH": f"{os.environ['PATH']}:/usr/local/go/bin", "GOTOOLCHAIN": "local", "GOFLAGS": "-buildvcs=false"}


class Loader(unittest.TestCase):
    @unittest.skipIf(IS_QUICK, "it fetches what it needs")
    def test_filter(self):
        if not shutil.which("go", path=GO["PATH"]):
            self.skipTest("skipped: the loader in Go: no Go")
        if subprocess.run(["go", "mod", "download"], cwd=EXAMPLE, env=GO, capture_output=True, check=False).returncode:
            self.skipTest("skipped: the loader in Go: its dependencies cannot be had")
        folder = tempfile.mkdtemp()
        self.assertEqual(kernel.shell("gofmt", "-l", EXAMPLE, env=GO), "")
        kernel.shell("go", "vet", ".", cwd=EXAMPLE, env=GO)
        kernel.shell("go", "build", "-o", f"{folder}/loader", ".", cwd=EXAMPLE, env=GO)
        with open(f"{folder}/drop.txt", "w", encoding="ascii") as file:
            file.write("192.0.2.0/24 AS64500\n2001:db8::/32 7\n")
        popfib("xdp", "load", f"{folder}/drop.txt")
        kernel.veth("g0", "g1")
        arguments = ["-object", kernel.compiled("examples/filter.bpf.c", folder), "-device", "g1"]
        with subprocess.Popen([f"{folder}/loader", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as loader:
            self.assertEqual(loader.stderr.readline(), "attached to g1\n")
            with packets.Port("g0") as sender, packets.Port("g1") as receiver:
                sources = ["192.0.2.1", "203.0.113.1", "192.0.2.255"]
                frames = [packets.frame(source, "203.0.113.9", number) for number, source in enumerate(sources)]
                frames.append(packets.frame("2001:db8::1", "2001:db9::1", len(frames)))
                dropped = lambda: sum(int(line.split()[0]) for line in popfib("xdp", "stats").splitlines() if not line.endswith("\t-"))
                received = packets.send(sender, frames, [receiver], dropped)
                self.assertEqual(list(map(packets.number_of, received["g1"])), [1])
            loader.send_signal(signal.SIGTERM)
            output, said = loader.communicate(timeout=60)
        self.assertEqual((loader.returncode, said), (0, ""))
        self.assertEqual(sorted(line.split("\t")[::2] for line in output.splitlines()), [["1", "0"], ["1", "7"], ["2", "64500"]])
        # Whoever comes without a program for the interface is told.
        done = subprocess.run([f"{folder}/loader", *arguments[:-1], "g9"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr.count("\n"), 1)
