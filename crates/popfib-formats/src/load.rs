//! Routes into tables: the one place where formats meet Ribs. A [`RouteSource`] in, a [`RouteTable`] out.
//!
//! The Ribs hold the numbers that the source gave to values. Of two routes for one prefix the later counts, as it would in a router
//! that read the file line by line.

use std::borrow::Cow;
use std::mem;
use std::sync::atomic::Ordering;

use popfib::family::{ByFamily, Family};
use popfib::image::Source;
use popfib::{IpPrefix, NextHop, Prefix, Rib};
use popfib_table::{Dictionary, Records, Ribs};

use crate::delimited::locations::Locations;
use crate::error::{ReadError, quote};
use crate::format::open_routes;
use crate::input::{Input, Progress};
use crate::loaded::Loaded;
use crate::name_rule::MAX_NAMES;
use crate::names::counted;
use crate::ranges::{AddressSpan, IpRangePrefixes};
use crate::replay;
use crate::route::{Route, RouteSource};
use crate::table_format::LoadOptions;
use crate::text_table::TextTable;
use crate::values::{ColumnSelection, ValueBook};

/// The routes of a file, and what else is known of it.
pub type RouteTable = Loaded<Routes>;

/// The routes of both families and the records that they lead to.
#[derive(Clone, Debug, Default)]
pub struct Routes {
    /// The routes of both families; v4-mapped ones are IPv6.
    pub ribs: ByFamily<Ribs>,
    /// With [`LoadOptions::every_table`], the routes of each table by its name, in place of these.
    pub tables: Vec<(String, ByFamily<Ribs>)>,
    /// What the Ribs' next hops are numbers of: records of one column of texts, unless several columns were asked for. In a value-less
    /// list it is the empty text; else that is absent.
    pub records: Records,
    /// Which columns these are.
    pub columns: ColumnSelection,
    /// With [`LoadOptions::all`], what would have been replaced: the earlier routes for prefixes of the Ribs, in the
    /// order of the source.
    pub others: Vec<(IpPrefix, NextHop)>,
}

impl Routes {
    /// The value of a route that leads to this number, as text; empty if it is absent.
    #[inline]
    pub fn value(&self, number: NextHop) -> Cow<'_, str> {
        let value = self.records.text(number, self.records.value_column());
        value.unwrap_or_default()
    }

    /// Gives routes the values that they lack, from the next shorter prefixes which have them.
    fn fill(&mut self) {
        let ribs = mem::take(&mut self.ribs);
        let mut routes = ByFamily {
            ipv4: numbered(&ribs.ipv4, &self.others),
            ipv6: numbered(&ribs.ipv6, &self.others),
        };
        self.records.fill(&mut routes);
        self.others.clear();
        self.ribs = ByFamily {
            ipv4: unnumbered(&routes.ipv4, &mut self.others),
            ipv6: unnumbered(&routes.ipv6, &mut self.others),
        };
        if !self.columns.are_records() {
            let mut texts = Dictionary::new();
            for text in self.records.values() {
                texts.intern(&text);
            }
            self.records = Records::of_texts_or_none(self.columns.name(), texts);
        }
    }

    /// Gives IPv4-mapped addresses the routes of IPv4, where they have none of their own.
    fn map_ipv4(&mut self) {
        let others = self
            .others
            .iter()
            .filter_map(|&(prefix, number)| match prefix {
                IpPrefix::V4(prefix) => Some((IpPrefix::V6(mapped(prefix)), number)),
                IpPrefix::V6(_) => None,
            });
        let others: Vec<_> = others.collect();
        self.others.extend(others);
        for (prefix, number) in self.ribs.ipv4.iter() {
            if self.ribs.ipv6.get(mapped(prefix)).is_none() {
                self.ribs.ipv6.insert(mapped(prefix), number);
            }
        }
    }

    /// How many routes have no value, for the user. O(routes and records). `only` is the name of the only column.
    fn absent(&self, only: Option<&str>) -> Option<String> {
        let absent = self.records.blank();
        let is_absent = |&(_, number): &(IpPrefix, NextHop)| Some(number) == absent;
        let count = absent.map_or(0, |_| self.routes().filter(is_absent).count() as u64);
        let note = |of| format!("{} without {of}", counted(count, "route"));
        (count > 0).then(|| note(only.unwrap_or("a value")))
    }

    /// All routes in prefix order, IPv4 first.
    pub fn routes(&self) -> impl Iterator<Item = (IpPrefix, NextHop)> + Clone {
        let tables = self.tables.iter().map(|(_, ribs)| ribs);
        [&self.ribs].into_iter().chain(tables).flat_map(|ribs| {
            let ipv4 = ribs.ipv4.iter().map(|(p, n)| (IpPrefix::V4(p), n));
            let ipv6 = ribs.ipv6.iter().map(|(p, n)| (IpPrefix::V6(p), n));
            ipv4.chain(ipv6)
        })
    }

    /// Whether it is a value-less list. O(routes) if it is, mostly O(1) if not.
    pub fn is_list(&self) -> bool {
        let mut routes = self.routes().peekable();
        self.columns == ColumnSelection::Value
            && routes.peek().is_some()
            && routes.all(|(_, number)| self.value(number).is_empty())
    }

    /// The number of routes of both families. O(1).
    pub fn route_count(&self) -> usize {
        self.ribs.ipv4.len() + self.ribs.ipv6.len()
    }
}

