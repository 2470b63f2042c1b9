package popfib;

import java.net.InetAddress;

/**
 * A route of a table, or the one that matches an address.
 *
 * @param isIPv4 whether it is of IPv4
 * @param high the first 64 bits of the IPv6 address of its prefix; 0 of IPv4
 * @param low the last 64 bits; of IPv4 the address as a number: 10.0.0.1 is 0x0a000001
 * @param length the length of its prefix
 * @param record the number of its record
 */
public record Route(boolean isIPv4, long high, long low, int length, int record) {
    /**
     * The address of its prefix, which is an {@link java.net.Inet6Address} for IPv6 also if it is
     * IPv4-mapped.
     *
     * @return the address
     */
    public InetAddress address() {
        return Addresses.inet(isIPv4, high, low);
    }

    /**
     * Its prefix as text.
     *
     * @return such as {@code 10.0.0.0/8} or {@code 2001:db8::/32}
     */
    public String prefix() {
        return Addresses.text(isIPv4, high, low) + "/" + length;
    }

    /** The route of the first {@code length} bits of an address of 4 or 16 bytes. */
    static Route of(byte[] address, int length, int record) {
        return address.length == 4
                ? of(true, 0, Addresses.quarter(address, 0) & 0xFFFF_FFFFL, length, record)
                : of(false, Addresses.half(address, 0), Addresses.half(address, 8), length, record);
    }

    /** The same of an address as two numbers. */
    static Route of(boolean isIPv4, long high, long low, int length, int record) {
        int bits = isIPv4 ? length + 96 : length;
        return new Route(isIPv4, high & highMask(bits), low & lowMask(bits), length, record);
    }

    /** Of the first bits of an IPv6 address, those in its first half. */
    static long highMask(int bits) {
        return bits == 0 ? 0 : -1L << Math.max(0, 64 - bits);
    }

    static long lowMask(int bits) {
        return bits <= 64 ? 0 : -1L << 128 - bits;
    }
}
