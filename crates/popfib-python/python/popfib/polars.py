"""Polars: `pl.col("src").popfib.lookup(table)` and `series.popfib.lookup(table)`.

Importing this module registers the two namespaces.
"""

from __future__ import annotations

from typing import Any, Literal

import polars as pl

from popfib import Table

__all__ = ["dtype_of", "lookup"]


def dtype_of(table: Table[Any]) -> Any:
    """The type of a column of the table's values: String, Int64 or Object."""
    dtypes: dict[type, Any] = {str: pl.String, int: pl.Int64}
    return dtypes.get(table.value_type, pl.Object)


def lookup(
    addresses: pl.Series,
    table: Table[Any],
    *,
    invalid: Literal["raise", "null"] = "null",
    threads: int = 1,
) -> pl.Series:
    """The values of a column of addresses, null where there is no route."""
    dtype = dtype_of(table)
    if addresses.dtype == pl.Null:
        return pl.Series(addresses.name, [None] * len(addresses), dtype=dtype)
    if dtype == pl.Object:
        values = table.lookup_many(
            addresses, output="list", invalid=invalid, threads=threads
        )
        return pl.Series(addresses.name, values, dtype=dtype)
    column = table.lookup_many(
        addresses, output="arrow", invalid=invalid, threads=threads
    )
    return pl.Series(column).cast(dtype).rename(addresses.name)


@pl.api.register_expr_namespace("popfib")
class _Expr:
    def __init__(self, expr: pl.Expr) -> None:
        self._expr = expr

    def lookup(
        self, table: Table[Any], *, invalid: Literal["raise", "null"] = "null", threads: int = 1
    ) -> pl.Expr:
        """The values of the addresses, null where there is no route."""

        def batch(addresses: pl.Series) -> pl.Series:
            return lookup(addresses, table, invalid=invalid, threads=threads)

        return self._expr.map_batches(
            batch, return_dtype=dtype_of(table), is_elementwise=True
        )


@pl.api.register_series_namespace("popfib")
class _Series:
    def __init__(self, series: pl.Series) -> None:
        self._series = series

    def lookup(
        self, table: Table[Any], *, invalid: Literal["raise", "null"] = "null", threads: int = 1
    ) -> pl.Series:
        """The values of the addresses, null where there is no route."""
        return lookup(self._series, table, invalid=invalid, threads=threads)
