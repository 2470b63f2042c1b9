package popfib;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32;

/**
 * The bytes of an image in; its sections out, every byte of which has been verified: header, section
 * table, checksums, and the zeros between sections. What sections mean is in the other files.
 */
final class ImageFile {
    private static final long MAGIC = Long.reverseBytes(0x8950_4F50_4649_420AL);
    private static final int MAJOR = 3;
    private static final int HEADER = 64;
    private static final int ENTRY = 32;
    private static final int ALIGNMENT = 64;

    private ImageFile() {}

    static InvalidImageException cutOff(long given, long expected) {
        return new InvalidImageException(given, "header", "cut off at byte " + given + " of " + expected);
    }

    /** The sections that this reader knows, in their order. */
    static List<Section> sections(Storage image) throws IOException {
        Bytes header = image.bytes(0, Math.min(HEADER, image.size()));
        long size = image.size();
        long length = length(header);
        if (size < length) {
            throw cutOff(size, length);
        }
        if (size > length) {
            throw new InvalidImageException(length, "header", size - length + " bytes follow the image's " + length);
        }
        long count = header.unsigned(12);
        if (count * ENTRY > size - HEADER) {
            throw new InvalidImageException(12, "header", "the section table is longer than the image");
        }
        long end = HEADER + count * ENTRY;
        Bytes table = image.bytes(HEADER, inArray(12, "header", count * ENTRY));
        if (checksum(table) != header.word(24)) {
            throw new InvalidImageException(HEADER, "header", "the checksum of the section table does not match");
        }
        List<Section> sections = new ArrayList<>();
        Section.Id before = null;
        for (int at = 0; at < table.length(); at += ENTRY) {
            int kinds = table.word(at + 4);
            Section.Id id = new Section.Id(table.word(at), kinds & 0xFFFF, kinds >>> 16);
            String wrong = null;
            long start = (end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
            long bytes = table.pair(at + 16);
            if (before != null && before.compareTo(id) >= 0) {
                wrong = "sections are not in order";
            } else if (table.pair(at + 8) != start) {
                wrong = "it does not begin where the section before it ends";
            } else if (start > size || bytes < 0 || bytes > size - start) {
                wrong = "it ends beyond the image";
            } else if (table.word(at + 28) != 0) {
                wrong = "a reserved byte is not 0";
            } else if (!image.bytes(end, start - end).isZero(0, (int) (start - end))) {
                wrong = "a byte before it is not 0";
            }
            if (wrong != null) {
                throw new InvalidImageException(HEADER + at, "section table: " + id, wrong);
            }
            before = id;
            end = start + bytes;
            Section section = new Section(id, start, image.bytes(start, inArray(start, id.toString(), bytes)));
            if (checksum(section.bytes()) != table.word(at + 24)) {
                throw section.broken(0, "the checksum does not match");
            }
            // The first one of each table says that there is a table.
            if (id.isKnown() || sections.isEmpty() || sections.get(sections.size() - 1).id().table() != id.table()) {
                sections.add(section);
            }
        }
        if (end != size) {
            throw new InvalidImageException(16, "header", "the image is longer than its sections");
        }
        return sections;
    }

    /** Verifies the first bytes, and returns the length that they give the image. */
    private static long length(Bytes header) throws InvalidImageException {
        if (header.length() < 8 || header.pair(0) != MAGIC) {
            throw new InvalidImageException("not a popfib image: `popfib compile FILE --columns '*' -o IMAGE` makes one of"
                    + " a MaxMind database, CSV or another table");
        }
        if (header.length() < HEADER) {
            throw cutOff(header.length(), HEADER);
        }
        // Before the checksum: another version may have another header.
        int major = header.word(8) & 0xFFFF;
        if (major != MAJOR) {
            throw new InvalidImageException("an image of version " + major + "." + (header.word(8) >>> 16)
                    + "; this program reads version " + MAJOR + ": make it again with `popfib compile`");
        }
        CRC32 crc = new CRC32();
        crc.update(header.buffer().limit(60));
        if ((int) crc.getValue() != header.word(60)) {
            throw new InvalidImageException(0, "header", "the checksum does not match");
        }
        if (!header.isZero(28, 60)) {
            throw new InvalidImageException(28, "header", "a reserved byte is not 0");
        }
        long length = header.pair(16);
        if (length < HEADER) {
            throw new InvalidImageException(16, "header", "its length is none that it can have");
        }
        return length;
    }

    private static long inArray(long at, String part, long length) throws InvalidImageException {
        if (length > Storage.MAX_LENGTH) {
            throw new InvalidImageException(at, part, length + " bytes are more than an array of the JVM has");
        }
        return length;
    }

    private static int checksum(Bytes bytes) {
        CRC32 crc = new CRC32();
        crc.update(bytes.buffer());
        return (int) crc.getValue();
    }
}
