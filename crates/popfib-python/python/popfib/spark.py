"""Spark: `popfib.spark.lookup(df, "src", "table.fib")`, a data frame with the values of a column of addresses, and
`popfib.spark.register(spark, "lpm", "table.fib")`, the same as a function of SQL.

The image goes to every executor as a file, and each Python worker maps it once; batches come and go as Arrow. So popfib,
pyarrow and pandas, which Spark needs for that, must be installed wherever executors run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import popfib
from popfib import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame as _DataFrame
    from pyspark.sql import SparkSession as _SparkSession

__all__ = ["lookup", "register"]

# What was shipped to each application under a name: Spark never ships a name twice.
_shipped: dict[tuple[str, str], tuple[str, int, int]] = {}


# What this Python worker has opened.
_opened: dict[str, Table[str]] = {}


def _open(name: str) -> Table[str]:
    from pyspark import SparkFiles

    path = SparkFiles.get(name)
    if path not in _opened:
        # Nobody writes to a file that Spark has shipped, so all workers of a machine share one copy.
        _opened[path] = popfib.open(path, map=True)
    return _opened[path]


def _ship(context: Any, image: str | os.PathLike[str]) -> str:
    path = os.path.realpath(image)
    name = os.path.basename(path)
    # A damaged image is an error here, not in every executor.
    popfib.open(path)
    state = os.stat(path)
    form = (path, state.st_mtime_ns, state.st_size)
    shipped = _shipped.get((context.applicationId, name))
    if shipped is None:
        context.addFile(path)
        _shipped[context.applicationId, name] = form
    elif shipped != form:
        raise ValueError(
            f"{path}: Spark has another file of the name {name!r} already; save a new table under a new name"
        )
    return name


def _answer(
    table: Table[str],
    addresses: Any,
    output: Literal["arrow", "arrow-prefixes"],
    invalid: Literal["raise", "null"],
) -> Any:
    """The column of answers, as Spark's type for text."""
    import pyarrow as pa

    found = pa.array(table.lookup_many(addresses, output=output, invalid=invalid))
    if pa.types.is_dictionary(found.type):
        found = found.dictionary_decode()
    return found.cast(pa.string())


def lookup(
    df: _DataFrame,
    column: str,
    image: str | os.PathLike[str],
    *,
    value: str = "value",
    prefix: str | None = None,
    invalid: Literal["raise", "null"] = "null",
) -> _DataFrame:
    """`df` with a new column `value`: the value of the longest match of each address in `column`, null without one.

    `image` is a file by `Table.save` or `popfib compile`. `prefix` names one more column, for the prefix that
    matches. All columns of `df` go through Python: select what is needed before.
    """
    names = [value] if prefix is None else [value, prefix]
    if column not in df.columns:
        raise ValueError(f"there is no column {column!r}")
    if len({*names, *df.columns}) != len(names) + len(df.columns):
        raise ValueError(f"a column of {', '.join(names)} is there already, or twice")
    from pyspark.sql.types import StringType, StructField, StructType

    file = _ship(df.sparkSession.sparkContext, image)
    at = df.columns.index(column)
    outputs: tuple[Literal["arrow", "arrow-prefixes"], ...] = ("arrow", "arrow-prefixes")

    def answer(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        table = _open(file)
        for batch in batches:
            columns = batch.columns
            for _, output in zip(names, outputs):
                columns.append(_answer(table, batch.column(at), output, invalid))
            yield pa.RecordBatch.from_arrays(columns, [*batch.schema.names, *names])

    fields = [StructField(name, StringType()) for name in names]
    return df.mapInArrow(answer, StructType([*df.schema.fields, *fields]))


def register(
    spark: _SparkSession,
    name: str,
    image: str | os.PathLike[str],
    *,
    answer: Literal["value", "prefix"] = "value",
    invalid: Literal["raise", "null"] = "null",
) -> None:
    """Make `name(address)` a function of SQL: the value of the longest match, or the prefix that matches; null without one.

    `image` is as for `lookup`. Only the column of addresses goes through Python. A function of the name is replaced.
    Needs Spark 4.1 or later.
    """
    from pyspark.sql import functions

    # Older versions of pyspark do not have it.
    arrow_udf: Any = getattr(functions, "arrow_udf", None)
    if arrow_udf is None:
        raise ImportError("functions over Arrow columns need pyspark 4.1 or later")
    if answer not in ("value", "prefix"):
        raise ValueError(f"answer is 'value' or 'prefix', not {answer!r}")
    output: Literal["arrow", "arrow-prefixes"]
    output = "arrow" if answer == "value" else "arrow-prefixes"
    file = _ship(spark.sparkContext, image)

    def find(addresses: Any) -> Any:
        return _answer(_open(file), addresses, output, invalid)

    import pyarrow as pa

    # By these hints Spark knows that it takes columns. They are set here because the file does not import pyarrow at its top.
    find.__annotations__ = {"addresses": pa.Array, "return": pa.Array}
    spark.udf.register(name, arrow_udf(find, "string"))
