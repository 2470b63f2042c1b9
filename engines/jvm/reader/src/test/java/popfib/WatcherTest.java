package popfib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Files that are published, broken, removed and published again, while many threads look up. */
@Timeout(120)
final class WatcherTest {
    private static final int PARTS = 64;
    private static final int READERS = 8;

    @TempDir
    private Path folder;

    private static void until(String what, BooleanSupplier is) throws InterruptedException {
        for (long end = System.nanoTime() + 20_000_000_000L; !is.getAsBoolean(); Thread.sleep(1)) {
            assertTrue(System.nanoTime() < end, what);
        }
    }

    /** Images whose every answer tells which one it is. */
    private static List<byte[]> generations(int count) throws Exception {
        List<byte[]> images = new ArrayList<>();
        for (int generation = 0; generation < count; generation++) {
            StringBuilder lines = new StringBuilder();
            for (int n = 0; n < PARTS; n++) {
                // In another order, so that numbers of records differ too.
                int part = (n + generation * 7) % PARTS;
                lines.append("{\"prefix\":\"10.%d.0.0/16\",\"generation\":%d,\"part\":%d}%n".formatted(part, generation, part));
            }
            images.add(Command.compile(lines.toString(), "--columns", "*"));
        }
        return images;
    }

    private record Whole(PopfibTable table, Column<Long> generation, Column<Long> part) {
        Whole(PopfibTable table) {
            this(table, table.column("generation", Long.class), table.column("part", Long.class));
        }

        long ask(int part) {
            int record = table.lookup(10 << 24 | part << 16 | 0x0102);
            assertEquals(part, this.part.get(record));
            return generation.get(record);
        }
    }

    @Test
    void underLoad() throws Exception {
        List<byte[]> images = generations(5);
        Path path = folder.resolve("t.fib");
        Command.publish(path, images.get(0));
        AtomicLong failures = new AtomicLong();
        AtomicLong reloads = new AtomicLong();
        AtomicLong asked = new AtomicLong();
        AtomicReference<Throwable> wrong = new AtomicReference<>();
        List<Thread> readers = new ArrayList<>();
        Watcher<Whole> watcher = PopfibTable.watch(path).interval(Duration.ofMillis(1))
                .onError(error -> failures.incrementAndGet()).onReload(reloads::incrementAndGet).start(Whole::new);
        try (watcher) {
            for (int n = 0; n < READERS; n++) {
                Thread reader = new Thread(() -> {
                    while (!Thread.currentThread().isInterrupted() && wrong.get() == null) {
                        Whole current = watcher.current();
                        long first = current.ask(0);
                        for (int part = 1; part < PARTS; part++) {
                            assertEquals(first, current.ask(part));
                        }
                        asked.addAndGet(PARTS);
                    }
                });
                reader.setUncaughtExceptionHandler((thread, e) -> wrong.set(e));
                reader.start();
                readers.add(reader);
            }
            int rounds = Command.IS_QUICK ? 20 : 60;
            for (int round = 1; round <= rounds; round++) {
                byte[] image = images.get(round % images.size());
                if (round % 3 == 0) {
                    // Broken ones in between change nothing.
                    long before = failures.get();
                    long was = watcher.current().ask(1);
                    byte[] damaged = image.clone();
                    damaged[damaged.length / 2 + round] ^= 0x10;
                    Command.publish(path, damaged);
                    until("an error", () -> failures.get() > before);
                    assertEquals(was, watcher.current().ask(1));
                }
                Command.publish(path, image);
                long generation = round % images.size();
                until("a new table", () -> watcher.current().ask(1) == generation);
            }
            // And without a break, by both ways.
            for (int round = 0; round < 200; round++) {
                Command.publish(path, images.get(round % images.size()));
                watcher.reload();
                assertEquals(round % images.size(), watcher.current().ask(3));
            }
            assertTrue(reloads.get() >= rounds / 2, reloads + " reloads");
        } finally {
            readers.forEach(Thread::interrupt);
            for (Thread reader : readers) {
                reader.join();
            }
        }
        assertNull(wrong.get(), () -> wrong.get().toString());
        assertTrue(asked.get() > 0);
    }

