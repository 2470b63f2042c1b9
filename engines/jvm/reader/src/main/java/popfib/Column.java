package popfib;

/**
 * The values of one column of a table, by the numbers of records that lookups return. It may be used by
 * any number of threads.
 *
 * @param <T> the class of the values, as {@link ColumnType.Kind} has it
 */
public final class Column<T> {
    private final Records records;
    private final ColumnData data;

    Column(Records records, ColumnData data) {
        this.records = records;
        this.data = data;
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
        return (T) data.get(records.code(data, record));
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
