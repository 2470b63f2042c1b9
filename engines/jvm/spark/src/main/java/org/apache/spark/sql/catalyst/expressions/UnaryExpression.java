package org.apache.spark.sql.catalyst.expressions;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.catalyst.trees.UnaryLike;
import scala.Function1;
import scala.collection.IndexedSeq;
import scala.collection.Seq;

/**
 * What the compiler is to see of Spark's class of this name. It is in no jar: at run time there is Spark's own. Scala has
 * written that one without the types that Java needs to find its methods complete ("does not override abstract method"), so that
 * no class in Java could extend it. Methods that subclasses have to write are abstract here, as they are there.
 */
@SuppressWarnings("serial")
public abstract class UnaryExpression extends Expression implements UnaryLike<Expression> {
    @Override
    public abstract Expression child();

    @Override
    public abstract Expression withNewChildInternal(Expression child);

    /** The value for a child's that is not null. */
    public abstract Object nullSafeEval(Object value);

    /** The code for a child that is not null, made of the code that makes an answer of a variable. */
    public final native ExprCode nullSafeCodeGen(
            CodegenContext context, ExprCode result, Function1<String, String> make);

    @Override
    public final native Object eval(InternalRow row);

    @Override
    public final native Seq<Expression> children();

    @Override
    public final native Expression withNewChildrenInternal(IndexedSeq<Expression> children);
}
