"""What tests and benchmarks need of the kernel: maps and programs by the system call `bpf`, network interfaces.

Programs are loaded by bpftool; they and their maps are pinned in /sys/fs/bpf, in a namespace of mounts of our own.
"""

import ctypes
import mmap
import os
import struct
import subprocess

BPFFS = "/sys/fs/bpf"
HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
SYSCALL = {"x86_64": 321, "aarch64": 280}.get(os.uname().machine)
LIBC = ctypes.CDLL(None, use_errno=True)

MAP_LOOKUP, MAP_UPDATE, OBJ_GET, TEST_RUN, GET_FD_BY_ID, INFO, UPDATE_BATCH = 1, 2, 7, 10, 14, 15, 26


def bpf(command, attributes):
    """Calls bpf() with these attributes, which it may change."""
    result = LIBC.syscall(SYSCALL, command, attributes, len(attributes))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def address_of(data):
    return ctypes.addressof(ctypes.c_char.from_buffer(data))


def pinned(name):
    """The descriptor of what is pinned by this name."""
    path = ctypes.create_string_buffer(f"{BPFFS}/{name}".encode())
    return bpf(OBJ_GET, ctypes.create_string_buffer(struct.pack("QII", ctypes.addressof(path), 0, 0), 16))


def memory(map_fd, size):
    """The memory of an array map with the flag BPF_F_MMAPABLE."""
    return mmap.mmap(map_fd, size)


def element(map_fd, key, size):
    """The bytes of an element."""
    key, value = bytearray(key), bytearray(size)
    bpf(MAP_LOOKUP, ctypes.create_string_buffer(struct.pack("IIQQQ", map_fd, 0, address_of(key), address_of(value), 0), 32))
    return bytes(value)


def set_element(map_fd, key, value):
    key, value = bytearray(key), bytearray(value)
    bpf(MAP_UPDATE, ctypes.create_string_buffer(struct.pack("IIQQQ", map_fd, 0, address_of(key), address_of(value), 0), 32))


def set_elements(map_fd, keys, values, count):
    """Sets many elements by one call: `keys` and `values` are their bytes, one after the other."""
    keys, values = bytearray(keys), bytearray(values)
    attributes = struct.pack("QQQQIIQQ", 0, 0, address_of(keys), address_of(values), count, map_fd, 0, 0)
    bpf(UPDATE_BATCH, ctypes.create_string_buffer(attributes, len(attributes)))


def table_memory(name="popfib"):
    """The memory of the table that is in the slot of a pinned map, and its rows."""
    (number,) = struct.unpack("I", element(pinned(name), bytes(4), 4))
    inner = bpf(GET_FD_BY_ID, ctypes.create_string_buffer(struct.pack("III", number, 0, 0), 12))
    info = bytearray(24)
    bpf(INFO, ctypes.create_string_buffer(struct.pack("IIQ", inner, len(info), address_of(info)), 16))
    size, rows = struct.unpack_from("II", info, 12)
    return memory(inner, size * rows), rows


def run(program_fd, packet=bytes(64), repeat=1, context=b""):
    """Runs a program on a packet with a context: what it returns, nanoseconds a run, and the context afterwards."""
    context = bytearray(context)
    result, duration = test_run(program_fd, packet, repeat, context)
    return result, duration, bytes(context)


def send_frames(program_fd, packet, count):
    """Runs a program of XDP on so many copies of a frame, and lets happen to each what it says."""
    return test_run(program_fd, packet, count, b"", flags=2, batch=64)


def test_run(program_fd, packet, repeat, context, flags=0, batch=0):
    packet = bytearray(packet)
    to = address_of(context) if context else 0
    attributes = struct.pack("IIIIQQIIIIQQIII", program_fd, 0, len(packet), 0, address_of(packet), 0, repeat, 0, len(context), len(context), to, to,
                             flags, 0, batch)
    buffer = ctypes.create_string_buffer(attributes, len(attributes))
    bpf(TEST_RUN, buffer)
    _, result = struct.unpack_from("II", buffer)
    (duration,) = struct.unpack_from("I", buffer, 36)
    return result, duration


def shell(*command, **options):
    """Runs a command and returns what it prints; an error has what it said."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def compiled(source, folder, cpu="v2"):
    """The object of a program of engines/bpf."""
    name = os.path.basename(source).replace(".bpf.c", "")
    to = f"{folder}/{name}-{cpu}.o"
    shell("clang", "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-target", "bpf", f"-mcpu={cpu}", "-I", f"{TOP}/engines/bpf",
          "-I", f"/usr/include/{os.uname().machine}-linux-gnu", "-c", f"{TOP}/engines/bpf/{source}", "-o", to)
    return to


def load(object_file, name, kind="xdp"):
    """Loads the only program of an object, pins it by this name and returns its descriptor."""
    shell("bpftool", "prog", "load", object_file, f"{BPFFS}/{name}", "type", kind)
    return pinned(name)


def load_all(object_file, folder):
    """Loads all programs of an object, and pins them in a folder."""
    shell("bpftool", "prog", "loadall", object_file, f"{BPFFS}/{folder}")


def veth(one, other):
    """A pair of interfaces without IPv6 addresses, neighbours or routes of their own."""
    shell("ip", "link", "add", one, "type", "veth", "peer", "name", other)
    for name in (one, other):
        ipv6 = f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6"
        if os.path.exists(ipv6):
            with open(ipv6, "w", encoding="ascii") as file:
                file.write("1")
        shell("ip", "link", "set", name, "addrgenmode", "none")
        shell("ip", "link", "set", name, "arp", "off", "up")
