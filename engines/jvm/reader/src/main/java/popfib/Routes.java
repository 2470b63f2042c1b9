package popfib;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;

/** The sections of routes of one family in; all routes in their order out. */
final class Routes {
    private final Bytes addresses;
    private final Bytes lengths;
    private final Bytes nextHops;
    private final boolean isIPv4;

    /** Verifies the routes: in order, without host bits, with next hops of 1 to {@code maxNextHop}. */
    Routes(Section[] sections, int width, int count, int maxNextHop) throws InvalidImageException {
        addresses = sections[0].bytes();
        lengths = sections[1].bytes();
        nextHops = sections[2].bytes();
        isIPv4 = width == 32;
        int[] sizes = {width / 8, 1, 4};
        for (int n = 0; n < 3; n++) {
            int given = sections[n].bytes().length();
            if (given != (long) count * sizes[n]) {
                throw sections[n].broken(0, "it has " + given + " bytes for " + count + " routes");
            }
        }
        long lastHigh = 0;
        long lastLow = 0;
        int lastLength = -1;
        for (int at = 0; at < count; at++) {
            long high = high(at);
            long low = low(at);
            int length = lengths.at(at) & 0xFF;
            int order = Long.compareUnsigned(high, lastHigh);
            order = order != 0 ? order : Long.compareUnsigned(low, lastLow);
            if (length > width || (order != 0 ? order : length - lastLength) <= 0 || hasHostBits(high, low, length + 128 - width)) {
                throw sections[0].broken((long) at * sizes[0], "route " + (at + 1) + " is malformed or out of order");
            }
            lastHigh = high;
            lastLow = low;
            lastLength = length;
            int nextHop = nextHops.word(at << 2);
            if (nextHop <= 0 || nextHop > maxNextHop) {
                throw sections[2].broken(4L * at, "route " + (at + 1) + " has the next hop "
                        + Integer.toUnsignedString(nextHop) + ", which is none there is");
            }
        }
    }

    private long high(int at) {
        return isIPv4 ? 0 : addresses.pair((at << 4) + 8);
    }

    private long low(int at) {
        return isIPv4 ? addresses.unsigned(at << 2) : addresses.pair(at << 4);
    }

    /** Whether an IPv6 address has other bits than its first ones. */
    private static boolean hasHostBits(long high, long low, int bits) {
        return (high & ~Route.highMask(bits) | low & ~Route.lowMask(bits)) != 0;
    }

    /** All of both families; null has none. */
    static Iterator<Route> iterator(Routes ipv4, Routes ipv6) {
        int before = ipv4 == null ? 0 : ipv4.lengths.length();
        long all = (long) before + (ipv6 == null ? 0 : ipv6.lengths.length());
        return new Iterator<>() {
            private long next;

            @Override
            public boolean hasNext() {
                return next < all;
            }

            @Override
            public Route next() {
                if (!hasNext()) {
                    throw new NoSuchElementException();
                }
                long at = next++;
                return at < before ? ipv4.route((int) at) : ipv6.route((int) (at - before));
            }
        };
    }

    private Route route(int at) {
        return new Route(isIPv4, high(at), low(at), lengths.at(at) & 0xFF, nextHops.word(at << 2));
    }

    /** The routes that cover this one, itself included, the shortest first. */
    List<Route> supernets(Route of) {
        List<Route> found = new ArrayList<>();
        for (int length = 0; length <= of.length(); length++) {
            Route cover = Route.of(isIPv4, of.high(), of.low(), length, 0);
            int first = 0;
            for (int end = lengths.length(); first < end; ) {
                int middle = first + end >>> 1;
                if (compare(middle, cover) < 0) {
                    first = middle + 1;
                } else {
                    end = middle;
                }
            }
            if (first < lengths.length() && compare(first, cover) == 0) {
                found.add(route(first));
            }
        }
        return found;
    }

    private int compare(int at, Route other) {
        int order = Long.compareUnsigned(high(at), other.high());
        order = order != 0 ? order : Long.compareUnsigned(low(at), other.low());
        return order != 0 ? order : (lengths.at(at) & 0xFF) - other.length();
    }
}
