//! `popfib info`: a table or an image in; out come its numbers, among them those of the Poptrie paper's Table 2, its columns and where
//! its data comes from. A table is compiled to know its sizes.

use std::fmt::Display;
use std::time::{Duration, Instant};

use clap::Args;
use popfib::family::Family;
use popfib::image::Source;
use popfib::{Address, Prefix};
use popfib_formats::text::rfc3339;
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;
use popfib_program::progress;
use popfib_table::{Column, FamilyTable, Records, Table, TableError};
use serde::{Serialize, Serializer};

use crate::args::{FileArgs, is_embedded};
use crate::forms::FormArgs;
use crate::image::OpenedImage;
use crate::output::StandardOutput;
use crate::records::{self, RecordMembers};
use crate::rows::{Alignment, RowForm};
use crate::table;

/// Print what a table has: routes, columns, sources, size.
///
/// The table is compiled. Sizes are in bytes (FIB: direct table, nodes and leaves; RIB: its heap memory), the compile time is in
/// milliseconds. Next hops are the distinct ones; `of space` is the share of the family's addresses that have
/// a route.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib info
  popfib info --table routes.txt.gz --json
  popfib info --lengths
  popfib info routes.fib")]
#[command(after_long_help = "
JSON, one object: ipv4 and ipv6, each with routes, next_hops, nodes, leaves,
direct_bits, bytes, compile_ms, rib_bytes, share (of all addresses, 0 to 1) and
lengths (routes of each prefix length, from 0 on); the last two are null and
empty for an image without routes. Of an image also image: file, bytes, created
(seconds since 1970), writer, has_routes, open_ms; compile_ms and rib_bytes are
0 then. Of an image, and of a file that says something of its data, sources:
name and, where known, description, licence and date of each. With several
columns also columns: name, type and values (different ones) of each.")]
pub(crate) struct InfoArgs {
    /// Also print the number of routes of each prefix length
    #[arg(long)]
    lengths: bool,

    #[command(flatten)]
    form: FormArgs,

    #[command(flatten)]
    table: FileArgs,
}

/// All that is printed.
#[derive(Debug, Serialize)]
struct InfoReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<ImageInfo>,
    /// Those of an image, and of a file that says something of its data.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "as_members")]
    sources: Vec<Source>,
    /// If there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    columns: Option<Vec<ColumnInfo>>,
    ipv4: FamilyInfo,
    ipv6: FamilyInfo,
}

/// The file of an image.
#[derive(Debug, Serialize)]
struct ImageInfo {
    file: String,
    bytes: usize,
    created: u64,
    writer: String,
    has_routes: bool,
    open_ms: f64,
}

/// What there is to know of a source; its name is `called` so. What is unknown is empty.
fn facts<'s>(source: &'s Source, called: &'static str) -> [(&'static str, &'s str); 4] {
    [
        (called, &source.name),
        ("description", &source.description),
        ("licence", &source.licence),
        ("date", &source.date),
    ]
}

/// The sources as objects; what is unknown is left out.
fn as_members<S: Serializer>(sources: &[Source], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(sources.iter().map(|source| {
        let facts = facts(source, "name").into_iter();
        let known = facts.filter(|(name, fact)| *name == "name" || !fact.is_empty());
        RecordMembers(known.map(|(name, fact)| (name, Some(records::text(fact)))))
    }))
}

/// A column of records.
#[derive(Debug, Serialize)]
struct ColumnInfo {
    name: String,
    #[serde(rename = "type")]
    column_type: &'static str,
    /// How many different values it has.
    values: usize,
}

impl ColumnInfo {
    fn of(column: &Column) -> Self {
        Self {
            name: column.name().to_owned(),
            column_type: column.column_type().name(),
            values: column.len(),
        }
    }
}

/// One family in numbers.
#[derive(Debug, Serialize)]
struct FamilyInfo {
    routes: usize,
    next_hops: usize,
    nodes: usize,
    leaves: usize,
    direct_bits: u8,
    bytes: usize,
    compile_ms: f64,
    rib_bytes: usize,
    #[serde(flatten)]
    distribution: RouteDistribution,
}

/// Where the routes are in the family's address space.
#[derive(Debug, Default, Serialize)]
struct RouteDistribution {
    /// The part of all addresses that has a route, if the routes are known.
    share: Option<f64>,
    /// How many routes have each prefix length.
    lengths: Vec<usize>,
}

