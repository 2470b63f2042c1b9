from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from os import PathLike
from typing import (
    Any,
    Generic,
    Literal,
    Protocol,
    TypeAlias,
    TypeVar,
    final,
    overload,
)

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self, disjoint_base

_V = TypeVar("_V")
_D = TypeVar("_D")
_T = TypeVar("_T", covariant=True)

_Key: TypeAlias = (
    str
    | bytes
    | tuple[int, int]
    | tuple[int, int, int]
    | tuple[bytes, int]
    | IPv4Address
    | IPv6Address
    | IPv4Network
    | IPv6Network
)
_Cell: TypeAlias = str | int | float | bool | list[str] | list[int] | None
_Path: TypeAlias = str | bytes | PathLike[str] | PathLike[bytes]

class _File(Protocol):
    def read(self) -> str | bytes: ...

class _HasItems(Protocol[_T]):
    def keys(self) -> Iterable[Any]: ...
    def items(self) -> Iterable[tuple[Any, _T]]: ...

_Routes: TypeAlias = _HasItems[_V] | Iterable[tuple[_Key, _V]]

__all__ = [
    "Anonymizer",
    "ArrowColumn",
    "IPSet",
    "LiveTable",
    "Parts",
    "Routes",
    "Sweep",
    "Table",
    "TableSet",
    "Vrps",
    "__version__",
    "aggregate",
    "canonical",
    "compare",
    "default_table",
    "diff",
    "join",
    "load",
    "load_set",
    "load_updates",
    "load_vrps",
    "lookup_many",
    "open",
    "rov",
    "special_table",
]

__version__: str

