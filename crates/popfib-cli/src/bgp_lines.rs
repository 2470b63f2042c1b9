//! A path to a prefix or an update of it in, its line as `bgpdump -m` prints it or its JSON object out: for `popfib paths` and
//! `popfib updates`.

use std::fmt::Display;
use std::net::IpAddr;

use popfib::IpPrefix;
use popfib_formats::bgp::BgpPath;
use popfib_program::failure::Failure;
use popfib_table::PrefixText;
use serde::Serialize;

use crate::output::{AsText, StandardOutput};
use crate::rows::{RowField, RowForm};
use crate::screen::PREFIX;

/// The members of a path.
pub(crate) const NAMES: &str = "prefix peer peer_as time id as_path origin_as origin next_hop local_preference med \
                                communities atomic aggregator";

/// Bars separate the fields of a line.
pub(crate) const FORM: RowForm = RowForm::separated('|');

/// What a line of `bgpdump -m` begins with.
pub(crate) struct BgpdumpHead<'a> {
    /// The type of the record in MRT: `TABLE_DUMP2`.
    pub(crate) record_type: &'a str,
    /// In seconds since 1970.
    pub(crate) time: &'a dyn Display,
    /// `B` for a path of a table, `A` for an announcement, `W` for a withdrawal.
    pub(crate) what: &'a str,
}

impl BgpdumpHead<'_> {
    /// Prints the line of a path; that of a withdrawal ends after the prefix.
    pub(crate) fn line(
        &self,
        path: &BgpPath,
        is_withdrawn: bool,
        output: &mut StandardOutput,
    ) -> Result<(), Failure> {
        let next_hop = path.next_hop.map(|address| address.to_string());
        let next_hop = next_hop.unwrap_or_default();
        let local_preference = path.local_preference.unwrap_or_default();
        let med = path.med.unwrap_or_default();
        let atomic = if path.is_atomic { "AG" } else { "NAG" };
        let prefix = PrefixText::new(path.prefix);
        let prefix = prefix.as_str();
        let head = [
            RowField::new(&self.record_type),
            RowField::new(self.time),
            RowField::new(&self.what),
            RowField::new(&path.peer),
            RowField::new(&path.peer_as),
            RowField::styled(PREFIX, &prefix),
        ];
        let id = path.id.as_ref().map(|id| RowField::new(id));
        let tail = [
            RowField::new(&path.as_path),
            RowField::new(&path.origin),
            RowField::new(&next_hop),
            RowField::new(&local_preference),
            RowField::new(&med),
            RowField::new(&path.communities),
            RowField::new(&atomic),
            RowField::new(&path.aggregator),
            // The bar at the end of each line.
            RowField::new(&""),
        ];
        let tail = tail.into_iter().filter(|_| !is_withdrawn);
        output.row(head.into_iter().chain(id).chain(tail))
    }
}

/// A path as a JSON object.
#[derive(Serialize)]
pub(crate) struct BgpPathLine<'a, T> {
    prefix: AsText<IpPrefix>,
    peer: IpAddr,
    peer_as: u32,
    time: T,
    id: Option<u32>,
    as_path: &'a str,
    origin_as: String,
    origin: &'a str,
    next_hop: Option<IpAddr>,
    local_preference: Option<u32>,
    med: Option<u32>,
    communities: Vec<&'a str>,
    atomic: bool,
    aggregator: Option<&'a str>,
}

impl<'a, T> BgpPathLine<'a, T> {
    pub(crate) fn new(path: &'a BgpPath, time: T) -> Self {
        Self {
            prefix: AsText(path.prefix),
            peer: path.peer,
            peer_as: path.peer_as,
            time,
            id: path.id,
            as_path: &path.as_path,
            origin_as: path.origin_as(),
            origin: &path.origin,
            next_hop: path.next_hop,
            local_preference: path.local_preference,
            med: path.med,
            communities: path.communities.split_ascii_whitespace().collect(),
            atomic: path.is_atomic,
            aggregator: (!path.aggregator.is_empty()).then_some(&path.aggregator),
        }
    }
}
