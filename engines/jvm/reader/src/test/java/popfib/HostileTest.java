package popfib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/**
 * Images that are cut, damaged or made to do harm: each is an exception of one line, or it answers without
 * leaving its memory; nothing hangs, or takes memory beyond a few times its size.
 */
@Timeout(600)
final class HostileTest {
    @TempDir
    private Path folder;

    /** Small images of many forms. */
    private static Map<String, byte[]> bases() throws IOException {
        Map<String, byte[]> bases = new LinkedHashMap<>();
        bases.put("flat", BlocksTest.image());
        bases.put("hosts", ImageWriter.hosts(0x0a010203, 0x0a010203L << 32, 5));
        for (Path path : List.of(Command.RECORDS, Command.TREE.resolve("crates/popfib/tests/data/v3.fib"))) {
            bases.put(path.getFileName().toString(), Files.readAllBytes(path));
        }
        try (Stream<Path> files = Files.list(Command.TREE.resolve("engines/go/testdata"))) {
            for (Path path : files.sorted().toList()) {
                bases.put(path.getFileName().toString(), Files.readAllBytes(path));
            }
        }
        assertTrue(bases.size() >= 8, bases.keySet()::toString);
        return bases;
    }

    /** Asks every table of an image for everything. */
    private static void ask(List<PopfibTable> tables, Random random) {
        for (PopfibTable table : tables) {
            int most = table.columns().isEmpty() ? Integer.MAX_VALUE : table.records();
            for (int n = 0; n < 200; n++) {
                // Half of them near the few addresses that small tables have.
                int key = n % 2 == 0 ? 0x0a010200 | random.nextInt(8) : random.nextInt();
                long high = n % 2 == 0 ? (long) key << 32 : random.nextLong();
                long low = random.nextLong();
                int record = table.lookup(key);
                int record6 = table.lookup(high, low);
                assertTrue(record <= most && record6 <= most);
                // Both FIBs are in order, but may be of different routes.
                assertTrue(PopfibTable.recordOf(table.match(key)) <= most && PopfibTable.lengthOf(table.match(key)) <= 32);
                assertTrue(PopfibTable.recordOf(table.match(high, low)) <= most && PopfibTable.lengthOf(table.match(high, low)) <= 128);
                table.text(record);
                table.text(record6);
            }
            for (Route route : table.routes()) {
                assertEquals(route, Route.of(route.isIPv4(), route.high(), route.low(), route.length(), route.record()));
                assertTrue(route.record() > 0 && route.record() <= most);
            }
            for (ColumnType type : table.columns()) {
                for (int record = 1; record <= Math.min(most, 1000); record++) {
                    Object value = table.column(type.name(), Object.class).get(record);
                    assertTrue(value == null || (value instanceof List) == type.isList());
                }
            }
        }
    }

    private static boolean isRefused(byte[] image, Random random) {
        List<PopfibTable> tables;
        try {
            tables = Opening.of(image);
        } catch (InvalidImageException e) {
            assertFalse(e.getMessage().contains("\n"), e.getMessage());
            return true;
        }
        ask(tables, random);
        return false;
    }

    @Test
    void everyCut() throws Exception {
        for (Map.Entry<String, byte[]> base : bases().entrySet()) {
            byte[] image = base.getValue();
            for (int length = 0; length < image.length; length += length < 4096 ? 1 : 257) {
                assertTrue(isRefused(Arrays.copyOf(image, length), null), base.getKey() + " cut off at " + length);
            }
            assertTrue(isRefused(Arrays.copyOf(image, image.length + 1), null), base.getKey() + ": a byte follows");
            assertFalse(isRefused(image, new Random(1)), base.getKey());
        }
    }

    @Test
    void everyFlippedBit() throws Exception {
        for (Map.Entry<String, byte[]> base : bases().entrySet()) {
            byte[] image = base.getValue().clone();
            for (int at = 0; at < image.length; at += at < 4096 ? 1 : 257) {
                image[at] ^= (byte) (1 << at % 8);
                assertTrue(isRefused(image, null), base.getKey() + ": byte " + at + " was changed");
                image[at] ^= (byte) (1 << at % 8);
            }
        }
    }

    /** Most damages with right checksums are found as well; the others have to answer. */
    @Test
    void damagesWithRightChecksums() throws Exception {
        for (Map.Entry<String, byte[]> base : bases().entrySet()) {
            damage(base.getKey(), base.getValue(), Command.IS_QUICK ? 1500 : 20_000);
        }
    }

