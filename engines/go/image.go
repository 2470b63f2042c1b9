package popfib

// Verified sections in; tables out, each with its families, and its records.

import (
	"fmt"
	"strings"
	"time"
)

// An Image is what one file has: one table, or several. It does not change.
type Image struct {
	tables  []*Table
	writer  string
	written time.Time
	unmap   func() error
}

// Tables returns all tables, in the order of the file.
func (i *Image) Tables() []*Table { return append([]*Table(nil), i.tables...) }

// Writer is the program that wrote the image, such as "popfib 0.1.0".
func (i *Image) Writer() string { return i.writer }

// Written is when that was; the zero time if it is not known.
func (i *Image) Written() time.Time { return i.written }

// Table returns the table of this name; an error has the names that there are.
func (i *Image) Table(name string) (*Table, error) {
	for _, table := range i.tables {
		if table.name == name {
			return table, nil
		}
	}
	return nil, fmt.Errorf("no table %q in %s", name, i.names())
}

// names are those of the tables, quoted, with commas.
func (i *Image) names() string {
	var names []string
	for _, table := range i.tables {
		names = append(names, fmt.Sprintf("%q", table.name))
	}
	return strings.Join(names, ", ")
}

// newImage verifies the bytes, which it keeps.
func newImage(bytes []byte) (*Image, error) {
	sections, err := sectionsOf(bytes)
	if err != nil {
		return nil, err
	}
	image := &Image{}
	var common *commonSections
	for number := uint32(0); number == 0 || len(sections) > 0; number++ {
		of := &tableSections{number: number, common: common}
		for len(sections) > 0 && sections[0].id.table == number {
			of.all = append(of.all, sections[0])
			sections = sections[1:]
		}
		metadata, err := of.need(0, kindMetadata)
		if err != nil {
			return nil, err
		}
		if number == 0 {
			err = image.describe(metadata)
			common = &commonSections{of: of, arenas: map[*section]*sharedArena{}}
		} else {
			var table *Table
			if table, err = newTable(image, of, metadata); err == nil {
				image.tables = append(image.tables, table)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	if len(image.tables) == 0 {
		return nil, &FormatError{headerLen, "section table", "there is no table"}
	}
	return image, nil
}

// commonSections are those of the image itself, of which tables may have some in common, and what was verified of these.
type commonSections struct {
	of      *tableSections
	records *records
	arenas  map[*section]*sharedArena
}

// tableSections are the sections of one table, or of the image itself.
type tableSections struct {
	number uint32
	all    []section
	common *commonSections
}

// find returns the section of this kind for keys of this width; nil if there is none. Records and arenas may be common.
func (of *tableSections) find(width, kind uint16) *section {
	found := of.own(width, kind)
	if of.common == nil || of.own(0, kindColumns) != nil {
		return found
	}
	isOfRecords := width == 0 && (kind == kindColumns || kind == kindRows || kind >= kindValues)
	isArena := kind == kindFib+2 || kind == kindLongest+2
	if isOfRecords || found == nil && isArena && of.own(width, kind-2) != nil {
		return of.common.of.own(width, kind)
	}
	return found
}

// own is find of the table's own sections.
func (of *tableSections) own(width, kind uint16) *section {
	id := sectionID{of.number, width, kind}
	low, high := 0, len(of.all)
	for low < high {
		middle := (low + high) / 2
		if of.all[middle].id.before(id) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low < len(of.all) && of.all[low].id == id {
		return &of.all[low]
	}
	return nil
}

// need is find where the section has to be there.
func (of *tableSections) need(width, kind uint16) (*section, error) {
	if found := of.find(width, kind); found != nil {
		return found, nil
	}
	return nil, &FormatError{headerLen, "section table", "no " + sectionID{of.number, width, kind}.String()}
}

// three returns the sections of this kind and the two after it: all of them or, without an error, none.
func (of *tableSections) three(width, kind uint16) (three [3]*section, err error) {
	there := 0
	for n := range three {
		if three[n] = of.find(width, kind+uint16(n)); three[n] != nil {
			there++
		}
	}
	if there == 0 || there == 3 {
		return three, nil
	}
	for n := range three {
		if _, err = of.need(width, kind+uint16(n)); err != nil {
			break
		}
	}
	return three, err
}

// A family is what a table has for keys of one width.
type family struct {
	// What lookups use: the FIB of next hops or, if there is none, that of longest matches.
	fib       fib
	isLongest bool
	longest   *fib
	routes    *routeArrays
	// How many routes it was compiled from.
	count int
}

// noRoutes answers 0 to every key.
var noRoutes = fib{root: make([]byte, 4)}

// newFamily verifies the sections of one family.
func newFamily(of *tableSections, width uint16, maxNextHop uint64) (family, error) {
	found := family{fib: noRoutes}
	values, err := of.three(width, kindFib)
	if err != nil {
		return found, err
	}
	longest, err := of.three(width, kindLongest)
	if err != nil {
		return found, err
	}
	routes, err := of.three(width, kindAddresses)
	if err != nil {
		return found, err
	}
	if longest[0] != nil {
		maxMatch := maxNextHop*uint64(width+1) + uint64(width)
		f, err := newFib(longest[0], longest[1], longest[2], uint(width), maxMatch, of.common.arenas)
		if err != nil {
			return found, err
		}
		found.fib, found.isLongest, found.longest, found.count = *f, true, f, int(f.routes)
	}
	if values[0] != nil {
		f, err := newFib(values[0], values[1], values[2], uint(width), maxNextHop, of.common.arenas)
		if err != nil {
			return found, err
		}
		if longest[0] != nil && f.routes != found.longest.routes {
			return found, longest[0].broken(24, "it has another number of routes than the other FIB")
		}
		found.fib, found.isLongest, found.count = *f, false, int(f.routes)
	}
	if routes[0] != nil {
		if longest[0] == nil {
			return found, routes[0].broken(0, "there is no longest-match FIB")
		}
		found.routes, err = newRoutes(routes[0], routes[1], routes[2], uint(width), uint64(found.count), maxNextHop)
	}
	return found, err
}

// newTable verifies the sections of a table.
func newTable(image *Image, of *tableSections, metadata *section) (*Table, error) {
	t := &Table{image: image}
	if err := t.describe(metadata); err != nil {
		return nil, err
	}
	maxNextHop := uint64(1<<31 - 1)
	isOwn := of.own(0, kindColumns) != nil
	if of.common.records != nil && !isOwn {
		t.records = *of.common.records
	} else if err := t.readRecords(of); err != nil {
		return nil, err
	}
	if !isOwn {
		of.common.records = &t.records
	}
	if t.columns != nil {
		maxNextHop = min(maxNextHop, uint64(t.recordCount))
	}
	var err error
	if t.v4, err = newFamily(of, 32, maxNextHop); err != nil {
		return nil, err
	}
	t.v6, err = newFamily(of, 128, maxNextHop)
	return t, err
}
