"""Frames, and what comes out at the other end of an interface."""

import ipaddress
import select
import socket
import struct
import time

ETH_P_ALL, SOL_PACKET, PACKET_IGNORE_OUTGOING, SO_RCVBUFFORCE = 3, 263, 23, 33


def checksum(header):
    """The Internet checksum of bytes whose number is even; 0 if the one in them is right."""
    total = sum(struct.unpack(f"!{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def frame(source, destination, number, *, ttl=64, protocol=17, ports=(1000, 2000), options=b"", fragment=0):
    """An Ethernet frame with an IP packet whose last 8 bytes are `number`."""
    payload = struct.pack("!HHHHQ", *ports, 16, 0, number)
    source, destination = ipaddress.ip_address(source), ipaddress.ip_address(destination)
    if destination.version == 6:
        header = struct.pack("!IHBB", 0x60000000, len(payload), protocol, ttl) + source.packed + destination.packed
        return bytes([2] * 12) + b"\x86\xdd" + header + payload
    start = struct.pack("!BBHHHBBH", 0x45 + len(options) // 4, 0, 20 + len(options) + len(payload), 0, fragment, ttl, protocol, 0)
    header = start + source.packed + destination.packed + options
    header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
    return bytes([2] * 12) + b"\x08\x00" + header + payload


def number_of(data):
    """The number in a frame."""
    return struct.unpack("!Q", data[-8:])[0]


class Port:
    """An interface that frames are sent and received on, as they are."""

    def __init__(self, name):
        self.name = name
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self.socket.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        # Each frame may count as a page.
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 23)
        self.socket.bind((name, ETH_P_ALL))
        self.socket.setblocking(False)

    def received(self):
        """The frames that have come since the last call."""
        frames = []
        while True:
            try:
                data = self.socket.recv(2048)
            except BlockingIOError:
                return frames
            # The kernel may say something, too.
            if number_of(data) < 1 << 32:
                frames.append(data)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


def send(sender, frames, ports, counted):
    """Sends the frames, few at a time, and returns what each of the ports received. `counted` says how many frames have been dealt
    with otherwise; a frame that is nowhere after seconds is an error."""
    received = {port.name: [] for port in ports}
    before = counted()
    for start in range(0, len(frames), 128):
        part = frames[start:start + 128]
        for data in part:
            sender.socket.send(data)
        deadline = time.monotonic() + 10
        while True:
            for port in ports:
                received[port.name] += port.received()
            total = sum(map(len, received.values())) + counted() - before
            if total >= start + len(part):
                break
            if time.monotonic() > deadline:
                raise AssertionError(f"of {start + len(part)} frames {total} are known")
            select.select([port.socket for port in ports], [], [], 0.002)
    return received
