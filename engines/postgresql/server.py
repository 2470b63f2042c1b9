"""A PostgreSQL of its own with the extension in it, for tests and measurements: nothing of the system's is changed."""

import csv
import io
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]
# What POPFIB names, or what cargo builds for tests.
POPFIB = pathlib.Path(os.environ.get("POPFIB", TOP / "target/debug/popfib"))


class Missing(Exception):
    """Something without which the server cannot run is missing."""


class SqlError(Exception):
    """An error of the server's: its SQLSTATE, its message and, if it has one, its hint."""

    def __init__(self, code, message, hint=""):
        super().__init__(f"{code}: {message} {hint}")
        self.code, self.message, self.hint = code, message, hint


def find_config(given=None):
    """The newest server that has its headers, or the one that is given: its pg_config."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/pg_config"), key=lambda path: float(path.parts[4]))
    if not found and shutil.which("pg_config"):
        found = [pathlib.Path(shutil.which("pg_config"))]
    for config in [given] if given else reversed(found):
        ask = lambda what: subprocess.run([config, what], check=True, text=True, stdout=subprocess.PIPE).stdout.strip()
        if os.path.exists(ask("--includedir-server") + "/postgres.h") and os.path.exists(ask("--bindir") + "/postgres"):
            return config, ask
    raise Missing("no PostgreSQL server with its headers")


def nobody():
    """The user that the server runs as: it refuses to run as root."""
    return "postgres" if os.geteuid() == 0 else None


class Server:
    """A server in a directory that goes with it. The programs are copied and what they read is linked, for a server looks for its
    extensions beside itself. The extension is built by the profile; without one it is that which is installed. `config` is another
    pg_config than the system's, with `libraries` that its programs need; `programs` a server without headers, which takes what was
    built for that of the system."""

    def __init__(self, profile, settings="", config=None, libraries=None, programs=None):
        config, ask = find_config(config)
        self.version = ask("--version")
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="popfib-pg-"))
        try:
            self.place.chmod(0o755)
            root, built = self.place / "root", self.place / "build"
            for what in "--pkglibdir", "--sharedir":
                subprocess.run(["cp", "-RL" if TOP in config.parents else "-RLs", ask(what), self.parent(root, ask(what))], check=True)
            subprocess.run(["cp", "-RL", ask("--bindir"), self.parent(root, ask("--bindir"))], check=True)
            if profile:
                built.mkdir()
                make = ["make", "--silent", "-f", HERE / "Makefile", f"PG_CONFIG={config}", f"CARGO_PROFILE={profile}", "COPT=-Werror",
                        f"VPATH={HERE}"]
                subprocess.run(make, cwd=built, check=True)
                # As another user than the one who built it, and without cargo.
                subprocess.run([*make, "install", "CARGO=false", f"DESTDIR={root}"], cwd=built, check=True, stdout=subprocess.DEVNULL)
            self.bin, self.libraries, self.of_psql = pathlib.Path(f"{root}{ask('--bindir')}"), "", ""
            if libraries:
                self.libraries = self.of_psql = str(self.place / "libraries")
                shutil.copytree(libraries, self.libraries)
            if programs:
                own = self.place / "own"
                subprocess.run(["cp", "-RL", programs, own], check=True)
                for made, place in (f"{ask('--pkglibdir')}/popfib.so", "lib"), (f"{ask('--sharedir')}/extension/popfib*", "share"):
                    subprocess.run(f"cp {root}{made} {own}/{place}/postgresql/{'extension/' * (place == 'share')}", shell=True, check=True)
                shutil.copy(self.bin / "psql", own / "bin")
                self.bin, self.libraries = own / "bin", str(own / "lib")
            self.data, self.socket, self.files = (self.place / name for name in ("data", "socket", "files"))
            for path in self.data, self.socket, self.files:
                path.mkdir()
                if nobody():
                    shutil.chown(path, nobody())
            self.run("initdb", "-D", self.data, "-U", "admin", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
            with open(self.data / "postgresql.conf", "a") as conf:
                conf.write(f"listen_addresses = ''\nunix_socket_directories = '{self.socket}'\nautovacuum = off\n{settings}\n")
            self.start()
        except BaseException:
            shutil.rmtree(self.place)
            raise

    @staticmethod
    def parent(root, path):
        parent = pathlib.Path(f"{root}{path}").parent
        parent.mkdir(parents=True, exist_ok=True)
        return parent

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.stop()
        finally:
            shutil.rmtree(self.place)

    def run(self, program, *arguments):
        result = subprocess.run([self.bin / program, *arguments], user=nobody(), cwd="/", text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env={**os.environ, "LD_LIBRARY_PATH": self.libraries})
        if result.returncode:
            raise SystemExit(f"{program}: {result.stdout}\n{self.log()}")

    def log(self):
        path = self.place / "files" / "log"
        return path.read_text(errors="replace") if path.exists() else ""

    def start(self):
        self.run("pg_ctl", "-D", self.data, "-w", "-l", self.files / "log", "start")

    def stop(self):
        self.run("pg_ctl", "-D", self.data, "-w", "-m", "fast", "stop")

    def psql(self, user="admin", database="postgres"):
        """A connection that takes statements on standard input."""
        command = [self.bin / "psql", "-X", "-q", "--csv", "-t", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose", "-h", self.socket,
                   "-U", user, "-d", database, "-P", "null=<NULL>"]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
                                env={**os.environ, "PGCLIENTENCODING": "UTF8", "LD_LIBRARY_PATH": self.of_psql})

    def finish(self, connection, statements=None):
        """The rows that the statements return; the first error as a SqlError."""
        out, err = connection.communicate(statements)
        if connection.returncode:
            found = re.search(r"(?:ERROR|FATAL): +(\w{5}): (.*)(?:[^\0]*?\nHINT: +([^\0]*?)\nLOCATION)?", err)
            raise SqlError(*found.groups("")) if found else SqlError("", err)
        return [tuple(None if cell == "<NULL>" else cell for cell in row) for row in csv.reader(io.StringIO(out))]

    def sql(self, statements, **who):
        return self.finish(self.psql(**who), statements)

    def wait(self):
        """Waits until it takes connections again, as after a crash of one of its processes."""
        for _ in range(300):
            try:
                return self.sql("SELECT 1")
            except SqlError:
                time.sleep(0.1)
        raise SystemExit(f"the server does not come back\n{self.log()}")
