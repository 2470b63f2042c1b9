package popfib.spark;

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
 * The functions of SQL: {@code popfib_lookup} and its like. Spark finds this class by the
 * jar's list of services and calls it for each session, so that a jar on the class path is all that a user needs.
 *
 * <p>They are expressions and not user-defined functions (UDF) for two reasons. The type of {@code popfib_record} depends on the
 * table: here it is known when a query is planned, where a UDF has one type, declared with it. And Spark makes a {@code String} of
 * each text for a UDF, and Spark's text of each answer; an expression has Spark's own bytes, which makes a query of a lookup
 * 1.5 times as fast (docs/spark.md). Spark calls these classes internal, but what is used of them has been the same from 3.5 to 4.3, in Scala 2.12 and 2.13: nothing
 * here has Scala's {@code Seq} in the signature of a method that it overrides or of a constructor that it calls.
 */
public final class PopfibExtensions implements SparkSessionExtensionsProvider {
    private static final String INVALID = " Invalid addresses give null, or an error if the last argument is 'error'.";

    /** Spark calls it. */
    public PopfibExtensions() {}

    @Override
    public BoxedUnit apply(SparkSessionExtensions extensions) {
        inject(extensions, Lookup.Answer.VALUE, usage("value"));
        inject(extensions, Lookup.Answer.RECORD, usage("record"));
        inject(extensions, Lookup.Answer.PREFIX, usage("prefix"));
        inject(extensions, Lookup.Answer.ALL, "_FUNC_(address, table[, invalid]) - Returns prefix and value of every route that covers"
                + " the address, the shortest first." + INVALID);
        inject(extensions, Lookup.Answer.IS_ADDRESS, "_FUNC_(address) - Returns whether the address is one, null of null.");
        return BoxedUnit.UNIT;
    }

    private static String usage(String what) {
        return "_FUNC_(address, table[, invalid]) - Returns the " + what + " of the longest match of the address in the table, null"
                + " without one." + INVALID;
    }

    private static void inject(SparkSessionExtensions extensions, Lookup.Answer answer, String usage) {
        String owner = PopfibExtensions.class.getName();
        ExpressionInfo info = new ExpressionInfo(owner, null, answer.function, usage, "", "", "", "misc_funcs", "0.1.0", "", "");
        Function1<Seq<Expression>, Expression> make = arguments -> lookup(answer, arguments);
        extensions.injectFunction(new Tuple3<>(new FunctionIdentifier(answer.function), info, make));
    }

    /** The expression of a call, whose arguments have their types already. */
    private static Expression lookup(Lookup.Answer answer, Seq<Expression> arguments) {
        String function = answer.function;
        boolean hasTable = answer != Lookup.Answer.IS_ADDRESS;
        int count = arguments.size();
        if (hasTable ? count < 2 || count > 3 : count != 1) {
            throw new IllegalArgumentException(function + (hasTable
                    ? " has two or three arguments, address, table and 'null' or 'error', not " : " has one argument, the address, not ")
                    + count);
        }
        String table = hasTable ? constant(function, "table", arguments.apply(1)) : null;
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
        Lookup lookup = new Lookup(answer, table, invalid.equals("error"));
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
