// Package popfib looks up IP addresses in images: files of compiled routing tables, databases of
// countries or networks, and lists, which the command "popfib compile" writes.
//
//	table, err := popfib.Open("routes.fib")
//	record, found := table.Lookup(netip.MustParseAddr("192.0.2.1"))
//	prefix, record, found := table.Match(netip.MustParseAddr("2001:db8::7"))
//
// A [Table] does not change, and all its methods may be called by any number of goroutines. A
// lookup allocates nothing. A [Watcher] follows a file that is published again and again.
//
// Opening validates every byte of an image, so a file that is damaged or made to do harm is an
// error of one line, and never a panic, a hang or more memory than a few times its size.
//
// IPv4 and IPv6 never mix: an IPv4-mapped IPv6 address (::ffff:192.0.2.1) is an IPv6 address here,
// as in every other way to ask popfib. Call [net/netip.Addr.Unmap] first where such addresses mean
// IPv4, as those of a socket for both families do. A zone is ignored. The zero Addr has no match.
//
// The package is pure Go without unsafe or dependencies. It was written from the specification of
// the format, docs/image-format.md.
package popfib
