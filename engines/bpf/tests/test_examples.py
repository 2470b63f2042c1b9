"""The example programs, by real packets through veth: each is counted, and each next hop checked."""

import collections
import json
import os
import random
import socket
import struct
import subprocess
import tempfile
import unittest

import kernel
import packets
import tables
from packets import Port, frame, number_of
from tables import IPV4, IPV6, POPFIB, popfib

FRAMES = 4000 if os.environ.get("POPFIB_QUICK") == "1" else 100_000
SO_RCVMARK = 75
MODES = {"native": "xdpdrv", "generic": "xdpgeneric"}


def setUpModule():
    global FOLDER
    FOLDER = tempfile.mkdtemp()


def routes_and_addresses(width, seed, count):
    """A table with room beside its routes, and addresses of which about half have one."""
    routes = tables.random_routes(width, 3000, seed, shortest=8, values=300)
    numbers = random.Random(seed)
    lists = list(tables.probes(width, list(routes), 0))
    return routes, [numbers.choice(lists) if numbers.random() < 0.5 else numbers.getrandbits(width) for _ in range(count)]


class Filter(unittest.TestCase):
    def test_every_packet_is_counted(self):
        kernel.veth("f0", "f1")
        sender, receiver = self.enterContext(Port("f0")), self.enterContext(Port("f1"))
        families = {width: routes_and_addresses(width, 5, FRAMES // 2) for width in (IPV4, IPV6)}
        table = tables.write(f"{FOLDER}/filter.txt", *[(width, routes) for width, (routes, _) in families.items()])
        popfib("xdp", "load", table)
        kernel.load(kernel.compiled("examples/filter.bpf.c", FOLDER), "filter")
        frames, wanted, passes = [], collections.Counter(), []
        for width, (_, addresses) in families.items():
            other = tables.text(width, 1)
            for address, (is_found, value, _) in zip(addresses, tables.answers(table, width, addresses)):
                number = len(frames)
                frames.append(frame(tables.text(width, address), other, number))
                wanted[str(value) if is_found else None] += 1
                if not is_found:
                    passes.append(number)
        # No IP: passes without a count.
        frames.append(bytes([255] * 12) + b"\x08\x06" + bytes(40) + struct.pack("!Q", len(frames)))
        passes.append(number_of(frames[-1]))
        self.assertGreater(len(passes), FRAMES // 10)

        def dropped():
            return sum(packets for value, packets in self.counts().items() if value is not None)

        for mode, option in MODES.items():
            with self.subTest(mode=mode):
                before = self.counts()
                kernel.shell("ip", "link", "set", "dev", "f1", option, "pinned", f"{kernel.BPFFS}/filter")
                received = packets.send(sender, frames, [receiver], dropped)
                kernel.shell("ip", "link", "set", "dev", "f1", option, "off")
                self.assertEqual(sorted(map(number_of, received["f1"])), passes)
                counts = self.counts()
                counts.subtract(before)
                self.assertEqual(+counts, wanted)
        # What has no table passes.
        os.unlink(f"{kernel.BPFFS}/popfib")

    @staticmethod
    def counts():
        lines = popfib("xdp", "stats", "--json").splitlines()
        return collections.Counter({line["value"]: line["packets"] for line in map(json.loads, lines)})


class Forward(unittest.TestCase):
    def test_every_next_hop(self):
        for pair in (("in0", "in1"), ("out0", "out0p"), ("out1", "out1p")):
            kernel.veth(*pair)
        sender, slow, *outs = [self.enterContext(Port(name)) for name in ("in0", "in1", "out0p", "out1p")]
        families = {width: routes_and_addresses(width, 6, FRAMES // 4) for width in (IPV4, IPV6)}
        # Next hops are names here; their numbers come from a file.
        table = f"{FOLDER}/routes.txt"
        tables.write(table, *[(width, routes) for width, (routes, _) in families.items()])
        with open(table, encoding="ascii") as file:
            lines = [line.replace(" ", " via-") for line in file]
        with open(f"{FOLDER}/names.txt", "w", encoding="ascii") as file:
            file.writelines(lines)
        with open(f"{FOLDER}/ids.txt", "w", encoding="ascii") as file:
            file.writelines(f"via-{value} {value + 1000}\n" for value in range(1, 301))
        popfib("xdp", "load", "--map", "routes", "--ids", f"{FOLDER}/ids.txt", f"{FOLDER}/names.txt")
        kernel.load(kernel.compiled("examples/forward.bpf.c", FOLDER), "forward")
        self.load_passes()
        paths = {}
        for value in range(1, 301):
            if value % 10 == 0:
                continue  # The kernel forwards those.
            paths[value] = []
            for path in range(1 + value % 4 if value % 4 else 1):
                port = (value + path) % 2
                paths[value].append((port, struct.pack(">BBI", 6, path, value), struct.pack(">BBI", 2, port, value)))
            entry = struct.pack("I", len(paths[value]))
            for port, to, source in paths[value]:
                entry += struct.pack("I", socket.if_nametoindex(f"out{port}")) + to + source
            kernel.set_element(kernel.pinned("next_hops"), struct.pack("I", value + 1000), entry.ljust(132, b"\0"))
        kernel.shell("ip", "link", "set", "dev", "in1", "xdpdrv", "pinned", f"{kernel.BPFFS}/forward")

        frames, wanted = [], []
        for width, (_, addresses) in families.items():
            numbers = random.Random(9)
            for address, (is_found, value, _) in zip(addresses, tables.answers(table, width, addresses)):
                source, ports = tables.text(width, numbers.getrandbits(width)), (numbers.getrandbits(16), numbers.getrandbits(16))
                for _ in range(2):
                    frames.append(frame(source, tables.text(width, address), len(frames), ports=ports))
                    wanted.append(value if is_found and value in paths else None)
        # The kernel's: a TTL that ends, options, no IP.
        known = next(number for number, value in enumerate(wanted) if len(paths.get(value, [])) > 1)
        destination = tables.text(IPV4, families[IPV4][1][known // 2])
        for keys in ({"ttl": 1}, {"ttl": 0}, {"options": bytes(4)}):
            frames.append(frame("192.0.2.1", destination, len(frames), **keys))
            wanted.append(None)
        frames.append(bytes([255] * 12) + b"\x08\x06" + bytes(40) + struct.pack("!Q", len(frames)))
        wanted.append(None)
        # Fragments, which have no ports to see: one flow, whatever is where these would be.
        fragments = []
        for _ in range(20):
            fragments.append(len(frames))
            frames.append(frame("192.0.2.1", destination, len(frames), fragment=0x2000, ports=(len(frames) & 0xFFFF, 7)))
            wanted.append(wanted[known])

        # A checksum that carries over when it is changed.
        sources = (frame(f"192.0.{low >> 8}.{low & 255}", destination, len(frames)) for low in range(1 << 16))
        carries = bytearray(next(data for data in sources if data[24:26] == bytes(2)))
        carries[24:26] = b"\xff\xff"
        frames.append(bytes(carries))
        wanted.append(wanted[known])

        received = packets.send(sender, frames, [slow, *outs], lambda: 0)
        self.assertEqual(sorted(map(number_of, received["in1"])), [number for number, value in enumerate(wanted) if value is None])
        taken, used = {}, collections.defaultdict(set)
        for port, out in enumerate(outs):
            for data in received[out.name]:
                number = number_of(data)
                sent, path = frames[number], (port, data[:6], data[6:12])
                self.assertIn(path, paths[wanted[number]])
                taken[number] = path
                used[wanted[number]].add(path)
                # All else is as it was, but for the TTL and its checksum.
                if sent[12:14] == b"\x86\xdd":
                    self.assertEqual(data[12:], sent[12:21] + bytes([sent[21] - 1]) + sent[22:])
                else:
                    self.assertEqual(packets.checksum(data[14:34]), 0)
                    self.assertEqual((data[12:22], data[23:24], data[26:]), (sent[12:22], sent[23:24], sent[26:]))
                    self.assertEqual(data[22], sent[22] - 1)
        self.assertEqual(sorted(taken), [number for number, value in enumerate(wanted) if value is not None])
        flows = sum(len(addresses) for _, addresses in families.values())
        for flow in range(flows):
            if wanted[2 * flow]:
                self.assertEqual(taken[2 * flow], taken[2 * flow + 1])
        self.assertEqual(len({taken[number] for number in fragments}), 1)
        often = collections.Counter(wanted)
        for value, found in used.items():
            if often[value] > 200:
                self.assertEqual(len(found), len(paths[value]))
        counts = map(json.loads, popfib("xdp", "stats", "--map", "routes", "--json").splitlines())
        counts = {line["value"]: line["packets"] for line in counts}
        self.assertEqual(counts, {f"via-{value}": number for value, number in often.items() if value})

    @staticmethod
    def load_passes():
        """Programs at the far ends, without which a veth takes nothing that is redirected to it."""
        kernel.load_all(kernel.compiled("tests/lookups.bpf.c", FOLDER), "passes")
        for name in ("out0p", "out1p"):
            kernel.shell("ip", "link", "set", "dev", name, "xdpdrv", "pinned", f"{kernel.BPFFS}/passes/pass")


class Interfaces(unittest.TestCase):
    def test_each_has_its_table(self):
        kernel.veth("i0", "i1")
        kernel.veth("i2", "i3")
        ports = {name: socket.if_nametoindex(name) for name in ("i1", "i2", "i3")}
        texts = {}
        for number, name in enumerate(("i1", "i3")):
            texts[name] = tables.write(f"{FOLDER}/{name}.txt", *[(width, routes_and_addresses(width, number, 0)[0]) for width in (IPV4, IPV6)])
        image = f"{FOLDER}/interfaces.fib"
        popfib("compile", *[f"{ports[name]}={text}" for name, text in texts.items()], "-o", image)
        popfib("xdp", "load", "--vrf", "*", image)
        program = kernel.load(kernel.compiled("examples/interfaces.bpf.c", FOLDER), "interfaces")
        for name in ports:
            kernel.shell("ip", "link", "set", "dev", name, "xdpdrv", "pinned", f"{kernel.BPFFS}/interfaces")
        for width in (IPV4, IPV6):
            addresses = [address for number in (0, 1) for address in routes_and_addresses(width, number, FRAMES // 8)[1]]
            data = [frame(tables.text(width, address), tables.text(width, 1), 0) for address in addresses]
            dropped = {name: [found for found, _, _ in tables.answers(text, width, addresses)] for name, text in texts.items()}
            self.assertNotEqual(dropped["i1"], dropped["i3"])
            # An interface without a table drops nothing.
            dropped["i2"] = [False] * len(addresses)
            for name, wanted in dropped.items():
                context = lambda packet: struct.pack("6I", 0, len(packet), 0, ports[name], 0, 0)
                results = [kernel.run(program, packet, context=context(packet))[0] for packet in data]
                self.assertEqual(results, [1 if is_dropped else 2 for is_dropped in wanted])
        os.unlink(f"{kernel.BPFFS}/popfib")


class Mark(unittest.TestCase):
    def test_every_mark(self):
        families = {width: routes_and_addresses(width, 7, 2000) for width in (IPV4, IPV6)}
        table = tables.write(f"{FOLDER}/marks.txt", *[(width, routes) for width, (routes, _) in families.items()])
        popfib("xdp", "load", "--map", "marks", table)
        program = kernel.load(kernel.compiled("examples/mark.bpf.c", FOLDER), "mark", "classifier")
        for width, (_, addresses) in families.items():
            for address, (_, value, _) in zip(addresses, tables.answers(table, width, addresses)):
                data = frame(tables.text(width, 1), tables.text(width, address), 0)
                result, _, context = kernel.run(program, data, context=bytes(192))
                self.assertEqual(result, 0xFFFFFFFF)
                # The mark is the third word of `struct __sk_buff`.
                self.assertEqual(struct.unpack_from("I", context, 8)[0], value)
        # By real packets, whose marks are told to who receives them on the same machine.
        kernel.veth("m0", "m1")
        sender, receiver = self.enterContext(Port("m0")), self.enterContext(Port("m1"))
        kernel.shell("tc", "qdisc", "add", "dev", "m0", "clsact")
        kernel.shell("tc", "filter", "add", "dev", "m0", "egress", "bpf", "direct-action", "pinned", f"{kernel.BPFFS}/mark")
        receiver.socket.setsockopt(socket.SOL_SOCKET, SO_RCVMARK, 1)
        for width, (_, addresses) in families.items():
            for number, (address, (_, value, _)) in enumerate(zip(addresses, tables.answers(table, width, addresses))):
                sender.socket.send(frame(tables.text(width, 1), tables.text(width, address), number))
                data, [(_, _, mark)], _, _ = receiver.socket.recvmsg(2048, 64)
                self.assertEqual((number_of(data), struct.unpack("I", mark)[0]), (number, value))


class Capabilities(unittest.TestCase):
    def test_programs_load_with_few(self):
        """CAP_BPF and CAP_NET_ADMIN suffice: without CAP_PERFMON the verifier wants more."""
        few = ["setpriv", "--bounding-set=-all,+bpf,+net_admin", "--inh-caps=-all"]
        for name, kind in (("filter", "xdp"), ("forward", "xdp"), ("interfaces", "xdp"), ("mark", "classifier")):
            to = kernel.compiled(f"examples/{name}.bpf.c", FOLDER)
            kernel.shell(*few, "bpftool", "prog", "load", to, f"{kernel.BPFFS}/few_{name}", "type", kind)

    def test_refusals(self):
        table = f"{FOLDER}/one.txt"
        with open(table, "w", encoding="ascii") as file:
            file.write("10.0.0.0/8 1\n")
        kernel.shell("bpftool", "map", "create", f"{kernel.BPFFS}/other", "type", "array", "key", "4", "value", "4", "entries", "1", "name", "x")
        with open(f"{FOLDER}/ids.bad", "w", encoding="ascii") as file:
            file.write("1 one\n")
        with open(f"{FOLDER}/ids.few", "w", encoding="ascii") as file:
            file.write("2 1\n")
        few = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
        new = ["--map", "new"]
        cases = [
            ([], ["load", "--pin", FOLDER, table], f"{FOLDER}: no folder of a BPF file system"),
            ([], ["load", "--pin", f"{kernel.BPFFS}/nowhere", table], f"{kernel.BPFFS}/nowhere: no folder of a BPF file system"),
            ([], ["load", "--map", "other", table], f"{kernel.BPFFS}/other: something else than a map for tables of popfib"),
            ([], ["stats", "--map", "missing"], f"{kernel.BPFFS}/missing_counts: no map is pinned there"),
            ([], ["show", "--map", "missing"], f"{kernel.BPFFS}/missing: no map is pinned there"),
            (few, ["load", *new, table], f"{kernel.BPFFS}/new: cannot make the map: Operation not permitted"),
            ([], ["load", "--ids", f"{FOLDER}/ids.bad", table], f"{FOLDER}/ids.bad:1: no VALUE NUMBER"),
            ([], ["load", "--ids", f"{FOLDER}/ids.few", table], f"{FOLDER}/ids.few: no number for '1', a value of the table"),
            ([], ["load", f"{FOLDER}/missing.txt"], f"{FOLDER}/missing.txt: cannot open"),
            ([], ["lookup", "10.0.0.0/8"], "10.0.0.0/8: programs look up addresses, not prefixes"),
        ]
        for before, arguments, start in cases:
            with self.subTest(arguments=arguments):
                done = subprocess.run([*before, POPFIB, "xdp", *arguments], capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertTrue(done.stderr.startswith(f"popfib: {start}"), done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)
        self.assertFalse(os.path.exists(f"{kernel.BPFFS}/new"))

    def test_a_map_without_a_table(self):
        """Programs may be there first: they match nothing, and a table finds their map."""
        kernel.load(kernel.compiled("examples/mark.bpf.c", FOLDER), "first", "classifier")
        os.rename(f"{kernel.BPFFS}/marks", f"{kernel.BPFFS}/early")
        done = subprocess.run([POPFIB, "xdp", "show", "--map", "early"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("early: no table is loaded", done.stderr)
        data = frame("192.0.2.1", "10.0.0.1", 0)
        mark = lambda: struct.unpack_from("I", kernel.run(kernel.pinned("first"), data, context=bytes(192))[2], 8)[0]
        self.assertEqual(mark(), 0)
        popfib("xdp", "load", "--map", "early", tables.write(f"{FOLDER}/early.txt", (IPV4, {(10 << 24, 8): 77})))
        self.assertEqual(mark(), 77)
        shown = json.loads(popfib("xdp", "show", "--map", "early", "--json"))
        self.assertEqual((shown["generation"], shown["ipv4"]["routes"], shown["value"]), (1, 1, "itself"))
        self.assertEqual(popfib("xdp", "lookup", "--map", "early", "10.0.0.1", "::1"), "10.0.0.1\t-\t77\n::1\t-\t-\n")
        popfib("xdp", "load", "--matches", "--map", "early", f"{FOLDER}/early.txt")
        self.assertEqual(popfib("xdp", "lookup", "--map", "early", "10.0.0.1"), "10.0.0.1\t10.0.0.0/8\t77\n")
        other = tables.write(f"{FOLDER}/other.txt", (IPV4, {(10 << 24, 8): 78}))
        done = subprocess.run([POPFIB, "xdp", "verify", "--map", "early", other], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
