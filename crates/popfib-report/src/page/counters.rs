//! What the CPU counts for a lookup.

use super::format::{NONE, number, or_none};
use super::{Section, id, places};
use crate::results::{Outcome, Results};
use crate::sheet::Sheet;

pub(super) fn counters(results: &Results) -> Section {
    let mut section = Section::new("counters", "Hardware counters");
    let mut refused = None;
    for (place, table, family) in places(results) {
        let found = results.find(place, family, |outcome| match outcome {
            Outcome::Counters(counted) => Some(counted),
            _ => None,
        });
        let Some(counted) = found else { continue };
        if let Some(reason) = &counted.unavailable {
            refused.get_or_insert(reason);
            continue;
        }
        let mut columns = vec!["structure"];
        columns.extend(counted.events.iter().map(String::as_str));
        let title = format!(
            "{}, {}: counts of a random lookup",
            table.name,
            family.name()
        );
        let mut sheet = Sheet::new(id("counters", place, family), title, &columns);
        for row in &counted.rows {
            let mut cells = vec![row.name.clone()];
            match &row.cannot_build {
                Some(reason) => cells.push(format!("cannot build: {reason}")),
                None => cells.extend(
                    row.each
                        .iter()
                        .map(|each| or_none(*each, |count| number(count, 3))),
                ),
            }
            cells.resize(columns.len(), NONE.into());
            sheet.row(cells);
        }
        sheet.note = "Counted over all passes and divided by their lookups; \"no lookup\" is what making addresses and \
                      the loop take, and is included in the others. The paper has no such table; its section 4.6 \
                      explains cycles by cache misses. A dash: the CPU does not count it."
            .into();
        section.sheets.push(sheet);
    }
    if let Some(reason) = refused {
        section.paragraph(format!(
            "Left out: cycles, instructions, cache misses and mispredicted branches of a lookup. Of such counters {reason}."
        ));
    }
    section
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::counters::{Counted, Counts};
    use crate::results::Family;

    fn section_of(counted: Counted) -> Section {
        counters(&Results::of(Family::Ipv4, Outcome::Counters(counted)))
    }

    #[test]
    fn a_table_where_there_are_counts() {
        let section = section_of(Counted {
            unavailable: None,
            events: vec!["cycles".into(), "L1 misses".into()],
            rows: vec![
                Counts {
                    name: "Poptrie18".into(),
                    cannot_build: None,
                    lookups: 10,
                    each: vec![Some(12.5), None],
                },
                Counts {
                    name: "SAIL".into(),
                    cannot_build: Some("too many".into()),
                    lookups: 0,
                    each: Vec::new(),
                },
            ],
        });
        assert!(section.text.is_empty());
        let csv = section.sheets[0].to_csv();
        let wanted =
            "structure,cycles,L1 misses\nPoptrie18,12.500,–\nSAIL,cannot build: too many,–\n";
        assert_eq!(csv, wanted);
    }

    #[test]
    fn a_note_where_there_are_none() {
        let section = section_of(Counted {
            unavailable: Some("this machine has none: no such file".into()),
            events: Vec::new(),
            rows: Vec::new(),
        });
        assert!(section.sheets.is_empty());
        assert!(
            section.text[0].contains("Left out: ") && section.text[0].ends_with("no such file.")
        );
    }
}
