package popfib.spark;

import java.io.Serializable;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnaryExpression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A lookup as a part of Spark's plans: one child, the address, and what is looked up. Spark compiles the code of
 * {@link #doGenCode} into its own loop over rows. Spark copies expressions by their constructor and {@link #productElement},
 * and takes equal ones for one, so that several fields of a record are one lookup.
 */
public final class LookupExpression extends UnaryExpression implements Serializable {
    private static final long serialVersionUID = 1;

    private final Expression address;
    private final Lookup lookup;

    /**
     * Spark copies expressions by it.
     *
     * @param address what is looked up
     * @param lookup where
     */
    public LookupExpression(Expression address, Lookup lookup) {
        this.address = address;
        this.lookup = lookup;
    }

    @Override
    public Expression child() {
        return address;
    }

    @Override
    public DataType dataType() {
        return lookup.type();
    }

    @Override
    public boolean nullable() {
        return true;
    }

    /** Without compiled code: constants, and where Spark has given up to compile. */
    @Override
    public Object nullSafeEval(Object value) {
        if (isQuestion()) {
            return lookup.isAddress(value);
        }
        if (value instanceof UTF8String) {
            return lookup.of((UTF8String) value);
        }
        if (value instanceof byte[]) {
            return lookup.of((byte[]) value);
        }
        return lookup.of(((Number) value).longValue());
    }

    /** Whether it is asked if a value is an address. */
    private boolean isQuestion() {
        return dataType().equals(DataTypes.BooleanType);
    }

    @Override
    public ExprCode doGenCode(CodegenContext context, ExprCode result) {
        String reference = context.addReferenceObj("lookup", lookup, Lookup.class.getName());
        String type = CodeGenerator.javaType(dataType());
        String code = isQuestion() ? "%1$s = %3$s.isAddress(%4$s);" : "%1$s = (%2$s) %3$s.of(%4$s); %5$s = %1$s == null;";
        return nullSafeCodeGen(context, result, value -> String.format(
                code, result.value(), type, reference, value, result.isNull()));
    }

    @Override
    public Expression withNewChildInternal(Expression child) {
        return new LookupExpression(child, lookup);
    }

    @Override
    public String prettyName() {
        return lookup.function();
    }

    @Override
    public String sql() {
        return lookup.function() + "(" + address.sql() + lookup.arguments() + ")";
    }

    @Override
    public int productArity() {
        return 2;
    }

    @Override
    public Object productElement(int n) {
        return n == 0 ? address : lookup;
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof LookupExpression;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof LookupExpression && ((LookupExpression) other).address.equals(address)
                && ((LookupExpression) other).lookup.equals(lookup);
    }

    @Override
    public int hashCode() {
        return 31 * address.hashCode() + lookup.hashCode();
    }
}
