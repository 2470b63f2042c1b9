package popfib.bench;

import inet.ipaddr.IPAddressString;
import inet.ipaddr.ipv4.IPv4Address;
import inet.ipaddr.ipv4.IPv4AddressAssociativeTrie;
import inet.ipaddr.ipv4.IPv4AddressAssociativeTrie.IPv4AssociativeTrieNode;
import java.io.IOException;
import java.net.InetAddress;
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

/** IPv4 addresses, by the reader and by a trie of IPAddress. */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@State(Scope.Thread)
@OperationsPerInvocation(IPv4.BURST)
public class IPv4 {
    static final int BURST = 1024;

    /** How addresses are chosen. */
    @Param({"routes", "zipf"})
    public String traffic;

    private PopfibTable table;
    private int[] addresses;
    private String[] texts;
    private byte[][] bytes;
    private InetAddress[] inets;
    private int[] records;
    private int at;

    /** The addresses in all forms. */
    @Setup
    public void load() throws IOException {
        table = Routes.compile(Path.of(Routes.need("TABLE4")));
        long[] hosts = Routes.hosts(table, traffic);
        addresses = new int[Routes.ADDRESSES];
        texts = new String[addresses.length];
        bytes = new byte[addresses.length][];
        inets = new InetAddress[addresses.length];
        records = new int[BURST];
        for (int n = 0; n < addresses.length; n++) {
            int address = (int) hosts[2 * n + 1];
            addresses[n] = address;
            bytes[n] = new byte[] {(byte) (address >>> 24), (byte) (address >>> 16), (byte) (address >>> 8), (byte) address};
            inets[n] = InetAddress.getByAddress(bytes[n]);
            texts[n] = inets[n].getHostAddress();
        }
    }

    private int next() {
        at = (at + BURST) % Routes.ADDRESSES;
        return at;
    }

    @Benchmark
    public int lookup() {
        int sum = 0;
        for (int n = next(), end = n + BURST; n < end; n++) {
            sum += table.lookup(addresses[n]);
        }
        return sum;
    }

    @Benchmark
    public int lookupText() {
        int sum = 0;
        for (int n = next(), end = n + BURST; n < end; n++) {
            sum += table.lookup(texts[n]);
        }
        return sum;
    }

    @Benchmark
    public int lookupBytes() {
        int sum = 0;
        for (int n = next(), end = n + BURST; n < end; n++) {
            sum += table.lookup(bytes[n]);
        }
        return sum;
    }

    @Benchmark
    public int lookupInetAddress() {
        int sum = 0;
        for (int n = next(), end = n + BURST; n < end; n++) {
            sum += table.lookup(inets[n]);
        }
        return sum;
    }

    @Benchmark
    public long match() {
        long sum = 0;
        for (int n = next(), end = n + BURST; n < end; n++) {
            sum += table.match(addresses[n]);
        }
        return sum;
    }

    @Benchmark
    public int lookupAll() {
        table.lookupAll(Arrays.copyOfRange(addresses, next(), at + BURST), records, BURST);
        return records[0];
    }

    /** The same routes in a trie, and the same addresses as its objects. */
    @State(Scope.Thread)
    public static class Trie {
        private final IPv4AddressAssociativeTrie<Integer> trie = new IPv4AddressAssociativeTrie<>();
        private IPv4Address[] keys;

        @Setup
        public void load(IPv4 ours) throws IOException {
            Routes routes = new Routes("TABLE4");
            for (int n = 0; n < routes.prefixes.size(); n++) {
                trie.put(new IPAddressString(routes.prefixes.get(n)).getAddress().toIPv4(), Integer.valueOf(routes.values.get(n)));
            }
            keys = new IPv4Address[ours.addresses.length];
            for (int n = 0; n < keys.length; n++) {
                keys[n] = new IPv4Address(ours.addresses[n]);
                String value = String.valueOf(trie.longestPrefixMatchNode(keys[n]).getValue());
                int length = trie.longestPrefixMatch(keys[n]).getPrefixLength();
                if (!value.equals(ours.table.text(ours.table.lookup(ours.addresses[n])))
                        || length != PopfibTable.lengthOf(ours.table.match(ours.addresses[n]))) {
                    throw new IllegalStateException(keys[n] + ": the answers differ");
                }
            }
        }
    }

    @Benchmark
    public int trieNode(Trie of) {
        int sum = 0;
        for (int n = next(), end = n + BURST; n < end; n++) {
            IPv4AssociativeTrieNode<Integer> node = of.trie.longestPrefixMatchNode(of.keys[n]);
            sum += node.getValue();
        }
        return sum;
    }

    @Benchmark
    public int trie(Trie of) {
        int sum = 0;
        for (int n = next(), end = n + BURST; n < end; n++) {
            sum += of.trie.longestPrefixMatch(of.keys[n]).getPrefixLength();
        }
        return sum;
    }
}
