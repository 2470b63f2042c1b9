"""Tables to load, and their answers by `popfib lookup`."""

import functools
import gzip
import ipaddress
import itertools
import os
import random
import socket
import struct
import subprocess

import kernel

POPFIB = os.environ["POPFIB"]
IPV4, IPV6 = 32, 128


def popfib(*arguments, **options):
    return kernel.shell(POPFIB, *map(str, arguments), **options)


def text(width, address):
    if width == IPV4:
        return socket.inet_ntop(socket.AF_INET, address.to_bytes(4, "big"))
    return socket.inet_ntop(socket.AF_INET6, address.to_bytes(16, "big"))


def random_routes(width, count, seed, shortest=4, values=100):
    """Nested routes: half of them inside of others."""
    numbers, routes = random.Random(seed), {}
    while len(routes) < count:
        if routes and numbers.random() < 0.5:
            address, length = numbers.choice(last)
            length = min(width, length + numbers.randrange(1, 9))
            address |= numbers.getrandbits(width) >> length if length < width else 0
        else:
            length, address = numbers.randrange(shortest, width + 1), numbers.getrandbits(width)
        address = address >> (width - length) << (width - length)
        routes[address, length] = numbers.randrange(1, values + 1)
        if len(routes) % 64 == 1:
            last = list(routes)
    return routes


def write(path, *families):
    """Writes (width, routes) of each family as a table."""
    with open(path, "w", encoding="ascii") as file:
        for width, routes in families:
            for (address, length), value in routes.items():
                file.write(f"{text(width, address)}/{length} {value}\n")
    return path


def read(path):
    """The routes of both families, by their width, in a table of lines PREFIX VALUE."""
    found = {IPV4: [], IPV6: []}
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        for line in file:
            prefix, _, _ = line.partition(" ")
            start, _, length = prefix.partition("/")
            if ":" in start:
                found[IPV6].append((int.from_bytes(socket.inet_pton(socket.AF_INET6, start), "big"), int(length)))
            else:
                found[IPV4].append((int.from_bytes(socket.inet_pton(socket.AF_INET, start), "big"), int(length)))
    return found


def probes(width, routes, count, seed=1):
    """Both ends of each route and their neighbours, and random addresses: half of them anywhere, half in a route."""
    numbers, top = random.Random(seed), (1 << width) - 1
    for address, length in routes:
        last = address | top >> length
        yield from {max(address - 1, 0), address, last, min(last + 1, top)}
    for _ in range(count // 2):
        yield numbers.getrandbits(width)
        if routes:
            address, length = routes[numbers.randrange(len(routes))]
            yield address | (numbers.getrandbits(width) & top >> length)


def answers(table, width, addresses):
    """Whether each address has a match, its value as a number, and its length; zeros if there is none. By the scalar code."""
    lines = "\n".join(map(functools.partial(text, width), addresses)) + "\n"
    environment = {**os.environ, "POPFIB_KERNEL": "scalar"}
    done = subprocess.run([POPFIB, "lookup", "-t", table], input=lines, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    for line in done.stdout.splitlines():
        _, prefix, value = line.split("\t")
        yield (False, 0, 0) if value == "-" else (True, int(value), int(prefix.rpartition("/")[2]))


def batches(items, size):
    items = iter(items)
    while part := list(itertools.islice(items, size)):
        yield part


def packed(width, addresses):
    """Addresses as the map of tests has them."""
    if width == IPV4:
        return b"".join(struct.pack(">I12x", address) for address in addresses)
    return b"".join(address.to_bytes(16, "big") for address in addresses)


def parsed(address):
    return int(ipaddress.ip_address(address))
