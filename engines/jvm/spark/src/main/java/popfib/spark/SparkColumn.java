package popfib.spark;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Function;
import java.util.function.IntFunction;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.unsafe.types.UTF8String;
import popfib.ColumnType;
import popfib.PopfibTable;

/**
 * A column whose values are Spark's: text as its UTF-8, unsigned integers as decimals. Each different value is made once, when
 * it is first met, and found again by the number of the record: a reference for each record.
 */
final class SparkColumn {
    /** BIGINT has a sign. */
    private static final DataType UNSIGNED = DataTypes.createDecimalType(20, 0);

    private final IntFunction<?> source;
    private final Function<Object, Object> convert;
    private final ConcurrentHashMap<Object, Object> made = new ConcurrentHashMap<>();
    /** Safe for several threads, as Spark's text has no final fields. */
    private final AtomicReferenceArray<Object> byRecord;

    private SparkColumn(PopfibTable table, IntFunction<?> source, Function<Object, Object> convert) {
        this.source = source;
        this.convert = convert;
        byRecord = new AtomicReferenceArray<>(table.records() + 1);
    }

    /** A column with values of {@link #type}. */
    static SparkColumn typed(PopfibTable table, ColumnType column) {
        IntFunction<?> source = column.isList()
                ? table.listColumn(column.name(), Object.class)::get
                : table.column(column.name(), Object.class)::get;
        return new SparkColumn(table, source, SparkColumn::value);
    }

    /** The values of records as text. */
    static SparkColumn texts(PopfibTable table) {
        return new SparkColumn(table, table::text, SparkColumn::value);
    }

    /** The type of such values in Spark. */
    static DataType type(ColumnType column) {
        DataType one = switch (column.kind()) {
            case TEXT -> DataTypes.StringType;
            case INTEGER -> DataTypes.LongType;
            case UNSIGNED -> UNSIGNED;
            case FLOAT -> DataTypes.DoubleType;
            case BOOLEAN -> DataTypes.BooleanType;
        };
        return column.isList() ? DataTypes.createArrayType(one, false) : one;
    }

    /** The value of a record; null if it has none. */
    Object get(int record) {
        // A table without records has numbers instead, up to any.
        boolean isKept = record < byRecord.length();
        Object value = isKept ? byRecord.getAcquire(record) : null;
        if (value == null) {
            Object found = source.apply(record);
            if (found == null || !isKept) {
                return found == null ? null : convert.apply(found);
            }
            value = made.computeIfAbsent(found, convert);
            byRecord.setRelease(record, value);
        }
        return value;
    }

    private static Object value(Object value) {
        if (value instanceof String) {
            return UTF8String.fromString((String) value);
        }
        if (value instanceof BigInteger) {
            return Decimal.apply(new BigDecimal((BigInteger) value), 20, 0);
        }
        if (value instanceof List) {
            return new GenericArrayData(((List<?>) value).stream().map(SparkColumn::value).toArray());
        }
        return value;
    }
}
