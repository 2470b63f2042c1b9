package popfib.spark;

import java.nio.ByteOrder;
import org.apache.spark.unsafe.Platform;

/**
 * IPv4 addresses in Spark's memory, parsed by words and not by characters: dots are found in all bytes at once, and the digits of
 * an octet are one word that ends before its dot. Lengths of octets vary at random, so that a loop over characters waits
 * for wrong predictions most of the time. What is not plainly IPv4 is left to the reader, which says what is an address.
 */
final class Ipv4Text {
    private static final boolean IS_LITTLE = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;
    private static final long ONES = 0x0101_0101_0101_0101L;
    private static final long LOW = 0x7f7f_7f7f_7f7f_7f7fL;
    /** Of the numbers with 1, 2 and 3 digits, the least: a byte each. */
    private static final int LEAST = 100 << 16 | 10 << 8;

    private Ipv4Text() {}

    /** The address as a number; negative if the text is to be parsed by the reader. */
    static long parse(Object base, long offset, int length) {
        // The words of fewer bytes would have some before or after the text.
        if (length < 8 || length > 15 || !IS_LITTLE) {
            return -1;
        }
        long first = Platform.getLong(base, offset);
        // The bytes after these, and zeros in digits.
        long last = Platform.getLong(base, offset + length - 8);
        long rest = (length == 8 ? 0 : last >>> 8 * (16 - length)) | ONES * '0' << 8 * (length - 8);
        long firstDots = dots(first);
        long restDots = dots(rest);
        boolean isText = areDigits(first, firstDots) & areDigits(rest, restDots);
        int dots = bits(firstDots) | bits(restDots) << 8;
        if (!isText || Integer.bitCount(dots) != 3) {
            return -1;
        }
        int a = Integer.numberOfTrailingZeros(dots);
        dots &= dots - 1;
        int b = Integer.numberOfTrailingZeros(dots);
        int c = Integer.numberOfTrailingZeros(dots & dots - 1);
        int lengths = a - 1 | b - a - 2 | c - b - 2 | length - c - 2;
        if (lengths < 0 || a > 3 || b - a > 4 || c - b > 4 || length - c > 4) {
            return -1;
        }
        // The four bytes before each dot and the end.
        int one = octet((int) (first << 8 * (4 - a)), a);
        int two = octet((int) (first << 8 >>> 8 * (b - 3)), b - a - 1);
        int three = octet(Platform.getInt(base, offset + c - 4), c - b - 1);
        int four = octet(Platform.getInt(base, offset + length - 4), length - c - 1);
        return (one | two | three | four) < 0 ? -1 : ((long) one << 24) | two << 16 | three << 8 | four;
    }

    /** A bit 7 for each byte that is a dot. */
    private static long dots(long bytes) {
        long x = bytes ^ ONES * '.';
        return ~((x & LOW) + LOW | x | LOW);
    }

    /** Whether all bytes but the dots are digits. */
    private static boolean areDigits(long bytes, long dots) {
        long digits = bytes ^ (dots >>> 7) * ('.' ^ '0');
        return ((digits ^ ONES * '0' | digits + ONES * 6 ^ ONES * '0') & ONES * 0xf0) == 0;
    }

    /** Bit 7 of each byte. */
    private static int bits(long marks) {
        return (int) ((marks >>> 7) * 0x0102_0408_1020_4080L >>> 56);
    }

    /** The number whose 1 to 3 digits are the highest bytes; negative if it has a zero too many or does not fit. */
    private static int octet(int bytes, int digits) {
        int kept = bytes & -1 << 8 * (4 - digits) & 0x0f0f_0f0f;
        int number = (kept >>> 24) + 10 * (kept >>> 16 & 0xff) + 100 * (kept >>> 8 & 0xff);
        int least = LEAST >>> 8 * (digits - 1) & 0xff;
        return number | (255 - number | number - least) >> 31;
    }
}
