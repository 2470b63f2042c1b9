package popfib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Images that are changed by hand and at random: refused, or answering, as the Python of docs/image-format.md
 * has it (engines/vectors/changed.py).
 */
final class ChangedImagesTest {
    /** What is found in an image, in the form of {@code changed.py}. */
    private static String foundIn(byte[] image, List<byte[]> asked) throws InvalidImageException {
        StringBuilder all = new StringBuilder();
        Set<String> names = new HashSet<>();
        for (PopfibTable table : Opening.of(image)) {
            if (!names.add(table.name())) {
                continue;
            }
            long routes = (long) table.ipv4Routes() + table.ipv6Routes();
            all.append("table ").append(table.name()).append("\nroutes ").append(routes).append('\n');
            for (byte[] address : asked) {
                long match = table.match(address);
                int record = PopfibTable.recordOf(match);
                int length = PopfibTable.lengthOf(match);
                all.append(Math.max(0, table.lookup(address))).append(' ');
                all.append(record < 0 ? "-" : record + "/" + (length < 0 ? "?" : length)).append('\n');
            }
            List<Column<Object>> columns = new ArrayList<>();
            for (ColumnType type : table.columns()) {
                columns.add(table.column(type.name(), Object.class));
            }
            for (int record = 1; !columns.isEmpty() && record <= Math.min(50, table.records()); record++) {
                List<String> texts = new ArrayList<>();
                for (Column<Object> column : columns) {
                    Object value = column.get(record);
                    texts.add(value == null ? "~" : ValueText.of(value).replaceAll("[\t\n]", " "));
                }
                all.append(String.join("\t", texts)).append('\n');
            }
        }
        return all.toString();
    }

    private static byte[] part(ByteBuffer file) {
        byte[] part = new byte[file.getInt()];
        file.get(part);
        return part;
    }

    private static String textOf(byte[] part) {
        return new String(part, StandardCharsets.UTF_8);
    }

    @Test
    void changedImages() throws Exception {
        Path path = Command.TREE.resolve("target/tmp/changed-images");
        String script = Command.TREE.resolve("engines/vectors/changed.py").toString();
        Process making = new ProcessBuilder("python3", script, path.toString()).redirectErrorStream(true).start();
        String said = textOf(making.getInputStream().readAllBytes());
        assertEquals(0, making.waitFor(), said);
        ByteBuffer file = ByteBuffer.wrap(Files.readAllBytes(path)).order(ByteOrder.LITTLE_ENDIAN);
        List<byte[]> asked = textOf(part(file)).lines().map(HexFormat.of()::parseHex).toList();
        List<String> differ = new ArrayList<>();
        int images = 0;
        for (; file.hasRemaining(); images++) {
            String name = textOf(part(file));
            byte[] image = part(file);
            String expected = textOf(part(file));
            String found = "";
            String reason = "";
            try {
                found = foundIn(image, asked);
            } catch (InvalidImageException e) {
                reason = e.getMessage();
            } catch (RuntimeException e) {
                reason = e.toString();
            }
            if (!found.equals(expected) || found.isEmpty() && reason.isEmpty()) {
                differ.add(name + ": " + reason + "; " + found + ", not " + expected);
            }
        }
        assertTrue(images > 10_000, images + " images alone");
        assertTrue(differ.isEmpty(), () -> differ.size() + ": " + String.join("\n", differ.subList(0, Math.min(20, differ.size()))));
    }
}
