//! What tables look like, and what the forms of a Poptrie make of them.

use popfib_draw::heat_map;
use popfib_eval::DepthMap;

use super::format::{NONE, count, mean, mib, number, or_none, percent};
use super::{Section, differs, id, places};
use crate::experiments::depth::Heat;
use crate::experiments::forms::Form;
use crate::paper;
use crate::results::{Family, Outcome, Results};
use crate::sheet::Sheet;

pub(super) fn depths(results: &Results) -> Section {
    let mut section = Section::new("depth", "How deep addresses are (Fig. 7, section 4.7)");
    let columns = ["addresses", "deeper than 18", "deeper than 24", "distinct"];
    let mut sheet = Sheet::new("depth", "Shares by binary radix depth", &columns);
    for (place, table, family) in places(results) {
        let heat = results.find(place, family, |outcome| match outcome {
            Outcome::Heat(heat) => Some(heat),
            _ => None,
        });
        let Some(heat) = heat else { continue };
        sheet.row(vec![
            format!("{}: all of IPv4", table.name),
            percent(heat.deeper_than_18),
            percent(heat.deeper_than_24),
            count(1u128 << 32),
        ]);
        for traffic in &heat.traffic {
            sheet.row(vec![
                format!("{}: trace {}", table.name, traffic.name),
                percent(traffic.deeper_than_18),
                percent(traffic.deeper_than_24),
                count(traffic.distinct as u64),
            ]);
        }
        section
            .sheets
            .push(cells(heat, &id("heat", place, family), &table.name));
        let cells = heat.cells.iter();
        let map = DepthMap {
            cells: cells
                .map(|(length, depth, count)| (*length, *depth, u128::from(*count)))
                .collect(),
        };
        section.figure(
            id("fig7-depth", place, family),
            format!(
                "Binary radix depth of all IPv4 addresses in {} (the paper's Fig. 7)",
                table.name
            ),
            heat_map(
                "Binary radix depth of all IPv4 addresses",
                &table.name,
                &map,
                32,
            ),
        );
    }
    if sheet.rows.is_empty() {
        return section;
    }
    for (what, (all, deep)) in ["all of IPv4", "its trace"].iter().zip(paper::DEEPER) {
        let name = format!("paper, REAL-RENET: {what}");
        sheet.row(vec![name, percent(all), percent(deep), NONE.into()]);
    }
    sheet.note = "The binary radix depth of an address is how many of its bits have to be looked at until its longest \
                  match is certain. Addresses no deeper than 18 are answered by the first array of Poptrie18 and \
                  D18R. The paper's table has routes of an interior gateway protocol, many of them longer than /24, \
                  which public tables have not."
        .into();
    section.sheets.insert(0, sheet);
    section
}

/// The cells of the heat map.
fn cells(heat: &Heat, id: &str, table: &str) -> Sheet {
    let columns = ["prefix length", "depth", "addresses"];
    let mut sheet = Sheet::new(
        id,
        format!("Heat map of {table}: addresses by longest match and depth"),
        &columns,
    );
    for (length, depth, addresses) in &heat.cells {
        let length = length.map_or_else(|| "no route".to_owned(), |length| length.to_string());
        sheet.row(vec![length, depth.to_string(), addresses.to_string()]);
    }
    sheet
}

pub(super) fn forms(results: &Results) -> Section {
    let mut section = Section::new("forms", "What each extension brings (Tables 2 and 6)");
    for (place, table, family) in places(results) {
        let found = results.find(place, family, |outcome| match outcome {
            Outcome::Forms(forms) => Some(forms),
            _ => None,
        });
        let Some(forms) = found else { continue };
        let title = match family {
            Family::Ipv4 => format!(
                "{}, IPv4, beside the paper's Table 2 (REAL-Tier1-A)",
                table.name
            ),
            Family::Ipv6 => format!("{}, IPv6, beside the paper's Table 6", table.name),
        };
        let mut sheet = sheet(forms, family, &id("table2-forms", place, family), &title);
        let routes = match family {
            Family::Ipv4 => table.routes[0],
            Family::Ipv6 => table.routes[1],
        };
        sheet.note += &differs::why(results, routes, family);
        section.sheets.push(sheet);
    }
    if !section.sheets.is_empty() {
        section.paragraph(
            "Basic and leafvec are without route aggregation: every route is compiled as it is; \"popfib\" is this project's layout, which \
             puts a node's values into the node. Its nodes are counted as blocks, its leaves are those in blocks. The \
             paper's radix tree keeps 16 bytes and more a node, ours 8, so that ours is smaller and faster.",
        );
    }
    section
}

fn sheet(forms: &[Form], family: Family, id: &str, title: &str) -> Sheet {
    let columns = [
        "form",
        "s",
        "inodes",
        "paper's inodes",
        "leaves",
        "paper's leaves",
        "MiB",
        "paper's MiB",
        "compile, ms (std)",
        "paper's ms",
        "Mlps (std)",
        "paper's Mlps",
    ];
    let mut sheet = Sheet::new(id, title, &columns);
    for form in forms {
        let rows: &[paper::FormRow] = match family {
            Family::Ipv4 => &paper::FORMS,
            Family::Ipv6 => &paper::FORMS_IPV6,
        };
        let paper = rows
            .iter()
            .find(|row| row.0 == form.name && row.1 == form.direct_bits);
        let counts = paper.and_then(|row| row.2);
        let is_trie = form.nodes > 0 || form.leaves > 0;
        let mut cells = vec![
            form.name.clone(),
            or_none(form.direct_bits, |bits| bits.to_string()),
        ];
        if let Some(reason) = &form.cannot_build {
            cells.push(format!("cannot build: {reason}"));
            cells.resize(columns.len(), NONE.into());
            sheet.row(cells);
            continue;
        }
        let figure = |figure: usize| match is_trie {
            true => count(figure as u64),
            false => NONE.into(),
        };
        cells.extend([
            figure(form.nodes),
            or_none(counts, |counts| count(counts.0)),
            figure(form.leaves),
            or_none(counts, |counts| count(counts.1)),
            mib(form.bytes),
            or_none(paper, |row| number(row.3, 2)),
            mean(&form.build_ms),
            or_none(paper.and_then(|row| row.4), |ms| number(ms, 2)),
            mean(&form.mlps),
            or_none(paper, |row| number(row.5, 2)),
        ]);
        sheet.row(cells);
    }
    sheet.note = "Random addresses. Compilation is from the routes in a Rib; the paper's is from a binary radix tree. More \
                  routes and next hops make more nodes and leaves."
        .into();
    sheet
}
