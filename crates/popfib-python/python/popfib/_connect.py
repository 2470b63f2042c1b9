"""Lookups in a running ``popfibd``, by HTTP or its Unix socket, with the standard library alone."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterable, Sequence
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlencode, urlsplit

# How many addresses are asked for at a time.
_AHEAD = 10_000


class _SocketConnection(HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Connection:
    """A table of a running ``popfibd``. Answers are dictionaries of address, prefix and columns; one connection is for one thread."""

    def __init__(self, url: str, *, table: str | None = None, token: str | None = None, timeout: float = 30) -> None:
        place = urlsplit(url)
        self._http: HTTPConnection
        if place.scheme == "http":
            self._http = HTTPConnection(place.netloc, timeout=timeout)
        elif place.scheme == "https":
            self._http = HTTPSConnection(place.netloc, timeout=timeout)
        else:
            self._http = _SocketConnection(url, timeout)
        self._table = table
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}

    def lookup(self, address: Any, columns: Sequence[str] | None = None) -> dict[str, Any]:
        """The longest match of an address; its prefix is ``None`` if there is none."""
        answer: dict[str, Any] = self._ask("GET", columns, {"address": str(address)})
        return answer

    def lookup_many(self, addresses: Iterable[Any], columns: Sequence[str] | None = None) -> list[dict[str, Any]]:
        """The same of many, in their order; what is no address has the key ``error``."""
        asked = [str(address) for address in addresses]
        answers: list[dict[str, Any]] = []
        for first in range(0, len(asked), _AHEAD):
            answers += self._ask("POST", columns, {}, json.dumps(asked[first : first + _AHEAD]))
        return answers

    def _ask(self, method: str, columns: Sequence[str] | None, query: dict[str, str], body: str | None = None) -> Any:
        if self._table is not None:
            query["table"] = self._table
        if columns is not None:
            query["columns"] = ",".join(columns)
        target = f"/v1/lookup?{urlencode(query)}"
        is_new = self._http.sock is None
        try:
            self._http.request(method, target, body, self._headers)
            response = self._http.getresponse()
        except (ConnectionError, HTTPException):
            # A connection that was silent for long is closed by the other side.
            self._http.close()
            if is_new:
                raise
            self._http.request(method, target, body, self._headers)
            response = self._http.getresponse()
        answer = json.load(response)
        if response.status != 200:
            raise LookupError(answer["error"])
        return answer

    def close(self) -> None:
        """Closes the connection; the next lookup opens another."""
        self._http.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def connect(url: str, *, table: str | None = None, token: str | None = None, timeout: float = 30) -> Connection:
    """A table of the ``popfibd`` that answers at ``http://HOST:PORT``, ``https://HOST:PORT``, or at the Unix socket of that path."""
    return Connection(url, table=table, token=token, timeout=timeout)
