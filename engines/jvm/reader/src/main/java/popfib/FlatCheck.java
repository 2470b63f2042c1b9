package popfib;

/**
 * The same as {@link FibCheck} of flat FIBs, whose blocks have their entries one by one. Several pointers
 * may lead to one flat block, which is verified once.
 */
final class FlatCheck extends FibCheck {
    /** Flat blocks begin at multiples of so many words. */
    private static final int LINE = 16;
    private static final int PLACE = Fib.FLAT_MASK & ~1;
    private static final int SLOTS = 1 << Fib.STRIDE;
    /** The bits that say what a pointer leads to, and what they are of one to a flat block. */
    private static final int KIND = Integer.MIN_VALUE | Fib.WIDE | Fib.FLAT;
    private static final int TO_FLAT = Integer.MIN_VALUE | Fib.FLAT;

    FlatCheck(Section arena, Bytes root, int width, int rootBits, int pageBits, int valueBits, int maxAnswer) {
        super(arena, root, width, rootBits, pageBits, valueBits, maxAnswer);
    }

    @Override
    void walk() throws InvalidImageException {
        if (width > 32) {
            walkLong();
        } else {
            walkShort();
        }
    }

    /** Keys of up to 32 bits: every entry of the root leads to a flat block. */
    private void walkShort() throws InvalidImageException {
        int depth = rootBits + Fib.STRIDE;
        // A bit for each place that a block without halves, and one with, may have.
        long[] seen = new long[words / LINE / 32 + 1];
        for (int at = 0; at < root.length(); at += 4) {
            int entry = root.word(at);
            int place = entry & PLACE;
            boolean isHalf = (entry & Fib.HALF) != 0;
            int length = isHalf ? SLOTS / 2 : SLOTS;
            int number = place / LINE * 2 + (isHalf ? 1 : 0);
            if ((entry & KIND) != TO_FLAT || place % LINE != 0 || place > words - length) {
                throw nowhere(entry);
            }
            if ((seen[number / 64] >>> number & 1) != 0) {
                continue;
            }
            seen[number / 64] |= 1L << number;
            own(place, length);
            for (int n = 0; n < length; n++) {
                int value = word(place + n);
                if (isHalf) {
                    half(value & 0xFFFF);
                    half(value >>> 16);
                } else {
                    pointer(value, depth);
                }
            }
            rest();
        }
        rest();
    }

    private void half(int half) throws InvalidImageException {
        if (half >= Fib.HALF_END) {
            throw nowhere(half);
        }
        answer(half);
    }

    /**
     * Longer keys, all of whose blocks are flat. They are verified from the highest place down: each
     * when all pointers to it have been seen, and so once.
     */
    private void walkLong() throws InvalidImageException {
        // By the line that a block begins: the most bits above it plus one, or 0 if nothing leads there.
        byte[] depths = new byte[words / LINE + 1];
        for (int at = 0; at < root.length(); at += 4) {
            int entry = root.word(at);
            if (entry >= 0 || pageBits == 0) {
                longPointer(entry, rootBits, depths);
                continue;
            }
            int page = page(entry);
            for (int n = 0; n < 1 << pageBits; n++) {
                longPointer(word(page + n), rootBits + pageBits, depths);
            }
        }
        for (int line = depths.length - 1; line >= 0; line--) {
            if (depths[line] == 0) {
                continue;
            }
            int place = line * LINE;
            int depth = (depths[line] & 0xFF) - 1;
            own(place, SLOTS);
            for (int n = 0; n < SLOTS; n++) {
                int entry = word(place + n);
                if (entry < 0 && (entry & PLACE) >= place) {
                    throw nowhere(entry);
                }
                longPointer(entry, depth + Fib.STRIDE, depths);
            }
        }
    }

    /** Verifies a pointer after so many bits, but for the block that it leads to, whose depth it notes. */
    private void longPointer(int p, int depth, byte[] depths) throws InvalidImageException {
        if (p >= 0) {
            answer(p);
            return;
        }
        int place = p & PLACE;
        if ((p & ~PLACE) != TO_FLAT || place % LINE != 0 || place > words - SLOTS) {
            throw nowhere(p);
        }
        if (depth >= width) {
            throw broken(place, "a block is too deep");
        }
        int noted = depths[place / LINE] & 0xFF;
        depths[place / LINE] = (byte) Math.max(noted, depth + 1);
    }
}
