"""IP longest-prefix match: a dictionary of prefixes, and lookups of whole columns.

>>> import popfib
>>> t = popfib.Table()
>>> t["10.0.0.0/8"] = "inside"
>>> t["2001:db8::/32"] = "documentation"
>>> t["10.1.2.3"]
'inside'
>>> t.get_key("2001:db8::1")
'2001:db8::/32'
"""

from ._popfib import (
    ArrowColumn,
    LiveTable,
    Routes,
    Sweep,
    Table,
    Vrps,
    __version__,
    aggregate,
    canonical,
    compare,
    complement,
    default_table,
    diff,
    difference,
    intersection,
    join,
    load,
    load_updates,
    load_vrps,
    lookup_many,
    open,
    rov,
    symmetric_difference,
    union,
)

__all__ = [
    "ArrowColumn",
    "LiveTable",
    "Routes",
    "Sweep",
    "Table",
    "Vrps",
    "__version__",
    "aggregate",
    "canonical",
    "compare",
    "complement",
    "default_table",
    "diff",
    "difference",
    "intersection",
    "join",
    "load",
    "load_updates",
    "load_vrps",
    "lookup_many",
    "open",
    "rov",
    "symmetric_difference",
    "union",
]