impl RouteTable {
    /// A value-less list without a route, and the number that its routes lead to.
    pub fn list() -> (Self, NextHop) {
        let (mut list, mut texts) = (Self::default(), Dictionary::new());
        let number = texts.intern("");
        list.records = Records::of_values(texts);
        (list, number)
    }

    /// Takes the values that the numbers of the routes are of; `absent` is that of what has none, if a route leads to it. With `fill`,
    /// such routes get values from shorter prefixes.
    pub(crate) fn set_values(
        &mut self,
        values: ValueBook,
        has_values: bool,
        absent: Option<NextHop>,
        fill: bool,
    ) {
        self.unread.clone_from(&values.unread);
        let only = values.only().or(values.wanted.name()).map(str::to_owned);
        let (columns, built) = values.build(has_values);
        self.columns = columns;
        self.records = built.records;
        if !built.mixed.is_empty() {
            let names = built.mixed.iter().take(20);
            let names: Vec<_> = names.map(quote).collect();
            let note = format!(
                "values of several types, read as texts, in {}",
                names.join(", ")
            );
            self.notes.push(note);
        }
        if self.is_list() {
            return;
        }
        if fill && (absent.is_some() || self.columns.are_records()) {
            self.fill();
        }
        if absent.is_some() {
            self.absent = self.content.absent(only.as_deref());
        }
    }

    /// Adds a route; counts the one that it replaces, or keeps it with `all`.
    #[inline]
    fn insert(
        &mut self,
        table: Option<(usize, &str)>,
        prefix: IpPrefix,
        number: NextHop,
        all: bool,
    ) {
        if let Some((_, name)) = table.filter(|(at, _)| *at == self.tables.len()) {
            let ribs = ByFamily::default();
            self.tables.push((name.to_owned(), ribs));
        }
        let ribs = match table {
            Some((at, _)) => &mut self.content.tables[at].1,
            None => &mut self.content.ribs,
        };
        let replaced = popfib::by_family!(prefix, |prefix: Prefix<A>| A::of_mut(ribs)
            .insert(prefix, number));
        if let Some(replaced) = replaced {
            match all {
                true => self.others.push((prefix, replaced)),
                false => self.replaced += 1,
            }
        }
    }
}

/// What a file can become: [`Routes`], a [`Table`](popfib_table::Table) for lookups, prefixes alone, or
/// [VRPs](popfib_table::rpki::FamilyVrps).
pub trait FromFile: Sized {
    /// Reads it, as [`load`] does.
    ///
    /// # Errors
    /// Those of [`load`].
    fn from_file(input: Input, options: &LoadOptions) -> Result<Loaded<Self>, ReadError>;
}

