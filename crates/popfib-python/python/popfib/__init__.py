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

from ._built_in import lookup
from ._connect import Connection, connect
from ._popfib import (
    Anonymizer,
    ArrowColumn,
    IPSet,
    LiveTable,
    Parts,
    Routes,
    Sweep,
    Table,
    TableSet,
    Vrps,
    __version__,
    aggregate,
    canonical,
    compare,
    default_table,
    diff,
    join,
    load,
    load_set,
    load_updates,
    load_vrps,
    lookup_many,
    open,
    rov,
    special_table,
)
from .watcher import Watcher

__all__ = [
    "Anonymizer",
    "ArrowColumn",
    "Connection",
    "IPSet",
    "LiveTable",
    "Parts",
    "Routes",
    "Sweep",
    "Table",
    "TableSet",
    "Vrps",
    "Watcher",
    "__version__",
    "aggregate",
    "canonical",
    "compare",
    "connect",
    "default_table",
    "diff",
    "join",
    "load",
    "load_set",
    "load_updates",
    "load_vrps",
    "lookup",
    "lookup_many",
    "open",
    "rov",
    "special_table",
]
