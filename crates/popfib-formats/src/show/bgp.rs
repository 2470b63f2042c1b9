//! `show bgp` (`show ip bgp`) of FRR, Cisco IOS, IOS XR and NX-OS, Arista EOS, and `gobgp global rib`: rows of paths in,
//! the best path of each network out.
//!
//! ```text
//!    Network          Next Hop            Metric LocPrf Weight Path
//! *>i1.0.6.0/24       198.32.212.55                 100      0 56203 i
//! * i172.16.1.0       172.16.1.2               0    100      0 i
//! *>                  0.0.0.0                  0         32768 i
//! ```
//! Only the heading tells what is what: the status stands before the column of
//! `Network`, and a row that begins after it is one more path of the network
//! above. The path with `>` is the best; networks without one are left out.
//! Networks without length have that of their class (172.16.1.0 is a /16 for it).
//!
//! What is too long for its column is followed by the rest of the row on the next line:
//!
//! ```text
//! *> 2001:db8:1234::/48
//!                     2001:db8:ffff::1
//!                                              0             0 64500 i
//! ```
//! So a route can be handed out only once its next hop has come, and its AS path too if the origin is wanted
//! ([`AwaitedPart`]).

use popfib::IpPrefix;

use crate::as_path::as_number;
use crate::error::not;
use crate::grammar::{Grammar, RouteRows, TableEntry, head_text, listing};
use crate::registry::Capability::{Origins, Tables};
use crate::words::{
    begins, is_address, is_preamble, looks_like_prefix, next_hop, not_a_route, split_as_path,
    table_of, with_classful_len, word_at,
};

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "show-bgp",
    description: "`show bgp` and `show ip bgp` of FRR, Cisco IOS, IOS XR and NX-OS, Arista EOS, `gobgp global rib`; next hops of the best paths",
    can: &[Tables, Origins],
    detect,
    open: |input, options| Ok(listing(BgpTable::default(), input, options)),
};

fn detect(head: &[u8]) -> bool {
    head_text(head).any(|line| BgpColumns::of(line).is_some())
}

#[derive(Default)]
struct BgpTable {
    /// In the legend, whose lines are indented where they go on.
    in_legend: bool,
    /// Known once the heading has come.
    columns: Option<BgpColumns>,
    /// The network whose paths are read.
    network: Option<BgpNetwork>,
    /// Whether it is none of IP, as of EVPN (`[2]:[0]:...`), and its paths are left out.
    is_other: bool,
    /// The address family, if a heading names it.
    family: String,
}

/// Where the columns begin, in bytes from the start of a line.
#[derive(Clone, Copy)]
struct BgpColumns {
    network: usize,
    next_hop: usize,
    path: Option<usize>,
    /// Whether there is a status before the networks; without one all paths are best.
    has_status: bool,
}

impl BgpColumns {
    /// Those of a heading; `None` if `line` is none.
    fn of(line: &str) -> Option<Self> {
        let network = line.find("Network")?;
        let is_first = line[..network].trim().is_empty();
        let next_hop = line.find("Next Hop")?;
        // gobgp has `AS_PATH`.
        let path = line.find("Path").or_else(|| line.find("AS_PATH"));
        // What IOS XR advertises has no status, and from whom it came; any other heading at the start has lost its blanks.
        let has_status = !line.contains(" From ");
        let lost = if network == 0 && has_status { 3 } else { 0 };
        (is_first && network < next_hop).then_some(Self {
            network: network + lost,
            next_hop: next_hop + lost,
            path: path.map(|path| path + lost),
            has_status,
        })
    }

    /// The AS path in a line, if that reaches so far: the words before the code of the origin or the age.
    fn path(self, line: &str) -> Option<&str> {
        let (before, mut text) = line.split_at_checked(self.path?)?;
        if !before.ends_with(' ') {
            // A column before it is wider than its heading.
            text = text.split_once(' ')?.1;
        }
        let (path, rest) = split_as_path(text);
        (!rest.is_empty()).then_some(path)
    }
}

