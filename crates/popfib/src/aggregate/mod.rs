//! Smaller tables with the same answers.
//!
//! * [`ortc`](fn@ortc): Optimal Route Table Construction (Draves, King, Venkatachary and
//!   Zill, *Constructing Optimal IP Routing Tables*, INFOCOM 1999): no table
//!   with the same answers has fewer routes. It may create prefixes that the table does not have.
//! * [`simple`](fn@simple): the route aggregation of the Poptrie paper (section 3). It removes routes that change no answer
//!   and merges adjacent routes with the same next hop. What remains are routes of the table, and prefixes that
//!   such routes filled.
//! * [`answered`](fn@answered): the addresses that some next hops answer, as prefixes.
//!
//! "The same answers" holds for every address: one without a route stays
//! without one. Since no route can say "no route", neither ever covers such an
//! address. The paper's ORTC assumes a default route and so never meets this;
//! here a vertex with an unmatched address below has one possible next hop,
//! none, and so have all above it. The largest subtrees without such an address
//! are then independent of each other, and the paper's proof holds in each.
//!
//! The first two walk one compressed binary tree of the routes, up and down again,
//! without recursion.
//!
//! ```
//! use popfib::{NextHop, Rib, aggregate};
//!
//! let (east, west) = (NextHop::new(1).unwrap(), NextHop::new(2).unwrap());
//! let mut rib = Rib::<u32>::new();
//! rib.insert("10.0.0.0/10".parse()?, east);
//! rib.insert("10.64.0.0/10".parse()?, west);
//! rib.insert("10.128.0.0/9".parse()?, east);
//! // Nothing to leave out or to join, but the majority can move up.
//! assert_eq!(aggregate::simple(&rib), rib);
//! let optimal = aggregate::ortc(&rib);
//! assert_eq!(optimal.get("10.0.0.0/8".parse()?), Some(east));
//! assert_eq!(optimal.len(), 2);
//! # Ok::<(), popfib::PrefixError>(())
//! ```

mod answered;
mod ortc;
mod simple;
mod tree;

pub use answered::answered;
pub use ortc::ortc;
pub use simple::simple;
