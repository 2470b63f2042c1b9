// bart, a routing table in Go, on the files of one family.
//
//	peers fast|table FAMILY FOLDER PASSES
//
// The files are described in ../src/exchange.rs, the lines of output in
// ../src/run.rs. Addresses are netip.Addr before anything is measured; there
// is no batch call, so each is looked up by itself into a buffer of 256.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gaissmai/bart"
)

const (
	burst              = 256
	referenceEntries   = 1 << 18
	referenceAddresses = 1 << 24
	hugePage           = 2 << 20
	madvHugepage       = 14
	madvCollapse       = 25
)

// A table by what is asked of it. The loop over a burst is written for each
// type, so that its lookups are direct calls and not calls by interface.
type table struct {
	name   string
	insert func(netip.Prefix, uint32)
	lookup func(addresses []netip.Addr, nextHops *[burst]uint32)
}

type stream struct {
	name      string
	addresses []netip.Addr
	answers   []uint32
}

// One JSON line for each stream.
type line struct {
	Algorithm   string    `json:"algorithm"`
	Kernel      string    `json:"kernel"`
	Traffic     string    `json:"traffic"`
	Bytes       uint64    `json:"bytes"`
	BuildS      float64   `json:"build_s"`
	Refused     uint64    `json:"refused"`
	Wrong       uint64    `json:"wrong"`
	Mlps        []float64 `json:"mlps"`
	ReferenceLoop   []float64 `json:"reference"`
	HugeMib     uint64    `json:"huge_mib"`
	ResidentMib uint64    `json:"resident_mib"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bart:", err)
		os.Exit(2)
	}
}

func run(arguments []string) error {
	if len(arguments) != 4 {
		return fmt.Errorf("usage: peers fast|table ipv4|ipv6 FOLDER PASSES")
	}
	kind, family, folder := arguments[0], arguments[1], arguments[2]
	passes, err := strconv.Atoi(arguments[3])
	if err != nil || passes < 1 || (family != "ipv4" && family != "ipv6") {
		return fmt.Errorf("bad family or passes")
	}
	// Memory is not short, and a collection in a pass would be measured.
	debug.SetGCPercent(-1)
	switch kind {
	case "fast":
		t := new(bart.Fast[uint32])
		return measureAll(table{"bart Fast", t.Insert, func(addresses []netip.Addr, nextHops *[burst]uint32) {
			for i, address := range addresses {
				nextHops[i%burst], _ = t.Lookup(address)
			}
		}}, family, folder, passes)
	case "table":
		t := new(bart.Table[uint32])
		return measureAll(table{"bart Table", t.Insert, func(addresses []netip.Addr, nextHops *[burst]uint32) {
			for i, address := range addresses {
				nextHops[i%burst], _ = t.Lookup(address)
			}
		}}, family, folder, passes)
	}
	return fmt.Errorf("there is no table `%s`", kind)
}

func measureAll(t table, family, folder string, passes int) error {
	prefixes, nextHops, err := readTable(folder, family)
	if err != nil {
		return err
	}
	before := heap()
	start := time.Now()
	for i, prefix := range prefixes {
		t.insert(prefix, nextHops[i])
	}
	build := time.Since(start).Seconds()
	bytes := heap() - before

	var streams []stream
	for _, name := range []string{"random", "routes", "zipf"} {
		s, err := readStream(folder, family, name)
		if err != nil {
			return err
		}
		streams = append(streams, s)
	}
	y := newReferenceLoop()
	if err := moveToHugePages(); err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	for _, s := range streams {
		l := line{Algorithm: t.name, Kernel: "scalar", Traffic: s.name, Bytes: bytes, BuildS: build}
		l.Wrong = countWrong(t, s)
		// One pass of each that does not count brings tables and pages in.
		y.pass()
		pass(t, s.addresses, nil)
		for range passes {
			start := time.Now()
			y.pass()
			l.ReferenceLoop = append(l.ReferenceLoop, rate(referenceAddresses, start))
			start = time.Now()
			pass(t, s.addresses, nil)
			l.Mlps = append(l.Mlps, rate(len(s.addresses), start))
		}
		l.HugeMib, l.ResidentMib = memoryMib("AnonHugePages:"), memoryMib("Rss:")
		if err := out.Encode(l); err != nil {
			return err
		}
	}
	runtime.KeepAlive(prefixes)
	runtime.KeepAlive(nextHops)
	return nil
}

func rate(count int, start time.Time) float64 {
	return float64(count) / time.Since(start).Seconds() / 1e6
}

// Calls `each` with every burst of addresses and its next hops, 0 for no route.
func pass(t table, addresses []netip.Addr, each func(nextHops []uint32)) {
	var nextHops [burst]uint32
	for len(addresses) > 0 {
		n := min(burst, len(addresses))
		t.lookup(addresses[:n], &nextHops)
		if each != nil {
			each(nextHops[:n])
		}
		addresses = addresses[n:]
	}
}

func countWrong(t table, s stream) (wrong uint64) {
	answers := s.answers
	pass(t, s.addresses, func(nextHops []uint32) {
		for i, nextHop := range nextHops {
			if nextHop != answers[i] {
				wrong++
			}
		}
		answers = answers[len(nextHops):]
	})
	return wrong
}

// The reference loop of popfib: the same loop over the same numbers.
type reference struct {
	table     *[referenceEntries]uint32
	addresses []uint32
}

var referenceSum uint32

func newReferenceLoop() reference {
	y := reference{new([referenceEntries]uint32), make([]uint32, referenceAddresses)}
	var state uint64
	next := func() uint32 { // SplitMix64, seed 0
		state += 0x9e3779b97f4a7c15
		z := state
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return uint32(z ^ z>>31)
	}
	for i := range y.table {
		y.table[i] = next()
	}
	for i := range y.addresses {
		y.addresses[i] = next()
	}
	return y
}

//go:noinline
func (y reference) pass() {
	// Unrolled by hand, as other compilers do: the same loop must take the same
	// time in every program, or ratios would not compare. Four at a time, as
	// popfib's is compiled, are still 6 % slower in Go; eight are within 4 %.
	t, sum := y.table, uint32(0)
	for rest := y.addresses; len(rest) >= 8; rest = rest[8:] {
		a := (*[8]uint32)(rest)
		sum += t[a[0]>>14] + t[a[1]>>14] + t[a[2]>>14] + t[a[3]>>14]
		sum += t[a[4]>>14] + t[a[5]>>14] + t[a[6]>>14] + t[a[7]>>14]
	}
	referenceSum = sum
}

// Bytes on the heap that are in use.
func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func readTable(folder, family string) (prefixes []netip.Prefix, nextHops []uint32, err error) {
	bytes, err := os.ReadFile(filepath.Join(folder, "table"))
	if err != nil {
		return nil, nil, err
	}
	width := 4
	if family == "ipv6" {
		width = 16
	}
	for ; len(bytes) >= 24; bytes = bytes[24:] {
		address, _ := netip.AddrFromSlice(bytes[:width])
		length := binary.NativeEndian.Uint32(bytes[16:])
		prefixes = append(prefixes, netip.PrefixFrom(address, int(length)))
		nextHops = append(nextHops, binary.NativeEndian.Uint32(bytes[20:]))
	}
	return prefixes, nextHops, nil
}

func readStream(folder, family, name string) (s stream, err error) {
	s.name = name
	bytes, err := os.ReadFile(filepath.Join(folder, name+".addresses"))
	if err != nil {
		return s, err
	}
	if family == "ipv6" {
		s.addresses = make([]netip.Addr, len(bytes)/16)
		for i := range s.addresses {
			s.addresses[i] = netip.AddrFrom16([16]byte(bytes[16*i:]))
		}
	} else {
		s.addresses = make([]netip.Addr, len(bytes)/4)
		for i := range s.addresses {
			var network [4]byte
			binary.BigEndian.PutUint32(network[:], binary.NativeEndian.Uint32(bytes[4*i:]))
			s.addresses[i] = netip.AddrFrom4(network)
		}
	}
	bytes, err = os.ReadFile(filepath.Join(folder, name+".answers"))
	if err != nil {
		return s, err
	}
	s.answers = make([]uint32, len(bytes)/4)
	for i := range s.answers {
		s.answers[i] = binary.NativeEndian.Uint32(bytes[4*i:])
	}
	if len(s.answers) != len(s.addresses) {
		return s, fmt.Errorf("%s: not one answer for each address", name)
	}
	return s, nil
}

// Puts all large writable memory of this process, the heap that is, on huge
// pages. Go asks the kernel for none; a refusal leaves ordinary pages.
func moveToHugePages() error {
	file, err := os.Open("/proc/self/maps")
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var start, end uintptr
		var access string
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x %s", &start, &end, &access); err != nil {
			return err
		}
		if strings.HasPrefix(access, "rw-p") && end-start >= 4<<20 {
			syscall.Syscall(syscall.SYS_MADVISE, start, end-start, madvHugepage)
			// Page by page: where one cannot be, the rest still are.
			for page := (start + hugePage - 1) &^ (hugePage - 1); page+hugePage <= end; page += hugePage {
				syscall.Syscall(syscall.SYS_MADVISE, page, hugePage, madvCollapse)
			}
		}
	}
	return lines.Err()
}

// A line of the kernel's account of this process, 0 where there is none.
func memoryMib(name string) uint64 {
	account, _ := os.ReadFile("/proc/self/smaps_rollup")
	for text := range strings.Lines(string(account)) {
		if rest, ok := strings.CutPrefix(text, name); ok {
			kib, _ := strconv.ParseUint(strings.Fields(rest)[0], 10, 64)
			return kib / 1024
		}
	}
	return 0
}
