package popfib;

import java.util.List;
import java.util.TreeMap;

/** The sections of one table, or of the image itself, which is table 0. */
final class TableSections {
    private final int table;
    private final TreeMap<Section.Id, Section> all = new TreeMap<>();

    TableSections(int table, List<Section> sections) {
        this.table = table;
        for (Section section : sections) {
            all.put(section.id(), section);
        }
    }

    /** The section of this kind for keys of this width; null if there is none. */
    Section find(int width, int kind) {
        return all.get(new Section.Id(table, width, kind));
    }

    /** The same where it has to be there. */
    Section need(int width, int kind) throws InvalidImageException {
        Section.Id id = new Section.Id(table, width, kind);
        Section found = all.get(id);
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
