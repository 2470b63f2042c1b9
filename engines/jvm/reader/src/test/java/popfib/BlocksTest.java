package popfib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tables made by hand: flat blocks, and blocks whose pointers lead where they must not. */
final class BlocksTest {
    private static final int NODE = 1 << 31;
    private static final int TO_FLAT = NODE | 1 << 29;

    private static int[] arena(int length) {
        int[] arena = new int[length];
        arena[0] = 1;
        return arena;
    }

    private static int[] arena4() {
        int[] arena = arena(16 + 64 + 32 + 3);
        for (int n = 0; n < 64; n++) {
            arena[16 + n] = n + 1;
        }
        // A block with runs below it: slot 0 has 5, all others 6.
        arena[16 + 63] = NODE | 112;
        arena[112] = 3;
        arena[114] = 0x65;
        for (int n = 0; n < 32; n++) {
            arena[80 + n] = 2 * n + 100 | 2 * n + 101 << 16;
        }
        return arena;
    }

    private static int[] arena6() {
        int[] arena = arena(16 + 64 + 64);
        for (int n = 0; n < 64; n++) {
            arena[16 + n] = n + 200;
            arena[80 + n] = n + 300;
        }
        arena[80 + 8] = TO_FLAT | 16;
        return arena;
    }

    private static byte[] image(int[] root4, int[] arena4, int[] root6, int[] arena6) {
        return ImageWriter.ofTable("flat").fib(32, root4.length / 2, 4, true, root4, arena4)
                .fib(128, 0, 4, true, root6, arena6).image();
    }

    /** As small as flat tables can be: two blocks of IPv4, one of them of halves, and two of IPv6. */
    static byte[] image() {
        return image(new int[] {TO_FLAT | 16, TO_FLAT | 80 | 1}, arena4(), new int[] {TO_FLAT | 80}, arena6());
    }

    @Test
    void flatBlocks() throws Exception {
        PopfibTable table = PopfibTable.of(image());
        Map<String, Integer> expected = Map.ofEntries(Map.entry("0.0.0.0", 1), Map.entry("2.0.0.0", 2), Map.entry("126.0.0.0", 5),
                Map.entry("127.0.0.0", 6), Map.entry("128.0.0.0", 100), Map.entry("130.0.0.0", 101), Map.entry("255.0.0.0", 163),
                Map.entry("::", 300), Map.entry("ffff::", 363), Map.entry("2000::", 200), Map.entry("2010::", 201), Map.entry("23f0::", 263));
        expected.forEach((address, number) -> assertEquals(number, table.lookup(address), address));
    }

    /** One block that is the whole table: a size that is no longer made. */
    @Test
    void aWholeTableInOneBlock() {
        refuses("size fastest is no longer read", image(new int[] {TO_FLAT | 16 | 1}, arena4(), new int[] {TO_FLAT | 80}, arena6()));
    }

    @Test
    void damagedFlatBlocks() {
        int[] root4 = {TO_FLAT | 16, TO_FLAT | 80 | 1};
        int[] root6 = {TO_FLAT | 80};
        for (int wrong : new int[] {0, 5, NODE | 16, TO_FLAT | 1 << 30 | 16, TO_FLAT | 18, TO_FLAT | 128, TO_FLAT | 0x1FFFFFF0, TO_FLAT}) {
            int[] root = {TO_FLAT | 16, wrong};
            assertTrue(wrong != root4[1]);
            assertThrows(InvalidImageException.class, () -> PopfibTable.of(image(root, arena4(), root6, arena6())), Integer.toHexString(wrong));
        }
        int[] twice = {TO_FLAT | 16, TO_FLAT | 16 | 1};
        refuses("a word has two owners", image(twice, arena4(), root6, arena6()));
        for (int wrong : new int[] {TO_FLAT | 80, TO_FLAT | 96, NODE | 16, TO_FLAT | 17, TO_FLAT | 1 << 30 | 16}) {
            int[] arena = arena6();
            arena[80 + 9] = wrong;
            refuses("leads nowhere", image(root4, arena4(), root6, arena));
        }
        int[] half = arena4();
        half[81] = 1 << 15;
        refuses("pointer 0x00008000 leads nowhere", image(root4, half, root6, arena6()));
    }

