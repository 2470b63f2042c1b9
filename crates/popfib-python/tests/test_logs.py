"""`popfib annotate`, `grep` and `count` on logs as programs write them, line by line beside pytricia and `ipaddress`.

Each kind of log is made here, so that it is known which addresses a line has; how they are spelled in it is what the
command has to find out.
"""

import collections
import ipaddress
import json
import random
import subprocess

import pytest

from conftest import probes

LINES = 3000


def by_all_lengths(routes, addresses):
    """(prefix, value) or None for each address: of every length, from the longest, the network that it is in is looked for."""
    values = {ipaddress.ip_network(prefix): value for prefix, value in routes}
    lengths = {v: sorted({n.prefixlen for n in values if n.version == v}, reverse=True) for v in (4, 6)}
    for address in addresses:
        lens = lengths[ipaddress.ip_address(address).version] if address else []
        networks = (ipaddress.ip_network((address, length), strict=False) for length in lens)
        yield next(((str(n), values[n]) for n in networks if n in values), None)


@pytest.fixture(scope="module")
def routes(real_routes):
    """A part of a real table, since `ipaddress` takes a minute to read all of it."""
    return [(prefix, str(value)) for prefix, value in real_routes[:: max(1, len(real_routes) // 20_000)]]


@pytest.fixture(scope="module")
def table(routes, tmp_path_factory):
    path = tmp_path_factory.mktemp("logs") / "routes.txt"
    path.write_text("".join(f"{prefix} {value}\n" for prefix, value in routes))
    return path


def spellings(rng, address, family):
    """The address as it stands in logs."""
    if family == 4:
        port = rng.randrange(1, 65536)
        defanged = address.replace(".", rng.choice(["[.]", "(.)"]))
        return [
            address,
            f"{address}:{port}",
            f"{address}#{port}",
            f"[{address}]:{port}",
            f'"{address}"',
            f"({address})",
            f"src={address}",
            f"outside:{address}/{port}",
            f"http://{address}/index.html",
            f"{address}/32",
            f"{address},",
            defanged,
        ]
    port = rng.randrange(1, 65536)
    return [
        address,
        address.upper(),
        ipaddress.ip_address(address).exploded,
        f"[{address}]:{port}",
        f"[{address}%eth0]",
        f"{address}%en0",
        f'"{address}"',
        f"src={address}",
        f"https://[{address}]/x",
        f"<{address}>",
    ]


def decoy(rng):
    """What looks like an address, and is none."""
    hexadecimal = ":".join(f"{rng.getrandbits(8):02x}" for _ in range(6))
    return rng.choice(
        [
            "12:34:56",
            f"Chrome/{rng.randrange(50, 130)}.0.0.0",
            f"v1.{rng.randrange(99)}.2.3",
            hexadecimal,
            "std::vector<int>",
            "1.2.3",
            "10.20.30.400",
            f"lib-{rng.randrange(9)}.2.3.4",
            "1.2.3.4.5.6",
            "4.3.2.1.in-addr.arpa",
            f"{rng.getrandbits(128):032x}",
            "2026-11-22T08:09:10.123Z",
            "01.02.03.04",
            "",
        ]
    )


@pytest.fixture(scope="module")
def addresses(routes):
    """One for each line: in, before and after routes, of both families; `None` for none."""
    rng = random.Random(5)
    families = {f: [p for p, _ in routes if (":" in p) == (f == 6)] for f in (4, 6)}
    assert len(families[6]) > 100
    out = []
    for _ in range(LINES):
        family = 4 if rng.random() < 0.7 else 6
        out.append(None if rng.random() < 0.1 else probes(rng, families[family], 1)[0])
    # Rules for text would take what has no digit for words.
    return [a if a is None or any(c.isdigit() for c in a) else None for a in out]


def combined(rng, address):
    client = address or "-"
    agent = f"Mozilla/5.0 (X11; Linux x86_64) {decoy(rng)}"
    return f'{client} - - [22/Nov/2026:12:34:{rng.randrange(60):02} +0000] "GET /a HTTP/1.1" 200 {rng.randrange(99999)} "-" "{agent}"'


def syslog(rng, address):
    where = "nobody"
    if address is not None:
        where = rng.choice(spellings(rng, address, 6 if ":" in address else 4))
    return f"Nov 22 12:34:56 host-{rng.randrange(9)} sshd[{rng.randrange(9999)}]: {decoy(rng)} from {where} port {rng.randrange(65536)} {decoy(rng)}"


def json_line(rng, address):
    row = {"ts": "2026-11-22T12:34:56.789Z", "mac": "00:11:22:33:44:55", "v": "v1.2.3.4", "src": {"n": rng.randrange(9)}}
    if address is not None:
        row["src"]["ip"] = rng.choice([address, f"[{address}]:443" if ":" in address else f"{address}:443"])
    row["other"] = rng.choice([None, "192.0.2.77", ["x", "é \" \\ \t"]])
    return json.dumps(row, ensure_ascii=rng.random() < 0.5)


LOGS = {"combined": (combined, []), "syslog": (syslog, []), "json": (json_line, ["--path", "src.ip"])}


@pytest.fixture(scope="module", params=sorted(LOGS))
def log(request, addresses, tmp_path_factory):
    """(file, arguments, lines) of one kind."""
    make, args = LOGS[request.param]
    rng = random.Random(request.param)
    lines = [make(rng, address) for address in addresses]
    path = tmp_path_factory.mktemp("logs") / f"{request.param}.log"
    path.write_text("".join(line + "\n" for line in lines))
    return path, args, lines


@pytest.fixture(scope="module")
def annotated(command, table, log):
    """(prefix, value) or None for each line, as the command says; the lines are what they were."""
    path, args, lines = log
    runs = []
    for threads in "12":
        run = [command, "annotate", "--table", table, "--to", "text", "--threads", threads, *args, path]
        done = subprocess.run(run, stdout=subprocess.PIPE, check=True)
        runs.append(done.stdout)
    assert runs[0] == runs[1]
    out = runs[0].decode().removesuffix("\n").split("\n")
    assert len(out) == len(lines)
    answers = []
    for line, before in zip(out, lines):
        assert line.startswith(before + "\t")
        prefix, value = line[len(before) + 1 :].split("\t")
        answers.append(None if prefix == "-" else (prefix, value))
    return answers


def test_annotate_says_what_pytricia_says(annotated, routes, addresses, log):
    pytricia = pytest.importorskip("pytricia")
    tables = {4: pytricia.PyTricia(32), 6: pytricia.PyTricia(128)}
    for prefix, value in routes:
        tables[6 if ":" in prefix else 4][prefix] = value
    matches = 0
    for answer, address, line in zip(annotated, addresses, log[2]):
        judge = tables[6 if ":" in (address or "") else 4]
        want = (judge.get_key(address), judge[address]) if address and address in judge else None
        assert answer == want, line
        matches += want is not None
    assert matches > LINES // 4


def test_annotate_says_what_ipaddress_says(annotated, routes, addresses, log):
    for answer, want, line in zip(annotated, by_all_lengths(routes, addresses), log[2]):
        assert answer == want, line


def test_members_of_json_are_the_answers(command, table, addresses, tmp_path):
    rng = random.Random(3)
    lines = [json_line(rng, address) for address in addresses]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(lines))
    done = subprocess.run([command, "annotate", "--table", table, "--path", "src.ip", path], stdout=subprocess.PIPE, check=True)
    out = done.stdout.decode().splitlines()
    plain = subprocess.run(
        [command, "annotate", "--table", table, "--path", "src.ip", "--to", "text", path],
        stdout=subprocess.PIPE,
        check=True,
    )
    assert len(out) == len(lines)
    for line, before, text in zip(out, lines, plain.stdout.decode().splitlines()):
        assert line.startswith(before[:-1])
        row = json.loads(line)
        prefix, value = row.pop("prefix"), row.pop("next_hop")
        assert row == json.loads(before)
        assert text.split("\t")[-2:] == [prefix or "-", value or "-"]


def test_grep_and_count_agree_with_annotate(command, table, annotated, log):
    path, args, lines = log
    args = ["--table", table, *args, path]
    done = subprocess.run([command, "grep", "--address", "1", *args], stdout=subprocess.PIPE, check=True)
    assert done.stdout.decode().splitlines() == [line for line, answer in zip(lines, annotated) if answer]
    done = subprocess.run([command, "count", *args], stdout=subprocess.PIPE, check=True)
    counts = dict(reversed(line.split("\t")) for line in done.stdout.decode().splitlines())
    want = collections.Counter(answer[1] if answer else "-" for answer in annotated)
    assert {value: int(count) for value, count in counts.items()} == want
