"""Columns, files and settings that are not what they say: an error of one line, or the right answer.

What could end the process runs in one of its own.
"""

from __future__ import annotations

import ctypes
import random
import struct
import subprocess
import sys
import textwrap

import pytest

import popfib

np = pytest.importorskip("numpy")


@pytest.fixture
def t():
    return popfib.Table({"10.0.0.0/8": "a", "10.1.0.0/16": "b", "2001:db8::/32": "c"})


def run(script, **options):
    """What a program prints, which must end by itself."""
    script = textwrap.dedent(script)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout


# ---- Arrow


def test_text_that_is_not_utf8(t, tmp_path):
    """As pyarrow reads it from Parquet files, without a check."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    raw = [b"10.0.0.1", b"x\xf0", b"\xff" * 100, b"10.1.0.1"]
    path = tmp_path / "text.parquet"
    pq.write_table(pa.table({"a": pa.array(raw, pa.binary()).cast(pa.string(), safe=False)}), path)
    column = pq.read_table(path)["a"]
    assert t.lookup_many(column, output="list", invalid="null") == ["a", None, None, "b"]
    with pytest.raises(ValueError, match="^row 1: 'x\N{REPLACEMENT CHARACTER}': not an address$"):
        t.lookup_many(column)
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        text = pa.array(raw, pa.binary()).cast(kind, safe=False)
        assert t.lookup_many(text, output="list", invalid="null") == ["a", None, None, "b"]
        with pytest.raises(ValueError, match=f"^row 0: '{60 * chr(0xFFFD)}...': not an address$"):
            t.lookup_many(text[2:])


def offsets(*numbers, form="i"):
    import pyarrow as pa

    return pa.py_buffer(struct.pack(f"={len(numbers)}{form}", *numbers))


def test_offsets_that_point_outside(t):
    pa = pytest.importorskip("pyarrow")
    data = pa.py_buffer(b"10.0.0.1")
    for kind, form, huge in ((pa.string(), "i", 2**30), (pa.large_binary(), "q", 2**60)):
        # pyarrow refuses the first and the last itself: it knows how long its buffers are.
        for ends in ([0, huge, 8], [0, -8, 8], [0, 9, 8], [0, -huge, 8]):
            column = pa.Array.from_buffers(kind, 2, [None, offsets(*ends, form=form), data])
            for invalid in ("raise", "null"):
                with pytest.raises(ValueError, match="^row [01]: broken Arrow data: an offset points outside the data$"):
                    t.lookup_many(column, output="list", invalid=invalid)
    # The part that is asked for is sound.
    column = pa.Array.from_buffers(pa.string(), 2, [None, offsets(0, 8, 4), data])
    assert t.lookup_many(column[:1], output="list") == ["a"]


def test_views_that_point_outside(t):
    pa = pytest.importorskip("pyarrow")
    data = pa.py_buffer(b"255.255.255.255 ")

    def view(length, buffer, offset):
        return struct.pack("=i4sii", length, b"255.", buffer, offset)

    for kind in (pa.string_view(), pa.binary_view()):
        for bad in (view(15, 1, 0), view(15, 0, 2), view(2**31 - 1, 0, 0), view(15, 0, -1), view(-1, 0, 0), view(15, -1, 0)):
            column = pa.Array.from_buffers(kind, 1, [None, pa.py_buffer(bad), data])
            with pytest.raises(ValueError, match="row 0: broken Arrow data: an offset points outside the data"):
                t.lookup_many(column, invalid="null")
    column = pa.Array.from_buffers(pa.string_view(), 1, [None, pa.py_buffer(view(15, 0, 0)), data])
    assert t.lookup_many(column, output="list") == [None]


def test_buffers_that_are_not_aligned(t):
    pa = pytest.importorskip("pyarrow")
    memory = np.arange(40, dtype=np.uint8) + 10
    odd = pa.py_buffer(memory).slice(1)
    for kind, width in ((pa.uint32(), 4), (pa.binary(4), 4), (pa.binary(16), 16)):
        column = pa.Array.from_buffers(kind, 2, [None, odd])
        rows = [bytes(memory[1 + width * n :][:width]) for n in range(2)]
        want = [t.get((int.from_bytes(row, sys.byteorder), 4) if kind == pa.uint32() else row) for row in rows]
        assert t.lookup_many(column, output="list") == want
    ends = pa.py_buffer(b"x" + struct.pack("=3i", 0, 8, 16)).slice(1)
    column = pa.Array.from_buffers(pa.string(), 2, [None, ends, pa.py_buffer(b"10.0.0.110.1.0.1")])
    assert t.lookup_many(column, output="list") == ["a", "b"]


def test_dictionaries_without_words(t):
    pa = pytest.importorskip("pyarrow")
    pl = pytest.importorskip("polars")
    none = pa.array([None, None], pa.int32())
    for words in (pa.array([], pa.string()), pa.nulls(3, pa.string()), pa.array([], pa.uint32())):
        for invalid in ("raise", "null"):
            column = pa.DictionaryArray.from_arrays(none, words)
            assert t.lookup_many(column, output="list", invalid=invalid) == [None, None]
            assert t.lookup_many(column[:0], output="list", invalid=invalid) == []
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array([None, "10.0.0.1"]))
    assert t.lookup_many(column, output="list") == [None, "a"]
    series = pl.Series(["10.0.0.1", "x"], dtype=pl.Categorical)
    for empty in (series.filter(pl.Series([False, False])), pl.Series([None, None], dtype=pl.Categorical)):
        assert t.lookup_many(empty, output="list") == [None] * len(empty)


def test_indices_that_point_outside(t):
    pa = pytest.importorskip("pyarrow")
    words = pa.array(["10.0.0.1", "10.1.0.1", "x"])
    for bad in (-1, 3, 127, -128):
        column = pa.DictionaryArray.from_arrays(pa.array([0, bad], pa.int8()), words, safe=False)
        for slack in (1, 100):
            many = pa.chunked_array([column.take(pa.array([0] * slack)), column])
            for invalid in ("raise", "null"):
                with pytest.raises(ValueError, match=f"row {slack + 1}: broken Arrow data: an index"):
                    t.lookup_many(many, invalid=invalid)
    # More words than rows: only those of the rows are read.
    for column in (pa.DictionaryArray.from_arrays(pa.array([1], pa.uint8()), words),):
        assert t.lookup_many(column, output="list") == ["b"]
    with pytest.raises(ValueError, match="row 0: 'x'"):
        t.lookup_many(pa.DictionaryArray.from_arrays(pa.array([2], pa.uint64()), words))


def test_structures_that_say_anything(t):
    """The structures themselves, damaged in memory: no counts make the process read where there is nothing."""
    pa = pytest.importorskip("pyarrow")
    import ctypes

    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]

    class Column:
        def __init__(self, array, field, value):
            self.array, self.field, self.value = array, field, value

        def __arrow_c_array__(self, requested_schema=None):
            schema, array = self.array.__arrow_c_array__()
            numbers = (ctypes.c_int64 * 10).from_address(pointer_of(array, b"arrow_array"))
            numbers[self.field] = self.value
            return schema, array

    length, offset, buffer_count, buffers, dictionary = 0, 2, 3, 5, 7
    for array in (pa.array(["10.0.0.1"]), pa.array(["10.0.0.1"], pa.string_view()), pa.array([1], pa.uint32()),
                  pa.array([b"1234"], pa.binary(4)), pa.array(["10.0.0.1"]).dictionary_encode()):  # fmt: skip
        for field in (length, offset):
            for value in (-1, -(2**63), 2**63 - 1, 2**62):
                with pytest.raises(ValueError, match="broken Arrow data"):
                    t.lookup_many(Column(array, field, value))
        for value in (-1, 0, 1, -(2**63)):
            with pytest.raises(ValueError, match="broken Arrow data"):
                t.lookup_many(Column(array, buffer_count, value))
        with pytest.raises(ValueError, match="a buffer is missing"):
            t.lookup_many(Column(array, buffers, 0))
    with pytest.raises(ValueError, match="its dictionary is missing"):
        t.lookup_many(Column(pa.array(["10.0.0.1"]).dictionary_encode(), dictionary, 0))


def test_types_without_a_name(t):
    """What a producer hands over whose type's text is missing, or is none: nothing that ends the process."""

    class Nameless:
        def __init__(self, name):
            self.column = pa.array(["10.0.0.1"])
            self.name = None if name is None else ctypes.create_string_buffer(name)

        def __arrow_c_array__(self, requested_schema=None):
            schema, array = self.column.__arrow_c_array__()
            address = ctypes.c_void_p.from_address(pointer(schema, b"arrow_schema"))
            address.value = None if self.name is None else ctypes.addressof(self.name)
            return schema, array

    pa = pytest.importorskip("pyarrow")
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    for name in (None, b"\xff", b"", b"zz"):
        with pytest.raises(TypeError, match="^a column of "):
            t.lookup_many(Nameless(name))