/// Loads what is asked for by the type of the result. `options` say how the file is read.
///
/// Takes time in proportion to the file and memory in proportion to the table. Prefixes alone come in the order of the file, some
/// perhaps more than once, in a fraction of the time of [`Routes`]. For a `Table` an image, recognised by content, is used as it is
/// if nothing is asked of its routes; it may have been compiled without them.
///
/// # Errors
/// A file that can't be read to its end, an invalid line (unless [`LoadOptions::skip_invalid`] is set), or no
/// route at all.
pub fn load<T: FromFile>(input: Input, options: &LoadOptions) -> Result<Loaded<T>, ReadError> {
    T::from_file(input, options)
}

impl FromFile for Routes {
    fn from_file(input: Input, options: &LoadOptions) -> Result<RouteTable, ReadError> {
        let file = input.source();
        let progress = input.progress();
        let Some(path) = &options.locations else {
            return insert_records(file, &progress, &mut *open(input, options)?, options);
        };
        let locations = Locations::read(Input::open(path)?)?;
        let (input, unknown) = locations.beside(input)?;
        let mut table = insert_records(file, &progress, &mut *open(input, options)?, options)?;
        let unknown = unknown.load(Ordering::Relaxed);
        if unknown > 0 {
            let file = path.display().to_string();
            let rows = counted(unknown, "row");
            let note = format!(
                "{rows} with a number that {} does not have",
                file.escape_debug()
            );
            table.notes.push(note);
        }
        Ok(table)
    }
}

impl FromFile for Vec<IpPrefix> {
    fn from_file(input: Input, options: &LoadOptions) -> Result<Loaded<Self>, ReadError> {
        let mut list = Loaded::<Self> {
            name: input.name().to_owned(),
            ..Loaded::default()
        };
        let options = LoadOptions {
            prefixes_only: true,
            ..options.clone()
        };
        let progress = input.progress();
        let mut source = open(input, &options)?;
        let (name, prefixes) = (&list.name, &mut list.content);
        (list.skipped, list.notes) =
            read_all(name, &progress, &mut *source, &options, |_, route| {
                prefixes.push(route.prefix);
                if let (true, IpPrefix::V4(prefix)) = (options.mapped, route.prefix) {
                    prefixes.push(IpPrefix::V6(mapped(prefix)));
                }
                Ok(())
            })?;
        list.applied = source.applied();
        Ok(list)
    }
}

/// The IPv4-mapped addresses of those of a prefix.
fn mapped(prefix: Prefix<u32>) -> Prefix<u128> {
    let bits = 0xffff << 32 | u128::from(prefix.address());
    Prefix::new(bits, 96 + prefix.len()).expect("the host bits of a prefix are clear")
}

/// The routes of `input`, after its updates if the options name any.
pub(crate) fn open(input: Input, options: &LoadOptions) -> Result<Box<dyn RouteSource>, ReadError> {
    match &options.updates {
        Some(files) => replay::open(input, options, files),
        None => open_routes(input, options),
    }
}

/// [`load`] for one format, lines of text with a route each: programs that call nothing else link no other format. The texts are those
/// that the routes lead to.
///
/// # Errors
/// As [`load`].
pub fn load_text(
    input: Input,
    options: &LoadOptions,
) -> Result<(ByFamily<Ribs>, Dictionary), ReadError> {
    let (name, progress) = (input.name().to_owned(), input.progress());
    let mut source = TextTable::of(input, options);
    let mut table = insert_all(name, &progress, &mut source, options)?.0.content;
    if options.mapped {
        table.map_ipv4();
    }
    Ok((table.ribs, mem::take(source.values()).into_texts()))
}

/// How many bytes the values of a small file may take.
const SPARE_NAMES: u64 = 256 << 20;

