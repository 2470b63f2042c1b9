//! Lists of prefixes in the languages of routers and firewalls, each from a template.
//!
//! A template is text around the prefixes, with a letter after `%` where something stands:
//! `%n` the name of the list, `%p` a prefix, `%a` its address, `%w` the mask of its host
//! bits, `%b` the bounds of length that it is for, `%m` the size of a set that holds all.

use std::io::Write;

use popfib::{ByFamily, IpPrefix, Prefix};
use popfib_table::{IPV4_TEXT, IPV6_TEXT, write_ipv4, write_ipv6};

use super::bytes::push;
use super::error::WriteError;

use super::options::WriteOptions;
use crate::error::quote;
use crate::load::RouteTable;

/// The template of a form. Of two texts the second is for IPv6.
pub(super) struct List {
    /// Around all.
    pub(super) start: &'static str,
    pub(super) end: &'static str,
    /// Whether each family is a list of its own, left out where it has no prefix; else the
    /// one list has the first text of `open` and `close`.
    pub(super) is_apart: bool,
    pub(super) open: [&'static str; 2],
    pub(super) each: [&'static str; 2],
    pub(super) between: &'static str,
    pub(super) close: [&'static str; 2],
    /// What it may be called; `None` if it has no name.
    pub(super) name: Option<NameRule>,
    pub(super) bounds: Option<Bounds>,
    /// Whether it may hold a prefix of length 0.
    pub(super) takes_default: bool,
}

impl List {
    /// A list without anything around it, to be completed.
    pub(super) const PLAIN: Self = Self {
        start: "",
        end: "",
        is_apart: false,
        open: [""; 2],
        each: ["%p\n"; 2],
        between: "",
        close: [""; 2],
        name: None,
        bounds: None,
        takes_default: true,
    };
}

/// Names begin with a letter and go on with letters, digits and `_`.
#[derive(Clone, Copy)]
pub(super) struct NameRule {
    /// The longest one, with what is added to tell the families apart.
    pub(super) longest: usize,
    /// What else may stand after the first letter.
    pub(super) signs: &'static str,
}

/// Appends what says that a prefix of length `len` is for lengths from `low` to `high`, of
/// addresses of `width` bits.
pub(super) type Bounds = fn(&mut Vec<u8>, len: u8, low: u8, high: u8, width: u8);

/// What lists are called without a name.
const NAME: &str = "popfib";

/// What is added to the name of IPv6's list.
const IPV6_NAME: &str = "_v6";

/// What is wrong with the name or the bounds, before anything is written.
fn check(list: &List, table: &RouteTable, options: &WriteOptions) -> Result<(), String> {
    if let (Some(name), None) = (&options.name, list.name) {
        return Err(format!(
            "the form has no name, and {} no place",
            quote(name.as_bytes())
        ));
    }
    if list.bounds.is_none() && (options.ge.is_some() || options.le.is_some()) {
        return Err("the form has no bounds of length (ge, le)".to_owned());
    }
    if let (Some(rule), name) = (list.name, options.name.as_deref().unwrap_or(NAME)) {
        let mut chars = name.chars();
        let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
        let is_rest = |c: char| c.is_ascii_alphanumeric() || c == '_' || rule.signs.contains(c);
        let name = quote(name.as_bytes());
        if !chars.next().is_some_and(is_first) || !chars.all(is_rest) {
            let signs: String = rule.signs.chars().map(|sign| format!(", {sign}")).collect();
            return Err(format!(
                "{name}: not a name there, which is a letter, then letters, digits, _{signs}"
            ));
        }
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

/// Writes the prefixes of `table`.
pub(super) fn write(
    list: &List,
    table: &RouteTable,
    options: &WriteOptions,
    out: &mut impl Write,
) -> Result<(), WriteError> {
    check(list, table, options).map_err(WriteError::Form)?;
    let mut writer = Writer {
        list,
        options,
        count: 0,
        is_first: true,
        block: Vec::with_capacity(BLOCK + 1024),
        out,
    };
    let prefixes = table.routes().map(|(prefix, _)| prefix);
    let ipv4 = table.ribs.ipv4.len();
    writer.fill(list.start, None);
    if list.is_apart {
        for (family, len) in [ipv4, table.route_count() - ipv4].into_iter().enumerate() {
            if len == 0 {
                continue;
            }
            writer.count = len;
            writer.is_first = true;
            writer.fill(list.open[family], None);
            writer.prefixes(prefixes.clone().skip(family * ipv4).take(len))?;
            writer.fill(list.close[family], None);
        }
    } else {
        writer.count = table.route_count();
        writer.fill(list.open[0], None);
        writer.prefixes(prefixes)?;
        writer.fill(list.close[0], None);
    }
    writer.fill(list.end, None);
    writer.out.write_all(&writer.block)?;
    Ok(())
}

/// Bytes that are written at a time.
const BLOCK: usize = 64 << 10;

struct Writer<'a, W> {
    list: &'a List,
    options: &'a WriteOptions,
    count: usize,
    is_first: bool,
    block: Vec<u8>,
    out: &'a mut W,
}

impl<W: Write> Writer<'_, W> {
    fn prefixes(&mut self, prefixes: impl Iterator<Item = IpPrefix>) -> Result<(), WriteError> {
        for prefix in prefixes {
            if !std::mem::take(&mut self.is_first) {
                self.block.extend_from_slice(self.list.between.as_bytes());
            }
            let family = usize::from(matches!(prefix, IpPrefix::V6(_)));
            self.fill(self.list.each[family], Some(prefix));
            if self.block.len() >= BLOCK {
                self.out.write_all(&self.block)?;
                self.block.clear();
            }
        }
        Ok(())
    }

    /// Appends the text of a template.
    fn fill(&mut self, template: &str, prefix: Option<IpPrefix>) {
        let mut parts = template.split('%');
        let start = parts.next().unwrap_or_default();
        self.block.extend_from_slice(start.as_bytes());
        for part in parts {
            match (part.as_bytes().first(), prefix) {
                (Some(b'n'), _) => {
                    let name = self.options.name.as_deref().unwrap_or(NAME);
                    self.block.extend_from_slice(name.as_bytes());
                }

                (Some(b'm'), _) => {
                    // What ipset takes without being asked.
                    let most = self.count.max(65_536);
                    push(&mut self.block, format_args!("{most}"));
                }
                (Some(b'p'), Some(prefix)) => {
                    self.address(prefix);
                    push(&mut self.block, format_args!("/{}", prefix.len()));
                }
                (Some(b'a'), Some(prefix)) => self.address(prefix),
                (Some(b'w'), Some(IpPrefix::V4(prefix))) => {
                    self.ipv4(prefix.first() ^ prefix.last());
                }
                (Some(b'b'), Some(prefix)) => self.bounds(prefix),
                _ => debug_assert!(false, "a template with %{part}"),
            }
            let rest = part.get(1..).unwrap_or_default();
            self.block.extend_from_slice(rest.as_bytes());
        }
    }

    fn ipv4(&mut self, address: u32) {
        let mut text = [0; IPV4_TEXT];
        let len = write_ipv4(address, &mut text);
        self.block.extend_from_slice(&text[..len]);
    }

    fn address(&mut self, prefix: IpPrefix) {
        match prefix {
            IpPrefix::V4(prefix) => self.ipv4(prefix.address()),
            IpPrefix::V6(prefix) => {
                let mut text = [0; IPV6_TEXT];
                let len = write_ipv6(prefix.address(), &mut text);
                self.block.extend_from_slice(&text[..len]);
            }
        }
    }

    /// A prefix longer than what is asked for stays for its own length alone.
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
