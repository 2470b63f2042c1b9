"""What the tests share: tables from rows, files and images, and statements that fail."""

import re
import subprocess

from server import POPFIB, SqlError


def quote(text):
    return "NULL" if text is None else "'" + text.replace("'", "''") + "'"


def values(rows):
    return "VALUES " + ",".join("(" + ",".join(map(quote, row)) + ")" for row in rows)


def load(server, name, rows, **who):
    return server.sql(f"SELECT * FROM popfib.load_query('{name}', $$ {values(rows)} $$)", **who)


def fails(server, code, message, statement, hint=None, **who):
    try:
        rows = server.sql(statement, **who)
    except SqlError as error:
        assert error.code == code and re.search(message, error.message), f"{statement[:200]}: {error}"
        assert hint in (None, error.hint), f"{statement[:200]}: {error.hint}"
        return
    raise AssertionError(f"{statement[:200]}: no error, but {rows}")


def table_file(server, name):
    [(oid,)] = server.sql("SELECT oid FROM pg_database WHERE datname = current_database()")
    return server.data / "popfib" / oid / f"{name}.fib"


def put_file(server, name, content):
    path = server.files / name
    path.write_bytes(content)
    path.chmod(0o644)
    return path


def image(server, name, text, kind="txt", *options):
    """An image by the command `popfib`."""
    routes = put_file(server, f"{name}.{kind}", text.encode())
    path = server.files / f"{name}.fib"
    subprocess.run([POPFIB, "compile", "--table", routes, *options, "-o", path], check=True, stderr=subprocess.DEVNULL)
    path.chmod(0o644)
    return path
