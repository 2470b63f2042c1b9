"""Files that are published, broken, removed and published again, while threads look up."""

import logging
import queue
import threading

import popfib
import pytest

OFTEN = 0.001
SOON = 20


def publish(path, text):
    """Puts a file in the place of another."""
    following = path.with_suffix(".next")
    following.write_text(text)
    following.rename(path)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "t.txt"
    publish(path, "10.0.0.0/8 1\n")
    return path


def test_what_is_wrong_is_told_once(path):
    told, reloaded = queue.Queue(), queue.Queue()
    with popfib.Watcher(
        path, decode=int, interval=OFTEN, on_error=told.put, on_reload=lambda: reloaded.put(True)
    ) as watcher:
        first = watcher.current
        assert first["10.1.2.3"] == 1
        path.unlink()
        assert isinstance(told.get(timeout=SOON), FileNotFoundError)
        for wrong in ("10.0.0.0/33 x\n", "10.0.0.0/33 y\n"):
            publish(path, wrong)
            threading.Event().wait(0.05)
        assert "t.txt:1" in str(told.get(timeout=SOON))
        threading.Event().wait(0.05)
        with pytest.raises(ValueError, match=r"t\.txt:1"):
            watcher.reload()
        assert told.empty() and reloaded.empty() and watcher.current is first
        publish(path, "10.0.0.0/8 2\n")
        assert reloaded.get(timeout=SOON) and watcher.current["10.1.2.3"] == 2
        publish(path, "10.0.0.0/33 x\n")
        assert "t.txt:1" in str(told.get(timeout=SOON))
        publish(path, "10.0.0.0/8 3\n")
        assert reloaded.get(timeout=SOON)
        watcher.reload()
        assert watcher.current["10.1.2.3"] == 3 and reloaded.empty()
    watcher.close()
    publish(path, "10.0.0.0/8 4\n")
    threading.Event().wait(0.05)
    assert watcher.current["10.1.2.3"] == 3 and not watcher._thread.is_alive()


def test_what_is_written_in_place_is_read_when_it_is_complete(path):
    reloaded = threading.Event()
    with popfib.Watcher(path, interval=OFTEN, on_reload=reloaded.set) as watcher:
        path.write_text("10.0.0.0/8 whole")
        assert reloaded.wait(SOON) and watcher.current["10.1.2.3"] == "whole"


def test_any_function_loads(path, tmp_path):
    image = tmp_path / "t.fib"
    popfib.load(path).save(image)
    with popfib.Watcher(image, popfib.open, map=True) as watcher:
        assert watcher.current.lookup_many(["10.1.2.3"], output="list") == ["1"]
    with popfib.Watcher(path, popfib.load_set) as watcher:
        assert "10.1.2.3" in watcher.current
    # Both belong together.
    with popfib.Watcher(path, lambda path: (popfib.load(path), popfib.load_set(path))) as watcher:
        assert len(watcher.current) == 2
    with pytest.raises(FileNotFoundError):
        popfib.Watcher(tmp_path / "none")
    with pytest.raises(TypeError):
        popfib.Watcher(path, colour=1)
    for interval in (0, -1, float("nan")):
        with pytest.raises(ValueError, match="more than 0"):
            popfib.Watcher(path, interval=interval)


def test_it_is_logged_and_functions_that_fail_end_nothing(path, caplog):
    reloads = threading.Semaphore(0)

    def fail():
        reloads.release()
        raise ZeroDivisionError

    with caplog.at_level(logging.WARNING, "popfib"):
        with popfib.Watcher(path, interval=OFTEN, on_reload=fail) as watcher:
            publish(path, "10.0.0.0/33 x\n")
            while not caplog.records:
                threading.Event().wait(OFTEN)
            for text in ("a", "b"):
                publish(path, f"10.0.0.0/8 {text}\n")
                assert reloads.acquire(timeout=SOON)
            assert watcher.current["10.1.2.3"] == "b"
    first, *others = (record.getMessage() for record in caplog.records)
    assert first.endswith("; the table before is used") and "t.txt:1" in first
    assert others == ["a function of a watcher failed"] * 2


def test_threads_see_whole_tables(path):
    def table(generation):
        return "".join(f"10.{part}.0.0/16 {generation}\n" for part in range(64))

    publish(path, table(0))
    addresses = [f"10.{part}.1.2" for part in range(64)]
    reloaded, ended, wrong = threading.Semaphore(0), threading.Event(), []
    with popfib.Watcher(path, interval=OFTEN, on_reload=reloaded.release) as watcher:

        def look_up():
            while not ended.is_set():
                found = set(watcher.current.lookup_many(addresses, output="list"))
                if len(found) != 1:
                    wrong.append(found)

        threads = [threading.Thread(target=look_up) for _ in range(3)]
        for thread in threads:
            thread.start()
        for generation in range(1, 40):
            publish(path, table(generation))
            assert reloaded.acquire(timeout=SOON)
            assert watcher.current["10.1.2.3"] == str(generation)
        ended.set()
        for thread in threads:
            thread.join()
    assert not wrong
