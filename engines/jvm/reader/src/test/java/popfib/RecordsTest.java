package popfib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Columns of all types, their values and what an image says of itself. */
final class RecordsTest {
    private static PopfibTable records() throws Exception {
        return PopfibTable.open(Command.RECORDS, "records");
    }

    @Test
    void everyValueOfEveryRecord() throws Exception {
        for (PopfibTable table : List.of(records(), PopfibTable.map(Command.RECORDS, "records"),
                PopfibTable.of(Files.readAllBytes(Command.RECORDS), "records"))) {
            assertEquals(List.of("country text", "asn integer", "names.city text", "tags list of texts", "ports list of integers",
                    "rate float", "up boolean", "delta integer", "id unsigned integer"),
                    table.columns().stream().map(column -> column.name() + " " + column.description()).toList());
            int asked = 0;
            for (String line : Files.readAllLines(Path.of(Command.RECORDS.toString().replace(".fib", ".jsonl")))) {
                Map<String, Object> expected = Json.object(line);
                String prefix = (String) expected.remove("prefix");
                if (expected.remove("names") instanceof Map<?, ?> names) {
                    names.forEach((name, value) -> expected.put("names." + name, value));
                }
                Route route = null;
                for (Route one : table.routes()) {
                    route = one.prefix().equals(prefix) ? one : route;
                }
                for (ColumnType type : table.columns()) {
                    Object value = table.column(type.name(), Object.class).get(route.record());
                    assertSame(value, table.column(type.name(), Object.class).get(route.record()));
                    Object wanted = expected.remove(type.name());
                    assertEquals(plain(wanted), plain(value), prefix + " " + type);
                    for (Object one : value instanceof List<?> list ? list : value == null ? List.of() : List.of(value)) {
                        assertSame(type.kind().type(), one.getClass());
                    }
                    asked++;
                }
                assertTrue(expected.isEmpty(), expected::toString);
            }
            assertEquals(8 * 9, asked);
        }
    }

    /** Numbers by their value. */
    private static Object plain(Object value) {
        if (value instanceof List<?> list) {
            return list.stream().map(RecordsTest::plain).toList();
        }
        return value instanceof Number number ? new BigDecimal(number.toString()).stripTrailingZeros() : value;
    }

    @Test
    void typedColumns() throws Exception {
        PopfibTable table = records();
        int record = table.lookup("10.1.2.3");
        assertEquals("AT", table.column("country", String.class).get(record));
        assertEquals(-7L, table.column("delta", Long.class).get(record));
        assertEquals(new BigInteger("18446744073709551615"), table.column("id", BigInteger.class).get(record));
        assertEquals(1.5, table.column("rate", Double.class).get(record));
        assertEquals(true, table.column("up", Boolean.class).get(record));
        List<String> tags = table.listColumn("tags", String.class).get(record);
        assertEquals(List.of("vpn", "a,b"), tags);
        assertThrows(UnsupportedOperationException.class, () -> tags.set(0, "x"));
        assertEquals(List.of(22L, 443L), table.listColumn("ports", Long.class).get(record));
        assertEquals("Wien", table.column("names.city", CharSequence.class).get(record));
        assertEquals("64500", table.text(record));
        Column<Long> delta = table.column("delta", Long.class);
        Column<Double> rate = table.column("rate", Double.class);
        assertEquals(-7, delta.getLong(record, 0));
        assertEquals(1.5, rate.getDouble(record, 0));
        for (int none : new int[] {table.lookup("0.0.0.0"), PopfibTable.NO_MATCH, PopfibTable.MALFORMED}) {
            assertEquals(99, delta.getLong(none, 99));
            assertEquals(0.25, rate.getDouble(none, 0.25));
        }
        for (String name : List.of("rate", "id", "ports", "country")) {
            assertThrows(IllegalStateException.class, () -> table.column(name, Object.class).getLong(record, 0));
        }
        assertThrows(IllegalStateException.class, () -> delta.getDouble(record, 0));
        Column<Boolean> up = table.column("up", Boolean.class);
        for (int none : new int[] {0, PopfibTable.NO_MATCH, PopfibTable.MALFORMED, Integer.MIN_VALUE}) {
            assertNull(up.get(none));
            assertNull(table.text(none));
        }
        for (int beyond : new int[] {table.records() + 1, Integer.MAX_VALUE}) {
            assertThrows(IndexOutOfBoundsException.class, () -> up.get(beyond));
            assertThrows(IndexOutOfBoundsException.class, () -> table.text(beyond));
        }
        refuses("column \"asn\" is of type integer, which is not Integer: use column(\"asn\", Long.class)", () -> table.column("asn", Integer.class));
        refuses("column \"id\" is of type unsigned integer, which is not Long: use column(\"id\", BigInteger.class)", () -> table.column("id", Long.class));
        refuses("column \"tags\" is of type list of texts, which is not String: use listColumn(\"tags\", String.class)", () -> table.column("tags", String.class));
        refuses("column \"country\" is of type text, which is not a list of String: use column(\"country\", String.class)", () -> table.listColumn("country", String.class));
        refuses("no column \"city\" in \"country\", \"asn\", \"names.city\"", () -> table.column("city", String.class));
        PopfibTable country = PopfibTable.open(Command.RECORDS, "country");
        assertEquals("AT", country.column("country", String.class).get(country.lookup("10.1.2.3")));
        assertEquals("AT", country.text(country.lookup("10.1.2.3")));
    }

    private static void refuses(String message, Runnable run) {
        String given = assertThrows(IllegalArgumentException.class, run::run).getMessage();
        assertTrue(given.startsWith(message), given);
    }

    @Test
    void numbersWithoutRecords() throws Exception {
        PopfibTable table = PopfibTable.of(ImageWriter.hosts(1, 2, 3));
        assertEquals(0, table.records());
        assertEquals(List.of(), table.columns());
        assertEquals("1", table.text(table.lookup(1)));
        refuses("no column \"x\": the table has no records", () -> table.column("x", String.class));
    }

    @Test
    void whatAnImageSaysOfItself() throws Exception {
        List<PopfibTable> tables = PopfibTable.openAll(Command.RECORDS);
        assertEquals(List.of("records", "country"), tables.stream().map(PopfibTable::name).toList());
        PopfibTable table = tables.get(0);
        assertEquals("popfib 0.1.0", table.writer());
        assertEquals(Instant.parse("2026-05-17T06:40:00Z"), table.written());
        assertEquals(List.of(new Source("records.jsonl", "records of every type", "MIT OR Apache-2.0", "2026-05-17T06:40:00Z")),
                table.sources());
        assertEquals(5, table.ipv4Routes());
        assertEquals(3, table.ipv6Routes());
        byte[] later = new ImageWriter().add(0, 0, 1, "writer\tx\nother\ty\nwritten\t1700000000\n".getBytes())
                .add(1, 0, 1, "name\t\nsource\ta\ndate\t2026\nsource\tb\nx\ty\n".getBytes()).image();
        table = PopfibTable.of(later);
        assertEquals(Instant.ofEpochSecond(1_700_000_000), table.written());
        assertEquals(List.of(new Source("a", "", "", "2026"), new Source("b", "", "", "")), table.sources());
        assertEquals("", table.name());
        assertNull(PopfibTable.of(ImageWriter.hosts(1, 2, 3)).written());
        assertEquals(PopfibTable.NO_MATCH, table.lookup("::1"));
    }
}
