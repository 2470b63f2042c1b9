//! An image in, the page out: the parts of `explore/` in one file, with a content security policy that lets nothing else run and no
//! request leave.
//!
//! The modules become one script, in the order of [`MODULES`], without the lines that import and the words that export. An import map
//! with `data:` addresses would keep them apart, but a policy of hashes does not allow such addresses. The worker is made of the same
//! script.

use std::fmt::Write as _;
use std::io::Write as _;

use base64::Engine;
use base64::prelude::BASE64_STANDARD as BASE64;
use flate2::Compression;
use flate2::write::GzEncoder;
use popfib::family::Family;
use popfib::{NextHop, Prefix};
use popfib_table::{Table, TableError};
use sha2::{Digest, Sha256};

const PAGE: &str = include_str!("../../explore/page.html");
const STYLE: &str = include_str!("../../explore/style.css");
const MODULES: [&str; 18] = [
    include_str!("../../explore/errors.js"),
    include_str!("../../explore/addresses.js"),
    include_str!("../../explore/image.js"),
    include_str!("../../explore/routes.js"),
    include_str!("../../explore/tables.js"),
    include_str!("../../explore/hilbert.js"),
    include_str!("../../explore/space.js"),
    include_str!("../../explore/palette.js"),
    include_str!("../../explore/painter.js"),
    include_str!("../../explore/files.js"),
    include_str!("../../explore/worker.js"),
    include_str!("../../explore/dom.js"),
    include_str!("../../explore/way.js"),
    include_str!("../../explore/lookup.js"),
    include_str!("../../explore/map.js"),
    include_str!("../../explore/atlas.js"),
    include_str!("../../explore/drops.js"),
    include_str!("../../explore/main.js"),
];

/// The page that carries `image` and the routes that the image does not show.
///
/// O(size of the image) time.
pub(super) fn page(image: &[u8], hidden: &str) -> String {
    let program: String = MODULES.iter().map(|module| script(module)).collect();
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; worker-src blob:; img-src data:; base-uri 'none'; form-action 'none'",
        hash(&program),
        hash(STYLE),
    );
    // What is put in first has no such places.
    PAGE.replacen("{{policy}}", &policy, 1)
        .replacen("{{style}}", STYLE, 1)
        .replacen("{{program}}", &program, 1)
        .replacen("{{image}}", &packed(image), 1)
        .replacen("{{hidden}}", &packed(hidden.as_bytes()), 1)
}

/// A module as a part of a script.
fn script(module: &str) -> String {
    let lines = module.lines().filter(|line| !line.starts_with("import "));
    let mut text = String::new();
    for line in lines {
        text.push_str(line.strip_prefix("export ").unwrap_or(line));
        text.push('\n');
    }
    text
}

/// As a content security policy names what it allows.
fn hash(text: &str) -> String {
    format!("sha256-{}", BASE64.encode(Sha256::digest(text)))
}

/// The bytes compressed, as text.
fn packed(bytes: &[u8]) -> String {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    BASE64.encode(written.expect("memory takes everything"))
}

/// The routes that are no address's longest match, as longer ones take all of theirs: a line `TABLE PREFIX RECORD` for each, where the
/// first table is 0.
///
/// The page finds all others in the compiled tables, which are a third of the size of the routes.
///
/// O(routes) time.
///
/// # Errors
/// [`TableError::NoRoutes`].
pub(super) fn hidden_routes<'t>(
    tables: impl Iterator<Item = &'t Table>,
) -> Result<String, TableError> {
    let mut lines = String::new();
    for (number, table) in tables.enumerate() {
        hidden(number, table.ipv4().routes()?, &mut lines);
        hidden(number, table.ipv6().routes()?, &mut lines);
    }
    Ok(lines)
}

fn hidden<A: Family>(
    table: usize,
    routes: impl Iterator<Item = (Prefix<A>, NextHop)>,
    lines: &mut String,
) {
    // The routes that cover the present one.
    let mut open: Vec<OpenRoute<A>> = Vec::new();
    let mut close = |open: &mut Vec<OpenRoute<A>>| {
        let Some(route) = open.pop() else {
            return;
        };
        let size = size(route.prefix);
        if route.has_longer && route.taken == size {
            let (prefix, record) = (A::ip_prefix(route.prefix), route.record.get());
            // Writing to a text cannot fail.
            let _ = writeln!(lines, "{table} {prefix} {record}");
        }
        if let Some(outer) = open.last_mut() {
            outer.has_longer = true;
            outer.taken = outer.taken.wrapping_add(size);
        }
    };
    for (prefix, record) in routes {
        while open
            .last()
            .is_some_and(|route| !route.prefix.covers(&prefix))
        {
            close(&mut open);
        }
        open.push(OpenRoute {
            prefix,
            record,
            has_longer: false,
            taken: 0,
        });
    }
    while !open.is_empty() {
        close(&mut open);
    }
}

/// A route whose longer ones are being counted.
struct OpenRoute<A> {
    prefix: Prefix<A>,
    record: NextHop,
    has_longer: bool,
    /// The addresses that longer ones have taken of it, as [`size`] counts.
    taken: u128,
}

/// The number of addresses of a prefix, modulo 2^128.
fn size<A: Family>(prefix: Prefix<A>) -> u128 {
    let host_bits = u32::from(A::WIDTH - prefix.len());
    1u128.checked_shl(host_bits).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_routes_are_those_without_addresses_of_their_own() {
        let lines = |routes: &[&str]| {
            let routes = routes.iter().map(|text| text.parse().unwrap());
            let mut lines = String::new();
            hidden::<u128>(7, routes.map(|prefix| (prefix, NextHop::MIN)), &mut lines);
            lines
        };
        assert_eq!(lines(&[]), "");
        assert_eq!(lines(&["::/0"]), "");
        assert_eq!(lines(&["::/0", "::/1"]), "");
        assert_eq!(lines(&["::/0", "::/1", "8000::/1"]), "7 ::/0 1\n");
        assert_eq!(
            lines(&["2000::/3", "2000::/4", "2000::/5", "2800::/5", "3000::/4"]),
            "7 2000::/4 1\n7 2000::/3 1\n"
        );
        assert_eq!(lines(&["::/126", "::/128", "::1/128", "::2/128"]), "");
    }

    #[test]
    fn a_script_has_no_modules() {
        let module =
            "// A part.\nimport { a } from \"./a.js\";\n\nexport function b() {\n  return a;\n}\n";
        assert_eq!(
            script(module),
            "// A part.\n\nfunction b() {\n  return a;\n}\n"
        );
        for module in MODULES {
            for line in script(module).lines() {
                assert!(
                    !line.contains(" from \"./") && !line.contains("</script"),
                    "{line}"
                );
            }
        }
    }
}