struct BgpNetwork {
    prefix: IpPrefix,
    /// Whether one of its paths is the best.
    has_best: bool,
    /// The line that its path at hand began in.
    line: u64,
    awaits: AwaitedPart,
}

/// What is still to come of the best path; nothing of others, which are not wanted.
enum AwaitedPart {
    Nothing,
    NextHop,
    /// The AS path, after this next hop.
    Path(String),
}

impl AwaitedPart {
    /// What a path begins with.
    fn of(is_best: bool) -> Self {
        if is_best {
            Self::NextHop
        } else {
            Self::Nothing
        }
    }
}

/// What the status of a path may consist of, of all these systems.
const STATUS: &str = " *>=|&#^+-~abcdefhilmrstxINVRSEeCkLq";

/// Whether a line ends a table or says something about it.
fn is_heading(text: &str) -> bool {
    begins!(text, "BGP " "For address family" "Address Family" "Peer " "VRF" "Can't find " "AF-Private " "Neighbor "
        "---" "===" "!" "Router " "AS path" "Route Distinguisher" "Default local" "Displayed" "Total " "Processed "
        "Non-stop" "Table ID" "Instance ")
}

impl Grammar for BgpTable {
    fn read(&mut self, _: &str, line: &str, rows: &mut RouteRows) -> Result<(), String> {
        if let Some(columns) = BgpColumns::of(line) {
            self.columns = Some(columns);
            self.in_legend = false;
            return rows.detail();
        }
        let text = line.trim();
        // Letters are explained on several lines.
        let is_legend = begins!(text, "Status" "Route status" "Path type" "Origin codes" "AS Path" "Nexthop codes"
            "RPKI");
        if is_preamble(text) || is_legend || is_heading(text) {
            self.end(rows);
            // Those of a VPN stand below the heading of the columns.
            if !begins!(text, "Route Distinguisher" "AF-Private") {
                self.columns = None;
            }
            self.in_legend = is_legend;
            if let Some(family) = family(text) {
                family.clone_into(&mut self.family);
                rows.table(&table_of(family, ""));
            }
            if let Some(name) = table_name(text) {
                rows.table(&table_of(&self.family, name));
            }
            if let Some(asn) = local_as(text) {
                rows.local_as(asn);
            }
            return rows.detail();
        }
        let goes_on = self.in_legend
            && line.starts_with([' ', '\t'])
            && !text.split_ascii_whitespace().any(looks_like_prefix);
        if text.is_empty() || goes_on {
            return rows.detail();
        }
        // The first word after the status.
        let found = self.columns.and_then(|columns| {
            let (start, word) = word_at(line, columns.network)?;
            Some((columns, start, word))
        });
        let Some((columns, start, word)) = found else {
            // A path below belongs to no network that is known.
            self.end(rows);
            return Err(not_a_route(line));
        };
        let status = &line[..columns.network];
        if self.is_other && start >= columns.next_hop {
            return rows.detail();
        }
        self.is_other = word.starts_with('[') && start < columns.next_hop;
        if self.is_other {
            self.end(rows);
            rows.leave_out_route(" of another family than IP");
            return rows.detail();
        }
        let is_row = status.contains('*') || start >= columns.next_hop || looks_like_prefix(word);
        if !is_row || !status.chars().all(|c| STATUS.contains(c)) {
            self.end(rows);
            return Err(not_a_route(line));
        }
        let best = status.contains('>') || !columns.has_status && start < columns.next_hop;
        if start < columns.next_hop {
            // A network, with its first path.
            self.end(rows);
            let prefix = rows.prefix(&with_classful_len(word))?;
            let network = self.network.insert(BgpNetwork {
                prefix,
                has_best: best,
                line: rows.line(),
                awaits: AwaitedPart::of(best),
            });
            if let Some((at, hop)) = word_at(line, start + word.len()) {
                // A name may be a next hop, but not before another.
                let next = word_at(line, at + hop.len());
                if !is_address(hop) && next.is_some_and(|(_, next)| is_address(next)) {
                    return Err(not_a_route(line));
                }
                network.hop(hop, columns.path(line), rows)?;
            }
            return Ok(());
        }
        let Some(network) = &mut self.network else {
            return Err("a path without a network before it".to_owned());
        };
        if status.trim().is_empty() {
            // The rest of the line above: its next hop, or only what follows that.
            if start == columns.next_hop || is_address(word) {
                network.hop(word, columns.path(line), rows)?;
            } else {
                network.path(columns.path(line), rows);
            }
        } else {
            // One more path of the network.
            network.finish(rows);
            network.awaits = AwaitedPart::of(best);
            network.line = rows.line();
            network.has_best |= best;
            network.hop(word, columns.path(line), rows)?;
        }
        rows.detail()
    }

