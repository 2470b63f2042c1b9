package popfib;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.InetAddress;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Texts of addresses, by turns with those of the JDK. */
final class AddressesTest {
    /** Every address but that of the table is without a match, so that a text is known to be read right. */
    @Test
    void textsAreRead() throws Exception {
        Random random = new Random(1);
        PopfibTable table = PopfibTable.of(ImageWriter.hosts(random.nextInt(), random.nextLong() | 1, random.nextLong()));
        random = new Random(1);
        int ipv4 = random.nextInt();
        long high = random.nextLong() | 1;
        long low = random.nextLong();
        assertEquals(1, table.lookup(ipv4));
        assertEquals(2, table.lookup(high, low));
        assertEquals(1, table.lookup(Addresses.text(true, 0, ipv4 & 0xFFFF_FFFFL)));
        assertEquals(2, table.lookup(Addresses.text(false, high, low)));
        assertEquals(2, table.lookup(Addresses.inet(false, high, low).getHostAddress().toUpperCase()));
        for (int bit = 0; bit < 128; bit++) {
            long h = bit < 64 ? high ^ 1L << bit : high;
            long l = bit < 64 ? low : low ^ 1L << bit;
            assertEquals(PopfibTable.NO_MATCH, table.lookup(Addresses.text(false, h, l)));
            if (bit < 32) {
                assertEquals(PopfibTable.NO_MATCH, table.lookup(Addresses.text(true, 0, (ipv4 ^ 1 << bit) & 0xFFFF_FFFFL)));
            }
        }
    }

    @Test
    void textsAreThoseOfTheJdk() throws Exception {
        Random random = new Random(2);
        for (int round = 0; round < 20_000; round++) {
            // Zeros of many lengths at many places.
            long high = random.nextLong() & random.nextLong() >> random.nextInt(64) & -1L << random.nextInt(64);
            long low = random.nextLong() & random.nextLong() >> random.nextInt(64) & -1L << random.nextInt(64);
            for (int group = 0; group < 4; group++) {
                if (random.nextInt(3) == 0) {
                    high &= ~(0xFFFFL << 16 * group);
                }
                if (random.nextInt(3) == 0) {
                    low &= ~(0xFFFFL << 16 * group);
                }
            }
            if (high == 0 && low >>> 32 == 0xFFFF) {
                // The JDK would make an IPv4 address of it.
                continue;
            }
            String text = Addresses.text(false, high, low);
            byte[] bytes = InetAddress.getByName(text).getAddress();
            assertEquals(high, Addresses.half(bytes, 0), text);
            assertEquals(low, Addresses.half(bytes, 8), text);
            assertArrayEquals(bytes, Addresses.inet(false, high, low).getAddress());
            PopfibTable table = PopfibTable.of(ImageWriter.hosts(0, high, low));
            assertEquals(2, table.lookup(text), text);
            assertEquals(2, table.lookup(Addresses.inet(false, high, low).getHostAddress()), text);
        }
        assertEquals("::", Addresses.text(false, 0, 0));
        assertEquals("::1", Addresses.text(false, 0, 1));
        assertEquals("1::", Addresses.text(false, 1L << 48, 0));
        assertEquals("1:0:0:1::", Addresses.text(false, 1L << 48 | 1, 0));
        assertEquals("::1:0:0:0", Addresses.text(false, 0, 1L << 48));
        assertEquals("1:2:0:4:5:6:7:8", Addresses.text(false, 0x0001_0002_0000_0004L, 0x0005_0006_0007_0008L));
        assertEquals("::ffff:1.2.3.4", Addresses.text(false, 0, 0xFFFF_0102_0304L));
        assertEquals("255.0.10.1", Addresses.text(true, 0, 0xFF00_0A01L));
    }
}
