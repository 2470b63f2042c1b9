package popfib;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * Follows a file that is published again and again, and has the newest table, or what a program makes of
 * it. Readers never wait: they take what is current, and keep it for as long as they use it, unchanged.
 *
 * <p>The file's metadata is asked for at intervals by a daemon thread, which works on every system and
 * file system, where notifications of changes do not. A file that cannot be opened leaves what was
 * current.
 *
 * <pre>{@code
 * try (Watcher<PopfibTable> watcher = PopfibTable.watch(path).onError(e -> log(e)).start()) {
 *     int record = watcher.current().lookup("192.0.2.1");
 * }
 * }</pre>
 *
 * @param <T> what is made of each table
 */
public final class Watcher<T> implements AutoCloseable {
    private final Builder options;
    private final Preparation<? extends T> preparation;
    private final Thread thread;
    private volatile T current;
    private volatile boolean isClosed;

    // Of whoever reads the file, under the lock of this object.
    private State seen;
    private String told = "";

    private Watcher(Builder options, Preparation<? extends T> preparation) throws IOException {
        this.options = options;
        this.preparation = preparation;
        reload();
        thread = new Thread(this::follow, "popfib-watcher " + options.path);
        thread.setDaemon(true);
        thread.start();
    }

    /**
     * What a program makes of each table, such as an object of the table and its columns, which so
     * belong together.
     *
     * @param <T> what it makes
     */
    @FunctionalInterface
    public interface Preparation<T> {
        /**
         * Makes it.
         *
         * @param table the newest table
         * @return what becomes current; not null
         * @throws IOException if it cannot be made: what was current stays
         */
        T of(PopfibTable table) throws IOException;
    }

    /**
     * The newest table, or what was made of it. It neither waits nor allocates. All lookups that belong
     * together, such as an address and its columns, should use what one call returned.
     *
     * @return what is current
     */
    public T current() {
        return current;
    }

    /**
     * Reads the file now, whether it has changed or not, for programs that know that it is new.
     *
     * @throws IOException if that fails; what was current stays
     * @throws RuntimeException what the preparation throws; what was current stays
     */
    public synchronized void reload() throws IOException {
        load();
        told = "";
    }

    /**
     * Ends following the file, and waits until no callback runs. What is current stays. It may be called
     * several times, but not by a callback.
     */
    @Override
    public void close() {
        isClosed = true;
        thread.interrupt();
        boolean wasInterrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                wasInterrupted = true;
            }
        }
        if (wasInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Opens the file, and notes its state, also of one that cannot be opened. */
    private void load() throws IOException {
        // Before it is read: a file that is put in its place meanwhile is seen as new.
        seen = null;
        seen = State.of(options.path);
        PopfibTable table = options.table == null ? PopfibTable.open(options.path) : PopfibTable.open(options.path, options.table);
        current = Objects.requireNonNull(preparation.of(table), "the preparation returned null");
    }

    private void follow() {
        // A file that was refused may be one that is just being written, by a program that does not put a
        // whole one in its place. If that took no time that metadata has, it would never look changed.
        boolean isRetry = false;
        while (true) {
            try {
                Thread.sleep(options.interval.toMillis(), options.interval.toNanosPart() % 1_000_000);
            } catch (InterruptedException e) {
                // By close, or by a callback, which is no reason to end.
            }
            if (isClosed) {
                return;
            }
            Exception error = null;
            boolean isNews;
            synchronized (this) {
                boolean isNew = true;
                try {
                    isNew = !State.of(options.path).equals(seen);
                    if (!isNew && !isRetry) {
                        continue;
                    }
                    load();
                } catch (IOException | RuntimeException e) {
                    error = e;
                } catch (OutOfMemoryError e) {
                    error = new IOException(options.path + ": there is not enough memory for it beside the current one", e);
                }
                isRetry = isNew && error != null;
                String text = error == null ? "" : error.toString();
                isNews = error == null || !text.equals(told);
                told = text;
            }
            // Without the lock, so that they may call reload.
            if (isNews) {
                tell(error);
            }
        }
    }

    private void tell(Exception error) {
        try {
            if (error == null) {
                options.onReload.run();
            } else {
                options.onError.accept(error);
            }
        } catch (RuntimeException e) {
            // A callback that fails is reported as a thread that fails, but the file is followed on.
            thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
        }
    }

    /** What tells one published file from the next. */
    private record State(FileTime modified, long size, Object key) {
        static State of(Path path) throws IOException {
            BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
            return new State(attributes.lastModifiedTime(), attributes.size(), attributes.fileKey());
        }
    }

    /** How a file is followed. */
    public static final class Builder {
        private final Path path;
        private String table;
        private Duration interval = Duration.ofSeconds(1);
        private Consumer<? super Exception> onError = error -> { };
        private Runnable onReload = () -> { };

        Builder(Path path) {
            this.path = Objects.requireNonNull(path);
        }

        private Builder(Builder other) {
            path = other.path;
            table = other.table;
            interval = other.interval;
            onError = other.onError;
            onReload = other.onReload;
        }

        /**
         * Chooses a table of an image of several.
         *
         * @param name its name
         * @return this
         */
        public Builder table(String name) {
            table = Objects.requireNonNull(name);
            return this;
        }

        /**
         * How often the file's metadata is asked for; otherwise it is once a second.
         *
         * @param interval the time between, more than 0
         * @return this
         */
        public Builder interval(Duration interval) {
            if (interval.isNegative() || interval.isZero()) {
                throw new IllegalArgumentException("an interval is more than 0");
            }
            this.interval = interval;
            return this;
        }

        /**
         * Is called with the error of a file that cannot be opened, once for each.
         *
         * @param call takes the error, by the thread that follows the file
         * @return this
         */
        public Builder onError(Consumer<? super Exception> call) {
            onError = Objects.requireNonNull(call);
            return this;
        }

        /**
         * Is called after a new table has become the current one.
         *
         * @param call is called by the thread that follows the file
         * @return this
         */
        public Builder onReload(Runnable call) {
            onReload = Objects.requireNonNull(call);
            return this;
        }

        /**
         * Opens the table and follows its file until {@link Watcher#close()}.
         *
         * @return what has the newest table
         * @throws IOException if it cannot be opened now; later errors go to {@code onError}
         */
        public Watcher<PopfibTable> start() throws IOException {
            return start(table -> table);
        }

        /**
         * The same of what is made of each table.
         *
         * @param <T> what is made
         * @param preparation makes it
         * @return what has the newest
         * @throws IOException if the table cannot be opened now, or nothing be made of it
         */
        public <T> Watcher<T> start(Preparation<? extends T> preparation) throws IOException {
            return new Watcher<>(new Builder(this), preparation);
        }
    }
}
