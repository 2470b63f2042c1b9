package popfib;

/**
 * A key in; the answer of one FIB out, found as docs/image-format.md says. What is read here has been
 * verified by {@link FibCheck}. Java shifts by the lower bits of a distance, as the masks there say.
 */
final class Fib {
    // Bits of pointers. Bit 31, the sign, says that it is one.
    static final int WIDE = 1 << 30;
    static final int FLAT = 1 << 29;
    static final int HALF = 1;
    static final int PLACE_MASK = WIDE - 1;
    static final int PAGE_MASK = Integer.MAX_VALUE;
    static final int FLAT_MASK = FLAT - 2;
    /** Entries of 16 bits are below this. */
    static final int HALF_END = 1 << 15;
    /** The bits that a block resolves. */
    static final int STRIDE = 6;

    /** Answers 0 to every key. */
    static final Fib EMPTY = new Fib(new Bytes.Copied(new byte[4]), Bytes.NONE, 0, 0, 1, 0);

    private final Bytes root;
    private final Bytes arena;
    private final int rootBits;
    private final int pageBits;
    private final int valueBits;
    /** How many routes it was compiled from. */
    final int routes;

    Fib(Bytes root, Bytes arena, int rootBits, int pageBits, int valueBits, int routes) {
        this.root = root;
        this.arena = arena;
        this.rootBits = rootBits;
        this.pageBits = pageBits;
        this.valueBits = valueBits;
        this.routes = routes;
    }

    /** The word of the root table for an IPv4 address: an answer, if it is not negative. */
    int root(int key) {
        return root.word((int) ((key & 0xFFFF_FFFFL) << rootBits >>> 32) << 2);
    }

    /** The answer for an IPv4 address; 0 if there is none. */
    int lookup(int key) {
        int p = root(key);
        return p >= 0 ? p : below(p, key);
    }

    /** The answer below a pointer of the root. */
    int below(int p, int key) {
        Bytes arena = this.arena;
        int rest = (int) ((key & 0xFFFF_FFFFL) << rootBits);
        if ((p & FLAT) != 0) {
            p = flatEntry(arena, p, rest >>> 32 - STRIDE);
            if (p >= 0) {
                return p;
            }
            rest <<= STRIDE;
        }
        while (true) {
            int place = (p & PLACE_MASK) << 2;
            // How many runs begin at or before the slot.
            int count = Long.bitCount(arena.pair(place) << ~(rest >>> 26));
            if ((p & WIDE) == 0) {
                return narrow(arena, place, count);
            }
            p = arena.word(place + 4 + (count << 2));
            if (p >= 0) {
                return p;
            }
            rest <<= STRIDE;
        }
    }

    /** The answer for an IPv6 address, whose halves these are. */
    int lookup(long high, long low) {
        int p = root.word((int) (high >>> 1 >>> 63 - rootBits) << 2);
        if (p >= 0) {
            return p;
        }
        Bytes arena = this.arena;
        int used = rootBits;
        if (pageBits != 0) {
            p = arena.word((p & PAGE_MASK) + (int) (high << used >>> 64 - pageBits) << 2);
            if (p >= 0) {
                return p;
            }
            used += pageBits;
        }
        // The upper half has what is left of the key. When the lower one has bits to give, they follow.
        high = high << used | low >>> 1 >>> 63 - used;
        low <<= used;
        if ((p & FLAT) != 0) {
            while (p < 0) {
                p = arena.word((p & FLAT_MASK) + (int) (high >>> 58) << 2);
                high = high << STRIDE | low >>> 64 - STRIDE;
                low <<= STRIDE;
            }
            return p;
        }
        while (true) {
            int place = (p & PLACE_MASK) << 2;
            int count = Long.bitCount(arena.pair(place) << ~(high >>> 58));
            if ((p & WIDE) == 0) {
                return narrow(arena, place, count);
            }
            p = arena.word(place + 4 + (count << 2));
            if (p >= 0) {
                return p;
            }
            high = high << STRIDE | low >>> 64 - STRIDE;
            low <<= STRIDE;
        }
    }

    /** The value of a narrow block that ends the first {@code count} of them. */
    private int narrow(Bytes arena, int place, int count) {
        // The word with its last bit and the one before, which is at worst the second of `runs`.
        int last = count * valueBits - 1;
        return (int) (arena.pair(place + 4 + (last >>> 5 << 2)) << (~last & 31) >>> 64 - valueBits);
    }

    /** What the flat block has in this slot that the pointer leads to. */
    private int flatEntry(Bytes arena, int p, int slot) {
        int place = p & FLAT_MASK;
        if ((p & HALF) == 0) {
            return arena.word(place + slot << 2);
        }
        return arena.word(place + (slot >>> 1) << 2) >>> ((slot & 1) << 4) & 0xFFFF;
    }
}
