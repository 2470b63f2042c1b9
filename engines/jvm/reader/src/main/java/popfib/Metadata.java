package popfib;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * The sections of metadata in; keys and values out, and from them who wrote an image, and what a table is
 * called and made of.
 */
final class Metadata {
    private final Section section;
    private final List<String[]> pairs = new ArrayList<>();

    /** The lines of a section, which it verifies. */
    Metadata(Section section) throws InvalidImageException {
        this.section = section;
        Bytes bytes = section.bytes();
        if (!Utf8.isValid(bytes.buffer())) {
            throw section.broken(0, "it is not UTF-8");
        }
        int begin = 0;
        int tab = -1;
        for (int at = 0; at < bytes.length(); at++) {
            byte b = bytes.at(at);
            if (b == '\t' && tab < 0) {
                tab = at;
            } else if (b == '\n' && tab >= 0) {
                pairs.add(new String[] {Utf8.text(bytes, begin, tab), Utf8.text(bytes, tab + 1, at)});
                begin = at + 1;
                tab = -1;
            } else if (b >= 0 && b < ' ' || b == 0x7F) {
                throw section.broken(at, "a line is malformed");
            }
        }
        if (begin != bytes.length()) {
            throw section.broken(bytes.length(), "the last line is cut off");
        }
    }

    private String first(String key) {
        for (String[] pair : pairs) {
            if (pair[0].equals(key)) {
                return pair[1];
            }
        }
        return null;
    }

    /** The name of a table. */
    String name() throws InvalidImageException {
        String name = first("name");
        if (name == null) {
            throw section.broken(0, "the table has no name");
        }
        return name;
    }

    List<Source> sources() {
        List<Source> sources = new ArrayList<>();
        for (String[] pair : pairs) {
            int last = sources.size() - 1;
            if (pair[0].equals("source")) {
                sources.add(new Source(pair[1], "", "", ""));
            } else if (last >= 0) {
                Source of = sources.get(last);
                sources.set(last, switch (pair[0]) {
                    case "description" -> new Source(of.name(), pair[1], of.licence(), of.date());
                    case "licence" -> new Source(of.name(), of.description(), pair[1], of.date());
                    case "date" -> new Source(of.name(), of.description(), of.licence(), pair[1]);
                    default -> of;
                });
            }
        }
        return List.copyOf(sources);
    }

    /** The program that wrote the image. */
    String writer() {
        String writer = first("writer");
        return writer == null ? "" : writer;
    }

    /** When that was; null if it is not known. */
    Instant written() {
        String written = first("written");
        try {
            return written == null ? null : Instant.ofEpochSecond(Long.parseLong(written));
        } catch (NumberFormatException | DateTimeException e) {
            return null;
        }
    }
}
