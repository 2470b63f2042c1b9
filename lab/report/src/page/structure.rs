//! What tables look like, and what the forms of a Poptrie make of them.

use popfib_draw::{DepthMap, heat_map};

use super::format::{NONE, count, mean, mib, number, or_none, percent};
use super::{Section, differs, words};
use crate::experiments::depth::Heat;
use crate::experiments::forms::Form;
use crate::paper;
use crate::results::{Family, Place, Results, pick};
use crate::sheet::Sheet;

pub(super) fn depths(results: &Results) -> Section {
    let mut section = Section::new("depth", "How deep addresses are (Fig. 7, section 4.7)");
    let columns = ["addresses", "deeper than 18", "deeper than 24", "distinct"];
    let mut sheet = Sheet::new("depth", "Shares by binary radix depth", &columns);
    let mut share = |name: String, deeper: [f64; 2], distinct: String| {
        let [deeper_than_18, deeper_than_24] = deeper.map(percent);
        sheet.row(vec![name, deeper_than_18, deeper_than_24, distinct]);
    };
    for (place, heat) in results.each(|outcome| pick!(outcome, Heat)) {
        let table = &place.table.name;
        let deeper = [heat.deeper_than_18, heat.deeper_than_24];
        share(format!("{table}: all of IPv4"), deeper, count(1u64 << 32));
        for traffic in &heat.traffic {
            let deeper = [traffic.deeper_than_18, traffic.deeper_than_24];
            let name = format!("{table}: trace {}", traffic.name);
            share(name, deeper, count(traffic.distinct as u64));
        }
        section.sheets.push(cells(heat, place));
        let cells = heat.cells.iter();
        let map = DepthMap {
            cells: cells
                .map(|(length, depth, n)| (*length, *depth, u128::from(*n)))
                .collect(),
        };
        const TITLE: &str = "Binary radix depth of all IPv4 addresses";
        let caption = format!("{TITLE} in {table} (the paper's Fig. 7)");
        section.figure(
            place.id("fig7-depth"),
            caption,
            heat_map(TITLE, table, &map, 32),
        );
    }
    for (what, (all, deep)) in ["all of IPv4", "its trace"].iter().zip(paper::DEEPER) {
        share(
            format!("paper, REAL-RENET: {what}"),
            [all, deep],
            NONE.into(),
        );
    }
    sheet.note = words::DEPTH.into();
    if !section.sheets.is_empty() {
        section.sheets.insert(0, sheet);
    }
    section
}

/// The cells of the heat map.
fn cells(heat: &Heat, place: Place<'_>) -> Sheet {
    let columns = ["prefix length", "depth", "addresses"];
    let title = format!(
        "Heat map of {}: addresses by longest match and depth",
        place.table.name
    );
    let mut sheet = Sheet::new(place.id("heat"), title, &columns);
    for (length, depth, addresses) in &heat.cells {
        let length = length.map_or_else(|| "no route".to_owned(), |length| length.to_string());
        sheet.row(vec![length, depth.to_string(), addresses.to_string()]);
    }
    sheet
}

pub(super) fn forms(results: &Results) -> Section {
    let mut section = Section::new("forms", "What each extension brings (Tables 2 and 6)");
    for (place, forms) in results.each(|outcome| pick!(outcome, Forms)) {
        let mut sheet = of_forms(forms, place);
        let routes = place.table.routes[place.family as usize];
        sheet.note += &differs::why(results, routes, place.family);
        section.sheets.push(sheet);
    }
    section.about(words::FORMS)
}

fn of_forms(forms: &[Form], place: Place<'_>) -> Sheet {
    let columns = [
        "form",
        "s",
        "inodes",
        "leaves",
        "MiB",
        "compile, ms (std)",
        "Mlps (std)",
        "paper's inodes",
        "paper's leaves",
        "paper's MiB",
        "paper's ms",
        "paper's Mlps",
    ];
    let (rows, of_paper) = match place.family {
        Family::Ipv4 => (&paper::FORMS[..], "Table 2 (REAL-Tier1-A)"),
        Family::Ipv6 => (&paper::FORMS_IPV6[..], "Table 6"),
    };
    let title = format!("{place}, beside the paper's {of_paper}");
    let mut sheet = Sheet::new(place.id("table2-forms"), title, &columns);
    for Form { direct_bits, entry } in forms {
        let paper = rows
            .iter()
            .find(|row| row.0 == entry.name && row.1 == *direct_bits);
        let counts = paper.and_then(|row| row.2);
        let found = entry.result().map(|cost| {
            let figure = |figure: usize| match cost.nodes + cost.leaves {
                // It is no Poptrie.
                0 => NONE.to_owned(),
                _ => count(figure as u64),
            };
            vec![
                figure(cost.nodes),
                figure(cost.leaves),
                mib(cost.bytes),
                mean(&cost.build_ms),
                mean(&cost.mlps),
            ]
        });
        let of_paper = [
            or_none(counts, |counts| count(counts.0)),
            or_none(counts, |counts| count(counts.1)),
            or_none(paper, |row| number(row.3, 2)),
            or_none(paper.and_then(|row| row.4), |ms| number(ms, 2)),
            or_none(paper, |row| number(row.5, 2)),
        ];
        let bits = or_none(*direct_bits, |bits| bits.to_string());
        sheet.entry(&[&entry.name, &bits], found, &of_paper);
    }
    sheet.note = words::FORMS_NOTE.into();
    sheet
}
