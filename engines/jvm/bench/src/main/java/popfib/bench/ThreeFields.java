package popfib.bench;

import com.maxmind.db.CHMCache;
import com.maxmind.db.MaxMindDbConstructor;
import com.maxmind.db.MaxMindDbParameter;
import com.maxmind.db.NoCache;
import com.maxmind.db.Reader;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;
import popfib.Column;
import popfib.PopfibTable;

/** Three fields of a record of a MaxMind database, read by the reader and by MaxMind's. */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@State(Scope.Thread)
@OperationsPerInvocation(IPv4.BURST)
public class ThreeFields {
    private PopfibTable table;
    private Column<String> city;
    private Column<String> country;
    private Column<Double> latitude;
    private InetAddress[] addresses;
    private int at;

    /** What MaxMind's reader makes of a record where a program knows the fields. */
    public record Fields(String city, String country, Float latitude) {
        @MaxMindDbConstructor
        public Fields(@MaxMindDbParameter(name = "city") String city, @MaxMindDbParameter(name = "country_code") String country,
                @MaxMindDbParameter(name = "latitude") Float latitude) {
            this.city = city;
            this.country = country;
            this.latitude = latitude;
        }
    }

    @Setup
    public void load() throws IOException {
        table = Routes.compile(Path.of(Routes.need("CITY")), "--columns", "*");
        city = table.column("city", String.class);
        country = table.column("country_code", String.class);
        latitude = table.column("latitude", Double.class);
        long[] hosts = Routes.hosts(table, "routes");
        addresses = new InetAddress[Routes.ADDRESSES];
        for (int n = 0; n < addresses.length; n++) {
            addresses[n] = InetAddress.getByAddress(ByteBuffer.allocate(4).putInt((int) hosts[2 * n + 1]).array());
        }
    }

    private int next() {
        at = (at + IPv4.BURST) % Routes.ADDRESSES;
        return at;
    }

    @Benchmark
    public void popfib(Blackhole to) {
        for (int n = next(), end = n + IPv4.BURST; n < end; n++) {
            int record = table.lookup(addresses[n]);
            to.consume(city.get(record));
            to.consume(country.get(record));
            to.consume(latitude.getDouble(record, 0));
        }
    }

    /** The same, and every text is touched, as a program does that writes it. */
    @Benchmark
    public double popfibTouched() {
        double sum = 0;
        for (int n = next(), end = n + IPv4.BURST; n < end; n++) {
            int record = table.lookup(addresses[n]);
            String name = city.get(record);
            String code = country.get(record);
            sum += (name == null ? 0 : name.length()) + (code == null ? 0 : code.length()) + latitude.getDouble(record, 0);
        }
        return sum;
    }

    /** MaxMind's reader of the database in memory. */
    @State(Scope.Thread)
    public static class MaxMind {
        private Reader plain;
        private Reader cached;

        @Setup
        public void load(ThreeFields ours) throws IOException {
            File file = new File(Routes.need("CITY"));
            plain = new Reader(file, Reader.FileMode.MEMORY, NoCache.getInstance());
            cached = new Reader(file, Reader.FileMode.MEMORY, new CHMCache(1 << 16));
            for (int n = 0; n < 50_000; n++) {
                Fields theirs = plain.get(ours.addresses[n], Fields.class);
                int record = ours.table.lookup(ours.addresses[n]);
                Double value = ours.latitude.get(record);
                if (!new Fields(ours.city.get(record), ours.country.get(record), value == null ? null : value.floatValue()).equals(theirs)) {
                    throw new IllegalStateException(ours.addresses[n] + ": the fields differ");
                }
            }
        }
    }

    private void fields(Reader reader, Blackhole to) throws IOException {
        for (int n = next(), end = n + IPv4.BURST; n < end; n++) {
            Fields fields = reader.get(addresses[n], Fields.class);
            to.consume(fields.city);
            to.consume(fields.country);
            to.consume(fields.latitude);
        }
    }

    @Benchmark
    public void maxMindFields(MaxMind of, Blackhole to) throws IOException {
        fields(of.plain, to);
    }

    @Benchmark
    public void maxMindFieldsCached(MaxMind of, Blackhole to) throws IOException {
        fields(of.cached, to);
    }

    private void records(Reader reader, Blackhole to) throws IOException {
        for (int n = next(), end = n + IPv4.BURST; n < end; n++) {
            Map<?, ?> record = reader.get(addresses[n], Map.class);
            to.consume(record.get("city"));
            to.consume(record.get("country_code"));
            to.consume(record.get("latitude"));
        }
    }

    /** What programs do that take the full record. */
    @Benchmark
    public void maxMindRecord(MaxMind of, Blackhole to) throws IOException {
        records(of.plain, to);
    }

    @Benchmark
    public void maxMindRecordCached(MaxMind of, Blackhole to) throws IOException {
        records(of.cached, to);
    }
}
