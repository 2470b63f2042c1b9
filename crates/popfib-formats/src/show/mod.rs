//! Listings, which routers print when asked for their routes: lines in, the routes in use out.
//!
//! There is a [`Grammar`](crate::grammar::Grammar) for each family of such texts. Such a text is made for people: columns
//! move with the version of the system and the width of a value, and a capture of a terminal has more in it than the
//! table. So grammars go by words and signs, and by columns only if cells may be empty. Common to all of them:
//!
//! - A route's value is its next hop's address; for connected networks the
//!   interface; for routes that drop or reject the router's word for that.
//!   Of several next hops it is the first that can be used.
//! - Where a listing marks which routes are selected, the others are left out;
//!   of routes of one prefix that follow each other, the first is taken.
//! - A listing may hold several tables (of VRFs, of both families), but what is
//!   loaded is one: routes of a second table in the same family are an error,
//!   once for each table. Skipping it leaves the first.
//! - Headings, legends and totals are known by their words, commands by the
//!   [prompt](crate::prompt) of the first. What is neither these nor a route is
//!   an error.

pub(crate) mod bgp;
pub(crate) mod bgpctl;
pub(crate) mod bird;
pub(crate) mod coded;
pub(crate) mod junos;
pub(crate) mod netstat;
pub(crate) mod nxos;
pub(crate) mod panos;
pub(crate) mod route_n;
pub(crate) mod route_print;
pub(crate) mod routeros;
pub(crate) mod vrp;