impl RouteDistribution {
    /// The distribution of `routes`, which are in prefix order.
    fn of<A: Address>(routes: impl Iterator<Item = Prefix<A>>) -> Self {
        let mut lengths = vec![0; usize::from(A::WIDTH) + 1];
        let (mut share, mut outermost) = (0.0, None::<Prefix<A>>);
        for prefix in routes {
            lengths[usize::from(prefix.len())] += 1;
            // What is inside another route comes after it.
            if outermost.is_none_or(|outer| !outer.covers(&prefix)) {
                share += 0.5f64.powi(prefix.len().into());
                outermost = Some(prefix);
            }
        }
        Self {
            share: Some(share),
            lengths,
        }
    }
}

pub(crate) fn run(args: &InfoArgs) -> Result<Verdict, Failure> {
    let mut asked = args.table.or_stdin(false);
    let (image, sources, table) = match table::open_image(&asked)? {
        Some(opened) => {
            let loaded = popfib_formats::load(opened.input(), &asked.read.options())?;
            let image = image_info(&opened, &loaded);
            (Some(image), loaded.sources, loaded.content)
        }
        None => {
            // All columns of a built-in table are described, as those of an image.
            let is_embedded = asked.table.as_deref().is_none_or(is_embedded);
            if is_embedded {
                asked.read.name_numbers();
            }
            let loaded = table::load::<Table>(&asked, asked.read.options())?;
            let mut sources = loaded.sources;
            // The name and the time of a file alone are no news.
            sources.retain(|source| !(source.description.is_empty() && source.licence.is_empty()));
            (None, sources, loaded.content)
        }
    };
    let is_image = image.is_some();
    let bar = progress::step("compiling");
    let columns = table
        .records()
        .map(Records::columns)
        .filter(|columns| columns.len() > 1);
    let columns = columns.map(|columns| columns.iter().map(ColumnInfo::of).collect());
    let info = InfoReport {
        image,
        sources,
        columns,
        ipv4: FamilyInfo::of(table.ipv4(), is_image)?,
        ipv6: FamilyInfo::of(table.ipv6(), is_image)?,
    };
    drop(bar);
    info.print(args.form, args.lengths)
}

impl FamilyInfo {
    /// The numbers of a family. In an image nothing is compiled, and there is no RIB.
    fn of<A: Family>(table: &FamilyTable<A>, is_image: bool) -> Result<Self, Failure> {
        let start = Instant::now();
        let fib = match table.fib() {
            Err(TableError::NoValues) => table.longest()?,
            fib => fib?,
        };
        let compile_time = match is_image {
            true => Duration::ZERO,
            false => start.elapsed(),
        };
        let distribution = match table.routes() {
            Ok(routes) if table.has_routes() => {
                RouteDistribution::of(routes.map(|(prefix, _)| prefix))
            }
            _ => RouteDistribution::default(),
        };
        Ok(Self {
            routes: table.route_count(),
            next_hops: table.value_count(),
            nodes: fib.node_count(),
            leaves: fib.leaf_count(),
            direct_bits: fib.direct_bits(),
            bytes: fib.bytes(),
            compile_ms: milliseconds(compile_time),
            rib_bytes: if is_image { 0 } else { table.rib()?.bytes() },
            distribution,
        })
    }
}

impl InfoReport {
    /// Prints it as text, with the routes of each prefix length if `by_length`, or as a record.
    fn print(&self, form: FormArgs, by_length: bool) -> Result<Verdict, Failure> {
        const NAMES: &str = "\
            ipv4.routes ipv4.next_hops ipv4.nodes ipv4.leaves ipv4.direct_bits ipv4.bytes ipv4.compile_ms ipv4.rib_bytes \
            ipv4.share ipv4.lengths ipv6.routes ipv6.next_hops ipv6.nodes ipv6.leaves ipv6.direct_bits ipv6.bytes \
            ipv6.compile_ms ipv6.rib_bytes ipv6.share ipv6.lengths image sources columns";
        let mut output = StandardOutput::of_form(NAMED, form, NAMES)?;
        if !output.is_text() {
            output.record(self)?;
        } else {
            text(&mut output, self)?;
            if by_length {
                lengths(&mut output, self)?;
            }
        }
        output.end(Verdict::Good)
    }
}

/// A duration in milliseconds with three decimals, as the JSON shows it.
fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}

