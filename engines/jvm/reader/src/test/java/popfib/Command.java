package popfib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;

/**
 * What tests share: the command, which compiles tables and gives answers to compare with. It is $POPFIB
 * or one built in this tree.
 */
final class Command {
    /** The tree of the project: of a module's folder engines/jvm/reader. */
    static final Path TREE = Path.of("../../..");
    static final Path RECORDS = TREE.resolve("engines/vectors/records.fib");
    /** Whether tests are to take no minute. */
    static final boolean IS_QUICK = Boolean.getBoolean("popfib.quick");

    private Command() {}

    /** Its path; without one, the test is skipped. */
    static String path() {
        String given = System.getenv("POPFIB");
        if (given != null && !given.isEmpty()) {
            return given;
        }
        for (String build : List.of("release", "debug")) {
            Path path = TREE.resolve("target").resolve(build).resolve("popfib");
            if (Files.exists(path)) {
                return path.toAbsolutePath().toString();
            }
        }
        assumeTrue(false, "skipped: no command: POPFIB is not set, and target/ has none");
        throw new AssertionError();
    }

    /** Runs the command with this input, and returns what it prints. */
    static String run(String input, String... arguments) throws IOException, InterruptedException {
        List<String> line = new ArrayList<>(List.of(path()));
        line.addAll(List.of(arguments));
        Path errors = Files.createTempFile("popfib", ".err");
        try {
            Process process = new ProcessBuilder(line).redirectError(errors.toFile()).start();
            Thread writer = new Thread(() -> {
                try (OutputStream to = process.getOutputStream()) {
                    to.write(input.getBytes(StandardCharsets.UTF_8));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            writer.start();
            String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            writer.join();
            assertEquals(0, process.waitFor(), () -> line + ": " + read(errors));
            return out;
        } finally {
            Files.delete(errors);
        }
    }

    private static String read(Path path) {
        try {
            return Files.readString(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The bytes of the image of a table that is compiled with these options. */
    static byte[] compile(String table, String... options) throws IOException, InterruptedException {
        Path path = Files.createTempFile("popfib", ".fib");
        try {
            List<String> arguments = new ArrayList<>(List.of("compile", "-o", path.toString(), "--table", "-"));
            arguments.addAll(List.of(options));
            run(table, arguments.toArray(String[]::new));
            return Files.readAllBytes(path);
        } finally {
            Files.delete(path);
        }
    }

    /** Puts a file in the place of another as a whole, as the command does. */
    static void publish(Path path, byte[] image) throws IOException {
        Path next = path.resolveSibling(path.getFileName() + ".next");
        Files.write(next, image);
        Files.move(next, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
