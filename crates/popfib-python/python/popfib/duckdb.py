"""DuckDB: `register(connection, "origin", table)`, then `SELECT origin(src) FROM flows`."""

from __future__ import annotations

from typing import Any, Literal

import duckdb
import pyarrow as pa

from popfib import IPSet, Table

__all__ = ["register"]


def register(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    table: Table[Any] | IPSet,
    *,
    invalid: Literal["raise", "null"] = "null",
    threads: int = 1,
) -> None:
    """Make `name(address)` a function of SQL: the value of the longest match, NULL without one; for a set, whether the address
    is in it, NULL for text that is no address.

    Addresses are VARCHAR. The values are all str (VARCHAR), all int (BIGINT) or all bool (BOOLEAN); if there are others when
    this is called, it raises TypeError. The function sees later changes of the table.
    """
    types: dict[type, tuple[str, Any]] = {
        str: ("VARCHAR", pa.string()),
        int: ("BIGINT", pa.int64()),
        bool: ("BOOLEAN", pa.bool_()),
    }
    value_type = bool if isinstance(table, IPSet) else table.value_type
    if value_type not in types:
        raise TypeError("for DuckDB all values are str, int of 64 bits or bool, one of these")
    returns, arrow = types[value_type]

    def lookup(addresses: Any) -> Any:
        if isinstance(table, IPSet):
            return pa.array(
                table.contains(addresses, output="arrow", invalid=invalid, threads=threads)
            )
        column = table.lookup_many(
            addresses, output="arrow", invalid=invalid, threads=threads
        )
        return pa.array(column).dictionary_decode().cast(arrow)

    # DuckDB's types don't describe functions over Arrow columns.
    untyped: Any = connection
    untyped.create_function(
        name,
        lookup,
        ["VARCHAR"],
        returns,
        type="arrow",
        null_handling="special",
    )
