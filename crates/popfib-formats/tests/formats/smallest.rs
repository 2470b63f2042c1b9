//! The smallest files that popfib writes, of one route: each is recognised as what it is by the detectors of tables,
//! and by those of updates and addresses as nothing of theirs; and what a list leaves in comes back as that list.

use popfib::image::Keep;
use popfib::{ImageWriter, IpPrefix, Options};
use popfib_formats::{
    AddressFormat, Format, RouteTable, UpdateFormat, WriteError, WriteFormat, WriteOptions,
    write_table,
};
use popfib_table::{Dictionary, Records};

use crate::common::{STRICT, read, routes};

/// The form, and the format it is read as; the values, if they are not kept.
const FORMS: [(&str, &str, Option<&str>); 19] = [
    ("text", "text", None),
    ("json-lines", "json-lines", None),
    ("csv", "csv", None),
    ("pfx2as", "pfx2as", None),
    ("geofeed", "geofeed", None),
    ("mmdb", "mmdb", None),
    ("plain", "text", Some("")),
    ("ranges", "text", Some("")),
    ("cisco-prefix-list", "prefix-lists", Some("popfib")),
    ("cisco-acl", "prefix-lists", Some("popfib")),
    ("junos-prefix-list", "filters", Some("popfib")),
    ("junos-route-filter", "filters", Some("popfib")),
    ("bird", "filters", Some("popfib")),
    ("frr", "prefix-lists", Some("popfib")),
    ("nftables", "nftables", Some("popfib")),
    ("ipset", "ipset", Some("popfib")),
    ("iptables", "iptables", Some("popfib")),
    ("pf", "filters", Some("popfib")),
    ("openbgpd", "filters", Some("popfib")),
];

fn written(table: &RouteTable, form: &str) -> Result<Vec<u8>, WriteError> {
    let mut out = Vec::new();
    write_table(
        table,
        form.parse().unwrap(),
        &WriteOptions::default(),
        &mut out,
    )?;
    Ok(out)
}

fn image(table: &RouteTable) -> Vec<u8> {
    let mut writer = ImageWriter::new(0);
    writer.table("t", &[]).unwrap();
    let names: Vec<_> = table.records.values().collect();
    writer.names(names.iter().map(|name| &**name)).unwrap();
    writer
        .family(&table.ribs.ipv4, &Options::default(), Keep::Routes)
        .unwrap();
    writer
        .family(&table.ribs.ipv6, &Options::default(), Keep::Routes)
        .unwrap();
    writer.to_bytes()
}

fn prefixes() -> Vec<IpPrefix> {
    let texts = [
        "0.0.0.0/0",
        "128.0.0.0/1",
        "10.0.0.0/8",
        "10.0.0.0/24",
        "0.0.0.0/32",
        "192.0.2.1/32",
        "255.255.255.255/32",
        "::/0",
        "8000::/1",
        "2001:db8::/32",
        "2001:db8::1/128",
    ];
    texts.map(|text| text.parse().unwrap()).to_vec()
}

#[test]
fn one_route_in_every_form() {
    // Addresses one by one are too many.
    assert_eq!(FORMS.len() + 1, WriteFormat::all().count());
    let mut files = 0;
    for prefix in prefixes() {
        for value in ["1", "DE", "v", "192.0.2.1", "a b", "", "\"q\"", " x"] {
            let (mut table, number) = RouteTable::list();
            let mut texts = Dictionary::new();
            assert_eq!(texts.intern(value), number);
            table.records = Records::of_texts_or_none(None, texts);
            match prefix {
                IpPrefix::V4(prefix) => table.ribs.ipv4.insert(prefix, number),
                IpPrefix::V6(prefix) => table.ribs.ipv6.insert(prefix, number),
            };
            let images = [("image", image(&table), "image", value)];
            let forms = FORMS.iter().filter_map(|&(form, format, fixed)| {
                // What the form does not hold, it refuses by name.
                let bytes = written(&table, form).ok()?;
                let listed = if form == "mmdb" && value.is_empty() {
                    Some("true")
                } else {
                    fixed
                };
                Some((form, bytes, format, listed.unwrap_or(value)))
            });
            for (form, bytes, format, value) in forms.chain(images) {
                let what = format!(
                    "{form} of {prefix} {value:?}: {}",
                    String::from_utf8_lossy(&bytes)
                );
                assert_eq!(Format::detect(&bytes).name(), format, "{what}");
                // Objects of JSON could be updates, and nothing else could.
                let updates = if bytes.starts_with(b"{") {
                    "json"
                } else {
                    "text"
                };
                assert_eq!(UpdateFormat::detect(&bytes).name(), updates, "{what}");
                let addresses = AddressFormat::detect(&bytes).name();
                assert!(
                    ["text", "json-lines", "csv", "tsv"].contains(&addresses),
                    "{addresses}: {what}"
                );
                let table = read(bytes, &STRICT).unwrap_or_else(|e| panic!("{e}: {what}"));
                // Some lists of IPv6 have a name of their own.
                let name = |route: String| route.trim_end_matches("_v6").to_owned();
                let found: Vec<_> = routes(&table).into_iter().map(name).collect();
                let wanted = format!("{prefix} {value}");
                // The root of a tree has two sides, and the addresses of IPv4 apart in one of both families.
                if form != "mmdb" || prefix.len() > 0 {
                    assert_eq!(found, [wanted], "{what}");
                }
                assert!(found.iter().all(|route| route.ends_with(value)), "{what}");
                files += 1;
            }
        }
    }
    assert!(files > 1000, "{files}");
}

#[test]
fn a_list_leaves_in_every_form_or_the_refusal_says_why() {
    let list = read("10.0.0.0/8\n192.0.2.0/24\n2001:db8::/32\n", &STRICT).unwrap();
    for (form, ..) in FORMS {
        match written(&list, form) {
            Ok(bytes) => {
                let again = read(bytes, &STRICT).unwrap();
                let prefixes = |table: &RouteTable| {
                    (
                        table.ribs.ipv4.iter().map(|(p, _)| p).collect::<Vec<_>>(),
                        table.ribs.ipv6.len(),
                    )
                };
                assert_eq!(prefixes(&again), prefixes(&list), "{form}");
                let has_values = routes(&again).iter().any(|route| !route.ends_with(' '));
                assert!(
                    !has_values || !["text", "json-lines", "csv", "plain"].contains(&form),
                    "{form}"
                );
            }
            Err(error) => {
                let needed = match form {
                    "pfx2as" => "an AS number",
                    "geofeed" => "a country",
                    _ => panic!("{form}: {error}"),
                };
                assert!(error.to_string().contains(needed), "{error}");
            }
        }
    }
}
