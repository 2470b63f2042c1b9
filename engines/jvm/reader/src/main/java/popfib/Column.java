package popfib;

/**
 * The values of one column of a table, by the numbers of records that lookups return. It may be used by
 * any number of threads.
 *
 * @param <T> the class of the values, as {@link ColumnType.Kind} has it
 */
public final class Column<T> {
    private final ColumnData data;
    /** Values by their codes, as far as they were asked for. */
    private final Object[] values;
    // The place of a code, beside the values: here, so that a value takes few steps.
    private final Bytes rows;
    private final int rowBytes;
    private final int records;
    private final int byteAt;
    private final int shift;
    private final long mask;

    Column(Records records, ColumnData data) {
        this.data = data;
        values = data.objects();
        rows = records.rows;
        rowBytes = records.rowBytes;
        this.records = records.count;
        byteAt = data.byteAt;
        shift = data.shift;
        mask = data.mask;
    }

    /**
     * The value that a record of the table has in this column. A value is made when it is first asked
     * for and kept, so it is the same object for all records that share it, and later calls allocate
     * nothing. Lists cannot be changed.
     *
     * @param record the number of a record, or the answer of a lookup without one
     *     ({@link PopfibTable#NO_MATCH}, {@link PopfibTable#MALFORMED})
     * @return the value; null if it is absent, or if there is no record
     * @throws IndexOutOfBoundsException if the table has no record of this number. Of a record of
     *     another table than the column's, it is not known that it is one.
     */
    @SuppressWarnings("unchecked")
    public T get(int record) {
        int code = code(record);
        Object value = values[code];
        return (T) (value == null && code != 0 ? data.make(code) : value);
    }

    /**
     * The same of a column of integers, as a number and not as an object. It allocates nothing.
     *
     * @param record the number of a record, or the answer of a lookup without one
     * @param absent what is returned if there is no value
     * @return the value
     * @throws IllegalStateException if the column is not one of (signed) integers
     * @throws IndexOutOfBoundsException if the table has no record of this number
     */
    public long getLong(int record, long absent) {
        need(ColumnType.Kind.INTEGER);
        int code = code(record);
        return code == 0 ? absent : data.number(code);
    }

    /**
     * The same of a column of floats.
     *
     * @param record the number of a record, or the answer of a lookup without one
     * @param absent what is returned if there is no value
     * @return the value
     * @throws IllegalStateException if the column is not one of floats
     * @throws IndexOutOfBoundsException if the table has no record of this number
     */
    public double getDouble(int record, double absent) {
        need(ColumnType.Kind.FLOAT);
        int code = code(record);
        return code == 0 ? absent : Double.longBitsToDouble(data.number(code));
    }

    private void need(ColumnType.Kind kind) {
        if (data.type.kind() != kind || data.type.isList()) {
            throw new IllegalStateException("column \"" + data.type.name() + "\" is of type " + data.type.description());
        }
    }

    /** The code that a record has; 0 is no value. */
    private int code(int record) {
        if (record <= 0) {
            return 0;
        }
        if (record > records) {
            throw new IndexOutOfBoundsException("there is no record " + record + " of " + records);
        }
        return rowBytes == 0 ? record : (int) (rows.pair((record - 1) * rowBytes + byteAt) >>> shift & mask);
    }

    /**
     * The name of the column and what its values are.
     *
     * @return name and type
     */
    public ColumnType type() {
        return data.type;
    }
}
