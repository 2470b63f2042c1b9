package popfib.spark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import org.apache.spark.sql.api.java.UDF1;
import popfib.PopfibTable;

/** The way of a user-defined function to the reader, for the benchmark: it is what the expressions have to be faster than. */
public final class PlainUdf implements UDF1<String, String> {
    private static final long serialVersionUID = 1;

    /** The image, which the benchmark names in the environment. */
    private static final class Loaded {
        static final PopfibTable TABLE = load();

        private static PopfibTable load() {
            try {
                return PopfibTable.open(Path.of(System.getenv("POPFIB_BENCH_IMAGE")));
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        }
    }

    @Override
    public String call(String address) {
        int record = address == null ? 0 : Loaded.TABLE.lookup(address);
        return record > 0 ? Loaded.TABLE.text(record) : null;
    }
}
