//! The texts of the report that are the same whatever was measured.

/// What a ratio in a table is.
pub(super) const RATIOS: &str = "Ratios are medians over passes that ran next to each other, with the 95 % \
     confidence interval in parentheses; a question mark means that the passes do not decide which is faster, \
     or that the ratio is too close to 1.";

pub(super) const SUMMARY: &str = "Medians. Poptrie18 is the paper's layout and popfib18 this project's, both looked \
     up one address at a time as in the paper; \"batches\" is how popfib is meant to be used. In the paper Poptrie18 \
     is \
     1.34 times D18R and 1.52 times SAIL on REAL-Tier1-A.";

pub(super) const TABLES: &str = "The paper has 35 IPv4 tables from 2014 and 2015, of 508,700 to 532,637 routes with \
     9 to 530 next hops. Tables have doubled in size since then, and most new routes are /24.";

pub(super) const STREAMS: &str = "Random, repeated and sequential addresses are generated between the lookups, as in \
     the paper, so that no array of them competes for the cache. The time that this takes is shown below and not \
     subtracted. This machine is not the paper's: compare ratios between structures, not rates.";

pub(super) const OVERHEAD: &str = "The paper generates each address right before its lookup; here 256 are generated \
     and stored, then looked up. The difference comes from another CPU and from reading the stored addresses.";

pub(super) const VERIFICATION: &str = "Before anything is timed, every structure looks up the first and last address \
     of every range with one longest match (so every address where an answer can change, and its neighbours), one \
     address inside, and random addresses. The paper looks up all of IPv4. A structure with wrong answers is not \
     timed.";

pub(super) const DEPTH: &str = "The binary radix depth of an address is the number of its bits that decide its \
     longest match. Addresses no deeper than 18 are answered by the first array of Poptrie18 and D18R. The paper's \
     table has routes of an interior gateway protocol, many of them longer than /24; public tables do not have \
     these.";

pub(super) const FORMS: &str = "Basic and leafvec are without route aggregation: every route is compiled. \"popfib\" \
     is this project's layout, which stores the values of a node inside the node; its nodes are blocks, and its \
     leaves are those in blocks. The paper's radix tree takes 16 bytes or more per node, ours 8, so ours is smaller \
     and faster.";

pub(super) const FORMS_NOTE: &str = "Random addresses. popfib compiles from the routes in a Rib, the paper from a \
     binary radix tree. More routes and next hops make more nodes and leaves.";

pub(super) const TRAFFIC: &str = "random: uniform (IPv6: in 2000::/8). sequential: consecutive addresses; all passes \
     together cover IPv4 if a structure is fast enough. repeated: each random address sixteen times. routes: a \
     random host of a random route, the hardest pattern, in which all routes are equally likely. zipf: such hosts by \
     Zipf's law, most like the traffic of a router. good-cache: one host of each route in the order of the routes; \
     bad-cache: the same, shuffled.";

pub(super) const LOCALITY: &str = "Paper: REAL-Tier1-B. Sequential addresses take the same path as the address \
     before, so everything is in the first caches, and structures with the fewest instructions win, in the paper \
     too: SAIL.";

pub(super) const TRACES: &str = "A trace from another network has other addresses than the paper's, and a short \
     trace that is repeated stays in the caches. These are the reasons if ratios differ.";

pub(super) const LATENCY: &str = "Dependent: each address depends on the previous answer, so lookups do not overlap. \
     Independent: lookups overlap as far as CPU or kernel allow. The empty loop is not subtracted. The paper has no \
     such figures.";

pub(super) const FENCES: &str = "Fences keep a lookup from overlapping with the next, and so hide what makes structures fast \
     in a stream of lookups; what remains is the latency of cache misses and of mispredicted branches.";

pub(super) const TICKS: &str = "Paper: REAL-Tier1-A, core cycles at 3.9 GHz, without an operating system. Here ticks \
     are time, the table is another one, and the last-level cache is slower the more cores a CPU has.";

pub(super) const COUNTERS: &str = "Counted over all passes and divided by their lookups; \"no lookup\" is the cost \
     of generating addresses and of the loop, and is included in the others. The paper has no such table; its \
     section 4.6 explains cycles \
     by cache misses. A dash: the CPU does not count it.";

pub(super) const THREADS: &str = "Threads share one table, each on its own core. If cores are hyperthreads of a \
     host, or other programs run, threads share more than the table, and the gain is smaller than in the paper.";

pub(super) const SYN: &str = "SYN1 splits each prefix shorter than /24 into two and those shorter than /16 into four, SYN2 \
     those shorter than /24, /20 and /16 into two, four and eight; part i leads to next hop n + i.";

pub(super) const UPDATES: &str = "Poptrie with s = 18 as a live table of popfib: Rib and Fib together, while readers \
     may look up. Times include reading the clock, about 25 ns.";

pub(super) const UPDATES_OF_PAPER: &str = "The paper's hour of updates is of another table with other routes; the \
     share of updates that replace nothing decides the mean.";

pub(super) const SMALL_TABLES: &str = "No table has 100,000 routes: if a table fits into the first caches, the \
     paper's comparison says little.";