def test_streams_that_fail(t):
    pa = pytest.importorskip("pyarrow")

    def batches():
        yield pa.record_batch({"a": ["10.0.0.1"]})
        raise RuntimeError("no more")

    reader = pa.RecordBatchReader.from_batches(pa.schema({"a": pa.string()}), batches())
    with pytest.raises(TypeError, match="a column of struct"):
        t.lookup_many(reader)

    class Twice:
        capsule = pa.chunked_array([["10.0.0.1"], ["x"]]).__arrow_c_stream__()

        def __arrow_c_stream__(self, requested_schema=None):
            return self.capsule

    assert t.lookup_many(Twice(), output="list", invalid="null") == ["a", None]
    with pytest.raises(ValueError, match="taken before"):
        t.lookup_many(Twice())


def hostile(rng, pa):
    """An array of any type made of random buffers, right as often as not."""
    count = rng.randrange(1, 40)
    data = bytearray(rng.choice([b"10.0.0.1", b"255.255.255.255", b"2001:db8::1", b"x\xf0", b"", b"10.1.2.3 "]) * count)
    for _ in range(rng.randrange(4)):
        if data:
            data[rng.randrange(len(data))] = rng.randrange(256)

    def numbers(form, how_many, most):
        most = max(1, most)
        rows = sorted(rng.randrange(most) for _ in range(how_many))
        size = struct.calcsize(form)
        for _ in range(rng.choice([0, 0, 1, 3])):
            rows[rng.randrange(how_many)] = rng.choice([0, most, most + 1, -1, 2 ** (8 * size - 1) - 1, -(2 ** (8 * size - 1))])
        return foreign(b"".join(struct.pack("=" + form, row) for row in rows))

    def foreign(content):
        # At any address, in memory that another library owns.
        memory = np.zeros(len(content) + 9, np.uint8)
        at = rng.choice([0, 0, 0, 1, 4])
        memory[at : at + len(content)] = np.frombuffer(bytes(content), np.uint8)
        return pa.foreign_buffer(memory.ctypes.data + at, len(content), memory)

    def validity(how_many):
        return rng.choice([None, foreign(rng.randbytes(how_many // 8 + 1))])

    def views(how_many):
        rows = []
        for _ in range(how_many):
            length = rng.choice([0, 4, 12, 13, 16, len(data), -1, 2**31 - 1])
            rows.append(struct.pack("=i4sii", length, b"10.0", rng.choice([0, 0, 0, 1, -1]), rng.choice([0, 0, 3, len(data), -1])))
        return foreign(b"".join(rows))

    def plain(how_many):
        kind = rng.choice([pa.string(), pa.binary(), pa.large_string(), pa.large_binary(), pa.string_view(),
                           pa.binary_view(), pa.uint32(), pa.binary(4), pa.binary(16), pa.null()])  # fmt: skip
        if kind == pa.null():
            return pa.nulls(how_many)
        if kind in (pa.string(), pa.binary()):
            buffers = [numbers("i", how_many + 1, len(data) + 1), foreign(data)]
        elif kind in (pa.large_string(), pa.large_binary()):
            buffers = [numbers("q", how_many + 1, len(data) + 1), foreign(data)]
        elif kind in (pa.string_view(), pa.binary_view()):
            buffers = [views(how_many), foreign(data)]
        else:
            buffers = [foreign(rng.randbytes(how_many * (kind.bit_width // 8)))]
        return pa.Array.from_buffers(kind, how_many, [validity(how_many), *buffers])

    try:
        array = plain(count)
        if rng.random() < 0.3:
            form, kind = rng.choice([("b", pa.int8()), ("h", pa.int16()), ("i", pa.int32()), ("q", pa.int64())])
            indices = pa.Array.from_buffers(kind, count, [validity(count), numbers(form, count, count)])
            array = pa.DictionaryArray.from_arrays(indices, array, safe=False)
    except pa.ArrowInvalid:
        # Buffers that are too short, which nobody behind pyarrow could find out.
        return hostile(rng, pa)
    start = rng.randrange(count)
    return rng.choice([array, array[start:], array[start : start + 5], pa.chunked_array([array, array[start:]])])


def test_any_buffers(t):
    """Thousands of arrays of any buffers: an answer for each row, or a short error."""
    pa = pytest.importorskip("pyarrow")
    rng = random.Random(13)
    outcomes = {"answered": 0, "refused": 0}
    for _ in range(6000):
        column = hostile(rng, pa)
        invalid, output, threads = rng.choice(["raise", "null"]), rng.choice(["list", "arrow", "indices"]), rng.choice([1, 2])
        try:
            found = t.lookup_many(column, output=output, invalid=invalid, threads=threads)
        except ValueError as error:
            assert len(str(error)) < 400 and "\n" not in str(error).strip()
            outcomes["refused"] += 1
        else:
            assert len(found) == len(column)
            outcomes["answered"] += 1
    assert min(outcomes.values()) > 1000, outcomes


@pytest.mark.heavy
def test_more_rows_than_memory():
    pytest.importorskip("pyarrow")
    script = """
        import resource
        import pyarrow as pa, numpy, popfib
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        t = popfib.Table({"10.0.0.0/8": "a"})
        many = pa.nulls(25_000_000_000)
        for column in (many, pa.chunked_array([many, many, many])):
            for output in ("values", "indices", "list", "arrow", "prefixes", "matches", "arrow-prefixes"):
                try:
                    t.lookup_many(column, output=output)
                except MemoryError as error:
                    assert str(error).startswith("the answers of "), error
                else:
                    raise AssertionError(output)
        words = pa.DictionaryArray.from_arrays(pa.array([0, None], pa.int64()), pa.nulls(2_000_000_000))
        assert t.lookup_many(words, output="list") == [None, None]
    """
    run(script)


# ---- numpy


def test_arrays_that_are_not_aligned(t):
    memory = bytearray(200)
    memory[14:34] = struct.pack("=5I", 0x0A000001, 0x0A010001, 1, 0x0A000002, 0x0A010002)
    for column in (np.frombuffer(memory, np.uint32, count=5, offset=14), np.frombuffer(memory[13:], np.uint32, count=5, offset=1)):
        assert t.lookup_many(column, output="list") == ["a", "b", None, "a", "b"]
        assert t.lookup_many(column[::2], output="list") == ["a", None, "b"]
        assert t.lookup_many(column[:0], output="list") == []
    fields = np.zeros(3, np.dtype([("x", "u1"), ("ip", "u4"), ("raw", "S4")]))
    fields["ip"], fields["raw"] = 0x0A000001, b"\x0a\x01\x00\x01"
    assert t.lookup_many(fields["ip"], output="list") == ["a"] * 3
    assert t.lookup_many(fields["raw"], output="list") == ["b"] * 3


def test_out_that_is_not_aligned(t):
    out = np.frombuffer(bytearray(4 * 3 + 1), np.uint8)[1:].view(np.uint32)
    for column in (np.arange(3, dtype=np.uint32), ["10.0.0.1"] * 3):
        with pytest.raises(ValueError, match="out is not aligned"):
            t.lookup_many(column, output="indices", out=out)
    # With fields, and only by luck of where its memory is.
    packed = np.zeros(3, np.dtype([("x", "u1"), ("y", "u4")]))["y"]
    with pytest.raises(ValueError, match="out is"):
        t.lookup_many(["10.0.0.1"] * 3, output="indices", out=packed)


# ---- answers as Arrow


def test_the_dictionary_has_what_the_rows_have():
    pa = pytest.importorskip("pyarrow")
    count = 70_000
    t = popfib.Table(((n << 8, 4, 24), f"value {n}") for n in range(count))
    column = np.array([5 << 8, 69_999 << 8, 5 << 8, 1 << 31, 64 << 8, 63 << 8, 0], np.uint32)
    want = ["value 5", "value 69999", "value 5", None, "value 64", "value 63", "value 0"]
    answer = pa.array(t.lookup_many(column, output="arrow"))
    answer.validate(full=True)
    assert answer.to_pylist() == want and len(answer.dictionary) == 5
    for part, words in ((column[3:4], 1), (column[:0], 1), (column[:1], 1)):
        answer = pa.array(t.lookup_many(part, output="arrow"))
        answer.validate(full=True)
        assert len(answer.dictionary) == words and answer.type.value_type == pa.string()
    ints = popfib.Table(((n << 8, 4, 24), n) for n in range(count))
    answer = pa.array(ints.lookup_many(column[3:4], output="arrow"))
    assert answer.to_pylist() == [None] and answer.type.value_type == pa.int64()
    rows = np.random.default_rng(3).integers(0, 2**25, 30_000, dtype=np.uint32)
    assert pa.array(t.lookup_many(rows, output="arrow")).to_pylist() == t.lookup_many(rows, output="list")


def test_value_type_follows_the_values():
    t = popfib.Table()
    assert t.value_type is str
    for value, kind in (("a", str), (1, object)):
        t[f"{len(t)}.0.0.0/8"] = value
        assert t.value_type is kind
    del t["0.0.0.0/8"]
    assert t.value_type is int
    t["1.0.0.0/8"] = True
    assert t.value_type is bool and t.copy().value_type is bool
    t["2.0.0.0/8"] = 1
    assert t.value_type is object
    del t["2.0.0.0/8"]
    t["1.0.0.0/8"] = 2**63
    assert t.value_type is object
    t["1.0.0.0/8"] = -(2**63)
    assert t.value_type is int
    t.clear()
    assert t.value_type is str


# ---- images and settings


def nameless(path, next_hop):
    """An image with names, without its names: as the C library writes them."""
    import zlib

    t = popfib.Table({"10.0.0.0/8": "x" * 4, "2001:db8::/32": "x" * 4})
    t.save(path)
    image = path.read_bytes()
    count = struct.unpack_from("<I", image, 12)[0]
    sections = []
    for n in range(count):
        of, bits, kind, start, length = struct.unpack_from("<IHHQQ", image, 64 + 32 * n)
        content = bytearray(image[start : start + length])
        if bits == 0 and kind > 1:
            continue
        if kind == 34:
            content[:] = struct.pack("<I", next_hop) * (length // 4)
        sections.append((of, bits, kind, bytes(content)))
    end, table, body = 64 + 32 * len(sections), b"", b""
    for of, bits, kind, content in sections:
        start = -(-end // 64) * 64
        body += bytes(start - end) + content
        end = start + len(content)
        table += struct.pack("<IHHQQII", of, bits, kind, start, len(content), zlib.crc32(content), 0)
    head = image[:12] + struct.pack("<IQI", len(sections), end, zlib.crc32(table))
    head = head.ljust(60, b"\0")
    path.write_bytes(head + struct.pack("<I", zlib.crc32(head)) + table + body)


def test_images_without_names(tmp_path):
    """No more objects than routes, however high the next hops are."""
    path = tmp_path / "nameless.image"
    nameless(path, 1)
    with popfib.open(path) as t:
        assert t["10.1.1.1"] == 1 and dict(t.items()) == {"10.0.0.0/8": 1, "2001:db8::/32": 1}
    nameless(path, 2**31 - 1)
    script = f"""
        import resource
        import popfib
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        t = popfib.open({str(path)!r})
        assert t.nbytes < 1 << 20, t.nbytes
        assert t["10.1.1.1"] == 2**31 - 1 and t["2001:db8::1"] == 2**31 - 1
        assert t.dictionary() == [None, 2**31 - 1]
        t["11.0.0.0/8"] = 7
        assert t.lookup_many(["10.0.0.1", "11.0.0.1", "12.0.0.1"], output="list") == [2**31 - 1, 7, None]
    """
    run(script)


def test_a_file_that_changes_under_an_open_table(tmp_path):
    """`cp` over an image that is open: by default the table goes on."""
    routes = {f"10.{n}.0.0/16": f"value {n}" for n in range(256)}
    path, empty = tmp_path / "live.image", tmp_path / "empty.image"
    popfib.Table(routes).save(path)
    popfib.Table().save(empty)
    script = f"""
        import shutil
        import popfib
        t = popfib.open({str(path)!r})
        shutil.copyfile({str(empty)!r}, {str(path)!r})
        assert t["10.7.0.1"] == "value 7"
        open({str(path)!r}, "wb").close()
        assert len(t) == 256 and t.longest_match("10.8.0.1") == ("10.8.0.0/16", "value 8")
    """
    run(script)


def test_a_kernel_that_is_not_there():
    script = """
        import os
        os.environ["POPFIB_KERNEL"] = "avx513"
        try:
            import popfib
        except ValueError as error:
            assert str(error).startswith("POPFIB_KERNEL: no kernel `avx513`: "), error
        else:
            raise AssertionError
        os.environ["POPFIB_KERNEL"] = "scalar"
        import popfib
        os.environ["POPFIB_KERNEL"] = "avx513"
        t = popfib.Table({"10.0.0.0/8": "a"})
        assert t.lookup_many(["10.0.0.1"], output="list") == ["a"]
    """
    run(script)


def test_one_thread_does_it_all():
    """Files are read and addresses looked up also where no other thread can be started."""
    pytest.importorskip("resource")
    script = f"""
        import os, resource, tempfile, threading
        import popfib
        a = ["10.1.2.3", "11.0.0.0"] * 100_000
        with tempfile.TemporaryDirectory() as folder:
            text, image = f"{{folder}}/t.txt", f"{{folder}}/t.image"
            open(text, "w").write("10.0.0.0/8 a\\n")
            popfib.load(text).save(image)
            for path in folder, image:
                os.chmod(path, 0o755)
            # A limit of processes does not bind root: for root it is another user's, who has no others.
            resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
            user = os.geteuid()
            if user == 0:
                os.setresuid(64532, 64532, 0)
            try:
                threading.Thread(target=print).start()
                raise SystemExit("a thread was started")
            except RuntimeError:
                pass
            for t in popfib.load(text), popfib.open(image):
                assert t.lookup_many(a, output="list", threads=64) == ["a", None] * 100_000
            if user == 0:
                os.seteuid(0)
    """
    assert run(script) == ""
