package popfib;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The sections of one table, or of the image itself, which is table 0. */
final class TableSections {
    private final int table;
    private final TreeMap<Section.Id, Section> all = new TreeMap<>();
    /** The sections of the image, of which tables may have some in common; null in these. */
    private final TableSections common;
    /** What was verified of sections that tables have in common. */
    private final Map<Section.Id, FibCheck.SharedArena> arenas = new HashMap<>();
    private Records records;

    TableSections(int table, TableSections common, List<Section> sections) {
        this.table = table;
        this.common = common;
        for (Section section : sections) {
            all.put(section.id(), section);
        }
    }

    /** The section of this kind for keys of this width; null if there is none. Records and arenas may be common. */
    Section find(int width, int kind) {
        Section found = own(width, kind);
        if (common == null || own(0, Section.COLUMNS) != null) {
            return found;
        }
        boolean isOfRecords = width == 0 && (kind == Section.COLUMNS || kind == Section.ROWS || kind >= Section.VALUES);
        boolean isArena = kind == Section.FIB + 2 || kind == Section.LONGEST + 2;
        boolean isCommon = isOfRecords || found == null && isArena && own(width, kind - 2) != null;
        return isCommon ? common.own(width, kind) : found;
    }

    private Section own(int width, int kind) {
        return all.get(new Section.Id(table, width, kind));
    }

    /** The records, which are read once if they are common. */
    Records records() throws InvalidImageException {
        if (own(0, Section.COLUMNS) != null) {
            return Records.of(this);
        }
        if (common.records == null) {
            common.records = Records.of(this);
        }
        return common.records;
    }

    /** What is known of this arena, if it is common; otherwise null. */
    FibCheck.SharedArena shared(Section arena) {
        int words = arena.bytes().length() / 4;
        return arena.id().table() != 0 ? null : common.arenas.computeIfAbsent(arena.id(), id -> new FibCheck.SharedArena(words));
    }

    /** The same where it has to be there. */
    Section need(int width, int kind) throws InvalidImageException {
        Section.Id id = new Section.Id(table, width, kind);
        Section found = find(width, kind);
        if (found == null) {
            throw new InvalidImageException(64, "section table", "no " + id);
        }
        return found;
    }

    /** The sections of this kind and the two after it; null if none of them is there. */
    Section[] three(int width, int kind) throws InvalidImageException {
        if (find(width, kind) == null && find(width, kind + 1) == null && find(width, kind + 2) == null) {
            return null;
        }
        return new Section[] {need(width, kind), need(width, kind + 1), need(width, kind + 2)};
    }
}
