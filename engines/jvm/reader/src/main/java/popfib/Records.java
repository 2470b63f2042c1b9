package popfib;

import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The sections of records in; verified columns out, and the code that a record has in each. */
final class Records {
    private static final int HEAD = 16;

    /** Of a table whose routes lead to numbers alone. */
    static final Records NONE = new Records(Integer.MAX_VALUE, 0, 0, new ColumnData[0]);

    /** Records are numbered from 1 to this. */
    final int count;
    final int valueColumn;
    final ColumnData[] columns;
    /** How many bytes a row has; 0: there are no rows, and record n has code n. */
    final int rowBytes;
    Bytes rows = Bytes.NONE;

    private Records(int count, int rowBytes, int valueColumn, ColumnData[] columns) {
        this.count = count;
        this.rowBytes = rowBytes;
        this.valueColumn = valueColumn;
        this.columns = columns;
    }

    /** Reads and verifies the records of a table. */
    static Records of(TableSections of) throws InvalidImageException {
        Section head = of.find(0, Section.COLUMNS);
        if (head == null) {
            return NONE;
        }
        Bytes b = head.bytes();
        if (b.length() < HEAD) {
            throw head.broken(0, "it is malformed");
        }
        long width = b.unsigned(4);
        long valueColumn = b.unsigned(12);
        if (width < 1 || width > Section.MAX_COLUMNS || valueColumn >= width || HEAD + 16 * width > b.length()) {
            throw head.broken(4, "it is malformed");
        }
        // Next hops have 31 bits, so no more records can be found.
        int count = b.word(0) < 0 ? Integer.MAX_VALUE : b.word(0);
        long rowBytes = b.unsigned(8);
        Records records = new Records(count, (int) rowBytes, (int) valueColumn, new ColumnData[(int) width]);
        Set<String> names = new HashSet<>();
        int nameAt = (int) (HEAD + 16 * width);
        long bit = 0;
        for (int n = 0; n < width; n++) {
            int at = HEAD + 16 * n;
            int type = b.at(at);
            int isList = b.at(at + 1);
            long nameLength = b.unsigned(at + 4);
            int lists = b.word(at + 12);
            if (type < 1 || type > ColumnType.Kind.values().length || isList < 0 || isList > 1
                    || isList == 0 && lists != 0 || nameLength > b.length() - nameAt) {
                throw head.broken(at, "a column is malformed");
            }
            int nameEnd = nameAt + (int) nameLength;
            if (!Utf8.isValid(b.buffer().position(nameAt).limit(nameEnd))) {
                throw head.broken(at, "the name of a column is not UTF-8");
            }
            String name = Utf8.text(b, nameAt, nameEnd);
            nameAt = nameEnd;
            if (!names.add(name)) {
                throw head.broken(at, "two columns have one name");
            }
            ColumnType.Kind kind = ColumnType.Kind.values()[type - 1];
            ColumnData column = new ColumnData(new ColumnType(name, kind, isList == 1), b.word(at + 8), lists);
            column.read(of, Section.VALUES + Section.KINDS_PER_COLUMN * n);
            records.columns[n] = column;
            int codeBits = rowBytes > 0 ? 32 - Integer.numberOfLeadingZeros(column.highest()) : 0;
            if ((b.at(at + 2) & 0xFF) != codeBits) {
                throw head.broken(at, "its codes have other bits than its values need");
            }
            // A code of 0 bits is nowhere: after the last row might be no 8 bytes to read.
            if (codeBits > 0) {
                column.byteAt = (int) (bit / 8);
                column.shift = (int) (bit % 8);
                column.mask = (1L << codeBits) - 1;
            }
            bit += codeBits;
        }
        if (nameAt != b.length()) {
            throw head.broken(nameAt, "more follows after the last name");
        }
        if (rowBytes == 0) {
            if (width != 1 || records.columns[0].highest() != b.word(0)) {
                throw head.broken(8, "there are no rows");
            }
        } else if (rowBytes != Math.max(1, (bit + 7) / 8)) {
            throw head.broken(8, "rows have another length than their codes need");
        } else {
            records.readRows(of, b.unsigned(0), bit);
        }
        return records;
    }

    List<ColumnType> types() {
        return Arrays.stream(columns).map(column -> column.type).toList();
    }

    /** The column of this name, whose values, or elements of its lists, are of this class. */
    <C> Column<C> column(String name, Class<?> type, boolean isList) {
        for (ColumnData data : columns) {
            if (data.type.name().equals(name)) {
                boolean isKind = data.type.isList() == isList && type.isAssignableFrom(data.type.kind().type());
                if (!isKind && (isList || type != Object.class)) {
                    throw new IllegalArgumentException("column \"" + name + "\" is of type " + data.type.description()
                            + ", which is not " + (isList ? "a list of " : "") + type.getSimpleName()
                            + ": use " + (data.type.isList() ? "listColumn(\"" : "column(\"") + name + "\", "
                            + data.type.kind().type().getSimpleName() + ".class)");
                }
                return new Column<>(this, data);
            }
        }
        throw new IllegalArgumentException("no column \"" + name + "\"" + (this == NONE ? ": the table has no records" : " in ")
                + Opening.quoted(types().stream().map(ColumnType::name)));
    }

    /** Verifies the rows, whose codes have so many bits in all. */
    private void readRows(TableSections of, long count, long bits) throws InvalidImageException {
        Section section = of.need(0, Section.ROWS);
        rows = section.bytes();
        if (rows.length() != count * rowBytes + 7) {
            throw section.broken(0, "it has another length than its records need");
        }
        int length = rows.length() - 7;
        if (!rows.isZero(length, length + 7)) {
            throw section.broken(length, "the bytes after the rows are not 0");
        }
        // The bits of the last byte of a row that no code has.
        int unused = bits == 0 ? 0xFF : bits % 8 == 0 ? 0 : 0xFF << bits % 8;
        for (long last = rowBytes - 1; last < length; last += rowBytes) {
            if ((rows.at((int) last) & unused & 0xFF) != 0) {
                throw section.broken(last, "a row has bits after its codes");
            }
        }
        for (int n = 0; n < columns.length; n++) {
            ColumnData column = columns[n];
            long highest = column.highest() & 0xFFFF_FFFFL;
            if (highest == column.mask) {
                continue;
            }
            for (long at = column.byteAt; at < length; at += rowBytes) {
                if ((rows.pair((int) at) >>> column.shift & column.mask) > highest) {
                    throw section.broken(at, "record " + (at / rowBytes + 1) + " has no value in column " + (n + 1));
                }
            }
        }
    }
}
