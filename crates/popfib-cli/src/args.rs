//! Options that several subcommands share: words of the command line in, the library's options out (`LoadOptions`, `Kernel` and others).
//!
//! Types named `...Arg` are values of an option. They repeat types of the library (`popfib::Keep`, `popfib::Size`) because a value
//! has a help text here, which clap takes from its comment.

#[cfg(unix)]
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, ValueEnum};
use popfib::{Address, Kernel};
use popfib_formats::{
    ColumnSelection, Format, Input, LoadOptions, PeerFilter, RouteTable, RouteValue,
    SPECIAL_TABLE_NAME, ValueRegex,
};
use popfib_program::failure::Failure;
pub(crate) use popfib_program::files::is_stdin;
#[cfg(unix)]
use popfib_program::files::metadata;

#[cfg(unix)]
use crate::output::note;
use crate::screen::Screen;

/// Which table to read, and how.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Tables")]
pub(crate) struct TableArgs {
    /// Table or image to read [default: the built-in one]
    ///
    /// It may be compressed; `-` is standard input. The built-in table is that of a tier-1 router, whose next hops are origin AS
    /// numbers, and `built-in` names it; `special` is another, of special-purpose addresses (IANA, RFC 6890). Files of these
    /// names are `./built-in` and `./special`.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) table: Option<PathBuf>,

    /// Do not validate the image
    ///
    /// Only for images that you made yourself and that nobody changes.
    #[arg(long)]
    pub(crate) trust: bool,

    /// Use the table of a running `popfibd`
    ///
    /// SOCKET is its Unix socket, or http:// or https://HOST:PORT; --vrf names one of its tables.
    #[arg(long, value_name = "SOCKET", conflicts_with = "table")]
    pub(crate) live: Option<PathBuf>,

    #[command(flatten)]
    /// How it is read.
    pub(crate) read: ReadArgs,
}

impl TableArgs {
    /// Whether it is the built-in table, by its name or because no other is named.
    pub(crate) fn is_built_in(&self) -> bool {
        self.live.is_none() && self.table.as_deref().is_none_or(is_built_in)
    }

    /// Whether the table comes from standard input.
    pub(crate) fn is_stdin(&self) -> bool {
        self.table.as_deref().is_some_and(is_stdin)
    }
}

/// The same for commands that take the table also as an argument by itself.
#[derive(Args, Clone, Debug)]
pub(crate) struct FileArgs {
    #[command(flatten)]
    pub(crate) options: TableArgs,
    /// Table or image to read; the same as --table
    ///
    /// Without either, a pipe or file on standard input is the table, except beside conditions and addresses, which ask the built-in one.
    #[arg(value_name = "FILE", help_heading = None::<&str>, conflicts_with_all = ["table", "live"])]
    table_file: Option<PathBuf>,
}

impl FileArgs {
    /// The file that is named.
    pub(crate) fn file(&self) -> Option<&PathBuf> {
        self.table_file.as_ref().or(self.options.table.as_ref())
    }

    /// That table, or standard input if nobody named one and there is one. For commands whose whole input is the table, unless the
    /// arguments of this one ask for something (`is_asked`): then a loop of the shell keeps the lines of its list.
    pub(crate) fn or_stdin(&self, is_asked: bool) -> TableArgs {
        let mut table = self.options.clone();
        table.table = self.file().cloned();
        if table.table.is_none() && table.live.is_none() && !is_asked {
            table.table = table_on_stdin();
        }
        table
    }
}

/// Whether standard input may be a table: a pipe or a file, as other tools read them. A terminal would wait for somebody to type a
/// table; /dev/null, a socket or nothing is what a command has that other programs start.
#[cfg(unix)]
pub(crate) fn may_be_on_stdin() -> bool {
    use std::os::unix::fs::FileTypeExt;

    let kind = metadata(io::stdin()).map(|stat| stat.file_type());
    kind.is_some_and(|kind| kind.is_fifo() || kind.is_file())
}

/// Only Unix says what standard input is: elsewhere `-` has to name it.
#[cfg(not(unix))]
pub(crate) fn may_be_on_stdin() -> bool {
    false
}

/// The path of standard input in place of a table that nobody named, if it may be one.
pub(crate) fn table_on_stdin() -> Option<PathBuf> {
    is_on_stdin("a table").then(|| "-".into())
}

