"""Versions whose C API opens no files."""

from conftest import ROUTES, fails


def test_older_versions_say_what_to_do(db, tmp_path):
    (tmp_path / "routes.txt").write_text(ROUTES)
    fails(db, f"CALL popfib_table('t', '{tmp_path}/routes.txt')", "1.5.6", "read_blob")
