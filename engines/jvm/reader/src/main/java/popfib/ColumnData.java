package popfib;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * The values of one column by their codes, as docs/image-format.md has them. A value becomes an object
 * when it is first asked for, by one thread, and is kept. Other threads may see it without waiting, as all
 * that objects of these classes have is final.
 */
final class ColumnData {
    final ColumnType type;
    /** Different values, and different lists. */
    private final int count;
    private final int lists;
    private Bytes values;
    private Bytes textEnds;
    private Bytes listEnds;
    private Bytes codes;
    /** Where in a row its code is: the first byte, the bits below, and a mask of its bits. */
    int byteAt;
    int shift;
    long mask;
    private Object[] objects;
    /** Of a column of lists: what their elements stand for. */
    private Object[] elements;

    ColumnData(ColumnType type, int count, int lists) {
        this.type = type;
        this.count = count;
        this.lists = lists;
    }

    /** The highest code, an unsigned number. */
    int highest() {
        return type.isList() ? lists : count;
    }

    /** What codes stand for, null where nobody has asked yet. */
    synchronized Object[] objects() {
        if (objects == null) {
            objects = new Object[highest() + 1];
        }
        return objects;
    }

    /** Makes what a code stands for, if it has not been made meanwhile. */
    synchronized Object make(int code) {
        Object[] all = objects();
        if (all[code] == null) {
            all[code] = type.isList() ? list(code) : decode(code - 1);
        }
        return all[code];
    }

    private Object list(int code) {
        int from = code == 1 ? 0 : listEnds.word(code - 2 << 2);
        Object[] parts = new Object[listEnds.word(code - 1 << 2) - from];
        for (int n = 0; n < parts.length; n++) {
            parts[n] = element(codes.word(from + n << 2));
        }
        return Collections.unmodifiableList(Arrays.asList(parts));
    }

    /** The value of a code, which lists share. */
    private Object element(int code) {
        if (elements == null) {
            elements = new Object[count + 1];
        }
        if (elements[code] == null) {
            elements[code] = decode(code - 1);
        }
        return elements[code];
    }

    /** The bits of the number that a code stands for. */
    long number(int code) {
        return values.pair(code - 1 << 3);
    }

    private Object decode(int n) {
        return switch (type.kind()) {
            case TEXT -> Utf8.text(values, n == 0 ? 0 : textEnds.word(n - 1 << 2), textEnds.word(n << 2));
            case INTEGER -> number(n + 1);
            case UNSIGNED -> new BigInteger(Long.toUnsignedString(number(n + 1)));
            case FLOAT -> Double.longBitsToDouble(number(n + 1));
            case BOOLEAN -> values.at(n) == 1;
        };
    }

    /** Takes and verifies the sections of the values, from this kind on. */
    void read(TableSections of, int kind) throws InvalidImageException {
        Section section = of.need(0, kind);
        values = section.bytes();
        int length = values.length();
        long expected = count & 0xFFFF_FFFFL;
        switch (type.kind()) {
            case TEXT -> {
                if (!Utf8.isValid(values.buffer())) {
                    throw section.broken(0, "its texts are not UTF-8");
                }
                Section ends = ends(of, kind + Section.TEXT_ENDS, count, length, "a text");
                textEnds = ends.bytes();
                for (int at = 0; at < textEnds.length(); at += 4) {
                    // Where the whole is UTF-8, its parts are if none begins inside of a character.
                    int end = textEnds.word(at);
                    if (end < length && (values.at(end) & 0xC0) == 0x80) {
                        throw ends.broken(at, "a text ends inside of a character");
                    }
                }
            }
            case BOOLEAN -> {
                if (length != expected) {
                    throw section.broken(0, "it has another number of values than its column");
                }
                for (int at = 0; at < length; at++) {
                    if (values.at(at) >>> 1 != 0) {
                        throw section.broken(at, "a value is neither 0 nor 1");
                    }
                }
            }
            default -> {
                if (length != 8 * expected) {
                    throw section.broken(0, "it has another number of values than its column");
                }
            }
        }
        if (!type.isList()) {
            return;
        }
        Section elements = of.need(0, kind + Section.LIST_CODES);
        codes = elements.bytes();
        if (codes.length() % 4 != 0) {
            throw elements.broken(0, "its length is no multiple of an element's");
        }
        listEnds = ends(of, kind + Section.LIST_ENDS, lists, codes.length() / 4, "a list").bytes();
        for (int at = 0; at < codes.length(); at += 4) {
            int code = codes.word(at);
            if (code == 0 || Integer.compareUnsigned(code, count) > 0) {
                throw elements.broken(at, "an element has no value");
            }
        }
    }

    /** Verifies words that say where each of so many parts of a whole ends. */
    private static Section ends(TableSections of, int kind, int count, int whole, String part) throws InvalidImageException {
        Section section = of.need(0, kind);
        Bytes ends = section.bytes();
        if (ends.length() != 4 * (count & 0xFFFF_FFFFL)) {
            throw section.broken(0, "it has another length than its column says");
        }
        int last = 0;
        for (int at = 0; at < ends.length(); at += 4) {
            int end = ends.word(at);
            if (Integer.compareUnsigned(end, last) < 0) {
                throw section.broken(at, part + " does not end after its beginning");
            }
            last = end;
        }
        if (last != whole) {
            throw section.broken(0, "the last one does not end where all do");
        }
        return section;
    }
}
