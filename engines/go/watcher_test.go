package popfib

// Files that are published, broken, removed and published again, while many goroutines look up.

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// publish puts a file in the place of another as a whole, as the command does.
func publish(t testing.TB, path string, image []byte) {
	t.Helper()
	next := path + ".next"
	if err := os.WriteFile(next, image, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
}

// until waits for a condition.
func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it took too long: ", what)
		}
	}
}

// generations are images whose every answer tells which one it is.
func generations(t testing.TB, count int) [][]byte {
	t.Helper()
	var images [][]byte
	for generation := range count {
		var lines strings.Builder
		// Other columns in another order, so that numbers of records differ too.
		for n := range 64 {
			fmt.Fprintf(&lines, `{"prefix":"10.%d.0.0/16","generation":%d,"part":%d}`+"\n", (n+generation*7)%64, generation, (n+generation*7)%64)
		}
		image, err := os.ReadFile(compile(t, lines.String(), "--columns", "*"))
		if err != nil {
			t.Fatal(err)
		}
		images = append(images, image)
	}
	return images
}

type whole struct {
	table            *Table
	generation, part *Column[int64]
}

func prepareWhole(table *Table) (whole, error) {
	generation, err := ColumnOf[int64](table, "generation")
	part, err2 := ColumnOf[int64](table, "part")
	return whole{table, generation, part}, errors.Join(err, err2)
}

func TestWatcherUnderLoad(t *testing.T) {
	images := generations(t, 5)
	path := filepath.Join(t.TempDir(), "t.fib")
	publish(t, path, images[0])
	var failures, reloads atomic.Int64
	w, err := WatchAs(path, prepareWhole, WithInterval(time.Millisecond),
		WithOnError(func(error) { failures.Add(1) }), WithOnReload(func() { reloads.Add(1) }))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var readers sync.WaitGroup
	var asked atomic.Int64
	done := make(chan struct{})
	for range 4 {
		readers.Add(1)
		go func() {
			defer readers.Done()
			for {
				select {
				case <-done:
					return
				default:
				}
				current := w.Current()
				first := int64(-1)
				for part := range 64 {
					record, found := current.table.Lookup(netip.AddrFrom4([4]byte{10, byte(part), 1, 2}))
					generation, _ := current.generation.Of(record)
					is, _ := current.part.Of(record)
					if !found || is != int64(part) || first >= 0 && generation != first {
						t.Errorf("%t, part %d of %d, generations %d and %d", found, is, part, generation, first)
						return
					}
					first = generation
				}
				asked.Add(64)
			}
		}()
	}
	generation := func() int64 {
		current := w.Current()
		record, _ := current.table.Lookup(netip.MustParseAddr("10.1.2.3"))
		value, _ := current.generation.Of(record)
		return value
	}
	rounds := 60
	if testing.Short() {
		rounds = 20
	}
	for round := 1; round <= rounds; round++ {
		image := images[round%len(images)]
		if round%3 == 0 {
			// Broken ones in between change nothing.
			before, was := failures.Load(), generation()
			damaged := bytes.Clone(image)
			damaged[len(damaged)/2+round] ^= 0x10
			publish(t, path, damaged)
			until(t, "an error", func() bool { return failures.Load() > before })
			if generation() != was {
				t.Fatal("a broken file changed the table")
			}
		}
		publish(t, path, image)
		until(t, "a new table", func() bool { return generation() == int64(round%len(images)) })
	}
	close(done)
	readers.Wait()
	if asked.Load() == 0 || reloads.Load() < int64(rounds)/2 {
		t.Errorf("%d lookups, %d reloads", asked.Load(), reloads.Load())
	}
}

func TestWatcherTellsOfEachFileOnce(t *testing.T) {
	good, err := os.ReadFile(recordsFile)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "t.fib")
	if _, err := Watch(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	publish(t, path, good)
	told := make(chan error, 1000)
	reloaded := make(chan bool, 1000)
	w, err := Watch(path, WithTable("country"), WithInterval(time.Millisecond), WithOnError(func(err error) { told <- err }), WithOnReload(func() { reloaded <- true }))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	first := w.Current()
	expect := func(text string) {
		t.Helper()
		if err := <-told; !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, not %q", err, text)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	expect("no such file")
	publish(t, path, good[:100])
	expect("cut off")
	publish(t, path, []byte("10.0.0.0/8 x\n"))
	expect("not a popfib image")
	time.Sleep(30 * time.Millisecond)
	if len(told) != 0 || len(reloaded) != 0 || w.Current() != first {
		t.Errorf("%d errors, %d reloads", len(told), len(reloaded))
	}
	if err := w.Reload(); !errors.Is(err, ErrNotImage) || w.Current() != first {
		t.Error(err)
	}
	publish(t, path, good)
	<-reloaded
	second := w.Current()
	if second == first || second.Name() != "country" {
		t.Error("the new table is not there")
	}
	if err := w.Reload(); err != nil || w.Current() == second {
		t.Error(err)
	}
	// Written in place, in two parts: not advised, and yet it ends well.
	if err := os.WriteFile(path, good[:200], 0o600); err != nil {
		t.Fatal(err)
	}
	expect("")
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	<-reloaded
	w.Close()
	w.Close()
	last := w.Current()
	publish(t, path, good)
	time.Sleep(10 * time.Millisecond)
	if w.Current() != last {
		t.Error("it follows after Close")
	}
}

func TestLookupsAllocateNothing(t *testing.T) {
	image, err := os.ReadFile(recordsFile)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "t.fib")
	publish(t, path, image)
	w, err := Watch(path, WithTable("records"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	city, err := ColumnOf[string](w.Current(), "names.city")
	tags, err2 := ColumnOf[[]string](w.Current(), "tags")
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	addresses := []netip.Addr{netip.MustParseAddr("10.1.2.3"), netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("fe80::1%a-long-zone"), {}}
	numbers := make([]uint32, len(addresses))
	if allocations := testing.AllocsPerRun(100, func() {
		table := w.Current()
		for _, address := range addresses {
			record, _ := table.Lookup(address)
			prefix, same, _ := table.Match(address)
			name, _ := city.Of(record)
			list, _ := tags.Of(record)
			if record != same || len(name)+len(list) > 100 || prefix.Bits() > 128 {
				t.Error("never")
			}
		}
		numbers = table.LookupBatch(addresses, numbers)
	}); allocations != 0 {
		t.Errorf("%g allocations", allocations)
	}
}
