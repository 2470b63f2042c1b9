package popfib.spark;

import java.io.Serializable;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.apache.spark.util.LongAccumulator;
import popfib.PopfibTable;

/**
 * What a call of a function looks up: the value or the record, in which table, and what becomes of invalid addresses. The
 * driver makes it when a query is planned; each task has a copy, which keeps the table that it takes first.
 */
public final class Lookup implements Serializable {
    private static final long serialVersionUID = 1;

    private final String function;
    private final String name;
    private final boolean isStrict;
    /** What of the table is wanted; null: the value of a record, as text. */
    private final StructType record;
    private final LongAccumulator invalid;

    private transient Taken taken;

    /** What a task has taken: a table, and of it either one column or those of the record. */
    private record Taken(PopfibTable table, SparkColumn value, SparkColumn[] columns) {}

    Lookup(String function, String name, boolean isRecord, boolean isStrict) {
        this.function = function;
        this.name = name;
        this.isStrict = isStrict;
        // Also without need of its columns: a table that is not there shall be an error before anything runs.
        StructType type = TableFile.atPlanning(name).type();
        record = isRecord ? type : null;
        invalid = InvalidAddresses.counter(SparkContext.getOrCreate());
    }

    static boolean takes(DataType address) {
        return address instanceof StringType || address instanceof BinaryType || address instanceof IntegerType
                || address instanceof LongType;
    }

    DataType type() {
        return record == null ? DataTypes.StringType : record;
    }

    String function() {
        return function;
    }

    /** Those after the address, as in SQL. */
    String arguments() {
        return "'" + name + "'" + (isStrict ? ", 'error'" : "");
    }

    /**
     * The answer for an address as text.
     *
     * @param address Spark's text
     * @return what {@link #type} says; null without a match
     */
    public Object of(UTF8String address) {
        Taken taken = taken();
        long ipv4 = Ipv4Text.parse(address.getBaseObject(), address.getBaseOffset(), address.numBytes());
        int found = ipv4 >= 0 ? taken.table.lookup((int) ipv4) : taken.table.lookup(new Utf8Text(address));
        return answer(taken, found, address);
    }

    /**
     * The answer for an address of 4 or 16 bytes.
     *
     * @param address in network byte order
     * @return what {@link #type} says; null without a match
     */
    public Object of(byte[] address) {
        Taken taken = taken();
        return answer(taken, taken.table.lookup(address), address);
    }

    /**
     * The answer for an IPv4 address.
     *
     * @param address from 0 to 4294967295, of an INT up to 2147483647
     * @return what {@link #type} says; null without a match
     */
    public Object of(long address) {
        Taken taken = taken();
        int bits = (int) address;
        int found = Integer.toUnsignedLong(bits) == address ? taken.table.lookup(bits) : PopfibTable.MALFORMED;
        return answer(taken, found, address);
    }

    private Taken taken() {
        Taken taken = this.taken;
        if (taken == null) {
            SparkTable now = TableFile.inTask(name);
            this.taken = taken = new Taken(now.table, now.value, record == null ? null : now.columns(record));
        }
        return taken;
    }

    private Object answer(Taken taken, int found, Object address) {
        if (found > 0) {
            return record == null ? taken.value.get(found) : new RecordRow(taken.columns, found);
        }
        if (found == PopfibTable.MALFORMED) {
            if (isStrict) {
                throw new IllegalArgumentException(function + ": " + text(address) + " is not an address");
            }
            invalid.add(1);
        }
        return null;
    }

    private static String text(Object address) {
        return address instanceof byte[] ? "X'" + HexFormat.of().formatHex((byte[]) address) + "'" : "'" + address + "'";
    }

    /** Without what counts: equal lookups have equal answers. */
    @Override
    public boolean equals(Object other) {
        return other instanceof Lookup && ((Lookup) other).key().equals(key());
    }

    @Override
    public int hashCode() {
        return key().hashCode();
    }

    private List<Object> key() {
        return Arrays.asList(function, name, isStrict, record);
    }

    @Override
    public String toString() {
        return arguments();
    }
}
