package popfib;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32;

/** Images made by hand, of sections in their order. */
final class ImageWriter {
    private record Part(int table, int width, int kind, byte[] bytes) {}

    private final List<Part> parts = new ArrayList<>();

    ImageWriter add(int table, int width, int kind, byte[] bytes) {
        parts.add(new Part(table, width, kind, bytes));
        return this;
    }

    ImageWriter add(int table, int width, int kind, int... words) {
        return add(table, width, kind, bytes(words));
    }

    /** An image with the metadata of itself and of one table. */
    static ImageWriter ofTable(String name) {
        return new ImageWriter().add(0, 0, 1).add(1, 0, 1, ("name\t" + name + "\n").getBytes(StandardCharsets.UTF_8));
    }

    /** A FIB of section 16. */
    ImageWriter fib(int width, int rootBits, int valueBits, boolean isFlat, int[] root, int[] arena) {
        byte[] description = new byte[40];
        description[0] = (byte) rootBits;
        description[2] = (byte) valueBits;
        description[3] = 32;
        description[4] = (byte) 255;
        description[6] = (byte) (isFlat ? 1 : 0);
        description[24] = 2;
        return add(1, width, 16, description).add(1, width, 17, root).add(1, width, 18, arena);
    }

    /** All sections, each at a multiple of 64. */
    byte[] image() {
        int end = 64 + 32 * parts.size();
        ByteBuffer table = words(32 * parts.size());
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        for (Part part : parts) {
            while (end % 64 != 0) {
                content.write(0);
                end++;
            }
            table.putInt(part.table).putShort((short) part.width).putShort((short) part.kind).putLong(end);
            table.putLong(part.bytes.length).putInt(0).putInt(0);
            content.writeBytes(part.bytes);
            end += part.bytes.length;
        }
        ByteBuffer image = words(end);
        image.put(new byte[] {(byte) 0x89, 'P', 'O', 'P', 'F', 'I', 'B', '\n'}).putShort((short) 3).putShort((short) 0);
        image.putInt(parts.size()).position(64).put(table.array()).put(content.toByteArray());
        mend(image.array());
        return image.array();
    }

    /** Makes all checksums, and the length, right again, if there is a section table. */
    static void mend(byte[] bytes) {
        if (bytes.length < 64) {
            return;
        }
        ByteBuffer image = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        long end = 64 + 32 * (image.getInt(12) & 0xFFFF_FFFFL);
        if (end <= bytes.length) {
            for (int at = 64; at < end; at += 32) {
                long start = image.getLong(at + 8);
                long length = image.getLong(at + 16);
                if (start >= 0 && start <= bytes.length && length >= 0 && length <= bytes.length - start) {
                    image.putInt(at + 24, crc(bytes, (int) start, (int) length));
                }
            }
            image.putInt(24, crc(bytes, 64, (int) end - 64));
        }
        image.putLong(16, bytes.length);
        image.putInt(60, crc(bytes, 0, 60));
    }

    static int crc(byte[] bytes, int from, int length) {
        CRC32 crc = new CRC32();
        crc.update(bytes, from, length);
        return (int) crc.getValue();
    }

    private static ByteBuffer words(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    static byte[] bytes(int... numbers) {
        ByteBuffer bytes = words(4 * numbers.length);
        for (int number : numbers) {
            bytes.putInt(number);
        }
        return bytes.array();
    }

    /** A table of one IPv4 host, which leads to 1, and one IPv6 host, which leads to 2. */
    static byte[] hosts(int ipv4, long high, long low) {
        return ofTable("hosts").fib(32, 0, 1, false, new int[] {1 << 31 | 1 << 30 | 3}, host(32, 0, ipv4 & 0xFFFF_FFFFL, 1))
                .fib(128, 0, 1, false, new int[] {1 << 31 | 1 << 30 | 3}, host(128, high, low, 2)).image();
    }

    /** Wide blocks, one below the other, to the answer of one key. */
    private static int[] host(int width, long high, long low, int answer) {
        List<Integer> arena = new ArrayList<>(List.of(1, 0, 0));
        for (int used = 0; used < width; used += 6) {
            int slot = 0;
            for (int bit = width - 1 - used; bit > width - 7 - used; bit--) {
                slot = slot << 1 | (bit < 0 ? 0 : (int) ((bit < 64 ? low >>> bit : high >>> bit) & 1));
            }
            // The slots of the last block beyond the key are as many.
            int slots = used + 6 > width ? 1 << used + 6 - width : 1;
            long runs = 1 | 1L << slot | (slot + slots < 64 ? 1L << slot + slots : 0);
            arena.add((int) runs);
            arena.add((int) (runs >>> 32));
            if (slot > 0) {
                arena.add(0);
            }
            int length = 2 + Long.bitCount(runs);
            int block = arena.size() - 2 - (slot > 0 ? 1 : 0);
            arena.add(used + 6 >= width ? answer : 1 << 31 | 1 << 30 | block + length);
            if (slot + slots < 64) {
                arena.add(0);
            }
        }
        return arena.stream().mapToInt(word -> word).toArray();
    }
}
