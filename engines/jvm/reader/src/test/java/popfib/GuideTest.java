package popfib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The code of docs/jvm.md, which a test compares with it: what the guide shows runs here. */
final class GuideTest {
    private static final Path RECORDS = Command.RECORDS;

    @Test
    void lookups() throws Exception {
        PopfibTable table = PopfibTable.open(RECORDS, "country");
        int record = table.lookup("10.1.2.3");
        String country = table.text(record);                        // AT

        long match = table.match("192.0.2.1");
        int length = PopfibTable.lengthOf(match);                   // 0, as of 0.0.0.0/0
        country += table.text(PopfibTable.recordOf(match));         // ZZ

        Route route = table.route(InetAddress.getByName("10.9.9.9"));
        String prefix = route.prefix();                             // 10.0.0.0/8
        assertEquals("ATZZ", country);
        assertEquals(0, length);
        assertEquals("10.0.0.0/8", prefix);
    }

    @Test
    void columns() throws Exception {
        PopfibTable table = PopfibTable.open(RECORDS, "records");
        Column<String> city = table.column("names.city", String.class);
        Column<Long> asn = table.column("asn", Long.class);
        Column<List<Long>> ports = table.listColumn("ports", Long.class);

        int record = table.lookup(0x0a090909);                      // 10.9.9.9
        String name = city.get(record);                             // Wien, or null
        long number = asn.getLong(record, 0);                       // 64500, or 0
        List<Long> open = ports.get(record);                        // [22, 443], or null
        assertEquals("Wien", name);
        assertEquals(64500, number);
        assertEquals(List.of(22L, 443L), open);
    }

    @Test
    void watching() throws Exception {
        record Places(PopfibTable table, Column<String> city) {
            static Places of(PopfibTable table) {
                return new Places(table, table.column("names.city", String.class));
            }

            String of(InetAddress address) {
                return city.get(table.lookup(address));
            }
        }
        try (Watcher<Places> watcher = PopfibTable.watch(RECORDS).table("records")
                .onError(error -> System.err.println(error)).start(Places::of)) {
            Places now = watcher.current();
            String name = now.of(InetAddress.getByName("10.9.9.9")); // Wien
            assertEquals("Wien", name);
        }
    }

    private static String squeeze(String code) {
        return String.join(" ", code.strip().split("\\s+"));
    }

    @Test
    void theGuideIsRun() throws IOException {
        String guide = Files.readString(Command.TREE.resolve("docs/jvm.md"));
        String run = squeeze(Files.readString(Path.of("src/test/java/popfib/GuideTest.java")));
        List<MatchResult> blocks = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL).matcher(guide).results().toList();
        assertTrue(blocks.size() >= 3);
        for (MatchResult block : blocks) {
            // The guide has files of the reader's.
            String code = squeeze(block.group(1).replaceAll("Path\\.of\\(\"[a-z]+\\.fib\"\\)", "RECORDS"));
            assertTrue(run.contains(code), "nothing runs " + code);
        }
    }
}