    @Test
    void damagesOfLargerImages() throws Exception {
        for (String direct : List.of("17", "18")) {
            for (String size : List.of("smallest", "balanced")) {
                for (String keep : List.of("values", "prefixes")) {
                    byte[] image = Command.compile(Vectors.read().tables().get("edges").text(), "--direct-bits", direct, "--size", size, "--keep", keep);
                    damage(direct + " " + size + " " + keep, image, Command.IS_QUICK ? 40 : 400);
                }
            }
        }
    }

    private static void damage(String name, byte[] image, int rounds) {
        long seed = Long.getLong("popfib.seed", 1);
        Random random = new Random(seed);
        int refused = 0;
        for (int round = 0; round < rounds; round++) {
            byte[] damaged = image.clone();
            ByteBuffer words = ByteBuffer.wrap(damaged).order(ByteOrder.LITTLE_ENDIAN);
            for (int edit = random.nextInt(3); edit >= 0; edit--) {
                int at = random.nextInt(damaged.length - 4);
                // Half of the places are about the end, where the arena of a large table is.
                if (damaged.length > 1 << 16 && random.nextBoolean()) {
                    at = damaged.length - 4 - random.nextInt(1 << 12);
                }
                switch (random.nextInt(4)) {
                    case 0 -> damaged[at] ^= (byte) (1 << random.nextInt(8));
                    case 1 -> words.putInt(at & ~3, random.nextInt());
                    case 2 -> words.putInt(at & ~3, words.getInt(random.nextInt(damaged.length - 4) & ~3));
                    default -> words.putInt(at & ~3, random.nextInt(300));
                }
            }
            if (random.nextInt(8) == 0) {
                damaged = Arrays.copyOf(damaged, Math.max(72, damaged.length - random.nextInt(damaged.length / 4)));
            }
            ImageWriter.mend(damaged);
            try {
                refused += isRefused(damaged, random) ? 1 : 0;
            } catch (RuntimeException e) {
                throw new AssertionError(name + ", seed " + seed + ", round " + round, e);
            }
        }
        assertTrue(refused > 0, name + ": nothing was refused");
    }

    /** What fuzzers found to be trouble for other readers, as it is and as an image. */
    @Test
    void keptInputs() throws Exception {
        int asked = 0;
        try (Stream<Path> files = Files.walk(Command.TREE.resolve("fuzz/regressions"))) {
            for (Path path : files.filter(Files::isRegularFile).toList()) {
                byte[] input = Files.readAllBytes(path);
                isRefused(input, new Random(1));
                for (byte[] base : bases().values()) {
                    byte[] image = base.clone();
                    int at = Math.min(64, image.length - 1);
                    System.arraycopy(input, 0, image, at, Math.min(input.length, image.length - at));
                    ImageWriter.mend(image);
                    isRefused(image, new Random(1));
                    // And after the section table, so that contents are reached.
                    image = base.clone();
                    at = Math.min(64 + 32 * ByteBuffer.wrap(base).order(ByteOrder.LITTLE_ENDIAN).getInt(12), image.length - 1);
                    at += Math.floorMod(path.hashCode(), image.length - at);
                    System.arraycopy(input, 0, image, at, Math.min(input.length, image.length - at));
                    ImageWriter.mend(image);
                    isRefused(image, new Random(1));
                }
                asked++;
            }
        }
        assertTrue(asked > 30, asked + " inputs");
    }

    @Test
    void exceptionsNameFileAndReason() throws Exception {
        byte[] good = Files.readAllBytes(Command.RECORDS);
        Map<byte[], String> images = new LinkedHashMap<>();
        images.put(new byte[0], "not a popfib image");
        images.put("10.0.0.0/8 x\n".getBytes(), "not a popfib image: `popfib compile FILE --columns '*' -o IMAGE`");
        images.put(Arrays.copyOf(good, 20), "byte 20 (header): cut off at byte 20 of 64");
        images.put(Arrays.copyOf(good, 5000), "byte 5000 (header): cut off at byte 5000 of 7892");
        images.put(Arrays.copyOf(good, good.length + 2), "byte 7892 (header): 2 bytes follow the image's 7892");
        images.put(changed(good, 8, 2), "an image of version 2.0; this program reads version 3: make it again with `popfib compile`");
        images.put(changed(changed(good, 8, 4), 10, 7), "an image of version 4.7; this program reads version 3: make it again with `popfib compile`");
        images.put(changed(good, 17, good[17] ^ 1), "byte 0 (header): the checksum does not match");
        images.put(changed(good, 70, good[70] ^ 1), "byte 64 (header): the checksum of the section table does not match");
        images.put(changed(good, good.length - 1, 77), "of table 2): the checksum does not match");
        byte[] mended = changed(good, 68, good[68] ^ 1);
        ImageWriter.mend(mended);
        images.put(mended, "byte 64 (section table");
        Path path = folder.resolve("t.fib");
        for (Map.Entry<byte[], String> image : images.entrySet()) {
            Files.write(path, image.getKey());
            refuses(path + ": ", image.getValue(), () -> PopfibTable.open(path, "records"));
            refuses(path + ": ", image.getValue(), () -> PopfibTable.map(path, "records"));
            refuses("", image.getValue(), () -> PopfibTable.of(image.getKey(), "records"));
        }
        assertThrows(NoSuchFileException.class, () -> PopfibTable.open(folder.resolve("none.fib")));
        assertEquals(folder + ": not a regular file", assertThrows(IOException.class, () -> PopfibTable.open(folder)).getMessage());
        refuses(Command.RECORDS + ": an image of several tables, of which one has to be named: \"records\", \"country\"", "",
                () -> PopfibTable.open(Command.RECORDS));
        refuses(Command.RECORDS + ": no table \"x\" in \"records\", \"country\"", "", () -> PopfibTable.map(Command.RECORDS, "x"));
        refuses("an image of several tables", "", () -> PopfibTable.of(good));
    }