@disjoint_base
class Table(Generic[_V]):
    def __new__(cls, routes: _Routes[_V] | None = None, /) -> Self: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: _Key, /) -> _V: ...
    def __setitem__(self, prefix: _Key, value: _V, /) -> None: ...
    def __delitem__(self, prefix: _Key, /) -> None: ...
    def __contains__(self, key: _Key, /) -> bool: ...
    def __iter__(self) -> Routes[str]: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]
    def __ne__(self, other: object, /) -> bool: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: dict[int, Any]) -> Self: ...
    def __setstate__(self, state: tuple[bytes, bytes, list[_V]]) -> None: ...
    @overload
    def get(self, key: _Key, default: None = None, /) -> _V | None: ...
    @overload
    def get(self, key: _Key, default: _D, /) -> _V | _D: ...
    @overload
    def get_exact(self, prefix: _Key, default: None = None, /) -> _V | None: ...
    @overload
    def get_exact(self, prefix: _Key, default: _D, /) -> _V | _D: ...
    def has_key(self, prefix: _Key, /) -> bool: ...
    def get_key(self, key: _Key, /) -> str | None: ...
    def longest_match(self, key: _Key, /) -> tuple[str, _V] | None: ...
    def record(self, address: _Key, /) -> dict[str, _Cell] | None: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def schema(self) -> dict[str, str]: ...
    def parent(self, prefix: _Key, /) -> str | None: ...
    def children(self, prefix: _Key, /) -> list[str]: ...
    def supernets(self, prefix: _Key, /) -> list[tuple[str, _V]]: ...
    def subnets(self, prefix: _Key, /) -> list[tuple[str, _V]]: ...
    def keys(self) -> Routes[str]: ...
    def values(self) -> Routes[_V]: ...
    def items(self) -> Routes[tuple[str, _V]]: ...
    def update(self, routes: _Routes[_V], /) -> None: ...
    def apply(
        self, updates: _HasItems[_V | None] | Iterable[tuple[_Key, _V | None]], /
    ) -> None: ...
    def setdefault(self, prefix: _Key, default: _V = ..., /) -> _V: ...
    @overload
    def pop(self, prefix: _Key, /) -> _V: ...
    @overload
    def pop(self, prefix: _Key, /, *default: _D) -> _V | _D: ...
    def clear(self) -> None: ...
    def copy(self) -> Table[_V]: ...
    def close(self) -> None: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def value_type(self) -> type[Any]: ...
    @overload
    def lookup_many(
        self,
        addresses: Any,
        /,
        *,
        columns: Iterable[str],
        output: Literal["values"] = "values",
        invalid: Literal["raise", "null"] = "raise",
        threads: int = 1,
        out: None = None,
    ) -> dict[str, NDArray[Any]]: ...
    @overload
    def lookup_many(
        self,
        addresses: Any,
        /,
        *,
        columns: Iterable[str],
        output: Literal["list"],
        invalid: Literal["raise", "null"] = "raise",
        threads: int = 1,
        out: None = None,
    ) -> dict[str, list[_Cell]]: ...
    @overload
    def lookup_many(
        self,
        addresses: Any,
        /,
        *,
        columns: Iterable[str],
        output: Literal["arrow"],
        invalid: Literal["raise", "null"] = "raise",
        threads: int = 1,
        out: None = None,
    ) -> dict[str, ArrowColumn]: ...
    @overload
    def lookup_many(
        self,
        addresses: Any,
        /,
        *,
        columns: None = None,
        output: Literal["values"] = "values",
        invalid: Literal["raise", "null"] = "raise",
        threads: int = 1,
        out: None = None,
    ) -> NDArray[np.object_]: ...
    @overload
    def lookup_many(
        self,
        addresses: Any,
        /,
        *,
        output: Literal["indices"],
        invalid: Literal["raise", "null"] = "raise",
        threads: int = 1,
        out: NDArray[np.uint32] | None = None,
    ) -> NDArray[np.uint32]: ...
    @overload
    def lookup_many(
        self,
        addresses: Any,
        /,
        *,
        output: Literal["list"],
        invalid: Literal["raise", "null"] = "raise",
        threads: int = 1,
        out: None = None,
    ) -> list[_V | None]: ...
    @overload
    def lookup_many(
        self,
        addresses: Any,
        /,
        *,
        output: Literal["arrow", "arrow-prefixes"],
        invalid: Literal["raise", "null"] = "raise",
        threads: int = 1,
        out: None = None,
    ) -> ArrowColumn: ...
    @overload
    def lookup_many(
        self,
        addresses: Any,
        /,
        *,
        output: Literal["prefixes"],
        invalid: Literal["raise", "null"] = "raise",
        threads: int = 1,
        out: None = None,
    ) -> list[str | None]: ...
    @overload
    def lookup_many(
        self,
        addresses: Any,
        /,
        *,
        output: Literal["matches"],
        invalid: Literal["raise", "null"] = "raise",
        threads: int = 1,
        out: None = None,
    ) -> list[tuple[str, _V] | None]: ...
    def dictionary(self) -> list[_V | None]: ...
    def save(
        self, path: _Path, /, *, encode: Callable[[_V], str] | None = None
    ) -> None: ...
    def explore(self, path: _Path | None = None) -> str: ...
    def _repr_html_(self) -> str | None: ...

