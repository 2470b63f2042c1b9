package popfib;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * The questions of engines/vectors, in images of every form, by every way to ask. Their answers are those
 * of Python's ipaddress, by a scan of all routes.
 */
final class VectorsTest {
    @TempDir
    private Path folder;

    /** The options of the command that make images of each form. */
    private static List<String[]> forms() {
        List<String[]> forms = new ArrayList<>();
        for (String keep : List.of("routes", "prefixes", "values")) {
            for (String size : List.of("smallest", "balanced")) {
                forms.add(new String[] {"--keep", keep, "--size", size});
                for (String direct : List.of("0", "5", "18")) {
                    forms.add(new String[] {"--keep", keep, "--size", size, "--direct-bits", direct});
                }
            }
        }
        // The largest tables, and pages.
        forms.add(new String[] {"--keep", "values", "--direct-bits", "24"});
        forms.add(new String[] {"--keep", "prefixes", "--size", "balanced", "--direct-bits", "20"});
        forms.add(new String[] {"--no-aggregation"});
        forms.add(new String[] {"--no-aggregation", "--direct-bits", "0"});
        return forms;
    }

    @TestFactory
    List<DynamicTest> everyForm() throws Exception {
        Command.path();
        List<DynamicTest> tests = new ArrayList<>();
        for (Map.Entry<String, Vectors.Table> vector : Vectors.read().tables().entrySet()) {
            for (String[] form : forms()) {
                tests.add(DynamicTest.dynamicTest(vector.getKey() + " " + String.join(" ", form), () -> {
                    byte[] image = Command.compile(vector.getValue().text(), form);
                    Path path = folder.resolve("t.fib");
                    Files.write(path, image);
                    ask(PopfibTable.of(image), vector.getValue());
                    ask(PopfibTable.open(path), vector.getValue());
                    ask(PopfibTable.map(path), vector.getValue());
                }));
            }
        }
        return tests;
    }

    private static void ask(PopfibTable table, Vectors.Table vector) throws Exception {
        int mapped = 0;
        List<Integer> of4 = new ArrayList<>();
        List<Integer> keys4 = new ArrayList<>();
        List<Integer> of6 = new ArrayList<>();
        List<Long> keys6 = new ArrayList<>();
        for (Vectors.Question question : vector.questions()) {
            byte[] bytes = question.bytes();
            int record = table.lookup(question.text());
            assertEquals(record, table.lookup(bytes), question.text());
            assertEquals(record, table.lookup(new StringBuilder(question.text())), question.text());
            long match = table.match(question.text());
            assertEquals(match, table.match(bytes), question.text());
            assertEquals(record, PopfibTable.recordOf(match), question.text());
            boolean isIPv4 = bytes.length == 4;
            if (isIPv4) {
                int key = Addresses.quarter(bytes, 0);
                assertEquals(record, table.lookup(key), question.text());
                assertEquals(match, table.match(key), question.text());
                keys4.add(key);
                of4.add(record);
            } else {
                long high = Addresses.half(bytes, 0);
                long low = Addresses.half(bytes, 8);
                assertEquals(record, table.lookup(high, low), question.text());
                assertEquals(match, table.match(high, low), question.text());
                keys6.add(high);
                keys6.add(low);
                of6.add(record);
            }
            InetAddress address = isIPv4 ? InetAddress.getByAddress(bytes) : Inet6Address.getByAddress(null, bytes, 7);
            assertEquals(record, table.lookup(address), question.text());
            assertEquals(match, table.match(address), question.text());
            InetAddress made = InetAddress.getByAddress(bytes);
            if (!isIPv4 && made.getAddress().length == 4) {
                // What Java has made an IPv4 address of is looked up as one.
                mapped++;
                assertEquals(table.lookup(made.getAddress()), table.lookup(made), question.text());
            }
            if (table.hasRoutes()) {
                List<List<String>> covering = new ArrayList<>();
                for (Route route : table.supernets(table.route(bytes))) {
                    covering.add(List.of(route.prefix(), table.text(route.record())));
                }
                assertEquals(question.covering(), covering, question.text());
            } else {
                assertThrows(IllegalStateException.class, () -> table.supernets(null));
            }
            if (question.route() == null) {
                assertEquals(PopfibTable.NO_MATCH, record, question.text());
                assertEquals(PopfibTable.NO_MATCH, match, question.text());
                assertEquals(-1, PopfibTable.lengthOf(match));
                assertNull(table.text(record));
                assertNull(table.route(address));
                continue;
            }
            assertEquals(question.route().get(1), table.text(record), question.text());
            String[] prefix = question.route().get(0).split("/");
            if (table.hasPrefixes()) {
                assertEquals(Integer.parseInt(prefix[1]), PopfibTable.lengthOf(match), question.text());
                Route route = table.route(address);
                assertEquals(record, route.record());
                assertEquals(question.route().get(0), route.prefix(), question.text());
                assertEquals(route, table.route(question.text()), question.text());
                assertEquals(isIPv4 ? 4 : 16, route.address().getAddress().length);
            } else {
                assertEquals(-1, PopfibTable.lengthOf(match));
                assertThrows(IllegalStateException.class, () -> table.route(address));
            }
        }
        assertNotEquals(0, mapped, "no IPv4-mapped address was asked for");
        int[] records = new int[of4.size() + 1];
        records[of4.size()] = 77;
        table.lookupAll(keys4.stream().mapToInt(key -> key).toArray(), records, of4.size());
        of4.add(77);
        assertArrayEquals(of4.stream().mapToInt(record -> record).toArray(), records);
        records = new int[of6.size()];
        table.lookupAll(keys6.stream().mapToLong(key -> key).toArray(), records, of6.size());
        assertArrayEquals(of6.stream().mapToInt(record -> record).toArray(), records);
        askRoutes(table, vector);
    }

