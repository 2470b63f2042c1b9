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
    kinds = {type(value) for value in table.dictionary()[1:] if value is not None}
    if kinds <= {str}:
        returns, arrow = "VARCHAR", pa.string()
    elif kinds == {int}:
        returns, arrow = "BIGINT", pa.int64()
    else:
        raise TypeError("for DuckDB all values are str, or all are int")

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