@final
class LiveTable(Generic[_V]):
    def __new__(
        cls, routes: Table[_V] | _Routes[_V] | None = None, /
    ) -> LiveTable[_V]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, address: _Key, /) -> _V: ...
    def __setitem__(self, prefix: _Key, value: _V, /) -> None: ...
    def __delitem__(self, prefix: _Key, /) -> None: ...
    def __contains__(self, address: _Key, /) -> bool: ...
    @overload
    def get(self, address: _Key, default: None = None, /) -> _V | None: ...
    @overload
    def get(self, address: _Key, default: _D, /) -> _V | _D: ...
    @overload
    def get_exact(self, prefix: _Key, default: None = None, /) -> _V | None: ...
    @overload
    def get_exact(self, prefix: _Key, default: _D, /) -> _V | _D: ...
    def get_key(self, address: _Key, /) -> str | None: ...
    def longest_match(self, address: _Key, /) -> tuple[str, _V] | None: ...
    def announce(self, prefix: _Key, value: _V, /) -> bool: ...
    def withdraw(self, prefix: _Key, /) -> bool: ...
    def apply(
        self, updates: _HasItems[_V | None] | Iterable[tuple[_Key, _V | None]], /
    ) -> None: ...
    def sweep(self) -> Sweep: ...
    def to_table(self) -> Table[_V]: ...
    def reclaim(self) -> None: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def value_type(self) -> type[Any]: ...
    @overload
    def lookup_many(
        self,
        addresses: Any,
        /,
        *,
        output: Literal["values"] = "values",
        invalid: Literal["raise", "null"] = "raise",
        threads: int = 1,
    ) -> NDArray[np.object_]: ...
    @overload
    def lookup_many(
        self,
        addresses: Any,
        /,
        *,
        output: Literal["list"],
        invalid: Literal["raise", "null"] = "raise",
        threads: int = 1,
    ) -> list[_V | None]: ...
    @overload
    def lookup_many(
        self,
        addresses: Any,
        /,
        *,
        output: Literal["arrow", "arrow-prefixes"],
        invalid: Literal["raise", "null"] = "raise",
        threads: int = 1,
    ) -> ArrowColumn: ...
    @overload
    def lookup_many(
        self,
        addresses: Any,
        /,
        *,
        output: Literal["prefixes"],
        invalid: Literal["raise", "null"] = "raise",
        threads: int = 1,
    ) -> list[str | None]: ...
    @overload
    def lookup_many(
        self,
        addresses: Any,
        /,
        *,
        output: Literal["matches"],
        invalid: Literal["raise", "null"] = "raise",
        threads: int = 1,
    ) -> list[tuple[str, _V] | None]: ...

@final
class Sweep:
    def confirm(self, prefix: _Key, /) -> None: ...
    def announce(self, prefix: _Key, value: Any, /) -> bool: ...
    def finish(self) -> int: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...

@final
class _WatchedFiles:
    def __new__(cls, path: _Path, /) -> Self: ...
    def are_replaced(self, *, anyway: bool = False) -> bool: ...

@final
class Routes(Iterator[_T]):
    def __iter__(self) -> Self: ...
    def __next__(self) -> _T: ...
    def __length_hint__(self) -> int: ...

@final
class ArrowColumn:
    def __len__(self) -> int: ...
    def __arrow_c_array__(
        self, requested_schema: object | None = None
    ) -> tuple[object, object]: ...
    def __arrow_c_schema__(self) -> object: ...

# Keys, ranges, objects of netaddr (whose types are not known here), iterables of these, tables and sets.
_Addresses: TypeAlias = Any

@final
class TableSet:
    def __new__(
        cls,
        path: _Path | _File,
        /,
        format: str | None = None,
        *,
        columns: str | Iterable[str] | None = None,
        value: str = "next-hop",
        skip_invalid: bool = False,
    ) -> TableSet: ...
    @property
    def names(self) -> list[str]: ...
    def lookup_many(
        self,
        tables: Iterable[str | int | None],
        addresses: Any,
        /,
        *,
        columns: Iterable[str] | None = None,
        output: Literal["values", "indices", "list", "arrow"] = "values",
        invalid: Literal["raise", "null"] = "raise",
        threads: int = 1,
    ) -> Any: ...

