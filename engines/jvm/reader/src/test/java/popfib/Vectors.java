package popfib;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The tables and questions of engines/vectors, which the tests of all doors ask. */
record Vectors(Map<String, Table> tables, List<String> invalid) {
    /** Routes, each a prefix and a value, and questions. */
    record Table(List<List<String>> routes, List<Question> questions) {
        /** The table in lines. */
        String text() {
            StringBuilder lines = new StringBuilder();
            for (List<String> route : routes) {
                lines.append(String.join(" ", route).stripTrailing()).append('\n');
            }
            return lines.toString();
        }
    }

    /** An address, its bytes, and the routes that cover it, the shortest first. */
    record Question(String text, byte[] bytes, List<List<String>> covering) {
        /** The route that is its longest match; null if there is none. */
        List<String> route() {
            return covering.isEmpty() ? null : covering.get(covering.size() - 1);
        }
    }

    @SuppressWarnings("unchecked")
    static Vectors read() throws IOException {
        Map<String, Object> file = Json.object(Files.readString(Command.TREE.resolve("target/vectors/vectors.json")));
        Map<String, Table> tables = new LinkedHashMap<>();
        ((Map<String, Map<String, Object>>) file.get("tables")).forEach((name, table) -> {
            List<List<String>> routes = (List<List<String>>) table.get("routes");
            List<Question> questions = new ArrayList<>();
            for (List<Object> question : (List<List<Object>>) table.get("questions")) {
                List<Number> covering = (List<Number>) question.get(2);
                questions.add(new Question((String) question.get(0), HexFormat.of().parseHex((String) question.get(1)),
                        covering.stream().map(number -> routes.get(number.intValue())).toList()));
            }
            tables.put(name, new Table(routes, questions));
        });
        return new Vectors(tables, (List<String>) file.get("invalid"));
    }
}