/// Whether standard input may have `what`, as it does for [`may_be_on_stdin`]; a note says so if it does not come.
pub(crate) fn is_on_stdin(what: &str) -> bool {
    if !may_be_on_stdin() {
        return false;
    }
    #[cfg(unix)]
    {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};

        const PATIENCE: Timespec = Timespec {
            tv_sec: 1,
            tv_nsec: 0,
        };
        let stdin = io::stdin();
        if poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&PATIENCE)) == Ok(0) {
            let other = match what {
                "a table" => "-t built-in is the built-in one",
                _ => "--help says what else there is",
            };
            note!("waiting for {what} on standard input; {other}");
        }
    }
    true
}

/// Refuses standard input for more than one of the files, which the message calls `what`.
pub(crate) fn at_most_one_stdin<'p>(
    files: impl IntoIterator<Item = &'p PathBuf>,
    what: &str,
) -> Result<(), Failure> {
    match files.into_iter().filter(|file| is_stdin(file)).count() {
        0 | 1 => Ok(()),
        _ => Err(format!("only one of the {what} can be standard input").into()),
    }
}

/// The name of a table whose file alone is given: that of the file up to the first dot.
pub(crate) fn stem(file: &str) -> Option<String> {
    let name = Path::new(file).file_name()?.to_str()?;
    let stem = name.split('.').next().filter(|stem| !stem.is_empty())?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let word = stem.replace(|c| !is_word(c), "_");
    (file != "-").then_some(word)
}

/// The name of the built-in table, where one has to be given.
const BUILT_IN: &str = "built-in";

/// Whether `path`, given for a table, stands for the built-in one. A file of that name is `./built-in`, as one called `-` is `./-`.
pub(crate) fn is_built_in(path: &Path) -> bool {
    path.as_os_str() == BUILT_IN
}

/// Whether it stands for a table that is part of the program: that one, or the one of special-purpose addresses.
pub(crate) fn is_embedded(path: &Path) -> bool {
    is_built_in(path) || path.as_os_str() == SPECIAL_TABLE_NAME
}

/// How the file of a table is read.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Tables")]
pub(crate) struct ReadArgs {
    /// Format of the table [default: recognised by content]
    ///
    /// `popfib formats` lists them.
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<Format>,

    /// Use only the routes of this peer [default: best paths]
    ///
    /// Index, address or AS (AS64500) as listed by `popfib peers`. Without it, each prefix has its best path.
    #[arg(long, value_name = "PEER")]
    pub(crate) peer: Option<PeerFilter>,

    /// next-hop, origin-as or peer: what to use as value [default: next-hop]
    ///
    /// For files that have several candidates: origin-as is for those with AS paths, peer for those with peers.
    #[arg(long, value_name = "WHAT")]
    pub(crate) value: Option<RouteValue>,

