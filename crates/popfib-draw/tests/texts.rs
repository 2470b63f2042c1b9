//! No text of a picture runs into another or out of the picture: the boxes of all texts, by an estimate of their widths that shares
//! no code with the one that places them, over real tables.

use std::path::Path;

use popfib::family::{ByFamily, Family};
use popfib::{NextHop, Prefix, Rib};
use popfib_draw::{
    Bar, BarChart, BarPanel, BarRow, Colouring, Depths, HilbertMap, Holder, LookupPicture,
    RadialTrees, bar_chart, heat_map, hilbert_map, lookup_picture, radial_trees,
};
use popfib_formats::{Input, LoadOptions, RouteTable, load};
use roxmltree::{Document, Node};

/// Left, top, right, bottom.
type Box = [f64; 4];

/// A text and where it is.
struct Text {
    text: String,
    place: Box,
}

/// The width of a letter of a sans-serif font, in font sizes.
fn advance(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | ' ' | '!' => 0.29,
        '(' | ')' | '/' | 't' | 'f' | 'r' | '-' => 0.39,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.92,
        'A'..='Z' => 0.7,
        '0'..='9' => 0.63,
        '\u{2026}' => 0.95,
        _ if c.is_ascii() => 0.58,
        _ => 1.0,
    }
}

fn number(node: &Node, name: &str) -> f64 {
    node.attribute(name).unwrap_or("0").parse().unwrap()
}

/// Where a group moves its texts to, and whether it turns them upwards.
fn moved(node: &Node) -> (f64, f64, bool) {
    let Some(transform) = node.parent_element().and_then(|g| g.attribute("transform")) else {
        return (0.0, 0.0, false);
    };
    let (at, turn) = transform
        .strip_prefix("translate(")
        .unwrap()
        .split_once(')')
        .unwrap();
    assert_eq!(turn.trim(), "rotate(-90)");
    let (x, y) = at.split_once(' ').unwrap();
    (x.parse().unwrap(), y.parse().unwrap(), true)
}

fn texts(svg: &str) -> (Box, Vec<Text>) {
    let document = Document::parse(svg).unwrap();
    let root = document.root_element();
    let whole = [0.0, 0.0, number(&root, "width"), number(&root, "height")];
    let nodes = document
        .descendants()
        .filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "text")));
    let text = |node: Node| {
        let text = node.text().unwrap_or_default().to_owned();
        let size = number(&node, "font-size");
        let width = text.chars().map(advance).sum::<f64>() * size;
        let from = match node.attribute("text-anchor") {
            None => 0.0,
            Some("middle") => -width / 2.0,
            Some(_) => -width,
        } + number(&node, "x");
        // What letters without accents take above and below the line.
        let (above, below) = (0.73 * size, 0.2 * size);
        let y = number(&node, "y");
        let place = match moved(&node) {
            (_, _, false) => [from, y - above, from + width, y + below],
            (dx, dy, true) => [dx + y - above, dy - from - width, dx + y + below, dy - from],
        };
        Text { text, place }
    };
    (
        whole,
        nodes
            .map(text)
            .filter(|text| !text.text.is_empty())
            .collect(),
    )
}

#[track_caller]
fn assert_free(name: &str, svg: &str) {
    let (whole, texts) = texts(svg);
    assert!(!texts.is_empty(), "{name}");
    for (i, a) in texts.iter().enumerate() {
        let [left, top, right, bottom] = a.place;
        let is_inside = left >= 0.0 && top >= 0.0 && right <= whole[2] && bottom <= whole[3];
        assert!(
            is_inside,
            "{name}: {:?} at {:?} of {whole:?}",
            a.text, a.place
        );
        for b in &texts[..i] {
            let apart = a.place[2] <= b.place[0]
                || b.place[2] <= a.place[0]
                || a.place[3] <= b.place[1]
                || b.place[3] <= a.place[1];
            assert!(
                apart,
                "{name}: {:?} at {:?} and {:?} at {:?}",
                a.text, a.place, b.text, b.place
            );
        }
    }
}

