"""One address in the built-in table."""

from __future__ import annotations

from typing import Any

from ._popfib import Table, default_table


_table: Table[Any] | None = None


def lookup(address: Any) -> dict[str, Any] | None:
    """The answer of the built-in table for an address: prefix, origin AS and its name; None without a match.

    The table is loaded by the first call, and kept.

    >>> import popfib
    >>> popfib.lookup("8.8.8.8")
    {'prefix': '8.8.8.0/24', 'asn': 15169, 'as_name': 'Google LLC'}
    """
    global _table
    table = _table = _table or default_table(columns="*")
    prefix, record = table.get_key(address), table.record(address)
    return None if record is None else {"prefix": prefix, **record}