/// The table of all routes of `source`, whose values are still there; and the number of what has no value, if a route leads to it.
fn insert_all(
    name: String,
    progress: &Progress,
    source: &mut dyn RouteSource,
    options: &LoadOptions,
) -> Result<(RouteTable, Option<NextHop>), ReadError> {
    let mut table = RouteTable {
        name,
        ..RouteTable::default()
    };
    let name = table.name.clone();
    let (mut absent, mut highest) = (None, 0);
    (table.skipped, table.notes) = read_all(&name, progress, source, options, |source, route| {
        if source.is_at_ranges() {
            let before = take_routes(&mut table, absent);
            if !before.is_empty() {
                source.begin_ranges(before);
                return Ok(());
            }
        }
        let number = match route.value {
            Some(number) => number,
            None => *absent.get_or_insert_with(|| source.values().absent()),
        };
        table.insert(source.table(), route.prefix, number, options.all);
        if number.get() <= highest {
            return Ok(());
        }
        highest = number.get();
        match source.values().text_len() {
            length if length > MAX_NAMES => Err("its next hops take more than 1 GiB"),
            // Those of a small file may be one long text many times.
            length if length as u64 > SPARE_NAMES + 16 * progress.read() && progress.read() > 0 => {
                Err("its values take more than 256 MiB and 16 times the file")
            }
            _ => Ok(()),
        }
    })?;
    table.applied = source.applied();
    Ok((table, absent))
}

/// The routes of `table`, which has none then.
#[cold]
fn take_routes(table: &mut RouteTable, absent: Option<NextHop>) -> Vec<Route> {
    let others = mem::take(&mut table.others);
    let routes: Vec<_> = others.into_iter().chain(table.content.routes()).collect();
    table.content.ribs = ByFamily::default();
    let routes = routes.into_iter().map(|(prefix, number)| Route {
        prefix,
        value: Some(number).filter(|_| absent != Some(number)),
    });
    routes.collect()
}

/// The table of all routes of `source`, with records where columns are asked for, and with what is known of `file`.
fn insert_records(
    file: Source,
    progress: &Progress,
    source: &mut dyn RouteSource,
    options: &LoadOptions,
) -> Result<RouteTable, ReadError> {
    let (mut table, absent) = insert_all(file.name.clone(), progress, source, options)?;
    table.sources = source.sources();
    match &mut table.sources[..] {
        [] => table.sources.push(file),
        // What the file says of its own data.
        [said] if said.name.is_empty() => {
            said.name = file.name;
            if said.date.is_empty() {
                said.date = file.date;
            }
        }
        _ => {}
    }
    let (values, has_values) = (mem::take(source.values()), source.has_values());
    table.set_values(values, has_values, absent, options.fill);
    if options.mapped {
        table.map_ipv4();
    }
    Ok(table)
}

/// The routes of one family in prefix order, after each prefix's others.
fn numbered<A: Family>(rib: &Rib<A>, others: &[(IpPrefix, NextHop)]) -> Vec<(Prefix<A>, u32)> {
    let others = (others.iter()).filter_map(|&(prefix, n)| Some((A::prefix(prefix)?, n.get())));
    let routes = rib.iter().map(|(prefix, number)| (prefix, number.get()));
    let mut routes: Vec<_> = others.chain(routes).collect();
    // Stable, so that those of the table stay last.
    routes.sort_by_key(|(prefix, _)| *prefix);
    routes
}

/// The opposite of [`numbered`].
fn unnumbered<A: Family>(
    routes: &[(Prefix<A>, u32)],
    others: &mut Vec<(IpPrefix, NextHop)>,
) -> Rib<A> {
    let of_one = routes.chunk_by(|a, b| a.0 == b.0);
    let last = of_one.filter_map(|routes| {
        let ((prefix, number), earlier) = routes.split_last()?;
        let earlier = earlier.iter().filter(|(_, other)| other != number);
        others.extend(
            earlier.filter_map(|&(prefix, n)| Some((A::ip_prefix(prefix), NextHop::new(n)?))),
        );
        Some((*prefix, NextHop::new(*number)?))
    });
    last.collect()
}

