package popfib.spark;

import java.util.Objects;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The bytes of Spark's text as characters, so that the reader parses them where they are. Addresses are ASCII: a byte of any
 * other text is a character from U+0080 to U+00FF, which no address has.
 */
final class Utf8Text implements CharSequence {
    private final Object base;
    private final long offset;
    private final int length;

    Utf8Text(UTF8String text) {
        base = text.getBaseObject();
        offset = text.getBaseOffset();
        length = text.numBytes();
    }

    @Override
    public int length() {
        return length;
    }

    @Override
    public char charAt(int index) {
        // Spark reads whatever memory it is asked for.
        return (char) (Platform.getByte(base, offset + Objects.checkIndex(index, length)) & 0xff);
    }

    @Override
    public CharSequence subSequence(int start, int end) {
        return toString().substring(start, end);
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(length);
        for (int index = 0; index < length; index++) {
            text.append(charAt(index));
        }
        return text.toString();
    }
}
