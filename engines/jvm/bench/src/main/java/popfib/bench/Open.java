package popfib.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import popfib.PopfibTable;

/** Opening and validating an image with all its routes. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@State(Scope.Thread)
public class Open {
    /** The table. */
    @Param({"TABLE4", "TABLE6"})
    public String file;

    private Path image;

    @Setup
    public void load() throws IOException {
        image = Routes.image(Path.of(Routes.need(file)));
    }

    @TearDown
    public void remove() throws IOException {
        Files.delete(image);
    }

    @Benchmark
    public PopfibTable open() throws IOException {
        return PopfibTable.open(image);
    }

    @Benchmark
    public PopfibTable map() throws IOException {
        return PopfibTable.map(image);
    }
}
