package popfib;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.List;
import java.util.stream.Collectors;

/** Values as text, in the form in which the command and all other ways to ask popfib write them. */
final class ValueText {
    private ValueText() {}

    /** Commas separate the elements of a list; a comma or backslash in an element follows a backslash. */
    static String of(Object value) {
        if (value instanceof List) {
            return ((List<?>) value).stream()
                    .map(element -> of(element).replaceAll("[,\\\\]", "\\\\$0")).collect(Collectors.joining(","));
        }
        return value instanceof Double ? of((double) value) : value.toString();
    }

    /** The fewest digits that mean this number, without an exponent. {@link Double#toString} may write more, up to Java 18. */
    private static String of(double value) {
        if (Double.isNaN(value)) {
            return "NaN";
        }
        if (Double.isInfinite(value)) {
            return value > 0 ? "inf" : "-inf";
        }
        if (value == 0) {
            return 1 / value < 0 ? "-0" : "0";
        }
        BigDecimal exact = new BigDecimal(value);
        for (int digits = 1;; digits++) {
            // The nearest of so few digits may mean another number where one further off does not: beside powers of two.
            for (RoundingMode way : new RoundingMode[] {RoundingMode.HALF_EVEN, RoundingMode.UP, RoundingMode.DOWN}) {
                BigDecimal rounded = exact.round(new MathContext(digits, way));
                if (rounded.doubleValue() == value) {
                    return rounded.stripTrailingZeros().toPlainString();
                }
            }
        }
    }
}
