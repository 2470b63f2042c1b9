package popfib.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.zip.GZIPInputStream;
import popfib.PopfibTable;
import popfib.Route;

/** A table, its routes, and addresses to ask for. */
final class Routes {
    static final int ADDRESSES = 1 << 18;

    final PopfibTable table;
    final List<String> prefixes = new ArrayList<>();
    final List<String> values = new ArrayList<>();

    /** Of the list that an environment variable names. */
    Routes(String variable) throws IOException {
        Path path = Path.of(need(variable));
        try (InputStream file = Files.newInputStream(path);
                InputStream lines = path.toString().endsWith(".gz") ? new GZIPInputStream(file) : file;
                BufferedReader reader = new BufferedReader(new InputStreamReader(lines, StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                String[] fields = line.split("\\s+");
                prefixes.add(fields[0]);
                values.add(fields[1]);
            }
        }
        table = compile(path);
    }

    static String need(String variable) {
        String value = System.getenv(variable);
        if (value == null) {
            throw new IllegalArgumentException(variable + " is not set");
        }
        return value;
    }

    /** The table of a file that the command compiles with these options. */
    static PopfibTable compile(Path path, String... options) throws IOException {
        Path image = image(path, options);
        try {
            return PopfibTable.open(image);
        } finally {
            Files.delete(image);
        }
    }

    /** The image, in a file of its own. */
    static Path image(Path path, String... options) throws IOException {
        Path image = Files.createTempFile("popfib-bench", ".fib");
        List<String> command = new ArrayList<>(List.of(need("POPFIB"), "compile", path.toString(), "-o", image.toString()));
        command.addAll(List.of(options));
        try {
            if (new ProcessBuilder(command).inheritIO().start().waitFor() != 0) {
                throw new IOException("popfib compile failed");
            }
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
        return image;
    }

    /** Hosts of its routes, each of its first and last 64 bits; traffic is "routes" or "zipf". */
    static long[] hosts(PopfibTable table, String traffic) {
        List<Route> routes = new ArrayList<>();
        table.routes().forEach(routes::add);
        Random random = new Random(1);
        double[] weights = null;
        if (traffic.equals("zipf")) {
            Collections.shuffle(routes, random);
            weights = new double[routes.size()];
            double sum = 0;
            for (int n = 0; n < weights.length; n++) {
                sum += Math.pow(8 + n, -1.1);
                weights[n] = sum;
            }
        }
        long[] hosts = new long[2 * ADDRESSES];
        for (int n = 0; n < ADDRESSES; n++) {
            int at = random.nextInt(routes.size());
            if (weights != null) {
                at = Arrays.binarySearch(weights, random.nextDouble() * weights[weights.length - 1]);
                at = at < 0 ? -at - 1 : at;
            }
            Route route = routes.get(at);
            int bits = route.isIPv4() ? route.length() + 96 : route.length();
            hosts[2 * n] = route.high() | (bits >= 64 ? 0 : random.nextLong() & -1L >>> bits);
            hosts[2 * n + 1] = route.low() | (bits == 128 ? 0 : random.nextLong() & (bits <= 64 ? -1L : -1L >>> bits - 64));
        }
        return hosts;
    }
}
