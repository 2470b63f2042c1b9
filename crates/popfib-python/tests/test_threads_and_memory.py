"""Threads that hammer one table, and memory that must not grow."""

import gc
import threading
import tracemalloc

import pytest

import popfib
from conftest import rss

np = pytest.importorskip("numpy")


@pytest.mark.heavy
def test_threads_hammer_one_table():
    """Readers see each route's values of before or after, never another route's."""
    t = popfib.Table((f"10.{a}.{b}.0/24", (a, b, 0)) for a in range(64) for b in range(16))
    column = np.array([(10 << 24) + (a << 16) + (b << 8) + 1 for a in range(64) for b in range(16)], np.uint32)
    stop, errors = threading.Event(), []

    def guard(work):
        def run():
            try:
                while not stop.is_set():
                    work()
            except BaseException as error:  # noqa: BLE001
                errors.append(error)

        return run

    def change():
        for a in range(0, 64, 3):
            for b in range(16):
                t[f"10.{a}.{b}.0/24"] = (a, b, object())
            # Not `del`: another thread may have removed it.
            t.pop(f"10.{a}.5.0/24", None)
            t[f"10.{a}.5.0/24"] = (a, 5, 1)

    def one():
        for a in range(64):
            found = t.get(f"10.{a}.5.1")
            assert found is None or found[:2] == (a, 5)

    def many():
        for output, threads in (("list", 1), ("values", 2)):
            for n, found in enumerate(t.lookup_many(np.tile(column, 4), output=output, threads=threads)):
                assert found is None or found[:2] == (n // 16 % 64, n % 16)
        # So few that a change waits for them, and so many that it does not.
        for found in t.lookup_many(column[:100], output="list"):
            assert found is None or found[0] < 7
        for found in t.lookup_many(column, output="matches"):
            assert found is None or found[0] == f"10.{found[1][0]}.{found[1][1]}.0/24"

    def walk():
        try:
            for prefix, value in t.items():
                assert prefix == f"10.{value[0]}.{value[1]}.0/24"
        except RuntimeError as error:
            assert "during iteration" in str(error)

    def whole():
        assert 1000 < len(t.copy()) <= 1024
        gc.collect()

    workers = [threading.Thread(target=guard(w)) for w in (change, change, one, many, many, walk, whole)]
    for worker in workers:
        worker.start()
    stop.wait(3)
    stop.set()
    for worker in workers:
        worker.join(60)
    assert not errors, errors
    assert len(t) == 1024


def test_the_gil_is_free_during_lookups():
    t = popfib.Table({"0.0.0.0/1": 1})
    column = [".".join(["1"] * 4)] * 200_000
    pa = pytest.importorskip("pyarrow")
    column = pa.array(column * 20)
    count, running = 0, threading.Event()

    def tick():
        nonlocal count
        running.set()
        while running.is_set():
            count += 1

    ticker = threading.Thread(target=tick)
    ticker.start()
    running.wait()
    before = count
    t.lookup_many(column, output="indices")
    during = count - before
    running.clear()
    ticker.join()
    assert during > 1000


def churn():
    t = popfib.Table((f"10.{n >> 8}.{n & 255}.0/24", [n]) for n in range(2000))
    for output in ("list", "prefixes", "matches"):
        t.lookup_many([f"10.0.{n & 255}.1" for n in range(2000)], output=output)
    t.lookup_many(np.arange(2000, dtype=np.uint32))
    for n in range(2000):
        t[f"10.{n >> 8}.{n & 255}.0/24"] = str(n)
    t.lookup_many(np.arange(2000, dtype=np.uint32), output="arrow").__arrow_c_array__()
    t.lookup_many(np.arange(2000, dtype=np.uint32), output="arrow-prefixes").__arrow_c_array__()
    list(t.items()), t.copy(), t == t.copy(), t.subnets("10.0.0.0/8"), t.supernets("10.0.0.1")
    for prefix in list(t):
        del t[prefix]
    for bad in (lambda: t["x"], lambda: t["10.0.0.1"], lambda: t.lookup_many(["x"])):
        try:
            bad()
        except (KeyError, ValueError):
            pass


@pytest.mark.heavy
def test_objects_do_not_leak():
    for _ in range(3):
        churn()
    gc.collect()
    tracemalloc.start()
    churn()
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(10):
        churn()
    gc.collect()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert after - before < 50_000


@pytest.mark.heavy
def test_memory_does_not_leak():
    for _ in range(10):
        churn()
    gc.collect()
    before = rss()
    for _ in range(60):
        churn()
    gc.collect()
    # One table of churn() lost in each round would be 20 MB.
    assert rss() - before < 8_000_000
