package popfib;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Lookups, matches and columns allocate nothing. */
final class AllocationTest {
    @Test
    void lookupsAllocateNothing() throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (Watcher<PopfibTable> watcher = PopfibTable.watch(Command.RECORDS).table("records").start()) {
            PopfibTable table = watcher.current();
            Column<String> city = table.column("names.city", String.class);
            Column<List<String>> tags = table.listColumn("tags", String.class);
            Column<Long> delta = table.column("delta", Long.class);
            String[] texts = {"10.1.2.3", "2001:db8::1", "::ffff:10.1.2.3", "no address", "1::2::3", "192.0.2.1"};
            byte[][] bytes = {{10, 1, 2, 3}, new byte[16], new byte[3]};
            int[] addresses = {0x0a010203, 0, -1};
            long[] long6 = {0x20010db8L << 32, 1, 0, 0};
            int[] records = new int[3];
            long found = 0;
            long before = 0;
            // The first rounds make values of columns, and what the JVM needs to compile.
            for (int round = 0; round < 20_000; round++) {
                if (round == 10_000) {
                    before = threads.getCurrentThreadAllocatedBytes();
                }
                PopfibTable current = watcher.current();
                for (String text : texts) {
                    int record = current.lookup(text);
                    found += record + PopfibTable.lengthOf(current.match(text));
                    found += city.get(record) == null ? 0 : 1;
                    found += tags.get(record) == null ? 0 : 1;
                    found += delta.get(record) == null ? 0 : 1;
                }
                for (byte[] address : bytes) {
                    found += current.lookup(address) + current.match(address);
                }
                found += current.lookup(0x0a010203) + current.match(0x0a010203) + current.lookup(1, 2) + current.match(1, 2);
                current.lookupAll(addresses, records, 3);
                current.lookupAll(long6, records, 2);
            }
            long taken = threads.getCurrentThreadAllocatedBytes() - before;
            // Asking how many were allocated may allocate itself.
            assertEquals(0, taken / 10_000, taken + " bytes for " + found);
        }
    }
}
