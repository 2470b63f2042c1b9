package popfib.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import popfib.ColumnType;
import popfib.PopfibTable;

/** A table with its columns as Spark has them. */
final class SparkTable {
    final PopfibTable table;
    /** The values of records, as text. */
    final SparkColumn value;
    private final StructType type;
    private final List<SparkColumn> columns = new ArrayList<>();

    SparkTable(PopfibTable table) {
        this.table = table;
        List<StructField> fields = new ArrayList<>();
        for (ColumnType column : table.columns()) {
            fields.add(DataTypes.createStructField(column.name(), SparkColumn.type(column), true));
            columns.add(SparkColumn.typed(table, column));
        }
        type = DataTypes.createStructType(fields);
        value = SparkColumn.texts(table);
    }

    /** The record. */
    StructType type() {
        return type;
    }

    /** The columns that a query was planned with, when the table may have been another one. */
    SparkColumn[] columns(StructType wanted) {
        SparkColumn[] found = new SparkColumn[wanted.length()];
        for (int n = 0; n < found.length; n++) {
            StructField field = wanted.fields()[n];
            int at = List.of(type.fields()).indexOf(field);
            if (at < 0) {
                throw new IllegalStateException("the table has no column " + field.name() + " of type "
                        + field.dataType().sql() + " any more; start the query again");
            }
            found[n] = columns.get(at);
        }
        return found;
    }
}
