"""pandas: `series.popfib.lookup(table)`.

Importing this module registers the accessor.
"""

from __future__ import annotations

from typing import Any, Literal

import pandas as pd

from popfib import Table

__all__ = ["lookup"]


def lookup(
    addresses: pd.Series[Any],
    table: Table[Any],
    *,
    categorical: bool = False,
    invalid: Literal["raise", "null"] = "null",
    threads: int = 1,
) -> pd.Series[Any]:
    """The values of a column of addresses, missing where there is no route.

    With `categorical` as a categorical column, which is fast and small where there are fewer values than rows, and needs
    pyarrow.
    """
    # An empty column may be of any type.
    column: Any = addresses if len(addresses) else []
    if categorical:
        try:
            import pyarrow as pa
        except ImportError as error:
            raise ImportError("categorical=True needs pyarrow: pip install pyarrow") from error

        answers = table.lookup_many(
            column, output="arrow", invalid=invalid, threads=threads
        )
        found = pa.array(answers).to_pandas()
        return pd.Series(found.values, index=addresses.index, name=addresses.name)
    values = table.lookup_many(column, invalid=invalid, threads=threads)
    return pd.Series(values, index=addresses.index, name=addresses.name)


@pd.api.extensions.register_series_accessor("popfib")
class _Accessor:
    def __init__(self, series: pd.Series[Any]) -> None:
        self._series = series

    def lookup(self, table: Table[Any], **options: Any) -> pd.Series[Any]:
        """See `popfib.pandas.lookup`."""
        return lookup(self._series, table, **options)
