"""Polars: `pl.col("src").popfib.lookup(table)` and `pl.col("src").popfib.is_in(set)`, and the same for a series.

Importing this module registers the two namespaces.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import polars as pl

from popfib import IPSet, Table

__all__ = ["dtype_of", "is_in", "lookup"]


def dtype_of(table: Table[Any], columns: Iterable[str] | None = None) -> Any:
    """The type of a column of the table's values: String, Int64, Boolean or Object; with `columns` a Struct."""
    if columns is not None:
        return _records([], table, columns, "raise", 1).to_struct().dtype
    dtypes: dict[type, Any] = {str: pl.String, int: pl.Int64, bool: pl.Boolean}
    return dtypes.get(table.value_type, pl.Object)


def lookup(
    addresses: pl.Series,
    table: Table[Any],
    *,
    columns: Iterable[str] | None = None,
    invalid: Literal["raise", "null"] = "null",
    threads: int = 1,
) -> pl.Series:
    """The values of a column of addresses, null where there is no route; with `columns`, or "*" for all, a struct of these
    columns of the table's records."""
    if columns is not None:
        column: Any = [None] * len(addresses) if addresses.dtype == pl.Null else addresses
        return _records(column, table, columns, invalid, threads).to_struct(addresses.name)
    dtype = dtype_of(table)
    if addresses.dtype == pl.Null:
        return pl.Series(addresses.name, [None] * len(addresses), dtype=dtype)
    if dtype == pl.Object:
        values = table.lookup_many(
            addresses, output="list", invalid=invalid, threads=threads
        )
        return pl.Series(addresses.name, values, dtype=dtype)
    found = table.lookup_many(
        addresses, output="arrow", invalid=invalid, threads=threads
    )
    return pl.Series(found).cast(dtype).rename(addresses.name)


def is_in(
    addresses: pl.Series,
    addresses_of: IPSet,
    *,
    invalid: Literal["raise", "null"] = "null",
    threads: int = 1,
) -> pl.Series:
    """Whether each address of a column is in a set; null for anything that is no address."""
    column: Any = [None] * len(addresses) if addresses.dtype == pl.Null else addresses
    found = addresses_of.contains(column, output="arrow", invalid=invalid, threads=threads)
    return pl.Series(found).rename(addresses.name)


def _records(
    addresses: Any,
    table: Table[Any],
    columns: Iterable[str],
    invalid: Literal["raise", "null"],
    threads: int,
) -> pl.DataFrame:
    found = table.lookup_many(
        addresses, columns=columns, output="arrow", invalid=invalid, threads=threads
    )
    series = [pl.Series(name, pl.Series(column)) for name, column in found.items()]
    texts = pl.col(pl.Categorical, pl.Enum).cast(pl.String)
    return pl.DataFrame(series).with_columns(texts)


@pl.api.register_expr_namespace("popfib")
class _Expr:
    def __init__(self, expr: pl.Expr) -> None:
        self._expr = expr

    def lookup(
        self, table: Table[Any], *, columns: Iterable[str] | None = None, **options: Any
    ) -> pl.Expr:
        """See `popfib.polars.lookup`."""
        names = columns if columns is None or isinstance(columns, str) else list(columns)

        def batch(addresses: pl.Series) -> pl.Series:
            return lookup(addresses, table, columns=names, **options)

        return self._expr.map_batches(
            batch, return_dtype=dtype_of(table, names), is_elementwise=True
        )

    def is_in(self, addresses_of: IPSet, **options: Any) -> pl.Expr:
        """See `popfib.polars.is_in`."""

        def batch(addresses: pl.Series) -> pl.Series:
            return is_in(addresses, addresses_of, **options)

        return self._expr.map_batches(batch, return_dtype=pl.Boolean(), is_elementwise=True)


@pl.api.register_series_namespace("popfib")
class _Series:
    def __init__(self, series: pl.Series) -> None:
        self._series = series

    def lookup(self, table: Table[Any], **options: Any) -> pl.Series:
        """See `popfib.polars.lookup`."""
        return lookup(self._series, table, **options)

    def is_in(self, addresses_of: IPSet, **options: Any) -> pl.Series:
        """See `popfib.polars.is_in`."""
        return is_in(self._series, addresses_of, **options)
