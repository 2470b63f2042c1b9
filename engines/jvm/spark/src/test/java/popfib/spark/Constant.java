package popfib.spark;

import org.apache.spark.sql.api.java.UDF1;

/** What a function costs that does nothing, for the benchmark. */
public final class Constant implements UDF1<String, String> {
    private static final long serialVersionUID = 1;

    @Override
    public String call(String address) {
        return "64496";
    }
}
