package popfib;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;

/**
 * A table of IP prefixes, in which addresses are looked up: the longest prefix that contains an address
 * leads to a record. A table is opened from an image, which {@code popfib compile} writes. It does not
 * change, and may be used by any number of threads.
 *
 * <pre>{@code
 * PopfibTable table = PopfibTable.open(Path.of("countries.fib"));
 * Column<String> country = table.column("country", String.class);
 * String name = country.get(table.lookup("192.0.2.1"));
 * }</pre>
 *
 * <p>Records are numbered from 1 on. A lookup takes time in proportion to the bits of the address at
 * most, and nearly always one to four loads from memory.
 *
 * <p>IPv4 and IPv6 never mix: an IPv4-mapped address ({@code ::ffff:192.0.2.1}) as text, as bytes or as
 * two numbers is an IPv6 address here, as in every other way to ask popfib. But Java itself makes an
 * {@link Inet4Address} of it in {@link InetAddress#getByAddress(byte[])} and
 * {@link InetAddress#getByName(String)}, which is looked up as the IPv4 address that it is.
 */
public final class PopfibTable {
    /** The answer of lookups and matches where no prefix contains the address. */
    public static final int NO_MATCH = -1;
    /** The answer where a text or the bytes are no address. */
    public static final int MALFORMED = -2;

    private static final int LENGTH_BITS = 8;
    private static final int NO_LENGTH = (1 << LENGTH_BITS) - 1;

    // What lookups need is first.
    private final Fib fib4;
    private final Fib fib6;
    private final boolean isLongest4;
    private final boolean isLongest6;
    private final Family v4;
    private final Family v6;
    private final Records records;
    /** The main column, once its text was asked for. */
    private Column<Object> main;
    private final String name;
    private final List<Source> sources;
    private final Metadata image;

    PopfibTable(Metadata image, Metadata metadata, TableSections of) throws InvalidImageException {
        this.image = image;
        name = metadata.name();
        sources = metadata.sources();
        records = of.records();
        v4 = Family.of(of, 32, records.count);
        v6 = Family.of(of, 128, records.count);
        fib4 = v4.fib();
        fib6 = v6.fib();
        isLongest4 = v4.isLongest();
        isLongest6 = v6.isLongest();
    }

    /**
     * Reads an image of one table into memory and validates every byte of it. What happens to the file
     * later does not matter. It takes time in proportion to the file, and memory of its size.
     *
     * @param path the file
     * @return its table
     * @throws InvalidImageException if it is no image, damaged, or has several tables
     * @throws IOException if it cannot be read
     */
    public static PopfibTable open(Path path) throws IOException {
        return Opening.only(path.toString(), Opening.read(path));
    }

    /**
     * The same of an image of several tables, of which one is chosen.
     *
     * @param path the file
     * @param table the name of the table
     * @return the table
     * @throws InvalidImageException if the file is no image, damaged, or has no such table
     * @throws IOException if it cannot be read
     */
    public static PopfibTable open(Path path, String table) throws IOException {
        return Opening.named(path.toString(), Opening.read(path), table);
    }

    /**
     * The same of all tables of an image, in the order of the file.
     *
     * @param path the file
     * @return the tables, at least one
     * @throws InvalidImageException if the file is no image or damaged
     * @throws IOException if it cannot be read
     */
    public static List<PopfibTable> openAll(Path path) throws IOException {
        return Opening.read(path);
    }

    /**
     * Validates an image of one table in memory. The bytes are copied, so they may change later.
     *
     * @param image the bytes of the image
     * @return its table
     * @throws InvalidImageException if it is no image, damaged, or has several tables
     */
    public static PopfibTable of(byte[] image) throws InvalidImageException {
        return Opening.only(null, Opening.of(image));
    }

    /**
     * The same of an image of several tables, of which one is chosen.
     *
     * @param image the bytes of the image
     * @param table the name of the table
     * @return the table
     * @throws InvalidImageException if it is no image, damaged, or has no such table
     */
    public static PopfibTable of(byte[] image, String table) throws InvalidImageException {
        return Opening.named(null, Opening.of(image), table);
    }

