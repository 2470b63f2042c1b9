package popfib;

import java.util.Arrays;

/**
 * The sections of one FIB in; a {@link Fib} that lookups may rely on out. Every pointer leads to a whole
 * page or block inside the arena, no word belongs to two of them, and no way down is longer than the
 * key, so each lookup ends and stays inside, and the walk that verifies this takes linear time.
 */
class FibCheck {
    private static final int DESCRIPTION = 40;
    private static final int MAX_DIRECT_BITS = 24;
    private static final int MAX_ARENA_WORDS = (1 << 29) - 1;
    /** The words 1, 0, 0, which no pointer leads to. */
    private static final int IDLE_WORDS = 3;

    final Bytes root;
    final Bytes arena;
    final int width;
    final int rootBits;
    final int pageBits;
    /** The arena has so many words. */
    final int words;

    private final Section arenaSection;
    private final int valueBits;
    private final int maxAnswer;
    /** A bit for each word that belongs to a block or page that has been seen, unless the arena is shared. */
    private final long[] owned;
    private SharedArena shared;
    /** Pointers to blocks that are to be verified, and the bits of the key above each. */
    private int[] pointers = new int[64];
    private byte[] depths = new byte[64];
    private int pending;

    /** What is known of an arena that several FIBs have in common. */
    static final class SharedArena {
        /** The bits of values and the highest answer, which are those of all; of none yet: 0. */
        private long like;
        /** By place and width of a block: how many blocks a lookup could pass from there on when it was met, the fewest. */
        private final byte[] room;

        SharedArena(int words) {
            room = new byte[2 * words];
        }
    }

    FibCheck(Section arena, Bytes root, int width, int rootBits, int pageBits, int valueBits, int maxAnswer) {
        arenaSection = arena;
        this.root = root;
        this.arena = arena.bytes();
        this.width = width;
        this.rootBits = rootBits;
        this.pageBits = pageBits;
        this.valueBits = valueBits;
        this.maxAnswer = maxAnswer;
        words = this.arena.length() / 4;
        owned = new long[words / 64 + 1];
    }

    /** Verifies a FIB for keys of this width, whose answers are at most {@code maxAnswer}. */
    static Fib verify(Section[] sections, int width, long maxAnswer, SharedArena shared) throws InvalidImageException {
        Section description = sections[0];
        Bytes d = description.bytes();
        Bytes root = sections[1].bytes();
        Bytes arena = sections[2].bytes();
        if (d.length() != DESCRIPTION || (d.at(5) | d.at(6)) >>> 1 != 0 || d.at(7) != 0 || d.at(3) != 16 && d.at(3) != 32) {
            throw description.broken(0, "it is malformed");
        }
        int rootBits = d.at(0) & 0xFF;
        int pageBits = d.at(1) & 0xFF;
        int valueBits = d.at(2) & 0xFF;
        boolean isFlat = d.at(6) == 1;
        long routes = d.pair(24);
        if (routes < 0 || routes > Integer.MAX_VALUE) {
            throw description.broken(24, "there are too many routes");
        }
        // Direct bits beyond the first 16 of long keys are page bits.
        int maxRoot = width > 32 ? 16 : MAX_DIRECT_BITS;
        int maxPage = width > 32 && rootBits == 16 ? MAX_DIRECT_BITS - 16 : 0;
        if (rootBits > maxRoot || pageBits > maxPage || valueBits < 1 || valueBits > 32) {
            throw description.broken(0, "it is malformed");
        }
        if (root.length() != 4 << rootBits) {
            throw sections[1].broken(0, "it has another length than its description says");
        }
        if (arena.length() % 4 != 0 || arena.length() < 4 * IDLE_WORDS || arena.length() / 4 > MAX_ARENA_WORDS) {
            throw sections[2].broken(0, "its length is none that it can have");
        }
        if (arena.word(0) != 1 || arena.pair(4) != 0) {
            throw sections[2].broken(0, "it does not begin with the words 1, 0, 0");
        }
        boolean isShortAndFlat = isFlat && width <= 32;
        if (isShortAndFlat && rootBits == 0) {
            throw description.broken(0, "size fastest is no longer read; compile the table again");
        }
        if (isShortAndFlat && rootBits + Fib.STRIDE > width) {
            throw description.broken(0, "its blocks resolve more bits than keys have");
        }
        int most = routes == 0 ? 0 : (int) Math.min(maxAnswer, d.at(3) == 16 ? 0xFFFF : Integer.MAX_VALUE);
        FibCheck check = isFlat ? new FlatCheck(sections[2], root, width, rootBits, pageBits, valueBits, most)
                : new FibCheck(sections[2], root, width, rootBits, pageBits, valueBits, most);
        if (shared != null) {
            long like = (long) valueBits << 32 | most;
            if (isFlat || shared.like != 0 && shared.like != like) {
                throw description.broken(0, "FIBs with one arena differ");
            }
            shared.like = like;
            check.shared = shared;
        }
        check.own(0, IDLE_WORDS);
        check.walk();
        return new Fib(root, arena, rootBits, pageBits, valueBits, (int) routes);
    }

