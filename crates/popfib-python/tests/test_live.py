"""Tables that change while other threads look up."""

import gc
import os
import random
import signal
import sys
import threading
import weakref

import pytest

import popfib
from conftest import rounds


def test_a_route_is_seen_from_its_announcement_on():
    t = popfib.LiveTable()
    assert t.announce("10.0.0.0/8", "inside") is False
    assert t.announce("10.0.0.0/8", "changed") is True
    t.announce("2001:db8::/32", "documentation")
    assert t["10.1.2.3"] == "changed" and t.get("11.0.0.1", 5) == 5 and t.get("11.0.0.1") is None
    assert t.longest_match("2001:db8::1") == ("2001:db8::/32", "documentation")
    assert t.get_key("10.1.2.3") == "10.0.0.0/8" and t.get_key("11.0.0.1") is None
    assert "10.1.2.3" in t and "::1" not in t
    assert t.get_exact("10.0.0.0/8") == "changed" and t.get_exact("10.0.0.0/9", 3) == 3
    assert len(t) == 2 and repr(t) == "<popfib.LiveTable: 1 IPv4 and 1 IPv6 routes>"
    assert t.withdraw("10.0.0.0/8") is True and t.withdraw("10.0.0.0/8") is False
    with pytest.raises(KeyError, match="no route matches 10.1.2.3"):
        t["10.1.2.3"]
    assert t.longest_match("10.1.2.3") is None


def test_a_prefix_is_no_address():
    t = popfib.LiveTable({"0.0.0.0/0": 1})
    for ask in (t.get, t.get_key, t.longest_match, t.__getitem__):
        with pytest.raises(ValueError, match="10.0.0.0/8: a LiveTable looks up addresses"):
            ask("10.0.0.0/8")
        with pytest.raises(ValueError, match="not an address|neither|address"):
            ask("x")


def test_of_a_table_and_back():
    table = popfib.Table({"10.0.0.0/8": "a", "10.1.0.0/16": "b", "::/0": "a"})
    live = popfib.LiveTable(table)
    assert live.to_table() == table
    live.withdraw("10.1.0.0/16")
    assert table["10.1.2.3"] == "b" and live["10.1.2.3"] == "a"
    assert popfib.LiveTable({"10.0.0.0/8": 1}).value_type is int
    assert live.value_type is str
    with pytest.raises(ValueError, match="item 1: '10.0.0.1/8': host bits are set"):
        popfib.Table([("10.0.0.0/8", 1), ("10.0.0.1/8", 2)])
    live["10.9.0.0/16"] = "nine"
    assert live["10.9.1.1"] == "nine"
    del live["10.9.0.0/16"]
    with pytest.raises(KeyError, match="no route 10.9.0.0/16"):
        del live["10.9.0.0/16"]
    with pytest.raises(TypeError, match="item 0 is not a pair"):
        popfib.LiveTable(["10.0.0.0/8"])
    assert live.nbytes > 1000


def test_changes_that_belong_together():
    t = popfib.LiveTable({"10.0.0.0/8": 1, "11.0.0.0/8": 2})
    t.apply([("10.0.0.0/8", None), ("11.0.0.0/8", None), ("10.0.0.0/8", 3), ("12.0.0.0/8", 4)])
    assert dict(t.to_table().items()) == {"10.0.0.0/8": 3, "12.0.0.0/8": 4}
    with pytest.raises(ValueError):
        t.apply([("10.0.0.0/8", 5), ("x", 6)])
    assert t["10.0.0.1"] == 3
    t.apply({"10.0.0.0/8": None, "10.0.0.0/9": 7})
    assert dict(t.to_table().items()) == {"10.0.0.0/9": 7, "12.0.0.0/8": 4}


