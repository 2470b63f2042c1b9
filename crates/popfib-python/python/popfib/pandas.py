"""pandas: `series.popfib.lookup(table)` and `series.popfib.isin(set)`.

Importing this module registers the accessor.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import pandas as pd

from popfib import IPSet, Table

__all__ = ["isin", "lookup"]


def lookup(
    addresses: pd.Series[Any],
    table: Table[Any],
    *,
    columns: Iterable[str] | None = None,
    categorical: bool = False,
    invalid: Literal["raise", "null"] = "null",
    threads: int = 1,
) -> pd.Series[Any] | pd.DataFrame:
    """The values of a column of addresses, missing where there is no route; with `columns`, or "*" for all, a frame of these
    columns of the table's records.

    With `categorical`, a categorical column, which is fast and small if there are fewer values than rows, and needs pyarrow;
    in a frame, columns of text are categorical. Integers and booleans of a frame that are missing in a row are nullable
    (`Int64`, `boolean`).
    """
    # An empty column may be of any type.
    column: Any = addresses if len(addresses) else []
    if categorical:
        try:
            import pyarrow as pa
        except ImportError as error:
            raise ImportError("categorical=True needs pyarrow: pip install pyarrow") from error

        if columns is not None:
            records = table.lookup_many(
                column, columns=columns, output="arrow", invalid=invalid, threads=threads
            )
            arrays = {name: pa.array(found) for name, found in records.items()}
            found = {name: array.to_pandas(integer_object_nulls=True).values for name, array in arrays.items()}
            return _frame(found, table, addresses.index)
        answers = table.lookup_many(
            column, output="arrow", invalid=invalid, threads=threads
        )
        found = pa.array(answers).to_pandas()
        return pd.Series(found.values, index=addresses.index, name=addresses.name)
    if columns is not None:
        found = table.lookup_many(column, columns=columns, invalid=invalid, threads=threads)
        return _frame(found, table, addresses.index)
    values = table.lookup_many(column, invalid=invalid, threads=threads)
    return pd.Series(values, index=addresses.index, name=addresses.name)


def _frame(found: dict[str, Any], table: Table[Any], index: pd.Index[Any]) -> pd.DataFrame:
    """The frame of columns, of which integers and booleans that are missing in a row are nullable."""
    for name, values in found.items():
        kind = {"integer": "Int64", "boolean": "boolean"}.get(table.schema[name])
        if kind is not None and values.dtype == object:
            is_higher = any(value is not None and value >= 2**63 for value in values)
            found[name] = pd.array(values, dtype="UInt64" if is_higher else kind)
    return pd.DataFrame(found, index=index)


def isin(
    addresses: pd.Series[Any],
    addresses_of: IPSet,
    *,
    invalid: Literal["raise", "null"] = "null",
    threads: int = 1,
) -> pd.Series[bool]:
    """Whether each address of a column is in a set; False for anything that is no address."""
    column: Any = addresses if len(addresses) else []
    found = addresses_of.contains(column, invalid=invalid, threads=threads)
    return pd.Series(found, index=addresses.index, name=addresses.name)


@pd.api.extensions.register_series_accessor("popfib")
class _Accessor:
    def __init__(self, series: pd.Series[Any]) -> None:
        self._series = series

    def lookup(self, table: Table[Any], **options: Any) -> pd.Series[Any] | pd.DataFrame:
        """See `popfib.pandas.lookup`."""
        return lookup(self._series, table, **options)

    def isin(self, addresses_of: IPSet, **options: Any) -> pd.Series[bool]:
        """See `popfib.pandas.isin`."""
        return isin(self._series, addresses_of, **options)