    /**
     * Maps the file of an image of one table instead of reading it, so that processes share one copy,
     * and validates every byte. This is right only as long as nobody writes to the file: a program that
     * changes it makes answers wrong, or a lookup fail with an exception or not end, and one that cuts
     * it off makes lookups fail with an {@link InternalError}. {@code popfib compile} never does either,
     * but puts a new file in the place of the old one, of which the mapping remains. A mapping ends when
     * the table is no longer reachable. Files of more than 2 GiB cannot be mapped.
     *
     * @param path the file
     * @return its table
     * @throws InvalidImageException if the file is no image, damaged, or has several tables
     * @throws IOException if it cannot be mapped
     */
    public static PopfibTable map(Path path) throws IOException {
        return Opening.only(path.toString(), Opening.map(path));
    }

    /**
     * The same of an image of several tables, of which one is chosen.
     *
     * @param path the file
     * @param table the name of the table
     * @return the table
     * @throws InvalidImageException if the file is no image, damaged, or has no such table
     * @throws IOException if it cannot be mapped
     */
    public static PopfibTable map(Path path, String table) throws IOException {
        return Opening.named(path.toString(), Opening.map(path), table);
    }

    /**
     * Follows a file that is published again and again.
     *
     * @param path the file
     * @return what follows it, once it is started
     */
    public static Watcher.Builder watch(Path path) {
        return new Watcher.Builder(path);
    }

    /**
     * The record of an IPv4 address. It allocates nothing.
     *
     * @param address the address as a number: 10.0.0.1 is 0x0a000001
     * @return the number of the record, from 1 on, or {@link #NO_MATCH}
     */
    public int lookup(int address) {
        int answer = fib4.root(address);
        if (answer < 0) {
            answer = fib4.below(answer, address);
        }
        return record4(answer);
    }

    /**
     * The record of an IPv6 address. It allocates nothing.
     *
     * @param high the first 64 bits
     * @param low the last 64 bits
     * @return the number of the record, from 1 on, or {@link #NO_MATCH}
     */
    public int lookup(long high, long low) {
        int answer = fib6.lookup(high, low);
        if (isLongest6) {
            answer /= 129;
        }
        return answer == 0 ? NO_MATCH : answer;
    }

    private int record4(int answer) {
        if (isLongest4) {
            answer /= 33;
        }
        return answer == 0 ? NO_MATCH : answer;
    }

    /**
     * The record of an address in network order. It allocates nothing.
     *
     * @param address 4 bytes for IPv4, 16 for IPv6
     * @return the number of the record, from 1 on, {@link #NO_MATCH}, or {@link #MALFORMED} if there are
     *     neither 4 nor 16 bytes
     */
    public int lookup(byte[] address) {
        return switch (address.length) {
            case 4 -> lookup(Addresses.quarter(address, 0));
            case 16 -> lookup(Addresses.half(address, 0), Addresses.half(address, 8));
            default -> MALFORMED;
        };
    }

    /**
     * The record of an address. It allocates what {@link InetAddress#getAddress()} does, which clones
     * the bytes. A scope is ignored.
     *
     * @param address the address; an {@link Inet4Address} is looked up as IPv4, which Java may have made
     *     of an IPv4-mapped address
     * @return the number of the record, from 1 on, or {@link #NO_MATCH}
     */
    public int lookup(InetAddress address) {
        return lookup(address.getAddress());
    }

    /**
     * The record of an address as text. It allocates nothing.
     *
     * @param address the address, without blanks, scope or brackets
     * @return the number of the record, from 1 on, {@link #NO_MATCH}, or {@link #MALFORMED} if the text
     *     is no address
     */
    public int lookup(CharSequence address) {
        return Addresses.lookup(this, address);
    }

    /**
     * The records of many IPv4 addresses. It allocates nothing.
     *
     * @param addresses the addresses as numbers
     * @param records where the numbers of their records are stored, {@link #NO_MATCH} for those without
     * @param count how many addresses there are
     * @throws IndexOutOfBoundsException if an array is shorter
     */
    public void lookupAll(int[] addresses, int[] records, int count) {
        Fib fib = fib4;
        for (int n = 0; n < count; n++) {
            int answer = fib.root(addresses[n]);
            if (answer < 0) {
                answer = fib.below(answer, addresses[n]);
            }
            records[n] = record4(answer);
        }
    }

