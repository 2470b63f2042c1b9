"""`PyTricia` as the package pytricia has it, over popfib's table.

Change `import pytricia` into `from popfib.compat import pytricia`. What differs:

* Prefixes come back in canonical form: `10.2.0.5/16` is inserted as `10.2.0.0/16`.
* A table for one family refuses prefixes of the other with ValueError; lookups across never match.
* `maxbits` limits nothing but names the family, as `family` does; pickling needs no `freeze`.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any

from popfib import Table, canonical

__all__ = ["PyTricia"]


class PyTricia:
    """A dictionary from the prefixes of one family to objects, asked by longest match."""

    __slots__ = ("_family", "_frozen", "_raw", "_table")

    def __init__(
        self,
        maxbits: int = 32,
        family: int = socket.AF_INET,
        raw_output: bool = False,
    ) -> None:
        if not 0 < maxbits <= 128:
            raise ValueError("maxbits is 1 to 128")
        if family not in (socket.AF_INET, socket.AF_INET6):
            raise ValueError("family is socket.AF_INET or socket.AF_INET6")
        self._family = 6 if family == socket.AF_INET6 or maxbits > 32 else 4
        self._raw = raw_output
        self._frozen = False
        self._table: Table[Any] = Table()

    def _key(self, prefix: Any, length: int | None = None) -> Any:
        """The prefix in the form of Table's keys, host bits cleared."""
        if isinstance(prefix, tuple):
            prefix, length = prefix
        try:
            if isinstance(prefix, int):
                prefix = (prefix, self._family)
            address, bits, _ = canonical(prefix, mask=True)
            if length is not None:
                bits = int(length)
            address, bits, _ = canonical(f"{address}/{bits}", mask=True)
        except (TypeError, ValueError) as error:
            raise ValueError(f"Invalid prefix: {error}") from None
        return f"{address}/{bits}"

    def _own_key(self, prefix: Any, length: int | None = None) -> Any:
        """The key of a change."""
        if self._frozen:
            raise ValueError("the table is frozen; thaw() allows changes")
        key = self._key(prefix, length)
        if (6 if ":" in key else 4) != self._family:
            raise ValueError(f"Invalid prefix: {key} is not IPv{self._family}")
        return key

    def _out(self, prefix: str) -> Any:
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
        self._table[self._own_key(prefix)] = data

    def __delitem__(self, prefix: Any) -> None:
        del self._table[self._own_key(prefix)]

    def __contains__(self, prefix: Any) -> bool:
        return self._key(prefix) in self._table

    def __len__(self) -> int:
        return len(self._table)

    def __iter__(self) -> Iterator[Any]:
        return map(self._out, self._table)

    def __getstate__(self) -> tuple[Any, ...]:
        return self._family, self._raw, self._frozen, self._table

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._family, self._raw, self._frozen, self._table = state

    def insert(self, prefix: Any, *args: Any) -> None:
        """insert(prefix, data) or insert(address, length, data)."""
        if len(args) not in (1, 2):
            raise TypeError("insert takes (prefix, data) or (address, length, data)")
        self._table[self._own_key(prefix, *args[:-1])] = args[-1]

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

    def _present(self, prefix: Any) -> Any:
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
        """Refuse changes from now on, and compile the table."""
        self._table.compile()
        self._frozen = True

    def thaw(self) -> None:
        """Allow changes again."""
        self._frozen = False