@final
class IPSet:
    def __new__(
        cls,
        source: _Addresses | None = None,
        /,
        *,
        where: Callable[[Any], Any] | None = None,
        mask: bool = False,
    ) -> IPSet: ...
    def __len__(self) -> int: ...
    def __contains__(self, key: _Addresses, /) -> bool: ...
    def __iter__(self) -> Parts: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __le__(self, other: IPSet, /) -> bool: ...
    def __lt__(self, other: IPSet, /) -> bool: ...
    def __ge__(self, other: IPSet, /) -> bool: ...
    def __gt__(self, other: IPSet, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __or__(self, other: IPSet, /) -> IPSet: ...
    def __ror__(self, other: IPSet, /) -> IPSet: ...
    def __and__(self, other: IPSet, /) -> IPSet: ...
    def __rand__(self, other: IPSet, /) -> IPSet: ...
    def __sub__(self, other: IPSet, /) -> IPSet: ...
    def __rsub__(self, other: IPSet, /) -> IPSet: ...
    def __xor__(self, other: IPSet, /) -> IPSet: ...
    def __rxor__(self, other: IPSet, /) -> IPSet: ...
    def union(self, *others: _Addresses) -> IPSet: ...
    def intersection(self, *others: _Addresses) -> IPSet: ...
    def difference(self, *others: _Addresses) -> IPSet: ...
    def symmetric_difference(self, other: _Addresses, /) -> IPSet: ...
    def complement(self) -> IPSet: ...
    def issubset(self, other: _Addresses, /) -> bool: ...
    def issuperset(self, other: _Addresses, /) -> bool: ...
    def isdisjoint(self, other: _Addresses, /) -> bool: ...
    @overload
    def contains(
        self,
        addresses: Any,
        /,
        *,
        output: Literal["values"] = "values",
        invalid: Literal["raise", "null"] = "raise",
        threads: int = 1,
    ) -> NDArray[np.bool_]: ...
    @overload
    def contains(
        self,
        addresses: Any,
        /,
        *,
        output: Literal["list"],
        invalid: Literal["raise", "null"] = "raise",
        threads: int = 1,
    ) -> list[bool | None]: ...
    @overload
    def contains(
        self,
        addresses: Any,
        /,
        *,
        output: Literal["arrow"],
        invalid: Literal["raise", "null"] = "raise",
        threads: int = 1,
    ) -> ArrowColumn: ...
    def coverage(
        self, prefixes: _Addresses, /
    ) -> list[tuple[str, Literal["whole", "part", "none"]]]: ...
    def ranges(self) -> list[tuple[str, str]]: ...
    def split(self, length: int, /) -> Parts: ...
    def subnets(self, length: int, /) -> Parts: ...
    def addresses(self) -> Parts: ...
    @property
    def address_count(self) -> int: ...
    @property
    def ipv4(self) -> IPSet: ...
    @property
    def ipv6(self) -> IPSet: ...
    def cover(self, at_most: int, /) -> tuple[IPSet, int]: ...
    @property
    def nbytes(self) -> int: ...

@final
class Parts(Iterator[str]):
    def __iter__(self) -> Self: ...
    def __next__(self) -> str: ...

@final
class Anonymizer:
    def __new__(cls, key: bytes | str, /) -> Anonymizer: ...
    @staticmethod
    def cut(*, ipv4: int = 24, ipv6: int = 48) -> Anonymizer: ...
    @overload
    def anonymize(self, address: str, /) -> str: ...
    @overload
    def anonymize(self, address: bytes, /) -> bytes: ...
    @overload
    def anonymize(self, address: IPv4Address, /) -> IPv4Address: ...
    @overload
    def anonymize(self, address: IPv6Address, /) -> IPv6Address: ...
    @overload
    def anonymize(self, address: None, /) -> None: ...
    @overload
    def anonymize(self, address: Any, /) -> Any: ...
    # An array, a list or an ArrowColumn, like the column.
    def anonymize_many(
        self,
        addresses: Any,
        /,
        *,
        invalid: Literal["raise", "null"] = "raise",
        threads: int = 1,
    ) -> Any: ...

_Validity: TypeAlias = Literal["valid", "invalid-as", "invalid-length", "not-found"]

@final
class Vrps:
    def __len__(self) -> int: ...
    @property
    def skipped(self) -> int: ...
    def validate(self, prefix: _Key, origin: int | str | None, /) -> _Validity: ...
    def covering(self, prefix: _Key, /) -> list[tuple[str, int, int]]: ...

_RouteValue: TypeAlias = Literal["next-hop", "origin-as", "peer"]

@overload
def load(
    path: _Path | _File,
    /,
    format: str | None = None,
    *,
    value: _RouteValue = "next-hop",
    columns: str | Sequence[str] | None = None,
    locations: _Path | None = None,
    peer: int | str | None = None,
    vrf: str | None = None,
    prefix_column: str | None = None,
    length_column: str | None = None,
    value_regex: str | None = None,
    skip_invalid: bool = False,
    mask: bool = False,
    leading_zeros: bool = False,
    fill: bool = False,
    mapped: bool = False,
    max_size: int | None = None,
    updates: Iterable[_Path] | None = None,
    until: datetime | float | None = None,
    decode: None = None,
) -> Table[Any]: ...
@overload
def load(
    path: _Path | _File,
    /,
    format: str | None = None,
    *,
    value: _RouteValue = "next-hop",
    columns: str | Sequence[str] | None = None,
    locations: _Path | None = None,
    peer: int | str | None = None,
    vrf: str | None = None,
    prefix_column: str | None = None,
    length_column: str | None = None,
    value_regex: str | None = None,
    skip_invalid: bool = False,
    mask: bool = False,
    leading_zeros: bool = False,
    fill: bool = False,
    mapped: bool = False,
    max_size: int | None = None,
    updates: Iterable[_Path] | None = None,
    until: datetime | float | None = None,
    decode: Callable[[str], _V],
) -> Table[_V]: ...
@overload
def open(
    path: _Path,
    /,
    *,
    table: str | None = None,
    column: str | None = None,
    map: bool = False,
    trust: bool = False,
    decode: None = None,
) -> Table[Any]: ...
@overload
def open(
    path: _Path,
    /,
    *,
    table: str | None = None,
    column: str | None = None,
    map: bool = False,
    trust: bool = False,
    decode: Callable[[Any], _V],
) -> Table[_V]: ...
def join(
    tables: Mapping[str, _Path],
    output: _Path,
    /,
    *,
    columns: Sequence[str] | None = None,
    prefixes: bool = False,
    fill: bool = False,
    skip_invalid: bool = False,
    mask: bool = False,
    leading_zeros: bool = False,
    mapped: bool = False,
) -> None: ...
@overload
def default_table(
    *, columns: str | Sequence[str] | None = None, decode: None = None
) -> Table[str]: ...
@overload
def default_table(
    *, columns: str | Sequence[str] | None = None, decode: Callable[[str], _V]
) -> Table[_V]: ...
@overload
def special_table(
    *, columns: str | Sequence[str] | None = None, decode: None = None
) -> Table[str]: ...
@overload
def special_table(
    *, columns: str | Sequence[str] | None = None, decode: Callable[[str], _V]
) -> Table[_V]: ...
@overload
def load_updates(
    path: _Path | _File,
    /,
    format: str | None = None,
    *,
    peer: int | str | None = None,
    skip_invalid: bool = False,
    mask: bool = False,
    decode: None = None,
) -> list[tuple[str, str | None]]: ...
@overload
def load_updates(
    path: _Path | _File,
    /,
    format: str | None = None,
    *,
    peer: int | str | None = None,
    skip_invalid: bool = False,
    mask: bool = False,
    decode: Callable[[str], _V],
) -> list[tuple[str, _V | None]]: ...
def load_vrps(path: _Path | _File, /, *, skip_invalid: bool = False, mask: bool = False) -> Vrps: ...
def rov(
    table: Table[Any], vrps: Vrps, /
) -> list[tuple[str, int | None, _Validity]]: ...
def load_set(
    path: _Path | _File,
    /,
    format: str | None = None,
    *,
    peer: int | str | None = None,
    vrf: str | None = None,
    prefix_column: str | None = None,
    length_column: str | None = None,
    skip_invalid: bool = False,
    mask: bool = False,
    leading_zeros: bool = False,
    max_size: int | None = None,
) -> IPSet: ...
def compare(sets: Mapping[Any, _Addresses], /) -> list[dict[str, Any]]: ...
def aggregate(
    table: Table[_V], /, *, method: Literal["ortc", "simple"] = "ortc"
) -> Table[_V]: ...
def diff(old: Table[_V], new: Table[_V], /) -> list[tuple[str, _V | None, _V | None]]: ...
def lookup_many(
    tables: Mapping[str, Table[Any] | LiveTable[Any] | IPSet],
    addresses: Any,
    /,
    *,
    output: Literal[
        "values",
        "indices",
        "list",
        "arrow",
        "prefixes",
        "matches",
        "arrow-prefixes",
    ] = "values",
    prefixes: bool = False,
    invalid: Literal["raise", "null"] = "raise",
    threads: int = 1,
) -> dict[str, Any]: ...
def canonical(key: _Key, /, *, mask: bool = False) -> tuple[str, int, int]: ...
