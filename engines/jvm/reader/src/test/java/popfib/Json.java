package popfib;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** As much of JSON as the vectors have: maps, lists, texts, BigDecimals and Booleans. */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> object(String text) {
        return (Map<String, Object>) new Json(text).value();
    }

    private char next() {
        while (Character.isWhitespace(text.charAt(at))) {
            at++;
        }
        return text.charAt(at);
    }

    private boolean takes(char expected) {
        boolean is = next() == expected;
        at += is ? 1 : 0;
        return is;
    }

    private void need(char expected) {
        if (!takes(expected)) {
            throw new IllegalStateException("no " + expected + " at " + at);
        }
    }

    private Object value() {
        char first = next();
        if (takes('{')) {
            Map<String, Object> members = new LinkedHashMap<>();
            while (!takes('}')) {
                String key = (String) value();
                need(':');
                members.put(key, value());
                takes(',');
            }
            return members;
        }
        if (takes('[')) {
            List<Object> elements = new ArrayList<>();
            while (!takes(']')) {
                elements.add(value());
                takes(',');
            }
            return elements;
        }
        if (takes('"')) {
            return string();
        }
        int from = at;
        while (at < text.length() && ",]} \n".indexOf(text.charAt(at)) < 0) {
            at++;
        }
        String word = text.substring(from, at);
        return first == 't' || first == 'f' ? (Object) Boolean.valueOf(word) : new BigDecimal(word);
    }

    private String string() {
        StringBuilder string = new StringBuilder();
        while (text.charAt(at) != '"') {
            char c = text.charAt(at++);
            if (c != '\\') {
                string.append(c);
                continue;
            }
            c = text.charAt(at++);
            switch (c) {
                case 'n' -> string.append('\n');
                case 't' -> string.append('\t');
                case 'u' -> {
                    string.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
                    at += 4;
                }
                default -> string.append(c);
            }
        }
        at++;
        return string.toString();
    }
}
