"""MaxMind's own test databases, read with all columns by the command, beside MaxMind's reader in Python.

Both are in the source of the package `maxminddb`, which pip fetches.
"""

import contextlib
import importlib
import json
import shutil
import struct
import subprocess
import sys
import tarfile

import pytest

from conftest import TOP

RELEASE = "2.6.3"
# What popfib and the reader find damaged, each in a place of its own, or what has no value.
DAMAGED = {"broken-pointers", "broken-search-tree", "Broken-Double-Format", "Invalid-Node-Count", "metadata-pointers"}

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def source():
    """The folder of the package's source."""
    folder = TOP / "target" / "maxmind"
    found = folder / f"maxminddb-{RELEASE}"
    if not found.exists():
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "maxminddb", "--dest", folder]
        if subprocess.run([*pip, f"maxminddb=={RELEASE}"], check=False).returncode != 0:
            pytest.skip("MaxMind's test databases: pip could not fetch the source of maxminddb")
        with tarfile.open(folder / f"maxminddb-{RELEASE}.tar.gz") as archive:
            archive.extractall(folder, filter="data")
    return found


@pytest.fixture(scope="module")
def maxminddb(source):
    sys.path.insert(0, str(source))
    yield importlib.import_module("maxminddb")
    sys.path.remove(str(source))


def leaves(value, path=""):
    """The columns of a record by the rules of docs/formats.md, and their values as JSON has them."""
    if isinstance(value, dict):
        names = path.rsplit(".", 1)[-1] == "names" and "en" in value
        for key, member in value.items():
            if not names or key == "en":
                yield from leaves(member, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        if any(isinstance(element, (dict, list)) for element in value):
            for index, element in enumerate(value[:16]):
                yield from leaves(element, f"{path}[{index}]")
        elif value:
            yield path, value
    elif isinstance(value, (bytes, bytearray)):
        yield path, value.hex()
    elif value != float("inf"):
        # Which JSON does not have.
        yield path or "value", value


def alike(value, wanted):
    """Integers of 128 bits are texts, as are values of a column of several types; of a float of 32 bits the reader shows what 64 make of it."""
    if isinstance(wanted, float):
        return value == wanted or struct.pack("f", value) == struct.pack("f", wanted)
    return value == wanted and type(value) is type(wanted) or value == str(wanted).lower()


def test_all_columns(source, maxminddb, command, tmp_path):
    compared = 0
    for path in sorted((source / "tests" / "data" / "test-data").glob("*.mmdb")):
        addresses, records = [], []
        if any(part in path.name for part in DAMAGED):
            run = subprocess.run([command, "info", "--table", path, "--columns", "*"], capture_output=True, text=True)
            assert run.returncode == 2 and run.stderr.count("\n") == 1, (path.name, run.stderr)
            continue
        with maxminddb.open_database(path, maxminddb.MODE_FILE) as reader:
            # Of some trees the reader makes networks that there are not, and ends.
            with contextlib.suppress(ValueError):
                for network, record in reader:
                    addresses.append(str(network.network_address))
                    records.append(dict(leaves(record)))
        if not addresses:
            continue
        run = [command, "lookup", "--json", "--table", path, "--columns", "*", *addresses]
        answers = [json.loads(line) for line in subprocess.run(run, check=True, capture_output=True, text=True).stdout.splitlines()]
        assert len(answers) == len(records) > 0, path.name
        for answer, wanted in zip(answers, records):
            given = {key: value for key, value in answer.items() if key not in ("address", "prefix") and value is not None}
            # A record that is one value has no keys.
            if "next_hop" in given:
                given = {"value": given["next_hop"]}
            assert given.keys() == wanted.keys(), (path.name, answer["address"])
            for key, value in given.items():
                assert alike(value, wanted[key]), (path.name, answer["address"], key, value, wanted[key])
            compared += 1
    assert compared > 500


def test_written_again(source, maxminddb, command, tmp_path):
    """What popfib writes of a database, MaxMind's reader finds the same at each of its networks, of the same types."""
    compared = 0
    for path in sorted((source / "tests" / "data" / "test-data").glob("*.mmdb")):
        if any(part in path.name for part in [*DAMAGED, "no-ipv4", "string-value", "pointer-decoder"]):
            continue
        again = tmp_path / path.name
        run = [command, "convert", "--table", path, "--columns", "*", "--to", "mmdb", "-o", again]
        subprocess.run(run, check=True, capture_output=True)
        with (
            maxminddb.open_database(path, maxminddb.MODE_FILE) as old,
            maxminddb.open_database(again, maxminddb.MODE_FILE) as new,
            contextlib.suppress(ValueError),
        ):
            assert new.metadata().ip_version in (4, 6)
            for network, record in old:
                if network.version > new.metadata().ip_version:
                    continue
                written = new.get(network.network_address)
                # The first elements of lists of maps alone, and English names: what all columns are.
                assert dict(leaves(written or {})) == dict(leaves(record)), (path.name, network)
                compared += 1
    assert compared > 500


NODE = """
const { Reader } = require("mmdb-lib");
const { readFileSync } = require("fs");
const assert = require("assert");
const plain = (value) => JSON.parse(JSON.stringify(value, (_, v) => (typeof v === "bigint" ? Number(v) : v)));
let compared = 0;
for (const [path, records] of JSON.parse(readFileSync(0))) {
  const reader = new Reader(readFileSync(path));
  for (const [address, wanted] of records) {
    assert.deepStrictEqual(plain(reader.get(address)), wanted, `${path} ${address}`);
    compared += 1;
  }
}
console.log(compared);
"""


def test_written_for_node(source, maxminddb, command, tmp_path):
    """The reader of npm that most others use finds in what popfib writes what MaxMind's finds."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        pytest.skip("mmdb-lib: no Node with npm")
    folder = TOP / "target" / "mmdb-lib"
    folder.mkdir(parents=True, exist_ok=True)
    install = [npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, "mmdb-lib@3"]
    if not (folder / "node_modules" / "mmdb-lib").exists() and subprocess.run(install, check=False).returncode != 0:
        pytest.skip("mmdb-lib: npm could not install it")
    databases = []
    for path in sorted((source / "tests" / "data" / "test-data").glob("Geo*.mmdb")):
        if any(part in path.name for part in DAMAGED):
            continue
        again = tmp_path / path.name
        run = [command, "convert", "--table", path, "--columns", "*", "--to", "mmdb", "-o", again]
        subprocess.run(run, check=True, capture_output=True)
        with maxminddb.open_database(path, maxminddb.MODE_FILE) as old, maxminddb.open_database(again, maxminddb.MODE_FILE) as new:
            records = []
            with contextlib.suppress(ValueError):
                for network, _ in old:
                    if network.version <= new.metadata().ip_version:
                        records.append((str(network.network_address), new.get(network.network_address)))
            databases.append((str(again), records))
    compared = subprocess.run([node, "-e", NODE], cwd=folder, input=json.dumps(databases), capture_output=True, text=True, check=False)
    assert compared.returncode == 0, compared.stderr
    assert int(compared.stdout) > 500


def test_damaged(source, command):
    """One line for each, which names the file, and no more memory or time than it has bytes."""
    for path in sorted((source / "tests" / "data" / "bad-data").rglob("*.mmdb")):
        run = subprocess.run([command, "info", "--table", path, "--columns", "*"], capture_output=True, text=True, timeout=20)
        assert (run.returncode, run.stdout) == (2, ""), path.name
        assert run.stderr.startswith(f"popfib: {path}: ") and run.stderr.count("\n") == 1, run.stderr
