"""Sets of addresses in Python: popfib beside netaddr, pytricia and py-radix.

    python lab/bench/sets.py [--runs 5] [--prefixes 50000] [--addresses 10000000]

Two lists of random prefixes of IPv4, half /24 and half addresses, from a fixed seed; the second has half of the first. Each
figure is the median of the runs, with the lowest and the highest in brackets; what is compared takes turns, in CPU times of
this process. `in` asks for texts one by one, half of which are members. Needs numpy, netaddr, pytricia and py-radix, and all
of them have to find the same.
"""

import argparse
import random
import statistics
import time

import netaddr
import numpy as np
import pytricia
import radix

import popfib

TEXTS = 100_000


def prefixes(count, seed):
    """A list of so many prefixes, in no order."""
    chosen = random.Random(seed)
    found = set()
    while len(found) < count:
        is_long = chosen.random() < 0.5
        found.add((chosen.getrandbits(32), 32) if is_long else (chosen.getrandbits(24) << 8, 24))
    texts = [f"{dotted(bits)}/{length}" for bits, length in found]
    chosen.shuffle(texts)
    return texts


def dotted(bits):
    return ".".join(str(bits >> shift & 255) for shift in (24, 16, 8, 0))


def seconds(work):
    start = time.process_time()
    work()
    return time.process_time() - start


def compare(name, runs, count=None, **works):
    """Times of each of the works, or rates of so many, which take turns; the first beside each of the others."""
    times = {which: [] for which in works}
    for _ in range(runs):
        for which, work in works.items():
            times[which].append(seconds(work))
    print(name)
    for which, found in times.items():
        shown = sorted(count / 1e6 / time if count else 1000 * time for time in found)
        unit = "M/s" if count else "ms"
        print(f"  {which:24} {statistics.median(shown):10.3g} {unit} [{shown[0]:.3g} to {shown[-1]:.3g}]")
    first, *others = times
    for which in others:
        pairs = [b / a for a, b in zip(times[first], times[which], strict=True)]
        print(f"  {first}, times the rate of {which}: {statistics.median(pairs):.3g} [{min(pairs):.3g} to {max(pairs):.3g}]")


def tricia(texts):
    tree = pytricia.PyTricia(32)
    for text in texts:
        tree[text] = True
    return tree


def radix_of(texts):
    tree = radix.Radix()
    for text in texts:
        tree.add(text)
    return tree


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--prefixes", type=int, default=50_000)
    parser.add_argument("--addresses", type=int, default=10_000_000)
    args = parser.parse_args()
    texts = prefixes(args.prefixes, 1)
    others = texts[::2] + prefixes(args.prefixes // 2, 2)
    a, b, x, y = popfib.IPSet(texts), popfib.IPSet(others), netaddr.IPSet(texts), netaddr.IPSet(others)
    for found, expected in (a, x), (a | b, x | y), (a & b, x & y), (a - b, x - y), (a ^ b, x ^ y):
        assert found == popfib.IPSet(expected)
    tree, rtree, table = tricia(texts), radix_of(texts), popfib.Table(dict.fromkeys(texts, True))

    rng = random.Random(3)
    asked = [text.partition("/")[0] for text in rng.choices(texts, k=TEXTS // 2)]
    asked += [dotted(rng.getrandbits(32)) for _ in range(TEXTS // 2)]
    rng.shuffle(asked)
    expected = [text in a for text in asked]
    for found in x, tree:
        assert [text in found for text in asked] == expected
    assert [rtree.search_best(text) is not None for text in asked] == expected
    numbers = np.random.default_rng(1).integers(0, 2**32, args.addresses, np.uint32)
    assert (a.contains(numbers) == (table.lookup_many(numbers, output="indices") > 0)).all()

    print(f"lists of {args.prefixes} prefixes")
    compare(
        "from a list of texts", args.runs,
        popfib=lambda: popfib.IPSet(texts), netaddr=lambda: netaddr.IPSet(texts),
        pytricia=lambda: tricia(texts), radix=lambda: radix_of(texts),
    )
    compare("and compiled, when first asked", args.runs, popfib=lambda: "10.0.0.1" in popfib.IPSet(texts))
    for name, mine, theirs in [
        ("a | b", lambda: a | b, lambda: x | y),
        ("a & b", lambda: a & b, lambda: x & y),
        ("a - b", lambda: a - b, lambda: x - y),
        ("a ^ b", lambda: a ^ b, lambda: x ^ y),
    ]:
        compare(name, args.runs, popfib=mine, netaddr=theirs)
    compare(
        "in, texts one by one", args.runs, TEXTS,
        popfib=lambda: [text in a for text in asked], netaddr=lambda: [text in x for text in asked],
        pytricia=lambda: [text in tree for text in asked],
        radix=lambda: [rtree.search_best(text) is not None for text in asked],
    )
    compare("contains, a list of texts", args.runs, TEXTS, popfib=lambda: a.contains(asked))
    compare(
        "contains, random uint32", args.runs, args.addresses,
        popfib=lambda: a.contains(numbers), table=lambda: table.lookup_many(numbers, output="indices"),
    )


if __name__ == "__main__":
    main()
