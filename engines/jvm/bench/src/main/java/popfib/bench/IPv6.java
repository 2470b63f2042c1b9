package popfib.bench;

import inet.ipaddr.IPAddressString;
import inet.ipaddr.ipv6.IPv6Address;
import inet.ipaddr.ipv6.IPv6AddressAssociativeTrie;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import popfib.PopfibTable;

/** IPv6 addresses, by the reader and by a trie of IPAddress. */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@State(Scope.Thread)
@OperationsPerInvocation(IPv4.BURST)
public class IPv6 {
    /** How addresses are chosen. */
    @Param({"routes", "zipf"})
    public String traffic;

    private PopfibTable table;
    private long[] addresses;
    private String[] texts;
    private InetAddress[] inets;
    private int[] records;
    private int at;

    /** The addresses in all forms. */
    @Setup
    public void load() throws IOException {
        table = Routes.compile(Path.of(Routes.need("TABLE6")));
        addresses = Routes.hosts(table, traffic);
        texts = new String[Routes.ADDRESSES];
        inets = new InetAddress[Routes.ADDRESSES];
        records = new int[IPv4.BURST];
        for (int n = 0; n < texts.length; n++) {
            inets[n] = Inet6Address.getByAddress(null, bytes(n), -1);
            texts[n] = inets[n].getHostAddress();
        }
    }

    private byte[] bytes(int n) {
        return ByteBuffer.allocate(16).putLong(addresses[2 * n]).putLong(addresses[2 * n + 1]).array();
    }

    private int next() {
        at = (at + IPv4.BURST) % Routes.ADDRESSES;
        return at;
    }

    @Benchmark
    public int lookup() {
        int sum = 0;
        for (int n = next(), end = n + IPv4.BURST; n < end; n++) {
            sum += table.lookup(addresses[2 * n], addresses[2 * n + 1]);
        }
        return sum;
    }

    @Benchmark
    public int lookupText() {
        int sum = 0;
        for (int n = next(), end = n + IPv4.BURST; n < end; n++) {
            sum += table.lookup(texts[n]);
        }
        return sum;
    }

    @Benchmark
    public int lookupInetAddress() {
        int sum = 0;
        for (int n = next(), end = n + IPv4.BURST; n < end; n++) {
            sum += table.lookup(inets[n]);
        }
        return sum;
    }

    @Benchmark
    public long match() {
        long sum = 0;
        for (int n = next(), end = n + IPv4.BURST; n < end; n++) {
            sum += table.match(addresses[2 * n], addresses[2 * n + 1]);
        }
        return sum;
    }

    @Benchmark
    public int lookupAll() {
        int from = 2 * next();
        table.lookupAll(Arrays.copyOfRange(addresses, from, from + 2 * IPv4.BURST), records, IPv4.BURST);
        return records[0];
    }

    /** The same routes in a trie, and the same addresses as its objects. */
    @State(Scope.Thread)
    public static class Trie {
        private final IPv6AddressAssociativeTrie<Integer> trie = new IPv6AddressAssociativeTrie<>();
        private IPv6Address[] keys;

        @Setup
        public void load(IPv6 ours) throws IOException {
            Routes routes = new Routes("TABLE6");
            for (int n = 0; n < routes.prefixes.size(); n++) {
                trie.put(new IPAddressString(routes.prefixes.get(n)).getAddress().toIPv6(), Integer.valueOf(routes.values.get(n)));
            }
            keys = new IPv6Address[Routes.ADDRESSES];
            for (int n = 0; n < keys.length; n++) {
                keys[n] = new IPv6Address(ours.bytes(n));
                String value = String.valueOf(trie.longestPrefixMatchNode(keys[n]).getValue());
                int length = trie.longestPrefixMatch(keys[n]).getPrefixLength();
                if (!value.equals(ours.table.text(ours.table.lookup(ours.texts[n])))
                        || length != PopfibTable.lengthOf(ours.table.match(ours.texts[n]))) {
                    throw new IllegalStateException(keys[n] + ": the answers differ");
                }
            }
        }
    }

    @Benchmark
    public int trieNode(Trie of) {
        int sum = 0;
        for (int n = next(), end = n + IPv4.BURST; n < end; n++) {
            sum += of.trie.longestPrefixMatchNode(of.keys[n]).getValue();
        }
        return sum;
    }

    @Benchmark
    public int trie(Trie of) {
        int sum = 0;
        for (int n = next(), end = n + IPv4.BURST; n < end; n++) {
            sum += of.trie.longestPrefixMatch(of.keys[n]).getPrefixLength();
        }
        return sum;
    }
}
