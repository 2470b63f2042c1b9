"""ClickHouse in this process (chdb), with functions that `popfib clickhouse` answers: for tests and measurements."""

import json
import pathlib
import tempfile
import xml.sax.saxutils

import chdb

TOP = pathlib.Path(__file__).resolve().parents[2]


def function(name, argument, returns, options):
    """The configuration of a function."""
    return f"""<function>
        <type>executable_pool</type>
        <name>{name}</name>
        <argument><type>{argument}</type></argument>
        <return_type>{returns}</return_type>
        <format>Native</format>
        <execute_direct>0</execute_direct>
        <command>exec popfib clickhouse {xml.sax.saxutils.escape(options)}</command>
    </function>"""


class Engine:
    """An engine with these functions, whose files lie in a directory that goes with it."""

    def __init__(self, functions, popfib, configuration=None):
        self.place = tempfile.TemporaryDirectory(prefix="popfib-ch-")
        self.files = pathlib.Path(self.place.name)
        text = configuration or "<functions>" + "\n".join(function(*each) for each in functions) + "</functions>"
        # Which popfib is meant, by its whole path.
        text = text.replace("exec popfib ", f"cd {self.files} &amp;&amp; exec {popfib} ")
        (self.files / "popfib.xml").write_text(text, encoding="utf-8")
        self.connection = chdb.connect(f":memory:?udf_path={self.files}")
        [[self.version]] = self.query("SELECT version()")

    def query(self, sql):
        """The rows of a statement, if it has any."""
        text = str(self.connection.query(sql, "JSONCompact"))
        return json.loads(text)["data"] if text.strip() else []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()
        self.place.cleanup()