    fn end(&mut self, rows: &mut RouteRows) {
        if let Some(mut network) = self.network.take() {
            network.finish(rows);
            if !network.has_best {
                rows.unused(network.prefix);
            }
        }
    }
}

impl BgpNetwork {
    /// No more lines of the path come.
    fn finish(&mut self, rows: &mut RouteRows) {
        match self.awaits {
            AwaitedPart::Nothing => {}
            AwaitedPart::NextHop => rows.no_next_hop(self.line, self.prefix),
            AwaitedPart::Path(_) => self.path(Some(""), rows),
        }
    }

    /// The next hop of the path being read; after `@` FRR has its VRF.
    fn hop(
        &mut self,
        hop: &str,
        as_path: Option<&str>,
        rows: &mut RouteRows,
    ) -> Result<(), String> {
        if let AwaitedPart::NextHop = self.awaits {
            // Metric, preference and weight come after it, and are passed over.
            let hop = next_hop(hop.split('@').next().unwrap_or_default())?;
            if hop.bytes().all(|b| b.is_ascii_digit()) {
                return Err(not(hop, "an address"));
            }
            self.awaits = AwaitedPart::Path(hop.to_owned());
            // If no AS path is asked for, its line is not waited for, as it may not come.
            self.path(as_path.or((!rows.wants_origin()).then_some("")), rows);
        }
        Ok(())
    }

    /// The AS path of the path being read, if its line reaches so far.
    fn path(&mut self, as_path: Option<&str>, rows: &mut RouteRows) {
        if let (Some(_), AwaitedPart::Path(hop)) = (as_path, &self.awaits) {
            rows.bgp_route(rows.line(), self.prefix, &**hop, as_path);
            self.awaits = AwaitedPart::Nothing;
        }
    }
}

/// The router's own AS: `local AS 64500`, `local AS number 64500`.
fn local_as(text: &str) -> Option<u32> {
    let (_, rest) = text.split_once("local AS ")?;
    let mut words = rest.split_ascii_whitespace();
    as_number(words.find(|word| *word != "number")?)
}

/// The address family that a heading names: `For address family: VPNv4 Unicast`, `Peer 192.0.2.1 routes for address family IPv4
/// Unicast:`, `BGP routing table information for VRF red, address family IPv4 Unicast`.
fn family(text: &str) -> Option<&str> {
    let starts = ["For address family:", "Address Family:"];
    let family = starts.iter().find_map(|start| text.strip_prefix(start));
    let family = family.or_else(|| Some(text.split_once(" address family ")?.1));
    family.map(|family| family.trim_matches([' ', ':']))
}

/// The table that a heading names: `BGP table information for VRF default`, `Route Distinguisher: 64500:1 (default for vrf red)`,
/// `Instance blue:`, `VRF: red`.
fn table_name(text: &str) -> Option<&str> {
    if let Some((_, name)) = text.split_once("information for VRF ") {
        return name.split([',', ' ']).next();
    }
    let starts = ["Route Distinguisher:", "Instance ", "VRF:"];
    let name = starts.iter().find_map(|start| text.strip_prefix(start))?;
    let (distinguisher, vrf) = name.split_once('(').unwrap_or((name, ""));
    let vrf = vrf
        .trim_end_matches(')')
        .rsplit_once(' ')
        .map(|(_, vrf)| vrf);
    Some(vrf.unwrap_or(distinguisher).trim_matches([' ', ':']))
}