    /**
     * The records of many IPv6 addresses. It allocates nothing.
     *
     * @param addresses the addresses, each as its first and its last 64 bits, one after the other
     * @param records where the numbers of their records are stored, {@link #NO_MATCH} for those without
     * @param count how many addresses there are, each of two numbers
     * @throws IndexOutOfBoundsException if an array is shorter
     */
    public void lookupAll(long[] addresses, int[] records, int count) {
        for (int n = 0; n < count; n++) {
            records[n] = lookup(addresses[2 * n], addresses[2 * n + 1]);
        }
    }

    /**
     * The record of an IPv4 address and the length of the prefix, as one number that
     * {@link #recordOf(long)} and {@link #lengthOf(long)} take apart. It allocates nothing.
     *
     * @param address the address as a number
     * @return the match, or {@link #NO_MATCH}
     */
    public long match(int address) {
        if (v4.longest() == null) {
            return bare(lookup(address));
        }
        int answer = v4.longest().lookup(address);
        int record = answer / 33;
        return record == 0 ? NO_MATCH : (long) record << LENGTH_BITS | answer - record * 33;
    }

    /**
     * The same of an IPv6 address. It allocates nothing.
     *
     * @param high the first 64 bits
     * @param low the last 64 bits
     * @return the match, or {@link #NO_MATCH}
     */
    public long match(long high, long low) {
        if (v6.longest() == null) {
            return bare(lookup(high, low));
        }
        int answer = v6.longest().lookup(high, low);
        int record = answer / 129;
        return record == 0 ? NO_MATCH : (long) record << LENGTH_BITS | answer - record * 129;
    }

    /** A match where lengths of prefixes are not known. */
    private static long bare(int record) {
        return record < 0 ? record : (long) record << LENGTH_BITS | NO_LENGTH;
    }

    /**
     * The same of an address in network order. It allocates nothing.
     *
     * @param address 4 bytes for IPv4, 16 for IPv6
     * @return the match, {@link #NO_MATCH}, or {@link #MALFORMED}
     */
    public long match(byte[] address) {
        return switch (address.length) {
            case 4 -> match(Addresses.quarter(address, 0));
            case 16 -> match(Addresses.half(address, 0), Addresses.half(address, 8));
            default -> MALFORMED;
        };
    }

    /**
     * The same of an address, as {@link #lookup(InetAddress)} takes it.
     *
     * @param address the address
     * @return the match, or {@link #NO_MATCH}
     */
    public long match(InetAddress address) {
        return match(address.getAddress());
    }

    /**
     * The same of an address as text. It allocates nothing.
     *
     * @param address the address
     * @return the match, {@link #NO_MATCH}, or {@link #MALFORMED}
     */
    public long match(CharSequence address) {
        return Addresses.match(this, address);
    }

    /**
     * {@return the number of the record of a match, {@link #NO_MATCH} or {@link #MALFORMED}}
     * @param match what {@code match} returned
     */
    public static int recordOf(long match) {
        return match < 0 ? (int) match : (int) (match >>> LENGTH_BITS);
    }

    /**
     * {@return the length of the prefix of a match; -1 if there is none, or the image has no prefixes}
     *
     * @param match what {@code match} returned
     */
    public static int lengthOf(long match) {
        int length = (int) match & NO_LENGTH;
        return match < 0 || length == NO_LENGTH ? -1 : length;
    }

    /**
     * The route that matches an address: the longest prefix that contains it, and its record.
     *
     * @param address the address, as {@link #lookup(InetAddress)} takes it
     * @return the route; null if there is none
     * @throws IllegalStateException if the image has no prefixes ({@link #hasPrefixes()})
     */
    public Route route(InetAddress address) {
        return route(address.getAddress());
    }

    /**
     * The same of an address in network order.
     *
     * @param address 4 bytes for IPv4, 16 for IPv6
     * @return the route; null if there is none, or if there are neither 4 nor 16 bytes
     * @throws IllegalStateException if the image has no prefixes
     */
    public Route route(byte[] address) {
        long match = match(address);
        if (match >= 0 && lengthOf(match) < 0) {
            throw new IllegalStateException("the image has no prefixes: make it with `popfib compile --keep prefixes`");
        }
        return match < 0 ? null : Route.of(address, lengthOf(match), recordOf(match));
    }

    /**
     * The same of an address as text.
     *
     * @param address the address
     * @return the route; null if there is none, or if the text is no address
     * @throws IllegalStateException if the image has no prefixes
     */
    public Route route(CharSequence address) {
        byte[] bytes = Addresses.bytes(address);
        return bytes == null ? null : route(bytes);
    }