    /// Columns of its records to use, with commas; * is all
    ///
    /// Keys of a MaxMind database or a JSON object (`country.iso_code`, `subdivisions[0].iso_code`), or columns of a
    /// CSV file by name or number. Not all commands take several [default: the most specific one; of an image all].
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) columns: Vec<String>,

    /// CSV file that adds columns
    ///
    /// Its first column is one of the table's columns, and it adds its others: GeoLite2-City-Locations-en.csv for
    /// GeoLite2-City-Blocks-IPv4.csv.
    #[arg(long, value_name = "FILE")]
    pub(crate) locations: Option<PathBuf>,

    /// Column that has the prefix [default: recognised by name]
    ///
    /// Of a CSV file by its name or number, of JSON objects by the keys that lead to it (net.cidr). It is recognised by its
    /// name (prefix, network, cidr, subnet, ...) or, in CSV, by its content.
    #[arg(long, value_name = "NAME")]
    pub(crate) prefix_column: Option<String>,

    /// Column that has the prefix length or the network mask
    ///
    /// Where it stands apart from the address.
    #[arg(long, value_name = "NAME")]
    pub(crate) length_column: Option<String>,

    /// Values of prefixes anywhere in a text, by a regular expression
    ///
    /// With --format any: the group of the expression, or all of the match. The last match before the prefix in its line counts,
    /// else the first after it there, else the last in the lines above [default: no values].
    #[arg(long, value_name = "REGEX", allow_hyphen_values = true)]
    pub(crate) value_regex: Option<ValueRegex>,

    /// Table to use of a file that has several
    ///
    /// Its name, in a file, an image or a running `popfibd`: a VRF, or a routing table of a kernel (main)
    /// [default: a second table is an error].
    #[arg(long, value_name = "NAME")]
    pub(crate) vrf: Option<String>,

    /// Skip and count invalid lines instead of stopping
    ///
    /// A truncated file is read as far as it goes.
    #[arg(long)]
    pub(crate) skip_invalid: bool,

    /// Clear host bits (10.1.2.3/8 becomes 10.0.0.0/8)
    #[arg(long)]
    pub(crate) mask: bool,

    /// Read 010.0.0.1 as 10.0.0.1
    ///
    /// IPv4 addresses with leading zeros are read as decimal numbers, where others take them for octal [default: an invalid line].
    #[arg(long)]
    pub(crate) leading_zeros: bool,

    /// Take missing values from the next shorter prefix
    ///
    /// A value that a route lacks is that of the next shorter prefix that has it [default: it is absent].
    #[arg(hide_short_help = true, long)]
    pub(crate) fill: bool,

    /// Give IPv4-mapped addresses the answers of IPv4
    ///
    /// Each route of IPv4 is one of IPv6, too, for `::ffff:192.0.2.1` and the like [default: they are IPv6 addresses, as any others].
    #[arg(hide_short_help = true, long)]
    pub(crate) mapped: bool,

    /// Maximum size of decompressed data, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = Input::DEFAULT_MAX_SIZE)]
    pub(crate) max_size: u64,

    /// Whether values do not matter, so that those which are absent are not noted.
    #[arg(skip)]
    pub(crate) is_list: bool,

    /// Whether every table of the file is read.
    #[arg(skip)]
    pub(crate) every_table: bool,

    /// Whether prefixes may stand in place of a file.
    #[arg(skip)]
    pub(crate) takes_literals: bool,
}

impl ReadArgs {
    /// The first option that was given although it means nothing without a file.
    pub(crate) fn of_file(&self) -> Option<&'static str> {
        let given = [
            ("--format", self.format.is_some()),
            ("--peer", self.peer.is_some()),
            ("--value", self.value.is_some()),
            // A table without a file has all columns anyway.
            ("--columns", self.columns.iter().any(|column| column != "*")),
            ("--locations", self.locations.is_some()),
            ("--prefix-column", self.prefix_column.is_some()),
            ("--length-column", self.length_column.is_some()),
            ("--value-regex", self.value_regex.is_some()),
            ("--vrf", self.vrf.is_some()),
            ("--table-column", self.every_table),
            ("--fill", self.fill),
            ("--mapped", self.mapped),
        ];
        given
            .iter()
            .find(|(_, is_given)| *is_given)
            .map(|(name, _)| *name)
    }

    /// On a terminal, asks the built-in table for the names beside its numbers, unless columns are chosen.
    pub(crate) fn show_names(&mut self) {
        if Screen::stdout().is_terminal {
            self.name_numbers();
        }
    }

    /// Asks the built-in table for the names beside its numbers, unless columns are chosen.
    pub(crate) fn name_numbers(&mut self) {
        if self.columns.is_empty() {
            self.columns = vec!["*".to_owned()];
        }
    }

    /// These options as the library takes them.
    pub(crate) fn options(&self) -> LoadOptions {
        LoadOptions {
            format: self.format,
            skip_invalid: self.skip_invalid,
            mask: self.mask,
            leading_zeros: self.leading_zeros,
            peer: self.peer,
            value: self.value.unwrap_or_default(),
            columns: ColumnSelection::of(self.columns.clone()).unwrap_or_default(),
            locations: self.locations.clone(),
            prefix_column: self.prefix_column.clone(),
            length_column: self.length_column.clone(),
            value_regex: self.value_regex.clone(),
            table: self.vrf.clone(),
            every_table: self.every_table,
            fill: self.fill,
            mapped: self.mapped,
            ..LoadOptions::new()
        }
    }
}

/// Which dump of a route collector to read, and how.
#[derive(Args)]
pub(crate) struct DumpArgs {
    /// Dump to read (MRT, bgpdump -m); `-` is standard input
    ///
    /// It may be compressed.
    #[arg(value_name = "FILE", required_unless_present = "table")]
    file: Option<PathBuf>,

