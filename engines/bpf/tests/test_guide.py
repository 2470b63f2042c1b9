"""docs/xdp.md: its program and its commands, with what they print."""

import os
import re
import shutil
import tempfile
import unittest

import kernel
import packets
from tables import POPFIB, popfib


class Guide(unittest.TestCase):
    def test_filter(self):
        with open(f"{kernel.TOP}/docs/xdp.md", encoding="utf-8") as file:
            text = file.read()
        [program] = re.findall(r"^```c\n(.*?)^```", text, re.M | re.S)
        [session] = re.findall(r"^```console\n(.*?)^```", text, re.M | re.S)
        folder = tempfile.mkdtemp()
        with open(f"{folder}/drop.bpf.c", "w", encoding="utf-8") as file:
            file.write(program)
        shutil.copy(f"{kernel.TOP}/engines/bpf/popfib.bpf.h", folder)
        kernel.veth("eth0", "eth1")
        environment = {**os.environ, "PATH": f"{os.path.dirname(POPFIB)}:{os.environ['PATH']}"}
        for name in ("popfib", "popfib_counts"):
            if os.path.exists(f"{kernel.BPFFS}/{name}"):
                os.unlink(f"{kernel.BPFFS}/{name}")
        for step in re.findall(r"^\$ (.*\n(?:(?!\$ ).*\n)*)", session, re.M):
            command, _, output = step.partition("\n")
            with self.subTest(command=command):
                self.assertEqual(kernel.shell("sh", "-c", command, cwd=folder, env=environment), output)
        with packets.Port("eth1") as sender, packets.Port("eth0") as receiver:
            sources = ["192.0.2.1", "203.0.113.1", "198.51.100.9", "192.0.2.255"]
            frames = [packets.frame(source, "192.0.2.1", number) for number, source in enumerate(sources)]
            dropped = lambda: sum(int(line.split()[0]) for line in popfib("xdp", "stats").splitlines() if not line.endswith("\t-"))
            received = packets.send(sender, frames, [receiver], dropped)
            self.assertEqual(list(map(packets.number_of, received["eth0"])), [1])
        self.assertEqual(popfib("xdp", "stats"), "1\t36\t-\n2\t72\tspam\n1\t36\tscan\n")
        for name in ("popfib", "popfib_counts", "drop"):
            os.unlink(f"{kernel.BPFFS}/{name}")
