package popfib.spark;

import java.io.IOException;
import java.lang.System.Logger;
import java.lang.ref.SoftReference;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.SparkFiles;
import popfib.PopfibTable;

/**
 * The file of a table, as this process, an executor or the driver, has read it: once for all tasks, and again when it has changed.
 * Nothing runs in the background; every task asks for the file's metadata when it begins. A table is copied into memory and
 * not mapped, as a file on a shared path may be overwritten in place. Java frees it when memory is short and no task uses it.
 */
final class TableFile {
    private static final ConcurrentHashMap<String, TableFile> ALL = new ConcurrentHashMap<>();

    private final String name;
    private SoftReference<SparkTable> current = new SoftReference<>(null);
    private State state;
    private String warned;

    private TableFile(String name) {
        this.name = name;
    }

    /** What tells a file from the one that is published after it. */
    private record State(Path path, Object modified, long size, Object key) {}

    /** The table as it is now. It is an error if its file is not there or is damaged. */
    static SparkTable atPlanning(String name) {
        return ALL.computeIfAbsent(name, TableFile::new).read(true);
    }

    /** The same for a task. What becomes of the file while a query runs is not its fault: the last good table is kept. */
    static SparkTable inTask(String name) {
        return ALL.computeIfAbsent(name, TableFile::new).read(false);
    }

    private synchronized SparkTable read(boolean isStrict) {
        SparkTable last = current.get();
        try {
            // The name of a table in an image of several follows a "#", unless the whole is the name of a file.
            int mark = find(name) == null ? name.lastIndexOf('#') : -1;
            Path path = find(mark < 0 ? name : name.substring(0, mark));
            if (path == null) {
                throw new NoSuchFileException("there is no table " + name + ": " + (mark < 0 ? "it" : name.substring(0, mark))
                        + " is neither the path of a file on this machine nor the name of one that ADD FILE has sent");
            }
            BasicFileAttributes file = Files.readAttributes(path, BasicFileAttributes.class);
            // Before its contents: a file that is replaced meanwhile is read again by the next task.
            State now = new State(path, file.lastModifiedTime(), file.size(), file.fileKey());
            if (last == null || !now.equals(state)) {
                last = new SparkTable(mark < 0 ? PopfibTable.open(path) : PopfibTable.open(path, name.substring(mark + 1)));
                current = new SoftReference<>(last);
                state = now;
            }
            warned = null;
            return last;
        } catch (IOException error) {
            if (isStrict || last == null) {
                throw new IllegalArgumentException(error.getMessage(), error);
            }
            if (!error.getMessage().equals(warned)) {
                warned = error.getMessage();
                System.getLogger(TableFile.class.getName()).log(Logger.Level.WARNING, warned + "; the table before it is kept");
            }
            return last;
        }
    }

    /** The file of this name or path; null if there is none. */
    private static Path find(String name) {
        Path sent = name.contains("/") ? null : Path.of(SparkFiles.get(name));
        Path path = sent != null && Files.exists(sent) ? sent : Path.of(name);
        return Files.exists(path) ? path : null;
    }
}
