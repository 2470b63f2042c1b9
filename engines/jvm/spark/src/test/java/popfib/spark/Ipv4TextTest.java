package popfib.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.apache.spark.unsafe.Platform;
import org.junit.jupiter.api.Test;

/** What is parsed by words is what the rule of dotted quads says, and what is refused is left to the reader. */
class Ipv4TextTest {
    /** With other bytes around it, which must not matter. */
    private static long parse(byte[] text) {
        byte[] around = new byte[text.length + 32];
        java.util.Arrays.fill(around, (byte) ('0' + text.length % 10));
        System.arraycopy(text, 0, around, 16, text.length);
        return Ipv4Text.parse(around, Platform.BYTE_ARRAY_OFFSET + 16, text.length);
    }

    /** By a rule for each character: the number, or -1. */
    private static long rule(String text) {
        String[] octets = text.split("\\.", -1);
        long address = 0;
        for (String octet : octets) {
            if (!octet.matches("0|[1-9][0-9]{0,2}") || Integer.parseInt(octet) > 255) {
                return -1;
            }
            address = address << 8 | Integer.parseInt(octet);
        }
        return octets.length == 4 ? address : -1;
    }

    private static void check(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        assertEquals(bytes.length < 8 ? -1 : rule(text), parse(bytes), text);
    }

    @Test
    void everyOctetInEveryPlace() {
        String[] others = {"0", "7", "10", "99", "100", "255"};
        for (String other : others) {
            for (String another : others) {
                for (int octet = 0; octet < 300; octet++) {
                    check(octet + "." + other + "." + another + "." + other);
                    check(other + "." + octet + "." + other + "." + another);
                    check(another + "." + other + "." + octet + "." + other);
                    check(other + "." + another + "." + other + "." + octet);
                }
            }
        }
    }

    @Test
    void everyByteInEveryPlace() {
        for (String text : new String[] {"10.0.0.01", "1.22.33.4", "192.0.2.1", "100.20.30.40", "255.255.255.255", "1.2.3.444", "2001:db8::1"}) {
            for (int at = 0; at < text.length(); at++) {
                for (char c = 0; c < 256; c++) {
                    check(text.substring(0, at) + c + text.substring(at + 1));
                    check(text.substring(0, at) + c + text.substring(at));
                }
                check(text.substring(0, at) + text.substring(at + 1));
            }
        }
    }

    @Test
    void random() {
        Random random = new Random(1);
        String alphabet = "0123456789....012";
        int good = 0;
        for (int n = 0; n < 2_000_000; n++) {
            StringBuilder text = new StringBuilder();
            for (int length = 6 + random.nextInt(12); length > 0; length--) {
                text.append(alphabet.charAt(random.nextInt(alphabet.length())));
            }
            byte[] bytes = text.toString().getBytes(StandardCharsets.ISO_8859_1);
            long found = parse(bytes);
            good += found >= 0 ? 1 : 0;
            // The rule is slow: of those that are refused, some.
            if (found >= 0 || n % 16 == 0) {
                check(text.toString());
            }
        }
        assertTrue(good > 1000, good + " good ones");
    }
}