/// All pictures of one family, of all that is routed and of parts.
fn pictures<A: Family>(table: &str, rib: &Rib<A>, parts: &[&str], addresses: &[A])
where
    Prefix<A>: std::str::FromStr<Err: std::fmt::Debug>,
{
    let note = format!("{table}, 901,899 {} routes", A::NAME);
    let long = |next_hop: NextHop| {
        let name = "Ministry of Large Networks and Wide Names, Inc.";
        (!next_hop.get().is_multiple_of(7)).then(|| Holder {
            name: name.to_owned(),
            detail: format!("AS{}, {name}", u32::MAX - next_hop.get()),
        })
    };
    let short = |next_hop: NextHop| {
        Some(Holder {
            name: format!("next hop {next_hop}"),
            detail: String::new(),
        })
    };
    let parts = parts.iter().map(|text| Some(text.parse().unwrap()));
    for within in [None].into_iter().chain(parts) {
        let name = format!(
            "{table}, {:?}",
            within.map(|prefix: Prefix<A>| prefix.to_string())
        );
        for colouring in [
            Colouring::NextHop(&long),
            Colouring::NextHop(&short),
            Colouring::Length,
        ] {
            let map = HilbertMap {
                title: "Who holds what",
                note: &note,
                within,
                size: 256,
                colouring,
            };
            assert_free(&format!("Hilbert map of {name}"), &hilbert_map(rib, &map));
        }
        let tries = RadialTrees {
            title: "Binary radix tree and Poptrie",
            note: &note,
            within,
            size: 64,
        };
        assert_free(
            &format!("tries of {name}"),
            &radial_trees(rib, &tries).unwrap(),
        );
    }
    let map = Depths::new(rib).map();
    assert_free(
        &format!("depths of {table}"),
        &heat_map("Binary radix depth", &note, &map, A::WIDTH),
    );
    for address in addresses {
        let what = LookupPicture {
            title: "Lookup",
            note: &note,
            address: *address,
            answer: Some("2001:db8::/32: AS64496, Ministry of Large Networks and Wide Names, Inc."),
            name: &|next_hop| format!("AS{next_hop}"),
        };
        assert_free(
            &format!("lookup of {} in {table}", address.to_u128()),
            &lookup_picture(rib, &what).unwrap(),
        );
    }
}

fn both(name: &str, table: &RouteTable) {
    let ByFamily { ipv4, ipv6 } = &table.ribs;
    if !ipv4.is_empty() {
        let addresses = [0, 0x0808_0808, 0x7f00_0001, u32::MAX];
        pictures(
            name,
            ipv4,
            &["10.0.0.0/8", "192.0.0.0/9", "8.8.8.8/32"],
            &addresses,
        );
    }
    if !ipv6.is_empty() {
        let addresses = [1, 0x2001_41d0 << 96, 0x2a00_1450_4000 << 80, u128::MAX];
        pictures(
            name,
            ipv6,
            &["2a00::/11", "2001:db8::/32", "::/0", "::1/128"],
            &addresses,
        );
    }
}

#[test]
fn of_the_built_in_table() {
    both(
        "built-in table",
        &load(Input::built_in(), &LoadOptions::new()).unwrap(),
    );
}

#[test]
fn of_tables_of_routers() {
    let data =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../popfib-formats/tests/data/vendor-frr-bird");
    for name in FILES {
        let input = Input::open(data.join(name)).unwrap();
        let table: RouteTable = load(input, &LoadOptions::new()).unwrap();
        assert!(
            !table.ribs.ipv4.is_empty() || !table.ribs.ipv6.is_empty(),
            "{name}"
        );
        both(name, &table);
    }
}

#[test]
fn of_bars() {
    let names = [
        "a",
        "Ministry of Large Networks and Wide Names, Inc., of the whole World",
        "popfib, AVX-512",
    ];
    for (panels, values) in [
        (1, [3.0, 2.0, 1.0]),
        (1, [18_446_744_073_709_551_615.0, 1.0, 0.0]),
        (2, [0.001, 0.0005, f64::NAN]),
        (4, [557.0, 12.0, 9.0]),
        (7, [1e6, 999_999.0, 5e5]),
    ] {
        let bar = |value: &f64| {
            Some(Bar {
                value: *value,
                spread: Some((0.8 * value, 1.2 * value)),
                label: format!("{value} (12.3 %)"),
            })
        };
        let panel = |number: usize| BarPanel {
            name: format!(
                "{number}. Ministry of Large Networks and Wide Names, Inc., of the World"
            ),
            bars: values.iter().map(bar).chain([None]).collect(),
        };
        let row = |name: &&str| BarRow {
            name: (*name).to_owned(),
            is_strong: true,
        };
        let svg = bar_chart(&BarChart {
            title: &names[1].repeat(4),
            note: &names[1].repeat(4),
            unit: "million lookups a second",
            rows: names.iter().chain(&["none"]).map(row).collect(),
            panels: (0..panels).map(panel).collect(),
        });
        assert_free(&format!("bars of {values:?}"), &svg);
    }
}

/// Tables as routers print them.
const FILES: [&str; 2] = ["frr_show_ip_bgp.txt.bz2", "bird2_show_route_v6.txt.bz2"];

#[test]
#[should_panic(expected = "\"first\"")]
fn texts_in_one_place_are_found() {
    let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100\" height=\"50\">\
               <text x=\"10\" y=\"20\" font-size=\"12\">first</text>\
               <text x=\"50\" y=\"24\" text-anchor=\"end\" font-size=\"12\">second</text></svg>";
    assert_free("two", svg);
}
