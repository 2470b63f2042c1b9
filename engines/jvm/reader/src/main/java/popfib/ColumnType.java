package popfib;

import java.math.BigInteger;

/**
 * The name of a column, and what its values are.
 *
 * @param name the name, such as {@code country.iso_code}
 * @param kind what a value is or, of a column of lists, what an element is
 * @param isList whether values are lists
 */
public record ColumnType(String name, Kind kind, boolean isList) {
    /** Kinds of values. */
    public enum Kind {
        /** Text: {@link String}. */
        TEXT("text", String.class),
        /** Signed integer of 64 bits: {@link Long}. */
        INTEGER("integer", Long.class),
        /** Unsigned integer of 64 bits: {@link BigInteger}, as Java's numbers of 64 bits have a sign. */
        UNSIGNED("unsigned integer", BigInteger.class),
        /** Number of 64 bits: {@link Double}. */
        FLOAT("float", Double.class),
        /** Yes or no: {@link Boolean}. */
        BOOLEAN("boolean", Boolean.class);

        private final String text;
        private final Class<?> type;

        Kind(String text, Class<?> type) {
            this.text = text;
            this.type = type;
        }

        /**
         * The class of its values.
         *
         * @return the class
         */
        public Class<?> type() {
            return type;
        }
    }

    /**
     * What the values are, in words.
     *
     * @return such as {@code text} or {@code list of texts}
     */
    public String description() {
        return isList ? "list of " + kind.text + "s" : kind.text;
    }
}