    /** A chain of blocks that needs more bits than a key has, and one that leads back. */
    @Test
    void blocksThatAreTooDeep() throws Exception {
        for (int width : new int[] {32, 128}) {
            int deepest = (width + 5) / 6;
            for (int blocks : new int[] {deepest, deepest + 1}) {
                int[] arena = arena(3 + 3 * blocks);
                for (int n = 0; n < blocks; n++) {
                    arena[3 + 3 * n] = 1;
                    arena[5 + 3 * n] = n + 1 < blocks ? NODE | 1 << 30 | 6 + 3 * n : 7;
                }
                byte[] image = ImageWriter.ofTable("deep").fib(width, 0, 1, false, new int[] {NODE | 1 << 30 | 3}, arena).image();
                if (blocks == deepest) {
                    PopfibTable table = PopfibTable.of(image);
                    assertEquals(7, width == 32 ? table.lookup(5) : table.lookup(5, 5));
                } else {
                    refuses("a block is too deep", image);
                }
                arena[arena.length - 1] = NODE | 1 << 30 | 3;
                assertThrows(InvalidImageException.class,
                        () -> PopfibTable.of(ImageWriter.ofTable("deep").fib(width, 0, 1, false, new int[] {NODE | 1 << 30 | 3}, arena).image()));
            }
        }
        // Flat blocks of IPv6: 22 of them are allowed, one below the other.
        for (int blocks : new int[] {22, 23}) {
            int[] arena = arena(16 + 64 * blocks);
            Arrays.fill(arena, 16, 80, 9);
            for (int n = 1; n < blocks; n++) {
                arena[16 + 64 * n] = TO_FLAT | 16 + 64 * (n - 1);
            }
            byte[] image = image(new int[] {TO_FLAT | 16, TO_FLAT | 80 | 1}, arena4(), new int[] {TO_FLAT | 16 + 64 * (blocks - 1)}, arena);
            if (blocks == 22) {
                assertEquals(9, PopfibTable.of(image).lookup(0, 0));
            } else {
                refuses("a block is too deep", image);
            }
        }
    }

    /** What a later minor version may add is skipped; what the order of sections forbids is not. */
    @Test
    void sectionsThatAreNotKnown() throws Exception {
        int[] root = {1};
        int[] arena = {1, 0, 0};
        byte[] later = new ImageWriter().add(0, 0, 1).add(1, 0, 1, "name\tlater\nsomething\telse\n".getBytes())
                .add(1, 0, 40_000, 1).add(1, 16, 16, 2).add(1, 32, 2).fib(32, 0, 1, false, root, arena).add(1, 32, 40_000, 3).image();
        later[10] = 7;
        ImageWriter.mend(later);
        PopfibTable table = PopfibTable.of(later);
        assertEquals("later", table.name());
        assertEquals(1, table.lookup("192.0.2.1"));
        assertEquals(PopfibTable.NO_MATCH, table.lookup("2001:db8::1"));
        byte[] name = "name\tx\n".getBytes();
        Map.of(
                "no IPv4 FIB arena", ImageWriter.ofTable("x").add(1, 32, 16, new byte[40]).add(1, 32, 17, root),
                "no metadata of table 2", ImageWriter.ofTable("x").add(3, 0, 1, name),
                "no metadata of table 4", new ImageWriter().add(0, 0, 1).add(1, 0, 1, name).add(2, 0, 1, name).add(3, 0, 1, name).add(4, 0, 40_000),
                "sections are not in order", ImageWriter.ofTable("x").add(1, 0, 1, name),
                "the table has no name", ImageWriter.ofTable("x").add(2, 0, 1, "source\tx\n".getBytes()),
                "a line is malformed", ImageWriter.ofTable("x").add(2, 0, 1, "name\tx\ty\n".getBytes()),
                "the last line is cut off", ImageWriter.ofTable("x").add(2, 0, 1, "name\tx".getBytes()),
                "it is not UTF-8", ImageWriter.ofTable("x").add(2, 0, 1, new byte[] {'n', '\t', (byte) 0xC0, (byte) 0x80, '\n'}),
                "there is no table", new ImageWriter().add(0, 0, 1),
                "the answer 1 is none there is", new ImageWriter().add(0, 0, 1).add(1, 0, 1, name)
                        .add(1, 0, 4, 0, 1, 0, 0, 1, 0, 0, 0).add(1, 0, 64).add(1, 0, 65).fib(32, 0, 1, false, root, arena))
                .forEach((reason, image) -> refuses(reason, image.image()));
    }

    private static void refuses(String reason, byte[] image) {
        String message = assertThrows(InvalidImageException.class, () -> PopfibTable.of(image)).getMessage();
        assertTrue(message.contains(reason), message + ", not " + reason);
    }
}
