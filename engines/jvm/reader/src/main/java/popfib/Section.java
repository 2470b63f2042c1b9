package popfib;

import java.util.Map;

/** A part of an image: which it is, where it begins, and its bytes. */
record Section(Id id, long start, Bytes bytes) {
    // Kinds.
    static final int METADATA = 1;
    static final int COLUMNS = 4;
    static final int ROWS = 5;
    static final int FIB = 16;
    static final int ADDRESSES = 32;
    static final int LONGEST = 48;
    static final int VALUES = 64;
    static final int TEXT_ENDS = 1;
    static final int LIST_ENDS = 2;
    static final int LIST_CODES = 3;
    static final int KINDS_PER_COLUMN = 4;
    static final int MAX_COLUMNS = 4096;

    private static final Map<Integer, String> NAMES = Map.ofEntries(Map.entry(METADATA, "metadata"),
            Map.entry(COLUMNS, "columns of the records"), Map.entry(ROWS, "rows of the records"),
            Map.entry(FIB, "FIB description"), Map.entry(FIB + 1, "FIB root table"), Map.entry(FIB + 2, "FIB arena"),
            Map.entry(ADDRESSES, "route addresses"), Map.entry(ADDRESSES + 1, "route lengths"),
            Map.entry(ADDRESSES + 2, "route next hops"), Map.entry(LONGEST, "longest-match FIB description"),
            Map.entry(LONGEST + 1, "longest-match FIB root table"), Map.entry(LONGEST + 2, "longest-match FIB arena"));
    private static final String[] OF_COLUMN = {"values", "ends of texts", "ends of lists", "elements of lists"};

    /** The order of sections: table, key width, kind. */
    record Id(int table, int width, int kind) implements Comparable<Id> {
        @Override
        public int compareTo(Id other) {
            int order = Integer.compareUnsigned(table, other.table);
            order = order != 0 ? order : Integer.compare(width, other.width);
            return order != 0 ? order : Integer.compare(kind, other.kind);
        }

        boolean isOfColumn() {
            return width == 0 && kind >= VALUES && kind < VALUES + KINDS_PER_COLUMN * MAX_COLUMNS;
        }

        /** Whether this reader knows what it is; others are verified and forgotten. */
        boolean isKnown() {
            return isOfColumn() || NAMES.containsKey(kind) && (kind < FIB ? width == 0 : width == 32 || width == 128);
        }

        @Override
        public String toString() {
            String name = NAMES.get(kind);
            if (isOfColumn()) {
                name = OF_COLUMN[kind % KINDS_PER_COLUMN] + " of column " + ((kind - VALUES) / KINDS_PER_COLUMN + 1);
            } else if (name == null) {
                name = "section of kind " + kind + ", " + width + " bits";
            } else if (width != 0) {
                name = (width == 32 ? "IPv4 " : width == 128 ? "IPv6 " : width + "-bit ") + name;
            }
            return Integer.compareUnsigned(table, 1) > 0 ? name + " of table " + Integer.toUnsignedString(table) : name;
        }
    }

    /** What is wrong so many bytes after its beginning. */
    InvalidImageException broken(long at, String reason) {
        return new InvalidImageException(start + at, id.toString(), reason);
    }
}