    private static byte[] changed(byte[] image, int at, int value) {
        byte[] changed = image.clone();
        changed[at] = (byte) value;
        return changed;
    }

    private static void refuses(String start, String part, Executable open) {
        String message = assertThrows(InvalidImageException.class, open).getMessage();
        assertTrue(message.startsWith(start) && message.contains(part) && !message.contains("\n"), message + ", not " + part);
    }

    /** A header that promises much takes no memory. */
    @Test
    void memoryIsBoundedByTheFile() throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        byte[] lies = Arrays.copyOf(Files.readAllBytes(Command.RECORDS), 64);
        ByteBuffer words = ByteBuffer.wrap(lies).order(ByteOrder.LITTLE_ENDIAN).putLong(16, 1L << 40).putInt(12, 1 << 31);
        words.putInt(60, ImageWriter.crc(lies, 0, 60));
        Path path = folder.resolve("t.fib");
        Files.write(path, lies);
        long before = threads.getCurrentThreadAllocatedBytes();
        refuses("", "cut off at byte 64 of 1099511627776", () -> PopfibTable.open(path));
        refuses("", "cut off at byte 64 of 1099511627776", () -> PopfibTable.map(path));
        assertTrue(threads.getCurrentThreadAllocatedBytes() - before < 1 << 20);
        for (Map.Entry<String, byte[]> base : bases().entrySet()) {
            Files.write(path, base.getValue());
            for (int round = 0; round < 2; round++) {
                before = threads.getCurrentThreadAllocatedBytes();
                PopfibTable.openAll(path);
                long taken = threads.getCurrentThreadAllocatedBytes() - before;
                assertTrue(round == 0 || taken < 2L * base.getValue().length + (1 << 18), base.getKey() + ": " + taken);
            }
        }
        // Of a real table, hardly more than the file.
        byte[] real = Files.readAllBytes(compiled());
        before = threads.getCurrentThreadAllocatedBytes();
        PopfibTable.open(folder.resolve("real.fib"));
        long taken = threads.getCurrentThreadAllocatedBytes() - before;
        assertTrue(taken < real.length * 1.1, taken + " bytes for " + real.length);
    }

    private Path compiled() throws Exception {
        Path path = folder.resolve("real.fib");
        Command.run("", "compile", "-o", path.toString(), "--table", "built-in");
        return path;
    }

    /** A file that is written while it is read, or never ends, is no table. */
    @Test
    void specialFiles() {
        Path zero = Path.of("/dev/zero");
        if (Files.exists(zero)) {
            assertTimeoutPreemptively(Duration.ofSeconds(10),
                    () -> assertThrows(IOException.class, () -> PopfibTable.open(zero)));
        }
    }

    /** Bytes that are given may change later. */
    @Test
    void bytesAreCopied() throws Exception {
        byte[] image = Files.readAllBytes(Command.RECORDS);
        PopfibTable table = PopfibTable.of(image, "records");
        Arrays.fill(image, (byte) -1);
        assertEquals("64500", table.text(table.lookup("10.1.2.3")));
    }

    /** Another program has put a shorter file in place of one that is mapped: the old one remains. */
    @Test
    void mappedFilesThatAreReplacedRemain() throws Exception {
        Path path = folder.resolve("t.fib");
        Command.publish(path, Files.readAllBytes(Command.RECORDS));
        PopfibTable table = PopfibTable.map(path, "records");
        Command.publish(path, new byte[1]);
        assertEquals("64500", table.text(table.lookup("10.1.2.3")));
        Files.delete(path);
        assertEquals("Wien", table.column("names.city", String.class).get(table.lookup("10.1.2.3")));
    }
}