def test_random_changes_as_of_a_table():
    rng = random.Random(1)
    values = ["a", "b", 3, 3.5, ("t",), None, object()]
    live, table = popfib.LiveTable(), popfib.Table()

    def prefix():
        if rng.random() < 0.5:
            length = rng.choice([0, 4, 8, 12, 16, 20, 24, 28, 32])
            return f"{popfib.canonical(f'{rng.getrandbits(8)}.{rng.getrandbits(3)}.0.{rng.getrandbits(2)}/{length}', mask=True)[0]}/{length}"
        length = rng.choice([0, 16, 31, 32, 33, 48, 64, 128])
        return f"{popfib.canonical(f'{rng.getrandbits(4):x}::{rng.getrandbits(3):x}/{length}', mask=True)[0]}/{length}"

    for step in range(300):
        kind = rng.random()
        if kind < 0.5:
            key, value = prefix(), rng.choice(values)
            assert live.announce(key, value) == table.has_key(key)
            table[key] = value
        elif kind < 0.8:
            key = rng.choice(list(table) or [prefix()])
            assert live.withdraw(key) == table.has_key(key)
            table.pop(key, None)
        else:
            count = rng.choice([3, 50, 400])
            changes = [(prefix(), rng.choice(values)) for _ in range(count)]
            live.apply(changes)
            table.apply(changes)
        if step % 10 == 0:
            assert live.to_table() == table and len(live) == len(table)
            addresses = [f"{rng.getrandbits(8)}.{rng.getrandbits(3)}.0.{rng.getrandbits(2)}" for _ in range(300)]
            addresses += [f"{rng.getrandbits(4):x}::{rng.getrandbits(3):x}" for _ in range(300)]
            for output in ("list", "prefixes", "matches"):
                assert live.lookup_many(addresses, output=output) == table.lookup_many(addresses, output=output)
            for address in addresses[::20]:
                assert live.longest_match(address) == table.longest_match(address)
                assert live.get(address, 0) == table.get(address, 0)


def test_columns_as_of_a_table():
    np = pytest.importorskip("numpy")
    table = popfib.Table({"10.0.0.0/8": "a", "10.1.0.0/16": "b" * 40, "::/0": "c"})
    live = popfib.LiveTable(table)
    numbers = np.arange(9 << 24, 12 << 24, 1 << 12, dtype=np.uint32)
    packed = np.frombuffer(numbers.astype(">u4").tobytes(), np.uint8).reshape(-1, 4)
    columns = [numbers, packed, np.zeros((300, 16), np.uint8), ["10.1.2.3", "::1", "9.9.9.9"], []]
    for column in columns:
        for threads in (1, 3):
            assert (live.lookup_many(column, threads=threads) == table.lookup_many(column)).all()
            for output in ("list", "prefixes", "matches"):
                assert live.lookup_many(column, output=output, threads=threads) == table.lookup_many(
                    column, output=output
                )
    with pytest.raises(ValueError, match="no lasting numbers"):
        live.lookup_many(numbers, output="indices")
    with pytest.raises(ValueError, match="row 1: 'x': not an address"):
        live.lookup_many(["10.0.0.1", "x"])
    assert live.lookup_many(["10.0.0.1", "x"], output="list", invalid="null") == ["a", None]
    both = popfib.lookup_many({"t": table, "live": live}, columns[3], output="list", prefixes=True)
    assert both["t"] == both["live"] and both["t_prefix"] == both["live_prefix"]
    assert popfib.lookup_many({"live": live}, columns[3], output="prefixes")["live"][0] == "10.1.0.0/16"


def test_arrow_columns_as_of_a_table():
    pytest.importorskip("numpy")
    pa = pytest.importorskip("pyarrow")
    table = popfib.Table({"10.0.0.0/8": 1, "10.1.0.0/16": 1 << 40})
    live = popfib.LiveTable(table)
    for column in (["10.1.2.3", "9.9.9.9", "10.2.0.0"], ["9.9.9.9"], []):
        column = pa.array(column, pa.string())
        for output in ("arrow", "arrow-prefixes"):
            found = [pa.array(t.lookup_many(column, output=output)) for t in (table, live)]
            assert found[0].to_pylist() == found[1].to_pylist() and found[0].type == found[1].type
    live.announce("11.0.0.0/8", "text")
    with pytest.raises(TypeError, match="all values are str, int or bool"):
        live.lookup_many(["10.0.0.1", "11.0.0.1"], output="arrow")


