package popfib.spark;

import static org.apache.spark.sql.functions.call_function;
import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.lit;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * A session of Spark in Java: SQL and Dataset, one table for all tasks, and a file that is published again and again while
 * several threads ask. It is a program, compiled with the Spark that it runs in; {@code engines/jvm/spark/test} does both.
 */
public final class SessionCheck {
    private SessionCheck() {}

    /**
     * Runs all checks.
     *
     * @param arguments none
     * @throws Exception if one fails
     */
    public static void main(String[] arguments) throws Exception {
        // No setting: Spark finds the functions in the jar.
        SparkSession spark = SparkSession.builder().master("local[2]").config("spark.ui.enabled", "false")
                .config("spark.log.level", "ERROR").getOrCreate();
        Path folder = Files.createTempDirectory("popfib-spark");
        try {
            sqlAndDataset(spark, folder.resolve("t.fib"));
            oneTable(spark, folder.resolve("one.fib"));
            published(spark, folder.resolve("published.fib"));
            System.out.println("3 passed: Spark " + spark.version() + " from Java");
        } finally {
            spark.stop();
            try (var files = Files.list(folder)) {
                for (Path file : files.toList()) {
                    Files.delete(file);
                }
            }
            Files.delete(folder);
        }
    }

    private static void sqlAndDataset(SparkSession spark, Path image) throws Exception {
        compile("10.0.0.0/8 ten\n10.1.0.0/16 branch\n2001:db8::/32 six\n", image);
        Dataset<Row> flows = spark.sql("SELECT * FROM VALUES ('10.1.2.3', 1), ('10.9.9.9', 2), ('2001:db8::1', 3),"
                + " ('192.0.2.1', 4), ('x', 5), (NULL, 6) AS flows(src, bytes)");
        flows.createOrReplaceTempView("flows");
        Dataset<Row> bySql = spark.sql("SELECT popfib_lookup(src, '" + image + "') AS site, popfib_record(src, '" + image
                + "').value AS value, bytes FROM flows ORDER BY bytes");
        Dataset<Row> byDataset = flows.orderBy("bytes").select(
                call_function("popfib_lookup", col("src"), lit(image.toString())).as("site"),
                call_function("popfib_record", col("src"), lit(image.toString())).getField("value"), col("bytes"));
        String want = "[[branch,branch,1], [ten,ten,2], [six,six,3], [null,null,4], [null,null,5], [null,null,6]]";
        equal(want, bySql.collectAsList().toString());
        equal(want, byDataset.collectAsList().toString());
        equal("[[1]]", spark.sql("SELECT count_if(NOT popfib_is_address(src)) FROM flows").collectAsList().toString());
    }

    /** All tasks of a process use the table that one has read. */
    private static void oneTable(SparkSession spark, Path image) throws Exception {
        compile("0.0.0.0/0 all\n", image);
        SparkTable first = TableFile.atPlanning(image.toString());
        Dataset<Row> rows = spark.range(6400).repartition(64)
                .selectExpr("popfib_lookup('10.0.' || id % 100 || '.1', '" + image + "') AS v");
        equal("[[all,6400]]", rows.groupBy("v").count().collectAsList().toString());
        equal(true, first == TableFile.inTask(image.toString()));
        compile("0.0.0.0/0 new\n", image);
        equal(false, first == TableFile.inTask(image.toString()));
    }

    /** Whoever asks has the answers of some version that was there, and in the end of the last. */
    private static void published(SparkSession spark, Path image) throws Exception {
        compile("0.0.0.0/0 v0\n", image);
        String query = "SELECT DISTINCT popfib_lookup(id, '" + image + "') AS v, popfib_record(id, '" + image
                + "').value FROM range(0, 1000, 1, 4)";
        ExecutorService threads = Executors.newFixedThreadPool(3);
        List<Future<Set<String>>> asked = new ArrayList<>();
        for (int n = 0; n < 3; n++) {
            asked.add(threads.submit(() -> {
                Set<String> found = new TreeSet<>();
                for (int round = 0; round < 15; round++) {
                    spark.sql(query).collectAsList().forEach(row -> {
                        found.add(row.getString(0));
                        found.add(row.getString(1));
                    });
                }
                return found;
            }));
        }
        Set<String> versions = new TreeSet<>(Set.of("v0"));
        for (int version = 1; version <= 20; version++) {
            compile("0.0.0.0/0 v" + version + "\n", image);
            versions.add("v" + version);
            Thread.sleep(50);
        }
        threads.shutdown();
        equal(true, threads.awaitTermination(5, TimeUnit.MINUTES));
        for (Future<Set<String>> found : asked) {
            equal(true, versions.containsAll(found.get()));
            equal(true, found.get().size() > 1);
        }
        equal("[[v20,v20]]", spark.sql(query).collectAsList().toString());
    }

    /** An image of these routes, put in the place of what is there as a whole. */
    private static void compile(String routes, Path image) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(System.getenv("POPFIB"), "compile", "-", "-o", image.toString())
                .redirectErrorStream(true).start();
        process.getOutputStream().write(routes.getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException(said);
        }
    }

    private static void equal(Object want, Object found) {
        if (!want.equals(found)) {
            throw new AssertionError("wanted " + want + ", found " + found);
        }
    }
}
