//! The texts of the report that are the same whatever was measured.

/// What a ratio in a table is.
pub(super) const RATIOS: &str = "Ratios are medians of passes that ran next to each other, in parentheses where the true \
     median lies in 95 of 100 cases; a question mark stands where the passes do not tell which is faster.";

pub(super) const SUMMARY: &str = "Medians. Poptrie18 is the paper's layout and popfib18 this project's, both looked up one \
     address after the other as the paper does; \"batches\" is how popfib is meant to be used. In the paper Poptrie18 is \
     1.34 times D18R and 1.52 times SAIL on REAL-Tier1-A.";

pub(super) const TABLES: &str = "The paper has 35 IPv4 tables of 508,700 to 532,637 routes with 9 to 530 next hops, of 2014 \
     and 2015. Tables have doubled since, and most new routes are /24.";

pub(super) const STREAMS: &str = "Random, repeated and sequential addresses are made while they are looked up, as in the \
     paper, so that no array of them competes for the cache; the time that takes is shown below and not subtracted. A \
     machine is never the paper's: read ratios between structures, not rates.";

pub(super) const OVERHEAD: &str = "The paper makes each address right before its lookup; here 256 are made and stored, then \
     looked up. Another CPU, and the loop with its reading of stored addresses, make the difference.";

pub(super) const VERIFICATION: &str = "Before anything is timed, every structure is asked for the first and the last address \
     of every range with one longest match, and so for each address where an answer can change and its neighbours, for one \
     address inside, and for random ones. The paper asks for all of IPv4. What answers wrong is not timed.";

pub(super) const DEPTH: &str = "The binary radix depth of an address is how many of its bits have to be looked at until its \
     longest match is certain. Addresses no deeper than 18 are answered by the first array of Poptrie18 and D18R. The paper's \
     table has routes of an interior gateway protocol, many of them longer than /24, which public tables have not.";

pub(super) const FORMS: &str = "Basic and leafvec are without route aggregation: every route is compiled as it is; \"popfib\" \
     is this project's layout, which puts a node's values into the node. Its nodes are counted as blocks, its leaves are those \
     in blocks. The paper's radix tree keeps 16 bytes and more a node, ours 8, so that ours is smaller and faster.";

pub(super) const FORMS_NOTE: &str = "Random addresses. Compilation is from the routes in a Rib; the paper's is from a binary \
     radix tree. More routes and next hops make more nodes and leaves.";

pub(super) const TRAFFIC: &str = "random: uniform (IPv6: in 2000::/8). sequential: one after the other; the passes together \
     go through all of IPv4 where a structure is fast enough. repeated: each random address sixteen times. routes: a random \
     host of a random route, the hardest, for every route is as likely as any. zipf: such hosts by Zipf's law, nearest to \
     what a router sees. good-cache: one host of each route in the order of the routes; bad-cache: the same, shuffled.";

pub(super) const LOCALITY: &str = "Paper: REAL-Tier1-B. Sequential addresses share their way down with the one before, so \
     the first caches decide; structures with the fewest instructions win, SAIL in the paper too.";

pub(super) const TRACES: &str = "A trace from elsewhere asks for other addresses than the paper's, and a short one, asked for \
     again and again, stays in the caches: these are the reasons where ratios differ.";

pub(super) const LATENCY: &str = "Dependent: an address is known once the answer before it is, so that nothing overlaps. \
     Independent: lookups overlap as CPU or kernel can make them. The empty loop is not subtracted. The paper has no such \
     figures.";

pub(super) const FENCES: &str = "Fences keep a lookup from overlapping with the next, and so hide what makes structures fast \
     in a stream of lookups; what remains is the latency of cache lines and of mispredicted branches.";

pub(super) const TICKS: &str = "Paper: REAL-Tier1-A, core cycles at 3.9 GHz, without an operating system. Here ticks are \
     time, the table is another, and the last cache is farther from the core the more cores a CPU has.";

pub(super) const COUNTERS: &str = "Counted over all passes and divided by their lookups; \"no lookup\" is what making \
     addresses and the loop take, and is included in the others. The paper has no such table; its section 4.6 explains cycles \
     by cache misses. A dash: the CPU does not count it.";

pub(super) const THREADS: &str = "Threads share one table, each on a core of its own. Where cores are a host's hyperthreads, \
     or other programs run, they share more than the table, and gain less than in the paper.";

pub(super) const SYN: &str = "SYN1 splits each prefix shorter than /24 into two and those shorter than /16 into four, SYN2 \
     those shorter than /24, /20 and /16 into two, four and eight; part i leads to next hop n + i.";

pub(super) const UPDATES: &str = "Poptrie with s = 18 in popfib's live form: Rib and Fib together, readers may look up \
     meanwhile. Times include reading the clock, some 25 ns. Replaced entries, leaves and nodes are per update.";

pub(super) const UPDATES_OF_PAPER: &str = "The paper's hour is of another table and other routes: how many replace nothing \
     decides the mean. A change builds the whole node that it is in again, so leaves are more than in the paper.";

pub(super) const SMALL_TABLES: &str = "No table has 100,000 routes: where a table fits into the first caches, the paper's \
     comparison says little.";
