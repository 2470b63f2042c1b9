"""Files that are published again and again: a thread that loads the newest table, for threads that look up in it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from os import PathLike
from typing import Any, Generic, TypeVar

from ._popfib import _WatchedFiles, load

_T = TypeVar("_T")
# A checker of types takes no function with overloads as the default of a parameter that is generic.
_LOAD: Any = load


class Watcher(Generic[_T]):
    """The newest table of a file, or what `load(path, **options)` makes of it.

    >>> with popfib.Watcher("asn.fib", popfib.open) as watcher:      # doctest: +SKIP
    ...     watcher.current.lookup_many(addresses)

    A thread looks at the file every `interval` seconds. It is loaded again when it has changed: at once if another
    file takes its place, as renaming does, otherwise when nothing has been written to it for a second. If that
    fails, `current` stays, and `on_error` is called with the exception, once for the same text; without it, it is logged. After a
    success `on_reload` is called. Both are called by the thread, and must not close the watcher.

    What `load` raises at first is raised by `Watcher(...)`. After `os.fork` the child has no such thread.
    """

    def __init__(
        self,
        path: str | bytes | PathLike[str] | PathLike[bytes],
        load: Callable[..., _T] = _LOAD,
        /,
        *,
        interval: float = 1.0,
        on_reload: Callable[[], object] | None = None,
        on_error: Callable[[Exception], object] | None = None,
        **options: Any,
    ) -> None:
        if not interval > 0:
            raise ValueError(f"interval is seconds, more than 0, not {interval!r}")
        self._load: Callable[[], _T] = lambda: load(path, **options)
        # First, so that what is put there meanwhile is seen as new.
        self._files = _WatchedFiles(path)
        self._current = self._load()
        self._told = ""
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(
            target=self._follow, args=(interval, on_reload, on_error), name="popfib-watcher", daemon=True
        )
        self._thread.start()

    @property
    def current(self) -> _T:
        """The newest table. All lookups that belong together should use what one access returned."""
        return self._current

    def reload(self) -> None:
        """Load the file now, whether it has changed or not: for those who know that it is new. What it raises leaves `current`."""
        with self._lock:
            self._files.are_replaced(anyway=True)
            self._current = self._load()
            self._told = ""

    def close(self) -> None:
        """End following the file; wait until nothing is called any more. `current` stays."""
        self._ended.set()
        self._thread.join()

    def __enter__(self) -> Watcher[_T]:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def _follow(
        self,
        interval: float,
        on_reload: Callable[[], object] | None,
        on_error: Callable[[Exception], object] | None,
    ) -> None:
        log = logging.getLogger("popfib")
        on_error = on_error or (lambda error: log.warning("%s; the table before is used", error))
        while not self._ended.wait(interval):
            failure = None
            with self._lock:
                if not self._files.are_replaced():
                    continue
                try:
                    self._current = self._load()
                except Exception as error:
                    failure = error
                told, self._told = self._told, str(failure or "")
            # Without the lock, so that they may call reload.
            try:
                if failure is None and on_reload:
                    on_reload()
                elif failure and self._told != told:
                    on_error(failure)
            except Exception:
                log.exception("a function of a watcher failed")
