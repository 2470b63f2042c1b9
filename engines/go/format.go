package popfib

// The bytes of an image in; its sections out, every byte of which has been verified: header, section
// table, checksums, and the zeros between sections. What sections mean is in the other files.

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

const (
	magic     = "\x89POPFIB\n"
	major     = 3
	headerLen = 64
	entryLen  = 32
	alignment = 64
)

// Kinds of sections.
const (
	kindMetadata    = 1
	kindColumns     = 4
	kindRows        = 5
	kindFib         = 16
	kindAddresses   = 32
	kindLengths     = 33
	kindNextHops    = 34
	kindLongest     = 48
	kindValues      = 64
	partTextEnds    = 1
	partListEnds    = 2
	partListCodes   = 3
	kindsPerColumn  = 4
	maxColumns      = 4096
	kindAfterValues = kindValues + kindsPerColumn*maxColumns
)

// ErrNotImage is the error for bytes that do not begin like an image.
var ErrNotImage = errors.New("not a popfib image: `popfib compile FILE --columns '*' -o IMAGE` makes one of a MaxMind database, CSV or another table")

// VersionError is the error for an image of a major version that this package does not know.
type VersionError struct {
	Major, Minor uint16
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("an image of version %d.%d; this program reads version %d: make it again with `popfib compile`",
		e.Major, e.Minor, major)
}

// FormatError is the error for an image that is cut off, damaged or malicious.
type FormatError struct {
	// Offset is where in the file it was noticed, in bytes from the beginning.
	Offset uint64
	// Section is the part of the image, such as "IPv4 FIB arena".
	Section string
	// Reason is what is wrong there.
	Reason string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("byte %d (%s): %s", e.Offset, e.Section, e.Reason)
}

// sectionID is the order of sections: table, key width, kind.
type sectionID struct {
	table       uint32
	width, kind uint16
}

func (id sectionID) before(other sectionID) bool {
	if id.table != other.table {
		return id.table < other.table
	}
	if id.width != other.width {
		return id.width < other.width
	}
	return id.kind < other.kind
}

var sectionNames = map[uint16]string{
	kindMetadata: "metadata", kindColumns: "columns of the records", kindRows: "rows of the records",
	kindFib: "FIB description", kindFib + 1: "FIB root table", kindFib + 2: "FIB arena",
	kindAddresses: "route addresses", kindLengths: "route lengths", kindNextHops: "route next hops",
	kindLongest: "longest-match FIB description", kindLongest + 1: "longest-match FIB root table",
	kindLongest + 2: "longest-match FIB arena",
}

// String is the name of the section in messages.
func (id sectionID) String() string {
	name := sectionNames[id.kind]
	switch {
	case id.width == 0 && id.kind >= kindValues && id.kind < kindAfterValues:
		part := [kindsPerColumn]string{"values", "ends of texts", "ends of lists", "elements of lists"}[id.kind%kindsPerColumn]
		name = fmt.Sprintf("%s of column %d", part, (id.kind-kindValues)/kindsPerColumn+1)
	case name == "":
		name = fmt.Sprintf("section of kind %d, %d bits", id.kind, id.width)
	case id.width == 32:
		name = "IPv4 " + name
	case id.width == 128:
		name = "IPv6 " + name
	}
	if id.table > 1 {
		name = fmt.Sprintf("%s of table %d", name, id.table)
	}
	return name
}

// A section is a part of the image.
type section struct {
	id    sectionID
	start uint64
	bytes []byte
}

// broken is the error that something is wrong so many bytes after the section's beginning.
func (s *section) broken(at int, reason string) error {
	return &FormatError{s.start + uint64(at), s.id.String(), reason}
}

func u16(b []byte, at int) uint16 { return binary.LittleEndian.Uint16(b[at:]) }
func u32(b []byte, at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
func u64(b []byte, at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }

// checkHeader verifies the first 64 bytes, and returns the length that they give the image.
func checkHeader(header []byte) (uint64, error) {
	broken := func(at uint64, reason string) error { return &FormatError{at, "header", reason} }
	if !bytes.HasPrefix(header, []byte(magic)) {
		return 0, ErrNotImage
	}
	if len(header) < headerLen {
		return 0, cutOff(uint64(len(header)), headerLen)
	}
	// Before the checksum: another version may have another header.
	if u16(header, 8) != major {
		return 0, &VersionError{u16(header, 8), u16(header, 10)}
	}
	if crc32.ChecksumIEEE(header[:60]) != u32(header, 60) {
		return 0, broken(0, "the checksum does not match")
	}
	if !allZero(header[28:60]) {
		return 0, broken(28, "a reserved byte is not 0")
	}
	return u64(header, 16), nil
}

func cutOff(given, expected uint64) error {
	return &FormatError{given, "header", fmt.Sprintf("cut off at byte %d of %d", given, expected)}
}

// sectionsOf returns the sections in their order. The slices share the image's memory.
func sectionsOf(image []byte) ([]section, error) {
	length, err := checkHeader(image[:min(headerLen, len(image))])
	if err != nil {
		return nil, err
	}
	given := uint64(len(image))
	if given < length {
		return nil, cutOff(given, length)
	}
	if given > length {
		return nil, &FormatError{length, "header", fmt.Sprintf("%d bytes follow the image's %d", given-length, length)}
	}
	count := uint64(u32(image, 12))
	if count*entryLen > given-headerLen {
		return nil, &FormatError{12, "header", "the section table is longer than the image"}
	}
	end := headerLen + count*entryLen
	table := image[headerLen:end]
	if crc32.ChecksumIEEE(table) != u32(image, 24) {
		return nil, &FormatError{headerLen, "header", "the checksum of the section table does not match"}
	}
	sections := make([]section, 0, count)
	for at := 0; at < len(table); at += entryLen {
		entry := table[at : at+entryLen]
		id := sectionID{u32(entry, 0), u16(entry, 4), u16(entry, 6)}
		broken := func(reason string) error {
			return &FormatError{uint64(headerLen + at), "section table: " + id.String(), reason}
		}
		if n := len(sections); n > 0 && !sections[n-1].id.before(id) {
			return nil, broken("sections are not in order")
		}
		start := (end + alignment - 1) / alignment * alignment
		if u64(entry, 8) != start {
			return nil, broken("it does not begin where the section before it ends")
		}
		if start > given || u64(entry, 16) > given-start {
			return nil, broken("it ends beyond the image")
		}
		if u32(entry, 28) != 0 {
			return nil, broken("a reserved byte is not 0")
		}
		if !allZero(image[end:start]) {
			return nil, broken("a byte before it is not 0")
		}
		end = start + u64(entry, 16)
		s := section{id, start, image[start:end:end]}
		if crc32.ChecksumIEEE(s.bytes) != u32(entry, 24) {
			return nil, s.broken(0, "the checksum does not match")
		}
		sections = append(sections, s)
	}
	if end != given {
		return nil, &FormatError{16, "header", "the image is longer than its sections"}
	}
	return sections, nil
}

func allZero(b []byte) bool {
	for _, one := range b {
		if one != 0 {
			return false
		}
	}
	return true
}
