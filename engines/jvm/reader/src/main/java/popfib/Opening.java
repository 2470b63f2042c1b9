package popfib;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A file or bytes in; the tables of verified bytes out, which are a copy or the mapped file. */
final class Opening {
    private Opening() {}

    static List<PopfibTable> of(byte[] image) throws InvalidImageException {
        try {
            return tables(Storage.of(image));
        } catch (InvalidImageException e) {
            throw e;
        } catch (IOException e) {
            throw new AssertionError("an array is read without errors", e);
        }
    }

    static List<PopfibTable> read(Path path) throws IOException {
        return inFile(path, Storage::read);
    }

    static List<PopfibTable> map(Path path) throws IOException {
        return inFile(path, Storage::map);
    }

    private interface Way {
        Storage of(FileChannel file, long size) throws IOException;
    }

    private static List<PopfibTable> inFile(Path path, Way way) throws IOException {
        if (Files.exists(path) && !Files.isRegularFile(path)) {
            throw new IOException(path + ": not a regular file");
        }
        try (FileChannel file = FileChannel.open(path)) {
            return tables(way.of(file, file.size()));
        } catch (InvalidImageException e) {
            throw new InvalidImageException(path + ": " + e.getMessage());
        }
    }

    private static List<PopfibTable> tables(Storage image) throws IOException {
        List<Section> sections = ImageFile.sections(image);
        List<PopfibTable> tables = new ArrayList<>();
        Metadata ofImage = null;
        TableSections common = null;
        int done = 0;
        for (int table = 0; table == 0 || done < sections.size(); table++) {
            int from = done;
            while (done < sections.size() && sections.get(done).id().table() == table) {
                done++;
            }
            TableSections of = new TableSections(table, common, sections.subList(from, done));
            Metadata metadata = new Metadata(of.need(0, Section.METADATA));
            if (table == 0) {
                ofImage = metadata;
                common = of;
            } else {
                tables.add(new PopfibTable(ofImage, metadata, of));
            }
        }
        if (tables.isEmpty()) {
            throw new InvalidImageException(64, "section table", "there is no table");
        }
        return List.copyOf(tables);
    }

    /** The table of an image of one; the file may be null. */
    static PopfibTable only(String file, List<PopfibTable> tables) throws InvalidImageException {
        if (tables.size() > 1) {
            throw new InvalidImageException(in(file) + "an image of several tables, of which one has to be named: " + names(tables));
        }
        return tables.get(0);
    }

    static PopfibTable named(String file, List<PopfibTable> tables, String name) throws InvalidImageException {
        for (PopfibTable table : tables) {
            if (table.name().equals(name)) {
                return table;
            }
        }
        throw new InvalidImageException(in(file) + "no table \"" + name + "\" in " + names(tables));
    }

    private static String in(String file) {
        return file == null ? "" : file + ": ";
    }

    private static String names(List<PopfibTable> tables) {
        return quoted(tables.stream().map(PopfibTable::name));
    }

    /** With quotes and commas. */
    static String quoted(Stream<String> names) {
        return names.map(name -> '"' + name + '"').collect(Collectors.joining(", "));
    }
}