/// Hands all routes of `source`, the file `name`, to `each`; returns how many invalid lines were skipped, and the notes.
///
/// A file in which nothing was left out, such as a heading alone, says that there is no route; one of no byte or of blanks is none.
fn read_all(
    name: &str,
    progress: &Progress,
    source: &mut dyn RouteSource,
    options: &LoadOptions,
    mut each: impl FnMut(&mut dyn RouteSource, Route) -> Result<(), &'static str>,
) -> Result<(u64, Vec<String>), ReadError> {
    let (mut is_any, mut skipped, mut notes) = (false, 0, Vec::new());
    loop {
        match source.next_route() {
            Ok(Some(route)) => {
                is_any = true;
                each(source, route).map_err(|reason| ReadError::file(name, reason))?;
            }
            Ok(None) => break,
            Err(e) if options.skip_invalid && e.is_invalid_line() => skipped += 1,
            Err(e) if options.skip_invalid && e.is_cut() => {
                let what = e.without_file();
                notes.push(format!("truncated, read up to the end: {what}"));
                break;
            }
            Err(e) => return Err(e),
        }
    }
    notes.extend(source.notes());
    if let Some(reason) = source.values().missing() {
        return Err(ReadError::file(name, reason));
    }
    let is_chosen = options.peer.is_some() || options.table.is_some();
    let says_none = progress.has_text() && source.says_none() && source.applied().is_none();
    if !is_any && says_none && !is_chosen && skipped == 0 && notes.is_empty() {
        notes.push("an empty list: there is no route in it".to_owned());
        return Ok((0, notes));
    }
    if is_any {
        return Ok((skipped, notes));
    }
    let mut reason = match skipped {
        0 => "there is no route in it".to_owned(),
        n => format!(
            "there is no valid route in it ({} skipped)",
            counted(n, "invalid line")
        ),
    };
    if let Some(peer) = options.peer {
        reason.push_str(&format!(" from peer {peer}"));
    }
    if let Some(chosen) = &options.table {
        reason.push_str(&format!(" from table {}", quote(chosen)));
    }
    for note in source.applied().iter().chain(&notes) {
        reason.push_str("; ");
        reason.push_str(note);
    }
    Err(ReadError::file(name, reason))
}

/// The prefixes that `text` stands for: a prefix, an address, a range, or a short form of IPv4, as the options have it.
///
/// # Errors
/// In words, with the text.
pub fn prefixes_of_text(
    text: &str,
    options: &LoadOptions,
) -> Result<impl Iterator<Item = IpPrefix> + use<>, String> {
    let span = AddressSpan::parse(text, options.notation()).map_err(|error| error.to_string())?;
    let (first, last) = span.ends();
    IpRangePrefixes::new(first, last).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_of_texts() {
        let of = |text: &str, mask| -> Result<Vec<String>, String> {
            let options = LoadOptions {
                mask,
                ..LoadOptions::new()
            };
            Ok(prefixes_of_text(text, &options)?
                .map(|p| p.to_string())
                .collect())
        };
        assert_eq!(of("10.0.0.0/8", false).unwrap(), ["10.0.0.0/8"]);
        assert_eq!(
            of("10.0.0.1-3", false).unwrap(),
            ["10.0.0.1/32", "10.0.0.2/31"]
        );
        assert_eq!(of("8.8.8.*", false).unwrap(), ["8.8.8.0/24"]);
        assert_eq!(of("2001:db8::1/32", true).unwrap(), ["2001:db8::/32"]);
        for text in [
            "10.0.0.1/8",
            "",
            "10.0.0.9-10.0.0.1",
            "10.0.0.1-::1",
            "list.txt",
        ] {
            let error = of(text, false).unwrap_err();
            assert!(error.starts_with(&quote(text)), "{error}");
        }
    }
}
