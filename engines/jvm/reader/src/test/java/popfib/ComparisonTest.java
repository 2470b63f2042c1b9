package popfib;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The comparison of all doors: engines/vectors/comparison.py. */
final class ComparisonTest {
    private static final Path VECTORS = Command.TREE.resolve("target/vectors");
    private static final List<String> COLUMNS = List.of("name", "asn", "score", "up", "tags");

    @TempDir
    private Path folder;

    private static List<String[]> lines(String file) throws IOException {
        return Files.readAllLines(VECTORS.resolve(file)).stream().map(line -> line.split("\t", -1)).toList();
    }

    /** A value as the command prints it, but for floats, which all have a fraction. */
    private static String shown(Object value) {
        if (value instanceof List<?> list) {
            return list.stream().map(part -> part.toString().replace("\\", "\\\\").replace(",", "\\,")).collect(Collectors.joining(","));
        }
        return value == null ? "~" : value.toString();
    }

    private static void check(PopfibTable table, List<String[]> routes, List<String[]> questions, int column) {
        List<Column<?>> columns = table.columns().stream().<Column<?>>map(type -> type.isList()
                ? table.listColumn(type.name(), String.class) : table.column(type.name(), Object.class)).toList();
        assertEquals(COLUMNS, table.columns().stream().map(ColumnType::name).toList());
        String[] none = {null, "~", "~", "~", "~", "~"};
        for (String[] question : questions) {
            String text = question[0];
            boolean isAddress = !question[column].equals("-");
            int record = table.lookup(text);
            assertEquals(isAddress, record != PopfibTable.MALFORMED, text);
            String[] expected = isAddress && !question[column].equals("0") ? routes.get(Integer.parseInt(question[column]) - 1) : none;
            for (int at = 0; at < columns.size(); at++) {
                Object value = columns.get(at).get(record);
                String wanted = expected[1 + at];
                assertEquals(value instanceof Double ? shown(Double.valueOf(wanted)) : wanted, shown(value), text);
            }
            if (isAddress) {
                Route route = table.route(text);
                assertEquals(expected[0], route == null ? null : route.prefix(), text);
            }
        }
    }

    @Test
    void theTableOfAllDoors() throws Exception {
        byte[] first = Command.compile(Files.readString(VECTORS.resolve("first.csv")), "--columns", "*");
        byte[] second = Command.compile(Files.readString(VECTORS.resolve("second.jsonl")), "--columns", "*", "--mapped");
        List<String[]> questions = lines("questions.tsv");
        Path path = folder.resolve("t.fib");
        Files.write(path, first);
        try (Watcher<PopfibTable> watcher = PopfibTable.watch(path).start()) {
            check(watcher.current(), lines("first.tsv"), questions, 1);
            Command.publish(path, second);
            watcher.reload();
            check(watcher.current(), lines("second.tsv"), questions, 2);
        }
    }
}
