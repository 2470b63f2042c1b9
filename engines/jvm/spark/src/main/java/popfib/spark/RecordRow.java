package popfib.spark;

import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;

/** A record as Spark's row. A value is found when it is asked for, since most queries want few fields. It cannot be changed. */
final class RecordRow extends GenericInternalRow {
    private static final long serialVersionUID = 1;

    private final transient SparkColumn[] columns;
    private final transient int record;

    RecordRow(SparkColumn[] columns, int record) {
        super((Object[]) null);
        this.columns = columns;
        this.record = record;
    }

    @Override
    public Object genericGet(int ordinal) {
        return columns[ordinal].get(record);
    }

    @Override
    public int numFields() {
        return columns.length;
    }

    @Override
    public Object[] values() {
        Object[] values = new Object[columns.length];
        for (int n = 0; n < values.length; n++) {
            values[n] = genericGet(n);
        }
        return values;
    }

    @Override
    public void setNullAt(int ordinal) {
        throw new UnsupportedOperationException("records cannot be changed");
    }

    @Override
    public void update(int ordinal, Object value) {
        throw new UnsupportedOperationException("records cannot be changed");
    }

    /** Spark sends a record that is constant to its executors. */
    private Object writeReplace() {
        return new GenericInternalRow(values());
    }
}
