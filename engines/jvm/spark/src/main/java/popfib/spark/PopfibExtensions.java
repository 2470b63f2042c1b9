package popfib.spark;

import org.apache.spark.SparkContext;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.SparkSessionExtensionsProvider;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.NullType;
import scala.Function1;
import scala.Tuple3;
import scala.collection.Seq;
import scala.runtime.BoxedUnit;

/**
 * The functions of SQL: {@code popfib_lookup}, {@code popfib_record}, {@code popfib_invalid}. Spark finds this class by the
 * jar's list of services and calls it for each session, so that a jar on the class path is all that a user needs.
 *
 * <p>They are expressions and not user-defined functions (UDF) for two reasons. The type of {@code popfib_record} depends on the
 * table: here it is known when a query is planned, where a UDF has one type, declared with it. And Spark makes a {@code String} of
 * each text for a UDF, and Spark's text of each answer; an expression has Spark's own bytes, which makes a query of a lookup
 * 1.5 times as fast (docs/spark.md). Spark calls these classes internal, but what is used of them has been the same from 3.5 to 4.3, in Scala 2.12 and 2.13: nothing
 * here has Scala's {@code Seq} in the signature of a method that it overrides or of a constructor that it calls.
 */
public final class PopfibExtensions implements SparkSessionExtensionsProvider {
    /** Spark calls it. */
    public PopfibExtensions() {}

    @Override
    public BoxedUnit apply(SparkSessionExtensions extensions) {
        inject(extensions, "popfib_lookup", usage("value"), arguments -> lookup("popfib_lookup", false, arguments));
        inject(extensions, "popfib_record", usage("record"), arguments -> lookup("popfib_record", true, arguments));
        String invalid = "_FUNC_() - Returns how many addresses lookups of this application have found to be invalid.";
        inject(extensions, "popfib_invalid", invalid, none -> {
            if (none.size() > 0) {
                throw new IllegalArgumentException("popfib_invalid has no arguments");
            }
            return new Literal(InvalidAddresses.counter(SparkContext.getOrCreate()).value(), DataTypes.LongType);
        });
        return BoxedUnit.UNIT;
    }

    private static String usage(String what) {
        return "_FUNC_(address, table[, invalid]) - Returns the " + what + " of the longest match of the address in the table, null"
                + " without one. Invalid addresses give null, or an error if the last argument is 'error'.";
    }

    private static void inject(
            SparkSessionExtensions extensions, String name, String usage, Function1<Seq<Expression>, Expression> make) {
        String owner = PopfibExtensions.class.getName();
        ExpressionInfo info = new ExpressionInfo(owner, null, name, usage, "", "", "", "misc_funcs", "0.1.0", "", "");
        extensions.injectFunction(new Tuple3<>(new FunctionIdentifier(name), info, make));
    }

    /** The expression of a call, whose arguments have their types already. */
    private static Expression lookup(String function, boolean isRecord, Seq<Expression> arguments) {
        int count = arguments.size();
        if (count < 2 || count > 3) {
            throw new IllegalArgumentException(
                    function + " has two or three arguments, address, table and 'null' or 'error', not " + count);
        }
        String table = constant(function, "table", arguments.apply(1));
        String invalid = count < 3 ? "null" : constant(function, "last argument", arguments.apply(2));
        if (!invalid.equals("null") && !invalid.equals("error")) {
            throw new IllegalArgumentException(
                    "the last argument of " + function + " is 'null' or 'error', not '" + invalid + "'");
        }
        Expression address = arguments.apply(0);
        DataType type = address.dataType();
        if (!(type instanceof NullType) && !Lookup.takes(type)) {
            throw new IllegalArgumentException("the address of " + function + " is of type " + type.sql()
                    + "; it can be STRING, BINARY of 4 or 16 bytes, or INT or BIGINT for IPv4");
        }
        Lookup lookup = new Lookup(function, table, isRecord, invalid.equals("error"));
        return type instanceof NullType ? new Literal(null, lookup.type()) : new LookupExpression(address, lookup);
    }

    /** The text of an argument that has the same in all rows. */
    private static String constant(String function, String what, Expression argument) {
        Object value = argument.foldable() ? argument.eval(null) : null;
        if (value == null || !argument.dataType().equals(DataTypes.StringType)) {
            throw new IllegalArgumentException("the " + what + " of " + function + " has to be a constant text");
        }
        return value.toString();
    }
}
