package popfib;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.List;
import java.util.stream.Collectors;

/** A value in; the text that the command prints for it out. */
final class Texts {
    private static final RoundingMode[] NEAREST_FIRST = {RoundingMode.HALF_EVEN, RoundingMode.DOWN, RoundingMode.UP};

    private Texts() {}

    static String of(Object value) {
        if (value instanceof List<?> list) {
            // Commas are between elements; those that texts have themselves, and backslashes, follow one.
            return list.stream().map(element -> element instanceof String text ? text.replace("\\", "\\\\").replace(",", "\\,") : of(element))
                    .collect(Collectors.joining(","));
        }
        return value instanceof Double number ? number(number) : value.toString();
    }

    /** The shortest text that is read as the same number, and never that of an integer. */
    private static String number(double value) {
        if (Double.isNaN(value)) {
            return "NaN";
        }
        if (Double.isInfinite(value)) {
            return value > 0 ? "inf" : "-inf";
        }
        if (value == 0) {
            return Double.toString(value);
        }
        double size = Math.abs(value);
        String sign = value < 0 ? "-" : "";
        BigDecimal shortest = shortest(size).stripTrailingZeros();
        if (size >= 1e16 || size < 1e-5) {
            String digits = shortest.unscaledValue().toString();
            int exponent = digits.length() - 1 - shortest.scale();
            return sign + digits.charAt(0) + (digits.length() > 1 ? "." + digits.substring(1) : "") + "e" + exponent;
        }
        return sign + (shortest.scale() <= 0 ? shortest.toPlainString() + ".0" : shortest.toPlainString());
    }

    /** Double.toString has more digits than needed before Java 19. */
    private static BigDecimal shortest(double value) {
        BigDecimal exact = new BigDecimal(value);
        for (int digits = 1; digits < 17; digits++) {
            for (RoundingMode mode : NEAREST_FIRST) {
                BigDecimal rounded = exact.round(new MathContext(digits, mode));
                if (rounded.doubleValue() == value) {
                    return rounded;
                }
            }
        }
        return exact.round(new MathContext(17));
    }
}