    /// The same
    #[arg(short, long, value_name = "FILE", conflicts_with = "file")]
    table: Option<PathBuf>,

    /// Format of the dump [default: recognised by content]
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<Format>,

    /// Skip and count records that cannot be read
    #[arg(long)]
    pub(crate) skip_invalid: bool,

    /// Maximum size of decompressed data, in bytes
    #[arg(hide_short_help = true, long, value_name = "BYTES", default_value_t = Input::DEFAULT_MAX_SIZE)]
    pub(crate) max_size: u64,
}

impl DumpArgs {
    /// The file; clap has made sure that there is one.
    pub(crate) fn path(&self) -> &Path {
        let path = self.file.as_ref().or(self.table.as_ref());
        path.expect("one of the two is required")
    }

    /// Opens the file.
    pub(crate) fn open(&self) -> Result<Input, Failure> {
        Ok(Input::open(self.path())?.max_size(self.max_size))
    }
}

/// What an image has of its tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeepArg {
    /// The values of lookups alone: the smallest file, and the fastest lookups
    Values,
    /// Values and the prefixes that match, for lookups of both
    Prefixes,
    /// Both, each with tables of its own, and all routes: what can be converted back, compared and verified
    Routes,
}

/// What compiled tables trade memory for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SizeArg {
    /// The fewest bytes
    #[default]
    Smallest,
    /// About three times the bytes, and fewer steps, where that is at most 12 MiB
    Balanced,
}

impl From<SizeArg> for popfib::Size {
    fn from(size: SizeArg) -> Self {
        match size {
            SizeArg::Smallest => Self::Smallest,
            SizeArg::Balanced => Self::Balanced,
        }
    }
}

impl From<KeepArg> for popfib::image::Keep {
    fn from(keep: KeepArg) -> Self {
        match keep {
            KeepArg::Values => Self::Values,
            KeepArg::Prefixes => Self::Prefixes,
            KeepArg::Routes => Self::Routes,
        }
    }
}

/// The kernel that looks up: the one that `POPFIB_KERNEL` names, else this CPU's.
pub(crate) fn kernel() -> Result<Kernel, Failure> {
    // An error in one line, where `best` would panic.
    Kernel::from_env().map_err(|error| format!("POPFIB_KERNEL: {error}"))?;
    Ok(Kernel::best())
}

/// How many leading bits of an address count, by family: `/24,/48`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PrefixLengths {
    pub(crate) ipv4: u8,
    pub(crate) ipv6: u8,
}

impl PrefixLengths {
    /// The length for addresses `A`.
    pub(crate) fn of<A: popfib::family::Family>(self) -> u8 {
        if A::WIDTH == u32::WIDTH {
            self.ipv4
        } else {
            self.ipv6
        }
    }
}

impl FromStr for PrefixLengths {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WANTED: &str = "not a length as /24, or one of each family as /24,/48";
        let length = |text: &str, width| {
            let length = text.strip_prefix('/')?.parse().ok();
            length.filter(|&length: &u8| length <= width)
        };
        let (ipv4, ipv6) = text.split_once(',').unwrap_or((text, "/48"));
        let lengths = length(ipv4, u32::WIDTH).zip(length(ipv6, u128::WIDTH));
        let (ipv4, ipv6) = lengths.ok_or(WANTED)?;
        Ok(Self { ipv4, ipv6 })
    }
}

/// A number from 1 on, for options with which 0 would ask for nothing.
pub(crate) fn at_least_one(text: &str) -> Result<NonZeroUsize, &'static str> {
    text.parse().map_err(|_| "a number from 1 on, please")
}

/// An address family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FamilyArg {
    /// IPv4
    #[value(name = "ipv4")]
    Ipv4,
    /// IPv6
    #[value(name = "ipv6")]
    Ipv6,
}

impl FamilyArg {
    /// Whether it is that of addresses `A`.
    pub(crate) fn is<A: popfib::family::Family>(self) -> bool {
        (self == Self::Ipv4) == (A::WIDTH == 32)
    }

    /// Leaves `table` the routes of the family.
    pub(crate) fn keep(self, table: &mut RouteTable) {
        match self {
            Self::Ipv4 => table.ribs.ipv6.clear(),
            Self::Ipv6 => table.ribs.ipv4.clear(),
        }
    }
}