def test_readers_in_threads_see_allowed_answers():
    """Each answer is of a state between the change that had ended before it began, and the one that had begun at its end."""
    t = popfib.LiveTable({f"10.{n}.0.0/16": (n, 0) for n in range(64)})
    t.announce("10.0.0.0/8", "below")
    begun, ended = [0] * 64, [0] * 64
    stop, errors = threading.Event(), []
    addresses = [f"10.{n}.1.1" for n in range(64)]

    def guarded(work):
        def run():
            try:
                while not stop.is_set():
                    work()
            except BaseException as error:  # noqa: BLE001
                errors.append(error)

        return run

    def change():
        for n in range(64):
            begun[n] += 1
            if n % 8 == 1:
                t.apply([(f"10.{n}.0.0/16", None), (f"10.{n}.0.0/16", (n, begun[n]))])
            else:
                t.announce(f"10.{n}.0.0/16", (n, begun[n]))
            ended[n] = begun[n]
            t.announce(f"172.16.{n}.0/24", object())
        t.apply([(f"172.16.{n}.0/24", None) for n in range(64)])
        t.announce("0.0.0.0/0", "default")
        t.withdraw("0.0.0.0/0")

    def one():
        for n in range(64):
            first = ended[n]
            found = t.longest_match(addresses[n])
            assert found is not None and found[0] == f"10.{n}.0.0/16"
            assert found[1][0] == n and first <= found[1][1] <= begun[n]

    def many():
        for threads in (1, 2):
            first = list(ended)
            found = t.lookup_many(addresses * 512, output="list", threads=threads)
            last = list(begun)
            for place, value in enumerate(found):
                n = place % 64
                assert value[0] == n and first[n] <= value[1] <= last[n]
        for n, found in enumerate(t.lookup_many(addresses, output="matches")):
            assert found[0] == f"10.{n}.0.0/16" and found[1][0] == n

    def whole():
        assert len(t.to_table()) >= 65
        t.reclaim()
        gc.collect()

    workers = [threading.Thread(target=guarded(work)) for work in (change, one, one, many, many, whole)]
    for worker in workers:
        worker.start()
    stop.wait(rounds(0.5, 3))
    stop.set()
    for worker in workers:
        worker.join(60)
    assert not errors, errors


def test_readers_do_not_wait_for_a_long_change():
    """While a thread loads a table, without the interpreter and with the writer's lock, others look up."""
    t = popfib.LiveTable({"10.0.0.0/8": "first"})
    routes = [(f"{n >> 16 & 127}.{n >> 8 & 255}.{n & 255}.0/24", str(n)) for n in range(300_000)]
    looked, done = [0], threading.Event()

    def look():
        while not done.is_set():
            assert t["10.255.255.255"] in ("first", str((10 << 16) + 65535))
            assert len(t.lookup_many(["10.255.255.255"] * 10, output="list")) == 10
            looked[0] += 1

    reader = threading.Thread(target=look)
    reader.start()
    t.apply(routes)
    done.set()
    reader.join(60)
    assert looked[0] > 5 and len(t) == 300_001


class Counted:
    """A value that counts how many of its kind there are, and says so when one goes twice."""

    alive = 0

    def __init__(self):
        Counted.alive += 1
        self.is_alive = True

    def __del__(self):
        assert self.is_alive
        self.is_alive = False
        Counted.alive -= 1


def test_values_are_dropped_once_and_not_early():
    assert Counted.alive == 0
    t = popfib.LiveTable()
    for n in range(100):
        t.announce(f"10.{n}.0.0/16", Counted())
    one = Counted()
    t.apply([(f"11.{n}.0.0/16", one) for n in range(100)] + [("11.0.0.0/8", one)])
    references = sys.getrefcount(one)
    t.apply([(f"11.{n}.0.0/16", None) for n in range(100)])
    t.reclaim()
    assert sys.getrefcount(one) < references and t["11.1.2.3"] is one
    assert Counted.alive == 101
    del one
    gc.collect()
    assert Counted.alive == 101 and t["11.1.2.3"].is_alive
    for n in range(50):
        t.withdraw(f"10.{n}.0.0/16")
    t.reclaim()
    assert Counted.alive == 51
    found = t.lookup_many([f"10.{n}.0.1" for n in range(100)], output="list")
    for n in range(50, 100):
        t.announce(f"10.{n}.0.0/16", n)
    t.reclaim()
    assert Counted.alive == 51 and all(value.is_alive for value in found[50:])
    del found
    assert Counted.alive == 1
    copied = t.to_table()
    del t
    gc.collect()
    assert Counted.alive == 1
    del copied
    gc.collect()
    assert Counted.alive == 0


def test_a_value_may_come_back_to_the_table_as_it_goes():
    t = popfib.LiveTable()
    seen = []

    class Value:
        def __del__(self):
            t.announce("12.0.0.0/8", 1)
            seen.append((len(t), t.get("10.0.0.1")))

    t.announce("10.0.0.0/8", Value())
    t.announce("10.0.0.0/8", "new")
    t.reclaim()
    t.apply([("10.0.0.0/8", Value()), ("10.0.0.0/8", Value()), ("10.0.0.0/8", None)])
    t.reclaim()
    gc.collect()
    assert len(seen) == 3 and seen[0] == (2, "new")


