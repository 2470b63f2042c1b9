"""The comparison of all doors: engines/vectors/comparison.py."""

import sys

import pytest

from conftest import HAS_FILES, TOP, connect

sys.path.append(str(TOP / "engines" / "vectors"))
import comparison  # noqa: E402

FOLDER = TOP / "target" / "vectors"


@pytest.mark.skipif(not HAS_FILES, reason="files are not opened by extensions of this DuckDB")
def test_the_table_of_all_doors():
    with connect() as db:
        db.execute(f"""CREATE TABLE q AS FROM read_csv('{FOLDER}/questions.tsv', delim = '\\t', quote = '', header = false, nullstr = '\\N',
            columns = {{'text': 'VARCHAR', 'first': 'VARCHAR', 'second': 'VARCHAR'}})""")
        for version, file, options in (0, "first.csv", ""), (1, "second.jsonl", ", mapped := true"):
            db.execute(f"CALL popfib_table('t', '{FOLDER}/{file}', columns := '*'{options})")
            columns = ", ".join(comparison.COLUMNS)
            rows = db.execute(f"""SELECT text, lpm_prefix('t', text), lpm('t', text, 'asn'), {columns} FROM q LEFT JOIN popfib_records('t')
                ON record = lpm_record('t', text) ORDER BY q.rowid""").fetchall()
            asked = list(comparison.asked(FOLDER, version))
            assert len(rows) == len(asked)
            for (text, prefix, asn, *values), (same, _, answer) in zip(rows, asked):
                expected = answer or (None, [None] * 5)
                assert (text or "", prefix, values) == (same, *expected), text
                assert asn == (None if values[1] is None else str(values[1])), text
