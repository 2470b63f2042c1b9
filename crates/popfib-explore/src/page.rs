//! An image in, the page out: the parts of `page/` in one file, with a content security policy that lets nothing else run and no
//! request leave.
//!
//! The modules become one script, in the order of [`MODULES`], without the lines that import and the words that export. An import map
//! with `data:` addresses would keep them apart, but a policy of hashes does not allow such addresses. The worker is made of the same
//! script.

use std::io::Write;

use base64::Engine;
use base64::prelude::BASE64_STANDARD as BASE64;
use flate2::Compression;
use flate2::write::GzEncoder;
use popfib_table::{Table, TableError};
use sha2::{Digest, Sha256};

use crate::hidden_routes::hidden_routes;

const PAGE: &str = include_str!("../page/page.html");
const STYLE: &str = include_str!("../page/style.css");
const MODULES: [&str; 20] = [
    include_str!("../page/errors.js"),
    include_str!("../page/memory.js"),
    include_str!("../page/addresses.js"),
    include_str!("../page/check.js"),
    include_str!("../page/image.js"),
    include_str!("../page/routes.js"),
    include_str!("../page/tables.js"),
    include_str!("../page/hilbert.js"),
    include_str!("../page/space.js"),
    include_str!("../page/palette.js"),
    include_str!("../page/painter.js"),
    include_str!("../page/files.js"),
    include_str!("../page/worker.js"),
    include_str!("../page/dom.js"),
    include_str!("../page/way.js"),
    include_str!("../page/lookup.js"),
    include_str!("../page/map.js"),
    include_str!("../page/atlas.js"),
    include_str!("../page/drops.js"),
    include_str!("../page/main.js"),
];

/// The page of this title that shows the tables of an image, which keeps the prefixes of matches. `tables` are the same, in their order:
/// the page also carries those of their routes that no address has as its longest match.
///
/// O(size of the image + routes) time and memory.
///
/// # Errors
/// [`TableError::NoRoutes`] of a table that was opened from an image without them.
pub fn page<'t>(
    title: &str,
    image: &[u8],
    tables: impl IntoIterator<Item = &'t Table>,
) -> Result<String, TableError> {
    let hidden = hidden_routes(tables)?;
    let program: String = MODULES.iter().map(|module| script(module)).collect();
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; worker-src blob:; img-src data:; base-uri 'none'; form-action 'none'",
        hash(&program),
        hash(STYLE),
    );
    // What is put in first has no such places.
    let page = PAGE
        .replacen("{{policy}}", &policy, 1)
        .replacen("{{style}}", STYLE, 1)
        .replacen("{{program}}", &program, 1)
        .replacen("{{image}}", &packed(image), 1)
        .replacen("{{hidden}}", &packed(hidden.as_bytes()), 1)
        .replace("{{title}}", &escaped(title));
    Ok(page)
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

/// A text as HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
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

#[cfg(test)]
mod tests {
    use super::*;

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