def test_the_garbage_collector_finds_a_table_in_its_own_values():
    class Value:
        pass

    t, value = popfib.LiveTable(), Value()
    value.table = t
    t.announce("10.0.0.0/8", value)
    t.announce("10.0.0.0/16", value)
    t.announce("10.0.0.0/8", "another")
    watch = weakref.ref(value)
    del t, value
    gc.collect()
    assert watch() is None


def test_what_a_source_no_longer_has_is_swept():
    t = popfib.LiveTable({f"10.{n}.0.0/16": n for n in range(200)})
    with t.sweep() as sweep:
        for n in range(0, 200, 2):
            assert sweep.announce(f"10.{n}.0.0/16", -n)
        sweep.confirm("10.1.0.0/16")
    assert dict(t.to_table().items()) == {f"10.{n}.0.0/16": -n for n in range(0, 200, 2)} | {"10.1.0.0/16": 1}
    with pytest.raises(KeyError), t.sweep():
        raise KeyError("the connection went")
    assert len(t) == 101
    assert t.sweep().finish() == 101 and len(t) == 0


def test_what_a_sweep_has_finished_it_does_not_begin_again():
    t = popfib.LiveTable({"10.0.0.0/8": "a", "10.1.0.0/16": "b", "192.0.2.0/24": "gone"})
    with t.sweep() as sweep:
        sweep.confirm("10.0.0.0/8")
        sweep.announce("10.1.0.0/16", "c")
        assert sweep.finish() == 1 and sweep.finish() == 0
        # Later routes are none of what it knew.
        sweep.announce("10.2.0.0/16", "d")
        t.announce("10.3.0.0/16", "e")
    assert len(t) == 4 and sweep.finish() == 0


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs an interval timer")
def test_a_sweep_goes_on_after_an_interrupt():
    routes = {f"10.{n >> 8}.{n & 255}.0/24": n % 7 for n in range(1 << 16)}
    t = popfib.LiveTable(routes)
    sweep = t.sweep()
    kept = list(routes)[::2]
    for prefix in kept:
        sweep.confirm(prefix)

    class Stop(Exception):
        pass

    is_running, stopped = False, 0

    def stop(*_):
        nonlocal is_running
        if is_running:
            is_running = False
            raise Stop

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
    try:
        while True:
            try:
                is_running = True
                sweep.finish()
                is_running = False
                break
            except Stop:
                stopped += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert stopped < 1000 and len(t) == len(kept)
    assert all(t.get_exact(prefix) is not None for prefix in kept)


def test_a_route_that_a_sweep_announces_while_it_finishes_stays():
    for _ in range(20):
        t = popfib.LiveTable({f"10.{n >> 8}.{n & 255}.0/24": 1 for n in range(1 << 15)})
        sweep = t.sweep()
        thread = threading.Thread(target=sweep.finish)
        thread.start()
        announced = [f"10.{n}.255.0/24" for n in range(128)]
        for prefix in announced:
            sweep.announce(prefix, "new")
        thread.join()
        assert all(t.get_exact(prefix) == "new" for prefix in announced)
        assert sorted(t.to_table()) == sorted(announced)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_has_a_copy():
    t = popfib.LiveTable({"10.0.0.0/8": "before"})
    to_parent, from_child = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            t.announce("11.0.0.0/8", "the child's")
            t.withdraw("10.0.0.0/8")
            t.reclaim()
            answer = f"{t.get('10.0.0.1')} {t.lookup_many(['11.0.0.1'], output='list')}"
        except BaseException as error:  # noqa: BLE001
            answer = repr(error)
        os.write(from_child, answer.encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(to_parent, 1000).decode() == "None [\"the child's\"]"
    assert t["10.0.0.1"] == "before" and t.get("11.0.0.1") is None


def test_memory_does_not_grow_with_changes():
    t = popfib.LiveTable({f"10.{n}.0.0/16": n for n in range(256)})

    def churn():
        for n in range(256):
            t.announce(f"10.{n}.0.0/16", [n])
            t.lookup_many([f"10.{n}.0.1"], output="list")
        t.reclaim()
        return t.nbytes

    first = churn()
    for _ in range(30):
        last = churn()
    assert last < 2 * first
