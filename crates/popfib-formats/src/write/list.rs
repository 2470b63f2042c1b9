//! A table and a [`ListTemplate`] in, a list of prefixes in the language of a router or a firewall out.
//!
//! The templates are in [`lists`](super::lists), in the language that users have for [theirs](super::template). Besides what
//! every template can have of a prefix, there are `{name}`, the name of the list, `{bounds}`, the bounds of length
//! that a prefix is for, and `{size}`, the size of a set that holds all. That is nearly all in which languages are different, so
//! a new one is a dozen lines of text, and a function if it has bounds.
//!
//! What a language forbids is an error before anything is written: a router that stops in the middle of a list has half a
//! filter.

use std::io::Write;

use popfib::family::ByFamily;
use popfib::{IpPrefix, Prefix};

use super::blocks::BLOCK;
use super::bytes::push;
use super::error::WriteError;
use super::options::WriteOptions;
use super::pieces::{PrefixField, TemplatePiece, parse};
use crate::error::quote;
use crate::load::RouteTable;

/// How lists are written in one language. Of two texts the second is for IPv6.
pub(super) struct ListTemplate {
    /// What stands before and after all.
    pub(super) start: &'static str,
    pub(super) end: &'static str,
    /// Whether each family is a list of its own, which is left out if it has no prefix; else the
    /// one list has the first text of `open` and `close`.
    pub(super) is_apart: bool,
    pub(super) open: [&'static str; 2],
    /// A prefix.
    pub(super) each: [&'static str; 2],
    pub(super) close: [&'static str; 2],
    /// What it may be called; `None` if it has no name.
    pub(super) name: Option<NameRule>,
    /// How the language writes bounds; `None` if it has none.
    pub(super) bounds: Option<AppendBounds>,
    /// Whether it may hold a prefix of length 0.
    pub(super) takes_default: bool,
    /// How a list that is in use gets what is new and loses what is not, if it can.
    pub(super) changes: Option<ListChanges>,
}

/// A list of changes, each with `{action}`: what the language calls to take a prefix away, and to add one.
pub(super) struct ListChanges {
    pub(super) actions: [&'static str; 2],
    pub(super) list: &'static ListTemplate,
}

impl ListTemplate {
    /// A list without anything around it, to be completed.
    pub(super) const PLAIN: Self = Self {
        start: "",
        end: "",
        is_apart: false,
        open: [""; 2],
        each: ["{prefix}\n"; 2],
        close: [""; 2],
        name: None,
        bounds: None,
        takes_default: true,
        changes: None,
    };
}

/// Names begin with a letter and go on with letters, digits and `_`.
#[derive(Clone, Copy)]
pub(super) struct NameRule {
    /// The longest one, with what is added to tell the families apart.
    pub(super) longest: usize,
    /// What else may stand after the first letter.
    pub(super) signs: &'static str,
    /// Words that mean something else there, with blanks between them.
    pub(super) words: &'static str,
}

/// Appends what says that a prefix of length `len` is for lengths from `low` to `high`, of
/// addresses of `width` bits.
pub(super) type AppendBounds = fn(&mut Vec<u8>, len: u8, low: u8, high: u8, width: u8);

/// What lists are called without a name.
const NAME: &str = "popfib";

/// What is added to the name of IPv6's list.
const IPV6_NAME: &str = "_v6";

/// What is wrong with the name, the bounds or the prefixes, before anything is written.
fn check(list: &ListTemplate, table: &RouteTable, options: &WriteOptions) -> Result<(), String> {
    if let (Some(name), None) = (&options.name, list.name) {
        return Err(format!(
            "the form has no name, and {} no place",
            quote(name)
        ));
    }
    if list.bounds.is_none() && (options.ge.is_some() || options.le.is_some()) {
        return Err("the form has no bounds of length (ge, le)".to_owned());
    }
    if let (Some(rule), name) = (list.name, options.name.as_deref().unwrap_or(NAME)) {
        let mut chars = name.chars();
        let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
        let is_rest = |c: char| c.is_ascii_alphanumeric() || c == '_' || rule.signs.contains(c);
        let name = quote(name);
        if !chars.next().is_some_and(is_first) || !chars.all(is_rest) {
            let signs: String = rule.signs.chars().map(|sign| format!(", {sign}")).collect();
            return Err(format!(
                "{name}: not a name there, which is a letter, then letters, digits, _{signs}"
            ));
        }
        let given = options.name.as_deref();
        if rule
            .words
            .split_whitespace()
            .any(|word| Some(word) == given)
        {
            let other = format!("{}_list", given.unwrap_or_default());
            return Err(format!(
                "{name}: a word of the language, and no name there; {other} is one"
            ));
        }
        // The name of IPv6's list may get a suffix, which has to fit, too.
        let longest = match list.is_apart && !table.ribs.ipv6.is_empty() {
            true => rule.longest - IPV6_NAME.len(),
            false => rule.longest,
        };
        if options
            .name
            .as_ref()
            .is_some_and(|name| name.len() > longest)
        {
            return Err(format!(
                "{name}: a name there has {longest} characters at most"
            ));
        }
    }
    if let (Some(ge), Some(le)) = (options.ge, options.le)
        && ge > le
    {
        return Err(format!("no length is at least {ge} and at most {le}"));
    }
    let widths = [
        ("IPv4", 32, table.ribs.ipv4.is_empty()),
        ("IPv6", 128, table.ribs.ipv6.is_empty()),
    ];
    for (family, width, is_empty) in widths {
        let bound = options.ge.max(options.le);
        if let Some(bound) = bound.filter(|&bound| bound > width && !is_empty) {
            return Err(format!("no prefix of {family} has the length {bound}"));
        }
    }
    let ByFamily { ipv4, ipv6 } = &table.ribs;
    let has_default = ipv4.contains_key(Prefix::default()) || ipv6.contains_key(Prefix::default());
    if has_default && !list.takes_default {
        return Err("the form holds no prefix of length 0".to_owned());
    }
    if table.route_count() == 0 {
        return Err("a list without a prefix".to_owned());
    }
    Ok(())
}

/// Writes the prefixes of each table by `list`, IPv4 first, with what is done with them.
pub(super) fn write(
    list: &ListTemplate,
    tables: &[(&'static str, &RouteTable)],
    options: &WriteOptions,
    out: &mut impl Write,
) -> Result<(), WriteError> {
    for (_, table) in tables {
        check(list, table, options).map_err(WriteError::Form)?;
    }
    let mut writer = ListWriter {
        list,
        options,
        each: list.each.map(pieces),
        count: 0,
        action: "",
        block: Vec::with_capacity(BLOCK + 1024),
        out,
    };
    writer.around(list.start);
    for (action, table) in tables {
        writer.action = action;
        writer.table(table)?;
    }
    writer.around(list.end);
    writer.out.write_all(&writer.block)?;
    Ok(())
}

/// A field of these templates.
#[derive(Clone, Copy, Debug)]
enum ListField {
    OfPrefix(PrefixField),
    Name,
    Bounds,
    Size,
    Action,
}

/// The pieces of one of these templates.
fn pieces(template: &str) -> Vec<TemplatePiece<ListField>> {
    let field = |name: &str| match name {
        "name" => Ok(ListField::Name),
        "bounds" => Ok(ListField::Bounds),
        "size" => Ok(ListField::Size),
        "action" => Ok(ListField::Action),
        name => {
            let field = PrefixField::by_name(name).map(ListField::OfPrefix);
            field.ok_or_else(|| name.to_owned())
        }
    };
    // They are those of `lists.rs`, each of which a test writes.
    parse(template, field).unwrap_or_else(|error| unreachable!("{template}: {error}"))
}

/// A list while it is written.
struct ListWriter<'a, W> {
    list: &'a ListTemplate,
    options: &'a WriteOptions,
    each: [Vec<TemplatePiece<ListField>>; 2],
    /// How many prefixes the list at hand has.
    count: usize,
    /// What is done with its prefixes, of a list of changes.
    action: &'static str,
    block: Vec<u8>,
    out: &'a mut W,
}

impl<W: Write> ListWriter<'_, W> {
    /// Writes a table.
    fn table(&mut self, table: &RouteTable) -> Result<(), WriteError> {
        let list = self.list;
        // Those of IPv4 come first, so that each family is a part of them.
        let prefixes = table.routes().map(|(prefix, _)| prefix);
        let ipv4 = table.ribs.ipv4.len();
        let lists = match list.is_apart {
            true => [ipv4, table.route_count() - ipv4],
            false => [table.route_count(), 0],
        };
        for (family, len) in lists.into_iter().enumerate().filter(|(_, len)| *len > 0) {
            self.count = len;
            self.around(list.open[family]);
            self.prefixes(prefixes.clone().skip(family * ipv4).take(len))?;
            self.around(list.close[family]);
        }
        Ok(())
    }

    /// Writes each prefix, a block at a time.
    fn prefixes(&mut self, prefixes: impl Iterator<Item = IpPrefix>) -> Result<(), WriteError> {
        let each = std::mem::take(&mut self.each);
        let mut prefixes = prefixes.peekable();
        while let Some(prefix) = prefixes.next() {
            let family = usize::from(matches!(prefix, IpPrefix::V6(_)));
            self.fill(&each[family], Some((prefix, prefixes.peek().is_none())));
            if self.block.len() >= BLOCK {
                self.out.write_all(&self.block)?;
                self.block.clear();
            }
        }
        self.each = each;
        Ok(())
    }

    /// Appends what stands around the prefixes.
    fn around(&mut self, template: &str) {
        self.fill(&pieces(template), None);
    }

    /// Appends a template, of a prefix with whether it is the last one.
    fn fill(&mut self, pieces: &[TemplatePiece<ListField>], prefix: Option<(IpPrefix, bool)>) {
        for piece in pieces {
            match (piece, prefix) {
                (TemplatePiece::Text(text), _) => self.block.extend_from_slice(text.as_bytes()),
                (TemplatePiece::Field(ListField::Name), _) => {
                    let name = self.options.name.as_deref().unwrap_or(NAME);
                    self.block.extend_from_slice(name.as_bytes());
                }
                (TemplatePiece::Field(ListField::Action), _) => {
                    self.block.extend_from_slice(self.action.as_bytes());
                }
                (TemplatePiece::Field(ListField::Size), _) => {
                    // At least what ipset takes without being asked.
                    let most = self.count.max(65_536);
                    push(&mut self.block, format_args!("{most}"));
                }
                (TemplatePiece::Field(ListField::OfPrefix(field)), Some((prefix, _))) => {
                    field.write(prefix, &mut self.block);
                }
                (TemplatePiece::Field(ListField::Bounds), Some((prefix, _))) => self.bounds(prefix),
                (TemplatePiece::Comma, Some((_, false))) => self.block.push(b','),
                (TemplatePiece::Comma, Some((_, true))) => {}
                (TemplatePiece::Comma | TemplatePiece::Field(_), None) => {
                    debug_assert!(false, "{piece:?}");
                }
            }
        }
    }

    /// Appends the bounds of a prefix. One that is longer than what is asked for stays for its own length alone: without
    /// it, the addresses of the list would be others.
    fn bounds(&mut self, prefix: IpPrefix) {
        let Some(bounds) = self.list.bounds else {
            return;
        };
        let width = if matches!(prefix, IpPrefix::V4(_)) {
            32
        } else {
            128
        };
        let len = prefix.len();
        let low = self.options.ge.unwrap_or(len).max(len);
        let high = match (self.options.ge, self.options.le) {
            (_, Some(le)) => le.max(low),
            (Some(_), None) => width,
            (None, None) => len,
        };
        bounds(&mut self.block, len, low, high, width);
    }
}