    private static void askRoutes(PopfibTable table, Vectors.Table vector) {
        Map<String, String> expected = new HashMap<>();
        for (List<String> route : vector.routes()) {
            expected.put(route.get(0), route.get(1));
        }
        Map<String, String> got = new HashMap<>();
        Route before = null;
        for (Route route : table.routes()) {
            if (before != null && before.isIPv4() == route.isIPv4()) {
                int order = Long.compareUnsigned(before.high(), route.high());
                order = order != 0 ? order : Long.compareUnsigned(before.low(), route.low());
                assertTrue((order != 0 ? order : before.length() - route.length()) < 0, before + ", " + route);
            }
            assertFalse(before != null && !before.isIPv4() && route.isIPv4());
            before = route;
            got.put(route.prefix(), table.text(route.record()));
        }
        if (!table.hasRoutes()) {
            assertTrue(got.isEmpty());
            return;
        }
        assertEquals(expected, got);
        assertEquals(expected.size(), table.ipv4Routes() + table.ipv6Routes());
    }

    @Test
    void whatIsNoAddressIsMalformed() throws Exception {
        PopfibTable table = PopfibTable.open(Command.RECORDS, "records");
        List<String> invalid = new ArrayList<>(Vectors.read().invalid());
        invalid.addAll(List.of(":", "1:", "::1:", "1::2:", ":1", "1.2.3.4.", ".1.2.3.4", "1..2.3", "1.2.3", "0x1.2.3.4", "00.1.2.3",
                "::1.2.3.4:5", "1:2:3:4:5:6:7:1.2.3.4", "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8", "::12345", "::g", "::1.2.3.256", "::1.2.3",
                "1:2:3:4:5:6:1.2.3.4 ", "fe80::1%1", "１.2.3.4", "\u06611.2.3.4", "1.2.3.4\0", "::\u0131", "1:2:3:4:5:6:7:8:", "999.1.1.1"));
        for (String text : invalid) {
            assertEquals(PopfibTable.MALFORMED, table.lookup(text), text);
            assertEquals(PopfibTable.MALFORMED, table.match(text), text);
            assertFalse(PopfibTable.isAddress(text), text);
            assertNull(table.route(text), text);
            assertEquals(PopfibTable.MALFORMED, PopfibTable.recordOf(table.match(text)), text);
        }
        for (int length = 0; length < 20; length++) {
            if (length != 4 && length != 16) {
                assertEquals(PopfibTable.MALFORMED, table.lookup(new byte[length]));
                assertEquals(PopfibTable.MALFORMED, table.match(new byte[length]));
            }
        }
        assertNull(table.text(PopfibTable.MALFORMED));
        assertThrows(NullPointerException.class, () -> table.lookup((CharSequence) null));
    }
}