    /**
     * The routes that cover a route, itself included, the shortest first: of {@code table.route(address)}
     * all that contain the address.
     *
     * @param route the route; null, which nothing covers
     * @return the routes
     * @throws IllegalStateException if the image has not kept its routes ({@link #hasRoutes()})
     */
    public List<Route> supernets(Route route) {
        if (!hasRoutes()) {
            throw new IllegalStateException("the image has no routes: make it with `popfib compile --keep routes`, the default");
        }
        Routes routes = route == null ? null : (route.isIPv4() ? v4 : v6).routes();
        return routes == null ? List.of() : routes.supernets(route);
    }

    /**
     * {@return whether a text is an address, as lookups take it}
     *
     * @param text the text
     */
    public static boolean isAddress(CharSequence text) {
        return Addresses.bytes(text) != null;
    }

    /**
     * {@return whether matches have the lengths of prefixes} {@code popfib compile} keeps them by
     * {@code --keep routes}, the default, and {@code --keep prefixes}.
     */
    public boolean hasPrefixes() {
        return v4.longest() != null || v6.longest() != null;
    }

    /** {@return whether the image has kept all routes: {@code popfib compile --keep routes}, the default} */
    public boolean hasRoutes() {
        return v4.routes() != null || v6.routes() != null;
    }

    /** {@return all routes, those of IPv4 first, in the order of their prefixes; none if the image has not kept them} */
    public Iterable<Route> routes() {
        return () -> Routes.iterator(v4.routes(), v6.routes());
    }

    /** {@return how many routes of IPv4 the table was compiled from} */
    public int ipv4Routes() {
        return v4.fib().routes;
    }

    /** {@return how many routes of IPv6 the table was compiled from} */
    public int ipv6Routes() {
        return v6.fib().routes;
    }

    /** {@return the highest number of a record; 0 for a table whose routes lead to numbers alone} */
    public int records() {
        return records == Records.NONE ? 0 : records.count;
    }

    /** {@return the names and types of all columns in their order; none for a table without records} */
    public List<ColumnType> columns() {
        return records.types();
    }

    /**
     * The column of this name, whose values are of a class: {@link String}, {@link Long},
     * {@link java.math.BigInteger}, {@link Double} or {@link Boolean}, as {@link ColumnType.Kind} has
     * it, or {@link Object} for any of them and for lists.
     *
     * @param <T> the class
     * @param name the name
     * @param type the class
     * @return the column
     * @throws IllegalArgumentException if there is no such column, or if its values are of another class
     */
    public <T> Column<T> column(String name, Class<T> type) {
        return records.column(name, type, false);
    }

    /**
     * The column of this name, whose values are lists of a class.
     *
     * @param <T> the class of the elements
     * @param name the name
     * @param type the class of the elements
     * @return the column
     * @throws IllegalArgumentException if there is no such column, or if its values are no lists of this
     *     class
     */
    public <T> Column<List<T>> listColumn(String name, Class<T> type) {
        return records.column(name, type, true);
    }

    /**
     * The value of a record's main column, the one that the image says, as the text that the command
     * prints: of a table of one value a route that value. Commas are between elements of a list.
     *
     * @param record the number of a record, or the answer of a lookup without one
     * @return the value; the number itself in a table without records; null if it is absent
     * @throws IndexOutOfBoundsException if the table has no record of this number
     */
    public String text(int record) {
        if (record <= 0) {
            return null;
        }
        if (records == Records.NONE) {
            return Integer.toString(record);
        }
        Column<Object> column = main;
        if (column == null) {
            // Threads that do so at the same time make equal ones.
            main = column = new Column<>(records, records.columns[records.valueColumn]);
        }
        Object value = column.get(record);
        return value == null ? null : ValueText.of(value);
    }

    /** {@return what the image calls the table, which may be empty} */
    public String name() {
        return name;
    }

    /** {@return where the table comes from} */
    public List<Source> sources() {
        return sources;
    }

    /** {@return the program that wrote the image, such as {@code popfib 0.1.0}} */
    public String writer() {
        return image.writer();
    }

    /** {@return when the image was written; null if it is not known} */
    public Instant written() {
        return image.written();
    }

    @Override
    public String toString() {
        return "PopfibTable[" + name + ", IPv4 routes " + ipv4Routes() + ", IPv6 routes " + ipv6Routes() + "]";
    }
}
