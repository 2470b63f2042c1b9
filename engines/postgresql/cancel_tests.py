"""Tests of statements that are cancelled while a function of the extension works. How fast the machine is makes no difference: what
had been done when the statement ended tells where it ended."""

import json
import re

from helpers import image, load
from server import SqlError


def cancelled(server, statement):
    try:
        rows = server.sql(statement)
    except SqlError as error:
        assert error.code == "57014", error
        return True
    assert rows, statement
    return False


def test_cancelled_in_a_call(server):
    """The request is there when the call begins; what stands after the call is done only if nobody looked for it meanwhile."""
    server.sql("CREATE SEQUENCE reached")
    reached = lambda: server.sql("SELECT is_called FROM reached")[0][0] == "t"
    request = "SELECT pg_cancel_backend(pg_backend_pid()), %s nextval('reached')"
    assert cancelled(server, request % "") and reached()
    load(server, "t", [["10.0.0.0/8", "old"]])
    line = json.dumps({"prefix": "10.0.0.0/8", "number": list(range(1000)), "name": ["x"] * 1000})
    path = image(server, "lists", line + "\n", "jsonl", "--columns", "*")
    server.sql(f"SELECT popfib.load('lists', '{path}')")
    for call in (
        f"popfib.load('t', '{path}')",
        "popfib.load_query('t', $$ SELECT '10.0.0.0/8' $$)",
        "popfib.lookup('lists', '10.0.0.1', 'number')",
        "popfib.lookup('lists', '10.0.0.1', 'name')",
    ):
        server.sql("ALTER SEQUENCE reached RESTART")
        assert cancelled(server, request % f"{call},") and not reached(), call
        assert server.sql("SELECT popfib.lookup('t', '10.1.2.3')") == [("old",)], call
        assert not list(server.data.glob("popfib/*/*.new")), call
        assert not cancelled(server, f"SELECT {call}")
        load(server, "t", [["10.0.0.0/8", "old"]])
    server.sql("DROP SEQUENCE reached")


def test_cancelled_among_records(server):
    """The server asks before it calls a function that returns rows, so the request must come while rows are written: the file that
    they go to is then shorter than that of all."""
    rows = "".join(f"10.{n >> 16}.{n >> 8 & 255}.{n & 255},v{n}\n" for n in range(100_000))
    path = image(server, "rows", "prefix,value\n" + rows, "csv", "--columns", "*")
    server.sql(f"SELECT popfib.load('rows', '{path}')")
    sizes = lambda: [int(size) for size in re.findall(r"temporary file: .* size (\d+)", server.log())]

    def written(timeout):
        before = len(sizes())
        is_cancelled = cancelled(server, f"""SET log_temp_files = 0; SET work_mem = '64kB'; SET statement_timeout = {timeout};
            SELECT count(*) FROM popfib.records('rows') AS r(record int, value text)""")
        return is_cancelled, sum(sizes()[before:])

    is_cancelled, whole = written(0)
    assert whole > 1_000_000 and not is_cancelled, whole
    for exponent in range(20):
        is_cancelled, size = written(1 << exponent)
        assert size in range(whole), f"all rows were written within {1 << exponent} ms"
        if size > 0:
            break
    assert is_cancelled
