"""`PyTricia` as the package pytricia has it, over popfib's table.

Change `import pytricia` into `from popfib.compat import pytricia`. As in pytricia, a prefix that was inserted with host bits
comes back with them (`10.2.0.5/16`). What differs:

* The families never match across: `32.0.0.1` is not inside `2000::/8`. Keys are listed with IPv4 first.
* `maxbits` and `family` limit nothing; a prefix length or number beyond an address is ValueError.
* A change while prefixes are iterated over is RuntimeError; pickling needs no `freeze`.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any

from popfib import Table, canonical

__all__ = ["PyTricia"]


class PyTricia:
    """A dictionary from prefixes to objects, with lookups by longest match."""

    __slots__ = ("_frozen", "_raw", "_spelled", "_table")

    def __init__(
        self,
        maxbits: int = 32,
        family: int = socket.AF_INET,
        raw_output: bool = False,
    ) -> None:
        if not isinstance(maxbits, int) or not 0 <= maxbits <= 128:
            raise ValueError("maxbits is 0 to 128")
        if family not in (socket.AF_INET, socket.AF_INET6):
            raise ValueError("family is socket.AF_INET or socket.AF_INET6")
        self._raw = raw_output
        self._frozen = False
        self._table: Table[Any] = Table()
        # Prefixes that were given with host bits, by the prefix without.
        self._spelled: dict[str, str] = {}

    @staticmethod
    def _read(prefix: Any, length: int | None = None) -> tuple[str, str]:
        """The prefix without its host bits, and with them."""
        if isinstance(prefix, tuple):
            prefix, length = prefix
        try:
            if isinstance(prefix, int):
                prefix = (prefix, 4)
            if isinstance(prefix, str) and "/" in prefix:
                _, bits, _ = canonical(prefix, mask=True)
                address, _, _ = canonical(prefix.partition("/")[0])
            else:
                address, bits, _ = canonical(prefix)
            given = f"{address}/{bits if length is None else int(length)}"
            address, bits, _ = canonical(given, mask=True)
        except (TypeError, ValueError) as error:
            raise ValueError(f"Invalid prefix: {error}") from None
        return f"{address}/{bits}", given

    def _key(self, prefix: Any) -> str:
        return self._read(prefix)[0]

    def _changed(self) -> None:
        if self._frozen:
            raise ValueError("the table is frozen; thaw() allows changes")

    def _out(self, prefix: str) -> Any:
        prefix = self._spelled.get(prefix, prefix)
        if not self._raw:
            return prefix
        address, _, bits = prefix.partition("/")
        return ip_address(address).packed, int(bits)

    def __getitem__(self, prefix: Any) -> Any:
        try:
            return self._table[prefix]
        except (TypeError, ValueError):
            return self._table[self._key(prefix)]

    def __setitem__(self, prefix: Any, data: Any) -> None:
        self.insert(prefix, data)

    def __delitem__(self, prefix: Any) -> None:
        self._changed()
        key = self._present(prefix)
        del self._table[key]
        self._spelled.pop(key, None)

    def __contains__(self, prefix: Any) -> bool:
        return self._key(prefix) in self._table

    def __len__(self) -> int:
        return len(self._table)

    def __iter__(self) -> Iterator[Any]:
        return map(self._out, self._table)

    def __getstate__(self) -> tuple[Any, ...]:
        return self._raw, self._frozen, self._table, self._spelled

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._raw, self._frozen, self._table, self._spelled = state

    def insert(self, prefix: Any, *args: Any) -> None:
        """insert(prefix, data) or insert(address, length, data)."""
        if len(args) not in (1, 2):
            raise ValueError("insert takes (prefix, data) or (address, length, data)")
        self._changed()
        key, given = self._read(prefix, *args[:-1])
        if given != key and not self._table.has_key(key):
            self._spelled[key] = given
        self._table[key] = args[-1]

    def delete(self, prefix: Any) -> None:
        """Remove exactly this prefix; KeyError if there is none."""
        del self[prefix]

    def get(self, prefix: Any, default: Any = None) -> Any:
        """The value of the longest match, else `default`."""
        return self._table.get(self._key(prefix), default)

    def get_key(self, prefix: Any) -> Any:
        """The prefix of the longest match; None if there is none."""
        found = self._table.get_key(self._key(prefix))
        return None if found is None else self._out(found)

    def has_key(self, prefix: Any) -> bool:
        """Whether exactly this prefix is there."""
        return self._table.has_key(self._key(prefix))

    def keys(self) -> list[Any]:
        """All prefixes."""
        return list(self)

    def _present(self, prefix: Any) -> str:
        key = self._key(prefix)
        if not self._table.has_key(key):
            raise KeyError("Prefix doesn't exist.")
        return key

    def parent(self, prefix: Any) -> Any:
        """The longest shorter prefix that covers this one, which must be there; None if there is none."""
        found = self._table.parent(self._present(prefix))
        return None if found is None else self._out(found)

    def children(self, prefix: Any) -> list[Any]:
        """All longer prefixes inside this one, which must be there."""
        return [self._out(p) for p in self._table.children(self._present(prefix))]

    def freeze(self) -> None:
        """Refuse changes from now on."""
        self._frozen = True

    def thaw(self) -> None:
        """Allow changes again."""
        self._frozen = False
