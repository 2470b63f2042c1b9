package popfib;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;

/** Texts and bytes of addresses. */
final class Addresses {
    private static final int GROUPS = 8;
    private static final byte[] HEX = new byte[128];

    static {
        for (char c = 0; c < HEX.length; c++) {
            HEX[c] = (byte) Character.digit(c, 16);
        }
    }

    private Addresses() {}

    /** The longest match of the address that a text is; {@link PopfibTable#MALFORMED} if it is none. */
    static long match(PopfibTable table, CharSequence text) {
        long ipv4 = parse4(text, 0);
        return ipv4 >= 0 ? table.match((int) ipv4) : ask6(table, text, true, null);
    }

    static int lookup(PopfibTable table, CharSequence text) {
        long ipv4 = parse4(text, 0);
        return ipv4 >= 0 ? table.lookup((int) ipv4) : (int) ask6(table, text, false, null);
    }

    /** The address that a text is, in network order; null if it is none. */
    static byte[] bytes(CharSequence text) {
        long ipv4 = parse4(text, 0);
        long[] halves = {0, ipv4};
        return ipv4 < 0 && ask6(null, text, false, halves) < 0 ? null : bytes(ipv4 >= 0, halves[0], halves[1]);
    }

    /** The IPv4 address from here to the end; negative if it is none. */
    private static long parse4(CharSequence text, int from) {
        int end = text.length();
        if (end - from < 7 || end - from > 15) {
            return -1;
        }
        long address = 0;
        int at = from;
        for (int part = 0; part < 4; part++) {
            if (part > 0 && text.charAt(at++) != '.' || at == end) {
                return -1;
            }
            int number = text.charAt(at++) - '0';
            if (number < 0 || number > 9) {
                return -1;
            }
            // Zeros before a number were octal to some, so they are refused.
            boolean isLong = number != 0;
            for (int digits = 1; isLong && digits < 3 && at < end; digits++) {
                int digit = text.charAt(at) - '0';
                if (digit < 0 || digit > 9) {
                    break;
                }
                number = number * 10 + digit;
                at++;
            }
            if (number > 255 || at == end && part < 3) {
                return -1;
            }
            address = address << 8 | number;
        }
        return at == end ? address : -1;
    }

    /** The answer for the IPv6 address that a text is: a record, or a match; or its halves, where there is room for them. */
    private static long ask6(PopfibTable table, CharSequence text, boolean isMatch, long[] halves) {
        int end = text.length();
        if (end < 2 || end > 45 || text.charAt(0) == ':' && text.charAt(1) != ':') {
            return PopfibTable.MALFORMED;
        }
        // What comes before `::` and how many groups that is, and what has come since.
        long headHigh = 0;
        long headLow = 0;
        int head = -1;
        long high = 0;
        long low = 0;
        int groups = 0;
        int at = 0;
        while (at < end) {
            if (text.charAt(at) == ':') {
                // The second of two, or the first of a text, which has another one after it.
                if (head >= 0) {
                    return PopfibTable.MALFORMED;
                }
                at += at == 0 ? 2 : 1;
                head = groups;
                headHigh = high;
                headLow = low;
                high = 0;
                low = 0;
                continue;
            }
            int begin = at;
            int group = 0;
            while (at < end && at - begin < 5) {
                int digit = hex(text.charAt(at));
                if (digit < 0) {
                    break;
                }
                group = group << 4 | digit;
                at++;
            }
            if (at < end && text.charAt(at) == '.') {
                long ipv4 = parse4(text, begin);
                if (ipv4 < 0 || groups > GROUPS - 2) {
                    return PopfibTable.MALFORMED;
                }
                high = high << 32 | low >>> 32;
                low = low << 32 | ipv4;
                groups += 2;
                break;
            }
            if (at == begin || at - begin > 4 || groups == GROUPS) {
                return PopfibTable.MALFORMED;
            }
            high = high << 16 | low >>> 48;
            low = low << 16 | group;
            groups++;
            // One colon before another group; of two, the loop sees the second.
            if (at < end && (text.charAt(at++) != ':' || at == end)) {
                return PopfibTable.MALFORMED;
            }
        }
        if (head < 0 ? groups != GROUPS : groups >= GROUPS) {
            return PopfibTable.MALFORMED;
        }
        int shift = 16 * (GROUPS - Math.max(head, 0));
        if (head > 0) {
            high |= shift >= 64 ? headLow << shift - 64 : headHigh << shift | headLow >>> 64 - shift;
            low |= shift >= 64 ? 0 : headLow << shift;
        }
        if (halves != null) {
            halves[0] = high;
            halves[1] = low;
            return 0;
        }
        return isMatch ? table.match(high, low) : table.lookup(high, low);
    }

    /** The value of a hexadecimal digit; negative for all else. By a table, as no CPU foresees if it is a letter. */
    private static int hex(char c) {
        return c < HEX.length ? HEX[c] : -1;
    }

    /** 8 bytes in network order. */
    static long half(byte[] bytes, int from) {
        return (long) quarter(bytes, from) << 32 | quarter(bytes, from + 4) & 0xFFFF_FFFFL;
    }

    /** 4 bytes in network order. */
    static int quarter(byte[] bytes, int from) {
        return bytes[from] << 24 | (bytes[from + 1] & 0xFF) << 16 | (bytes[from + 2] & 0xFF) << 8 | bytes[from + 3] & 0xFF;
    }

    private static byte[] bytes(boolean isIPv4, long high, long low) {
        byte[] bytes = new byte[isIPv4 ? 4 : 16];
        for (int n = 0; n < bytes.length; n++) {
            int shift = 8 * (bytes.length - 1 - n);
            bytes[n] = (byte) (shift < 64 ? low >>> shift : high >>> shift - 64);
        }
        return bytes;
    }

    static InetAddress inet(boolean isIPv4, long high, long low) {
        byte[] bytes = bytes(isIPv4, high, low);
        try {
            // InetAddress.getByAddress would turn a mapped address into one of IPv4.
            return isIPv4 ? Inet4Address.getByAddress(bytes) : Inet6Address.getByAddress(null, bytes, -1);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    /** As RFC 5952 has it. */
    static String text(boolean isIPv4, long high, long low) {
        if (isIPv4) {
            return (low >>> 24) + "." + (low >>> 16 & 0xFF) + "." + (low >>> 8 & 0xFF) + "." + (low & 0xFF);
        }
        if (high == 0 && low >>> 32 == 0xFFFF) {
            return "::ffff:" + text(true, 0, low & 0xFFFF_FFFFL);
        }
        int[] groups = new int[GROUPS];
        for (int n = 0; n < GROUPS; n++) {
            groups[n] = (int) ((n < 4 ? high : low) >>> 48 - 16 * (n & 3)) & 0xFFFF;
        }
        // The longest run of zeros, the first of several.
        int from = GROUPS;
        int length = 1;
        for (int n = 0; n < GROUPS; n++) {
            int run = 0;
            while (n + run < GROUPS && groups[n + run] == 0) {
                run++;
            }
            if (run > length) {
                from = n;
                length = run;
            }
        }
        StringBuilder text = new StringBuilder();
        for (int n = 0; n < GROUPS; n++) {
            if (n == from) {
                text.append("::");
                n += length - 1;
                continue;
            }
            if (n > 0 && n != from + length) {
                text.append(':');
            }
            text.append(Integer.toHexString(groups[n]));
        }
        return text.toString();
    }
}