/// What there is to say of an image's file.
fn image_info(opened: &OpenedImage, table: &Table) -> ImageInfo {
    let image = &opened.image;
    ImageInfo {
        file: opened.name.clone(),
        bytes: image.bytes(),
        created: image.created(),
        writer: image.writer().to_owned(),
        has_routes: table.has_routes(),
        open_ms: milliseconds(opened.start.elapsed()),
    }
}

/// Prints everything but the routes of each prefix length.
fn text(output: &mut StandardOutput, info: &InfoReport) -> Result<(), Failure> {
    if let Some(image) = &info.image {
        let created = rfc3339(image.created);
        let routes = if image.has_routes { "kept" } else { "left out" };
        // Text from the image may hold anything.
        let rows: [(_, &dyn Display); 6] = [
            ("image", &image.file.escape_debug()),
            ("created", &created.as_deref().unwrap_or("unknown")),
            ("writer", &image.writer.escape_debug()),
            ("bytes", &image.bytes),
            ("routes", &routes),
            ("open ms", &format_args!("{:.3}", image.open_ms)),
        ];
        for (name, value) in rows {
            output.cells(&[&name, value])?;
        }
    }
    for source in &info.sources {
        for (name, fact) in facts(source, "source") {
            if !fact.is_empty() {
                output.cells(&[&name, &fact.escape_debug()])?;
            }
        }
    }
    if info.image.is_some() || !info.sources.is_empty() {
        output.text("\n")?;
    }
    let (a, b) = (&info.ipv4, &info.ipv6);
    heading(output, FAMILIES, ["", "IPv4", "IPv6"])?;
    let share = |info: &FamilyInfo| match info.distribution.share {
        Some(share) => format!("{:.4} %", 100.0 * share),
        None => "-".to_owned(),
    };
    let compile_ms = |info: &FamilyInfo| format!("{:.3}", info.compile_ms);
    let rows: [(_, &dyn Display, &dyn Display); 9] = [
        ("routes", &a.routes, &b.routes),
        ("next hops", &a.next_hops, &b.next_hops),
        ("of space", &share(a), &share(b)),
        ("nodes", &a.nodes, &b.nodes),
        ("leaves", &a.leaves, &b.leaves),
        ("direct bits", &a.direct_bits, &b.direct_bits),
        ("FIB bytes", &a.bytes, &b.bytes),
        ("RIB bytes", &a.rib_bytes, &b.rib_bytes),
        ("compile ms", &compile_ms(a), &compile_ms(b)),
    ];
    for (name, ipv4, ipv6) in rows {
        output.cells(&[&name, ipv4, ipv6])?;
    }
    let Some(columns) = &info.columns else {
        return Ok(());
    };
    output.text("\n")?;
    heading(output, COLUMNS, ["column", "values", "type"])?;
    for column in columns {
        // A name from a file may hold anything.
        let name = column.name.escape_debug();
        output.cells(&[&name, &column.values, &column.column_type])?;
    }
    Ok(())
}

/// A name, and what it means.
const NAMED: RowForm = RowForm::fixed(&[Alignment::Left(12)]);
/// Numbers of each family.
const FAMILIES: RowForm = RowForm::fixed(&[
    Alignment::Left(12),
    Alignment::Right(12),
    Alignment::Right(12),
]);
/// The columns of records.
const COLUMNS: RowForm = RowForm::fixed(&[Alignment::Left(12), Alignment::Right(12)]);

/// Begins rows of another form, under these headings.
fn heading(output: &mut StandardOutput, form: RowForm, names: [&str; 3]) -> Result<(), Failure> {
    output.begin_rows(form)?;
    output.heading(&names)
}

/// The routes of each prefix length that either family has.
fn lengths(output: &mut StandardOutput, info: &InfoReport) -> Result<(), Failure> {
    let families = [&info.ipv4, &info.ipv6];
    output.text("\n")?;
    heading(output, FAMILIES, ["length", "IPv4", "IPv6"])?;
    for length in 0..=128 {
        let counts = families.map(|family| family.distribution.lengths.get(length).copied());
        if counts
            .iter()
            .any(|count| count.is_some_and(|count| count > 0))
        {
            let [ipv4, ipv6] = counts.map(Option::unwrap_or_default);
            let length = format!("/{length}");
            output.cells(&[&length, &ipv4, &ipv6])?;
        }
    }
    Ok(())
}