    /** Walks from every pointer of the root. */
    void walk() throws InvalidImageException {
        int depth = rootBits + pageBits;
        for (int at = 0; at < root.length(); at += 4) {
            int entry = root.word(at);
            if (entry >= 0 || pageBits == 0) {
                pointer(entry, depth);
            } else {
                int page = page(entry);
                for (int n = 0; n < 1 << pageBits; n++) {
                    pointer(word(page + n), depth);
                }
            }
            rest();
        }
    }

    final int word(int place) {
        return arena.word(place << 2);
    }

    /** Takes the page that a pointer of the root leads to, and returns its place. */
    final int page(int entry) throws InvalidImageException {
        // A page carries no mark of width.
        int place = entry & Fib.PAGE_MASK;
        if (place > words - (1 << pageBits)) {
            throw nowhere(entry);
        }
        own(place, 1 << pageBits);
        return place;
    }

    /** Verifies the blocks that are to do, and all below them. */
    final void rest() throws InvalidImageException {
        while (pending > 0) {
            pending--;
            block(pointers[pending], depths[pending] & 0xFF);
        }
    }

    final InvalidImageException broken(int place, String reason) {
        return arenaSection.broken(4L * place, reason);
    }

    final InvalidImageException nowhere(int pointer) {
        return broken(0, String.format("pointer 0x%08x leads nowhere", pointer));
    }

    final void answer(int answer) throws InvalidImageException {
        if (Integer.compareUnsigned(answer, maxAnswer) > 0) {
            throw broken(0, "the answer " + Integer.toUnsignedString(answer) + " is none there is");
        }
    }

    /** Verifies an answer, or notes the block that is to be verified. */
    final void pointer(int p, int depth) throws InvalidImageException {
        if (p >= 0) {
            answer(p);
            return;
        }
        if (depth >= width) {
            throw broken(p & Fib.PLACE_MASK, "a block is too deep");
        }
        if (shared != null) {
            int at = (p & Fib.PLACE_MASK) * 2 + (p >>> 30 & 1);
            if (at < 0 || at >= shared.room.length) {
                throw nowhere(p);
            }
            int room = (width - depth + Fib.STRIDE - 1) / Fib.STRIDE;
            if (shared.room[at] != 0 && shared.room[at] <= room) {
                return;
            }
            shared.room[at] = (byte) room;
        }
        if (pending == pointers.length) {
            pointers = Arrays.copyOf(pointers, 2 * pending);
            depths = Arrays.copyOf(depths, 2 * pending);
        }
        pointers[pending] = p;
        depths[pending++] = (byte) depth;
    }

    /** Takes so many words, all in the arena, which must have no owner, unless it is shared. */
    final void own(int place, int length) throws InvalidImageException {
        if (shared != null) {
            return;
        }
        for (int at = place, end = place + length; at < end;) {
            int next = Math.min(end, (at / 64 + 1) * 64);
            long mask = -1L >>> 64 - (next - at) << at;
            if ((owned[at / 64] & mask) != 0) {
                throw broken(place, "a word has two owners");
            }
            owned[at / 64] |= mask;
            at = next;
        }
    }

    /** Verifies the block with runs that a pointer leads to. */
    private void block(int p, int depth) throws InvalidImageException {
        int place = p & Fib.PLACE_MASK;
        if (place > words - 2) {
            throw nowhere(p);
        }
        long runs = arena.pair(place << 2);
        if ((runs & 1) == 0) {
            throw broken(place, "a block has no first run");
        }
        int count = Long.bitCount(runs);
        boolean isWide = (p & Fib.WIDE) != 0;
        int length = 2 + (isWide ? count : (count * valueBits + 31) / 32);
        if (place > words - length) {
            throw nowhere(p);
        }
        own(place, length);
        if (isWide) {
            for (int n = 0; n < count; n++) {
                pointer(word(place + 2 + n), depth + Fib.STRIDE);
            }
            return;
        }
        if (maxAnswer >= (1L << valueBits) - 1) {
            return;
        }
        for (int last = valueBits - 1; count > 0; count--, last += valueBits) {
            long both = arena.pair(place + 1 + last / 32 << 2);
            answer((int) (both << (~last & 31) >>> 64 - valueBits));
        }
    }
}
