package popfib;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The bytes of a section, and the little-endian numbers in them. Two forms: copied or mapped. A program
 * that uses one of them alone has no choice to make at a call; one that uses both compares a class.
 */
abstract class Bytes {
    static final Bytes NONE = new Copied(new byte[0]);

    abstract int length();

    abstract byte at(int at);

    /** 4 bytes from this one on. */
    abstract int word(int at);

    /** 8 bytes from this one on. */
    abstract long pair(int at);

    /** A view of all bytes. */
    abstract ByteBuffer buffer();

    /** An unsigned word. */
    final long unsigned(int at) {
        return word(at) & 0xFFFF_FFFFL;
    }

    final boolean isZero(int from, int to) {
        for (int at = from; at < to; at++) {
            if (at(at) != 0) {
                return false;
            }
        }
        return true;
    }

    /** Bytes in memory of their own. */
    static final class Copied extends Bytes {
        private static final VarHandle WORD = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
        private static final VarHandle PAIR = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

        private final byte[] bytes;

        Copied(byte[] bytes) {
            this.bytes = bytes;
        }

        @Override
        int length() {
            return bytes.length;
        }

        @Override
        byte at(int at) {
            return bytes[at];
        }

        @Override
        int word(int at) {
            return (int) WORD.get(bytes, at);
        }

        @Override
        long pair(int at) {
            return (long) PAIR.get(bytes, at);
        }

        @Override
        ByteBuffer buffer() {
            return ByteBuffer.wrap(bytes);
        }
    }

    /** Bytes of a mapped file. */
    static final class Mapped extends Bytes {
        private final ByteBuffer bytes;

        Mapped(ByteBuffer bytes) {
            this.bytes = bytes.order(ByteOrder.LITTLE_ENDIAN);
        }

        @Override
        int length() {
            return bytes.limit();
        }

        @Override
        byte at(int at) {
            return bytes.get(at);
        }

        @Override
        int word(int at) {
            return bytes.getInt(at);
        }

        @Override
        long pair(int at) {
            return bytes.getLong(at);
        }

        @Override
        ByteBuffer buffer() {
            return bytes.duplicate();
        }
    }
}
