//! What the CPU counts for a lookup.

use super::format::{number, or_none};
use super::{Section, words};
use crate::results::{Results, pick};
use crate::sheet::Sheet;

pub(super) fn counters(results: &Results) -> Section {
    let mut section = Section::new("counters", "Hardware counters");
    for (place, counted) in results.each(|outcome| pick!(outcome, Counters)) {
        if let Some(reason) = &counted.unavailable {
            if section.text.is_empty() {
                section.paragraph(format!(
                    "Left out: cycles, instructions, cache misses and mispredicted branches of a lookup. Of such counters \
                     {reason}."
                ));
            }
            continue;
        }
        let mut columns = vec!["structure"];
        columns.extend(counted.events.iter().map(String::as_str));
        let title = format!("{place}: counts of a random lookup");
        let mut sheet = Sheet::new(place.id("counters"), title, &columns);
        for row in &counted.rows {
            let cell = |count: &Option<f64>| or_none(*count, |count| number(count, 3));
            let found = row.result().map(|each| each.iter().map(cell).collect());
            sheet.entry(&[&row.name], found, &[]);
        }
        sheet.note = words::COUNTERS.into();
        section.sheets.push(sheet);
    }
    section
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::Entry;
    use crate::experiments::counters::Counted;
    use crate::results::{Family, Outcome};

    fn section_of(counted: Counted) -> Section {
        counters(&Results::of(Family::Ipv4, Outcome::Counters(counted)))
    }

    #[test]
    fn a_table_where_there_are_counts_and_a_note_where_there_are_none() {
        let section = section_of(Counted {
            unavailable: None,
            events: vec!["cycles".into(), "L1 misses".into()],
            rows: vec![
                Entry::new("Poptrie18", Ok(vec![Some(12.5), None])),
                Entry::new("SAIL", Err("too many".into())),
            ],
        });
        assert!(section.text.is_empty());
        let csv = section.sheets[0].to_csv();
        let wanted =
            "structure,cycles,L1 misses\nPoptrie18,12.500,–\nSAIL,cannot build: too many,–\n";
        assert_eq!(csv, wanted);

        let section = section_of(Counted {
            unavailable: Some("this machine has none: no such file".into()),
            events: Vec::new(),
            rows: Vec::new(),
        });
        assert!(section.sheets.is_empty());
        let text = &section.text[0];
        assert!(
            text.contains("Left out: ") && text.ends_with("no such file."),
            "{text}"
        );
    }
}
