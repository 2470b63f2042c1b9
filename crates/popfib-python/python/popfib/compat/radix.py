"""`Radix` as the package py-radix has it, over popfib's table.

Change `import radix` into `from popfib.compat import radix`. What differs: nodes found by a search are
sorted by address, then length; `RadixNode.data` is a dictionary as there, kept by the tree.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any

from popfib import Table, canonical

__all__ = ["Radix", "RadixNode"]


class RadixNode:
    """A prefix of a tree, with a dictionary `data` for what belongs to it."""

    __slots__ = ("_table", "data", "family", "network", "prefixlen")

    def __init__(self, table: Table[RadixNode], key: str) -> None:
        address, length, family = canonical(key)
        self._table = table
        self.network = address
        self.prefixlen = length
        self.family = socket.AF_INET6 if family == 6 else socket.AF_INET
        self.data: dict[Any, Any] = {}

    @property
    def prefix(self) -> str:
        """The prefix as text."""
        return f"{self.network}/{self.prefixlen}"

    @property
    def packed(self) -> bytes:
        """The network address as bytes in network order."""
        return ip_address(self.network).packed

    @property
    def parent(self) -> RadixNode | None:
        """The node of the longest shorter prefix that covers this one."""
        key = self._table.parent(self.prefix)
        return None if key is None else self._table.get_exact(key)

    def __repr__(self) -> str:
        return f"<{self.prefix}>"


def _walk(nodes: Iterator[RadixNode]) -> Iterator[RadixNode]:
    """The nodes; if the tree changes meanwhile, the same as in py-radix: a RuntimeWarning, raised as an exception."""
    try:
        yield from nodes
    except RuntimeError as error:
        raise RuntimeWarning(str(error)) from None


class Radix:
    """A tree of prefixes of both families, each with a node that searches return."""

    __slots__ = ("_table",)

    def __init__(self) -> None:
        self._table: Table[RadixNode] = Table()

    @staticmethod
    def _key(
        network: str | None, masklen: int | None, packed: bytes | None
    ) -> str:
        given: Any = packed if network is None else network
        if (network is None) == (packed is None):
            raise TypeError("give a network or packed=, one of them")
        if not isinstance(given, str if packed is None else bytes):
            raise TypeError("a network is a str, and packed= is bytes")
        if not isinstance(masklen, int | None):
            raise TypeError("masklen is an int")
        address, length, _ = canonical(given, mask=True)
        if masklen is not None and masklen != -1:
            if network is not None and "/" in network:
                raise ValueError("masklen is given twice")
            length = masklen
        address, length, _ = canonical(f"{address}/{length}", mask=True)
        return f"{address}/{length}"

    def add(
        self,
        network: str | None = None,
        masklen: int | None = None,
        packed: bytes | None = None,
    ) -> RadixNode:
        """The node of exactly this prefix, which is added if it is not there."""
        key = self._key(network, masklen, packed)
        node = self._table.get_exact(key)
        return node or self._table.setdefault(key, RadixNode(self._table, key))

    def delete(
        self,
        network: str | None = None,
        masklen: int | None = None,
        packed: bytes | None = None,
    ) -> None:
        """Remove exactly this prefix; KeyError if it is not there."""
        del self._table[self._key(network, masklen, packed)]

    def search_exact(
        self,
        network: str | None = None,
        masklen: int | None = None,
        packed: bytes | None = None,
    ) -> RadixNode | None:
        """The node of exactly this prefix."""
        return self._table.get_exact(self._key(network, masklen, packed))

    def search_best(
        self,
        network: str | None = None,
        masklen: int | None = None,
        packed: bytes | None = None,
    ) -> RadixNode | None:
        """The node of the longest prefix that covers this one."""
        return self._table.get(self._key(network, masklen, packed))

    def search_worst(
        self,
        network: str | None = None,
        masklen: int | None = None,
        packed: bytes | None = None,
    ) -> RadixNode | None:
        """The node of the shortest prefix that covers this one."""
        found = self._table.supernets(self._key(network, masklen, packed))
        return found[0][1] if found else None

    def search_covering(
        self,
        network: str | None = None,
        masklen: int | None = None,
        packed: bytes | None = None,
    ) -> list[RadixNode]:
        """The nodes of all prefixes that cover this one, including itself, longest first."""
        found = self._table.supernets(self._key(network, masklen, packed))
        return [node for _, node in reversed(found)]

    def search_covered(
        self,
        network: str | None = None,
        masklen: int | None = None,
        packed: bytes | None = None,
    ) -> list[RadixNode]:
        """The nodes of all prefixes inside this one, including itself."""
        found = self._table.subnets(self._key(network, masklen, packed))
        return [node for _, node in found]

    def nodes(self) -> list[RadixNode]:
        """All nodes."""
        return list(self._table.values())

    def prefixes(self) -> list[str]:
        """All prefixes as text."""
        return list(self._table.keys())

    def __iter__(self) -> Iterator[RadixNode]:
        return _walk(self._table.values())

    def __getstate__(self) -> list[tuple[str, dict[Any, Any]]]:
        return [(key, node.data) for key, node in self._table.items()]

    def __setstate__(self, state: list[tuple[str, dict[Any, Any]]]) -> None:
        self._table = Table()
        for key, data in state:
            self.add(key).data = data
