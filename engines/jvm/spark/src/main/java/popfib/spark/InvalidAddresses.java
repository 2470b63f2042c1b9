package popfib.spark;

import org.apache.spark.SparkContext;
import org.apache.spark.util.LongAccumulator;

/** How many addresses were invalid: one accumulator for an application, which Spark's pages show for each stage, too. */
final class InvalidAddresses {
    private static SparkContext context;
    private static LongAccumulator counter;

    private InvalidAddresses() {}

    static synchronized LongAccumulator counter(SparkContext current) {
        if (context != current) {
            context = current;
            counter = current.longAccumulator("popfib: invalid addresses");
        }
        return counter;
    }
}
