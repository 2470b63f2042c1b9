package popfib.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The function of docs/flink.md in a session of Flink. The command is {@code $POPFIB}. */
class PopfibLookupTest {
    @Test
    void queriesAnswer(@TempDir Path folder) throws Exception {
        Path image = folder.resolve("sites.fib");
        TableEnvironment flink = TableEnvironment.create(EnvironmentSettings.inBatchMode());
        flink.createTemporarySystemFunction("popfib_lookup", new PopfibLookup(image.toString()));
        String query = "SELECT src, popfib_lookup(src) FROM (VALUES ('10.1.2.3'), ('10.9.9.9'), ('2001:db8::1'), ('192.0.2.1'), ('x'),"
                + " (CAST(NULL AS STRING))) AS t(src)";
        for (String ten : new String[] {"inside", "new"}) {
            compile("10.0.0.0/8 " + ten + "\n10.1.0.0/16 branch\n2001:db8::/32 six\n", image);
            Set<String> found = new TreeSet<>();
            try (CloseableIterator<Row> rows = flink.executeSql(query).collect()) {
                rows.forEachRemaining(row -> found.add(row.getField(0) + " " + row.getField(1)));
            }
            Set<String> want = Set.of("10.1.2.3 branch", "10.9.9.9 " + ten, "2001:db8::1 six", "192.0.2.1 null", "x null", "null null");
            assertEquals(want, found);
        }
    }

    /** The comparison of all doors, engines/vectors/comparison.py, by the function alone, for one column. */
    @Test
    void answersTheTableOfAllDoors(@TempDir Path folder) throws Exception {
        Path vectors = Path.of("../../../target/vectors");
        Path image = folder.resolve("first.fib");
        compile(Files.readString(vectors.resolve("first.csv")), image, "--columns", "name");
        List<String> routes = Files.readAllLines(vectors.resolve("first.tsv"));
        PopfibLookup function = new PopfibLookup(image.toString());
        function.open(null);
        for (String line : Files.readAllLines(vectors.resolve("questions.tsv"))) {
            String[] question = line.split("\t");
            int row = question[1].equals("-") ? 0 : Integer.parseInt(question[1]);
            String want = row == 0 ? "~" : routes.get(row - 1).split("\t")[1];
            assertEquals(want.equals("~") ? null : want, function.eval(question[0]), question[0]);
        }
        function.close();
    }

    @Test
    void guideShowsTheFunction() throws Exception {
        String source = Files.readString(Path.of("src/test/java/popfib/flink/PopfibLookup.java"));
        String imports = source.substring(source.indexOf("import "), source.indexOf("/** The function"));
        String shown = imports + source.substring(source.indexOf("public class"), source.indexOf("// guide: end"));
        String guide = Files.readString(Path.of("../../../docs/flink.md"));
        assertTrue(guide.contains("```java\n" + shown + "```\n"), "docs/flink.md does not have the function");
    }

    private static void compile(String routes, Path image, String... options) throws Exception {
        List<String> command = new ArrayList<>(List.of(System.getenv("POPFIB"), "compile", "-", "-o", image.toString()));
        command.addAll(List.of(options));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().write(routes.getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), said);
    }
}
