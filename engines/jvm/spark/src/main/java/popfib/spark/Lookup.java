package popfib.spark;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import popfib.PopfibTable;
import popfib.Route;

/**
 * What a call of a function answers, by which table, and what becomes of invalid addresses. The
 * driver makes it when a query is planned; each task has a copy, which keeps the table that it takes first.
 */
public final class Lookup implements Serializable {
    private static final long serialVersionUID = 1;

    private final Answer answer;
    /** Null if it needs no table. */
    private final String name;
    private final boolean isStrict;
    private final DataType type;

    private transient Taken taken;

    /** What a task has taken: a table, and of it either the values as text or the columns of the record. */
    private record Taken(PopfibTable table, SparkColumn value, SparkColumn[] columns) {}

    /** What a function answers, and of which type that is; null: the record, whose type is the table's. */
    enum Answer {
        VALUE("popfib_lookup", DataTypes.StringType),
        RECORD("popfib_record", null),
        PREFIX("popfib_prefix", DataTypes.StringType),
        ALL("popfib_all", DataTypes.createArrayType(DataTypes.createStructType(List.of(
                DataTypes.createStructField("prefix", DataTypes.StringType, false),
                DataTypes.createStructField("value", DataTypes.StringType, true))), false)),
        IS_ADDRESS("popfib_is_address", DataTypes.BooleanType);

        final String function;
        private final DataType type;

        Answer(String function, DataType type) {
            this.function = function;
            this.type = type;
        }
    }

    Lookup(Answer answer, String name, boolean isStrict) {
        this.answer = answer;
        this.name = name;
        this.isStrict = isStrict;
        // Also without need of its columns: a table that is not there shall be an error before anything runs.
        SparkTable now = name == null ? null : TableFile.atPlanning(name);
        if (answer == Answer.PREFIX && !now.table.hasPrefixes() || answer == Answer.ALL && !now.table.hasRoutes()) {
            throw new IllegalArgumentException(answer.function + ": " + name
                    + " has not kept its routes: make it with `popfib compile --keep routes`, the default");
        }
        type = answer == Answer.RECORD ? now.type() : answer.type;
    }

    static boolean takes(DataType address) {
        return address instanceof StringType || address instanceof BinaryType || address instanceof IntegerType
                || address instanceof LongType;
    }

    DataType type() {
        return type;
    }

    String function() {
        return answer.function;
    }

    /** Those after the address, as in SQL. */
    String arguments() {
        return name == null ? "" : ", '" + name + "'" + (isStrict ? ", 'error'" : "");
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

    /**
     * Whether a value is an address.
     *
     * @param address text, bytes or a number
     * @return whether it is
     */
    public boolean isAddress(Object address) {
        if (address instanceof UTF8String) {
            return PopfibTable.isAddress(new Utf8Text((UTF8String) address));
        }
        if (address instanceof byte[] bytes) {
            return bytes.length == 4 || bytes.length == 16;
        }
        long number = ((Number) address).longValue();
        return Integer.toUnsignedLong((int) number) == number;
    }

    private Taken taken() {
        Taken taken = this.taken;
        if (taken == null) {
            SparkTable now = TableFile.inTask(name);
            this.taken = taken = new Taken(now.table, now.value,
                    answer == Answer.RECORD ? now.columns((StructType) type) : null);
        }
        return taken;
    }

    private Object answer(Taken taken, int found, Object address) {
        if (found > 0) {
            return taken.columns != null ? new RecordRow(taken.columns, found)
                    : answer == Answer.VALUE ? taken.value.get(found) : ofRoutes(taken, address);
        }
        if (found == PopfibTable.MALFORMED && isStrict) {
            throw new IllegalArgumentException(answer.function + ": " + text(address) + " is not an address");
        }
        return null;
    }

    /** Apart from {@link #answer}, which is small enough to be compiled into Spark's loop. */
    private Object ofRoutes(Taken taken, Object address) {
        Route longest = route(taken.table, address);
        if (answer == Answer.PREFIX) {
            return UTF8String.fromString(longest.prefix());
        }
        return new GenericArrayData(taken.table.supernets(longest).stream().map(route -> new GenericInternalRow(
                new Object[] {UTF8String.fromString(route.prefix()), taken.value.get(route.record())})).toArray());
    }

    private static Route route(PopfibTable table, Object address) {
        if (address instanceof UTF8String) {
            return table.route(new Utf8Text((UTF8String) address));
        }
        return table.route(address instanceof byte[] bytes ? bytes
                : ByteBuffer.allocate(4).putInt(((Long) address).intValue()).array());
    }

    private static String text(Object address) {
        return address instanceof byte[] ? "X'" + HexFormat.of().formatHex((byte[]) address) + "'" : "'" + address + "'";
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Lookup && ((Lookup) other).key().equals(key());
    }

    @Override
    public int hashCode() {
        return key().hashCode();
    }

    private List<Object> key() {
        return Arrays.asList(answer, name, isStrict, type);
    }

    @Override
    public String toString() {
        return arguments();
    }
}
