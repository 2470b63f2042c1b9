package popfib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every boundary of real tables: the first and last address of each route and those beside them, whose
 * answers are those of the command. The tables are the one that the command has built in, and those of
 * $POPFIB_TABLES (files, with colons). A quick run asks a sample.
 */
final class BoundariesTest {
    @TempDir
    private Path folder;

    @TestFactory
    List<DynamicTest> ofRealTables() {
        Command.path();
        List<String> files = new ArrayList<>(List.of("built-in"));
        String more = System.getenv("POPFIB_TABLES");
        if (more != null && !more.isEmpty()) {
            files.addAll(Arrays.asList(more.split(":")));
        }
        return files.stream().map(file -> DynamicTest.dynamicTest("table " + file, () -> ask(file))).toList();
    }

    private void ask(String file) throws Exception {
        Path path = folder.resolve("routes.fib");
        Command.run("", "compile", "-o", path.toString(), "--keep", "routes", "--table", file);
        PopfibTable whole = PopfibTable.open(path);
        List<String> addresses = new ArrayList<>();
        StringBuilder input = new StringBuilder();
        int count = 0;
        for (Route route : whole.routes()) {
            if (Command.IS_QUICK && count++ % 64 != 0) {
                continue;
            }
            int bits = route.isIPv4() ? route.length() + 96 : route.length();
            long lastHigh = bits >= 64 ? route.high() : route.high() | -1L >>> bits;
            long lastLow = bits == 128 ? route.low() : bits > 64 ? route.low() | -1L >>> bits - 64 : -1;
            long width = route.isIPv4() ? 0xFFFF_FFFFL : -1;
            lastHigh = route.isIPv4() ? 0 : lastHigh;
            lastLow &= width;
            // What is before the first address of a family, or after the last, is at its other end.
            for (long[] address : new long[][] {{route.high() - (route.low() == 0 && !route.isIPv4() ? 1 : 0), route.low() - 1 & width},
                    {route.high(), route.low()}, {lastHigh, lastLow}, {lastHigh + (lastLow == -1 ? 1 : 0), lastLow + 1 & width}}) {
                String text = Addresses.text(route.isIPv4(), address[0], address[1]);
                addresses.add(text);
                input.append(text).append('\n');
            }
        }
        assertNotEquals(0, addresses.size());
        String[] answers = Command.run(input.toString(), "lookup", "--table", path.toString()).split("\n");
        assertEquals(addresses.size(), answers.length);
        compare(whole, addresses, answers);
        for (String[] form : new String[][] {{"prefixes", "smallest"}, {"values", "smallest"}, {"values", "balanced"}}) {
            Path smaller = folder.resolve("smaller.fib");
            Command.run("", "compile", "-o", smaller.toString(), "--keep", form[0], "--size", form[1], "--table", path.toString());
            compare(PopfibTable.open(smaller), addresses, answers);
            compare(PopfibTable.map(smaller), addresses, answers);
        }
    }

    private static void compare(PopfibTable table, List<String> addresses, String[] answers) throws Exception {
        for (int n = 0; n < answers.length; n++) {
            String address = addresses.get(n);
            String[] fields = answers[n].split("\t");
            assertEquals(address, fields[0]);
            int record = table.lookup(address);
            long match = table.match(address);
            if (record != PopfibTable.recordOf(match)) {
                assertEquals(record, PopfibTable.recordOf(match), address);
            }
            String text = table.text(record);
            if (!(text == null ? "-" : text).equals(fields[2])) {
                assertEquals(fields[2], text, address);
            }
            if (table.hasPrefixes() && record > 0) {
                int length = Integer.parseInt(fields[1].substring(fields[1].indexOf('/') + 1));
                if (length != PopfibTable.lengthOf(match)) {
                    assertEquals(length, PopfibTable.lengthOf(match), address);
                }
            }
            if ((record > 0) == fields[1].equals("-")) {
                assertEquals(fields[1], record + "", address);
            }
        }
    }
}
