"""DuckDB: `register(connection, "origin", table)`, then `SELECT origin(src) FROM flows`."""

from __future__ import annotations

from typing import Any, Literal

import duckdb
import pyarrow as pa

from popfib import Table

__all__ = ["register"]


def register(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    table: Table[Any],
    *,
    invalid: Literal["raise", "null"] = "null",
    threads: int = 1,
) -> None:
    """Make `name(address)` a function of SQL: the value of the longest match, NULL without one.

    Addresses are VARCHAR. The values are all str (VARCHAR) or all int (BIGINT); what other values there are
    at this time is a TypeError. The function sees later changes of the table.
    """
    types = {str: ("VARCHAR", pa.string()), int: ("BIGINT", pa.int64())}
    if table.value_type not in types:
        raise TypeError("for DuckDB all values are str, or all are int of 64 bits")
    returns, arrow = types[table.value_type]

    def lookup(addresses: Any) -> Any:
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
