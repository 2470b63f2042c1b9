//! `ip -j route` and `ip -j -6 route` of Linux: an array of routes in, the route of each prefix out that the
//! kernel would take.
//!
//! ```text
//! [{"dst":"default","gateway":"10.0.0.4","dev":"eth0","metric":100,"flags":[]},
//!  {"type":"blackhole","dst":"10.9.0.0/16"}]
//! ```
//! `ip` writes the same words in both forms, so a route is made a line again, which [the text](crate::ip_route) is read
//! from. Of an encapsulation the words stand among those of the route, in both: even a second `dst`.

use std::borrow::Cow;

use super::node::node;
use super::{first_byte, keys};
use crate::error::{not, quote};
use crate::grammar::{Grammar, RouteRows, TableEntry, document};
use crate::ip_route::IpRouteText;
use crate::leaves::RecordNode;
use crate::registry::Capability::Tables;

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "ip-route-json",
    description: "`ip -j route` and `ip -j -6 route` of Linux",
    can: &[Tables],
    detect,
    open: |input, options| Ok(document(IpRouteJson::default(), input, options)),
};

fn detect(head: &[u8]) -> bool {
    first_byte(head) == Some(b'[') && keys(head).take(3).any(|key| key == "dst")
}

#[derive(Default)]
struct IpRouteJson {
    text: IpRouteText,
    line: String,
}

impl Grammar for IpRouteJson {
    fn read(&mut self, _: &str, json: &str, rows: &mut RouteRows) -> Result<(), String> {
        let RecordNode::Map(mut members) = node(json)? else {
            return Err("not a route".to_owned());
        };
        self.line.clear();
        // What the line begins with has no key there.
        for (first, key) in ["type", "dst"].into_iter().enumerate() {
            match members.iter().position(|(known, _)| known == key) {
                Some(at) => word(&members.remove(at).1, &mut self.line)?,
                None if first == 1 => return Err("missing field `dst`".to_owned()),
                None => {}
            }
        }
        words(&members, &mut self.line)?;
        self.text.read("", &self.line, rows)
    }

    fn end(&mut self, rows: &mut RouteRows) {
        self.text.end(rows);
    }
}

/// The words that members are in the text.
fn words(members: &[(Cow<'_, str>, RecordNode<'_>)], line: &mut String) -> Result<(), String> {
    for (key, node) in members {
        let key = match &**key {
            "gateway" => "via",
            "protocol" => "proto",
            "prefsrc" => "src",
            key => key,
        };
        let node = match (key, node) {
            // More about the next hop, with `-d`.
            ("nh_info", _) => continue,
            ("via", RecordNode::Map(_)) => {
                // A gateway of the other family.
                let part = |path| node.at(path).ok_or_else(|| format!("no {path} in via"));
                line.push_str(" via");
                word(part("family")?, line)?;
                part("host")?
            }
            ("nexthops", RecordNode::Array(hops)) => {
                for hop in hops {
                    line.push_str(" nexthop");
                    let RecordNode::Map(members) = hop else {
                        return Err("expected a next hop".to_owned());
                    };
                    words(members, line)?;
                }
                continue;
            }
            ("metrics" | "flags" | "cache", RecordNode::Array(inner)) => {
                for node in inner {
                    match node {
                        RecordNode::Map(members) => words(members, line)?,
                        node => word(node, line)?,
                    }
                }
                continue;
            }
            ("dst" | "via" | "dev" | "metric" | "table", RecordNode::Array(_)) => {
                return Err(format!("{}: a list where a word should be", quote(key)));
            }
            (_, RecordNode::Array(inner)) => {
                line.extend([" ", key, " - ["]);
                for node in inner {
                    word(node, line)?;
                }
                line.push_str(" ]");
                continue;
            }
            (_, RecordNode::Scalar(_, text)) if text == "true" || text == "false" => {
                if text == "true" {
                    line.extend([" ", key]);
                }
                continue;
            }
            _ => {
                line.extend([" ", key]);
                node
            }
        };
        word(node, line)?;
    }
    Ok(())
}

/// Adds a value, which is one word.
fn word(node: &RecordNode<'_>, line: &mut String) -> Result<(), String> {
    match node {
        RecordNode::Scalar(_, text) if !text.is_empty() && !text.contains(char::is_whitespace) => {
            line.extend([" ", text]);
            Ok(())
        }
        RecordNode::Scalar(_, text) => Err(not(&**text, "one word")),
        _ => Err("a route with a list, an object or null where a word should be".to_owned()),
    }
}