    @Test
    void eachFileIsToldOnce() throws Exception {
        byte[] good = Files.readAllBytes(Command.RECORDS);
        Path path = folder.resolve("t.fib");
        assertThrows(NoSuchFileException.class, () -> PopfibTable.watch(path).start());
        Command.publish(path, good);
        BlockingQueue<Exception> told = new LinkedBlockingQueue<>();
        BlockingQueue<Boolean> reloaded = new LinkedBlockingQueue<>();
        Watcher<PopfibTable> watcher = PopfibTable.watch(path).table("country").interval(Duration.ofMillis(1))
                .onError(told::add).onReload(() -> reloaded.add(true)).start();
        try (watcher) {
            PopfibTable first = watcher.current();
            Files.delete(path);
            expect(told, NoSuchFileException.class, path.toString());
            Command.publish(path, Arrays.copyOf(good, 100));
            expect(told, InvalidImageException.class, path + ": byte 100 (header): cut off");
            Command.publish(path, "10.0.0.0/8 x\n".getBytes());
            expect(told, InvalidImageException.class, path + ": not a popfib image");
            Thread.sleep(50);
            assertTrue(told.isEmpty() && reloaded.isEmpty());
            assertSame(first, watcher.current());
            assertThrows(InvalidImageException.class, watcher::reload);
            assertSame(first, watcher.current());
            Command.publish(path, good);
            assertTrue(reloaded.poll(20, TimeUnit.SECONDS));
            PopfibTable second = watcher.current();
            assertNotSame(first, second);
            assertEquals("country", second.name());
            watcher.reload();
            assertNotSame(second, watcher.current());
            // Written in place, in two parts: not advised, and yet it ends well.
            Files.write(path, Arrays.copyOf(good, 200));
            expect(told, InvalidImageException.class, "");
            Files.write(path, good);
            assertTrue(reloaded.poll(20, TimeUnit.SECONDS));
        }
        watcher.close();
        PopfibTable last = watcher.current();
        Command.publish(path, good);
        Thread.sleep(20);
        assertSame(last, watcher.current());
    }

    private static void expect(BlockingQueue<Exception> told, Class<?> type, String text) throws InterruptedException {
        Exception error = told.poll(20, TimeUnit.SECONDS);
        assertSame(type, error.getClass());
        assertTrue(error.getMessage().contains(text) && !error.getMessage().contains("\n"), error.getMessage());
    }

    @Test
    void whatCannotBePreparedIsNotTaken() throws Exception {
        byte[] good = Files.readAllBytes(Command.RECORDS);
        byte[] without = ImageWriter.hosts(1, 2, 3);
        Path path = folder.resolve("t.fib");
        Command.publish(path, without);
        assertThrows(InvalidImageException.class, () -> PopfibTable.watch(path).table("records").start());
        Command.publish(path, good);
        assertThrows(IllegalArgumentException.class,
                () -> PopfibTable.watch(path).table("records").start(table -> table.column("none", String.class)));
        BlockingQueue<Exception> told = new LinkedBlockingQueue<>();
        AtomicReference<RuntimeException> thrown = new AtomicReference<>();
        BlockingQueue<Boolean> reloaded = new LinkedBlockingQueue<>();
        try (Watcher<Column<String>> watcher = PopfibTable.watch(path).table("records").interval(Duration.ofMillis(1)).onError(told::add)
                .onReload(() -> {
                    reloaded.add(true);
                    throw new IllegalStateException("a callback that fails");
                }).start(table -> {
                    if (thrown.get() != null) {
                        throw thrown.get();
                    }
                    return table.column("country", String.class);
                })) {
            Column<String> first = watcher.current();
            Command.publish(path, without);
            expect(told, InvalidImageException.class, path + ": no table \"records\" in \"hosts\"");
            thrown.set(new IllegalArgumentException("no column"));
            Command.publish(path, good);
            expect(told, IllegalArgumentException.class, "no column");
            assertSame(first, watcher.current());
            thrown.set(null);
            // A callback that fails does not end the watcher.
            for (int round = 0; round < 2; round++) {
                Command.publish(path, good);
                assertTrue(reloaded.poll(20, TimeUnit.SECONDS));
            }
        }
        assertThrows(IllegalArgumentException.class, () -> PopfibTable.watch(path).interval(Duration.ZERO));
    }

    @Test
    void itsThreadEndsWithIt() throws Exception {
        Watcher<PopfibTable> watcher = PopfibTable.watch(Command.RECORDS).table("country").interval(Duration.ofHours(1)).start();
        Thread thread = Thread.getAllStackTraces().keySet().stream().filter(one -> one.getName().startsWith("popfib-watcher"))
                .findAny().orElseThrow();
        assertTrue(thread.isDaemon());
        Thread.currentThread().interrupt();
        watcher.close();
        assertTrue(Thread.interrupted());
        assertFalse(thread.isAlive());
        assertThrows(IOException.class, () -> PopfibTable.watch(folder).start());
    }
}
