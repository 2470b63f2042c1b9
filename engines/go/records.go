package popfib

// The sections of records in; verified columns out, and the code that a record has in each.

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"sync"
	"unicode/utf8"
)

// Types of values, by their numbers in images.
const (
	typeText = 1 + iota
	typeInteger
	typeUnsigned
	typeFloat
	typeBoolean
)

var typeNames = [...]string{typeText: "text", typeInteger: "integer", typeUnsigned: "unsigned integer", typeFloat: "float", typeBoolean: "boolean"}

// A column is the values of one name and type in all records. Its values are decoded when they are
// first asked for.
type column struct {
	name     string
	kind     uint8
	isList   bool
	count    uint32 // different values
	lists    uint32 // different lists
	values   []byte
	textEnds []byte
	listEnds []byte
	codes    []byte
	// Where in a row its code is: the first byte, the bits below, and how many bits.
	byteAt uint
	shift  uint8
	mask   uint64

	once    sync.Once
	decoded any // []T by code, the first of which is no value
}

// highest is the highest code.
func (c *column) highest() uint32 {
	if c.isList {
		return c.lists
	}
	return c.count
}

func (c *column) typeName() string {
	if c.isList {
		return "list of " + typeNames[c.kind] + "s"
	}
	return typeNames[c.kind]
}

// readRecords takes the columns of a table, if it has records.
func (t *Table) readRecords(of *tableSections) error {
	head := of.find(0, kindColumns)
	if head == nil {
		return nil
	}
	b := head.bytes
	if len(b) < 16 {
		return head.broken(0, "it is malformed")
	}
	count, width := u32(b, 0), uint64(u32(b, 4))
	rowBytes, valueColumn := u32(b, 8), uint64(u32(b, 12))
	namesAt := 16 + 16*width
	if width < 1 || width > maxColumns || valueColumn >= width || namesAt > uint64(len(b)) {
		return head.broken(4, "it is malformed")
	}
	t.recordCount, t.valueColumn = count, int(valueColumn)
	t.columns = make([]column, width)
	names := b[namesAt:]
	known := make(map[string]bool, width)
	bit := uint64(0)
	for n := range t.columns {
		at := 16 + 16*n
		entry, c := b[at:at+16], &t.columns[n]
		nameLen := uint64(u32(entry, 4))
		*c = column{kind: entry[0], isList: entry[1] == 1, count: u32(entry, 8), lists: u32(entry, 12)}
		if c.kind < typeText || c.kind > typeBoolean || entry[1] > 1 || !c.isList && c.lists != 0 || nameLen > uint64(len(names)) {
			return head.broken(at, "a column is malformed")
		}
		if !utf8.Valid(names[:nameLen]) {
			return head.broken(at, "the name of a column is not UTF-8")
		}
		c.name, names = string(names[:nameLen]), names[nameLen:]
		if known[c.name] {
			return head.broken(at, "two columns have one name")
		}
		known[c.name] = true
		if err := c.read(of, uint16(kindValues+kindsPerColumn*n)); err != nil {
			return err
		}
		codeBits := uint(0)
		if rowBytes > 0 {
			codeBits = uint(bits.Len32(c.highest()))
		}
		if uint(entry[2]) != codeBits {
			return head.broken(at, "its codes have other bits than its values need")
		}
		// A code of 0 bits is nowhere: after the last row might be no 8 bytes to read.
		if codeBits > 0 {
			c.byteAt, c.shift, c.mask = uint(bit/8), uint8(bit%8), 1<<codeBits-1
		}
		bit += uint64(codeBits)
	}
	if len(names) != 0 {
		return head.broken(len(b)-len(names), "more follows after the last name")
	}
	if rowBytes == 0 {
		if len(t.columns) != 1 || t.columns[0].highest() != count {
			return head.broken(8, "there are no rows")
		}
		return nil
	}
	if uint64(rowBytes) != max(1, (bit+7)/8) {
		return head.broken(8, "rows have another length than their codes need")
	}
	t.rowBytes = int(rowBytes)
	return t.readRows(of, bit)
}

// readRows verifies the rows, whose codes have so many bits in all.
func (t *Table) readRows(of *tableSections, bitsInAll uint64) error {
	rows, err := of.need(0, kindRows)
	if err != nil {
		return err
	}
	length := uint64(t.recordCount) * uint64(t.rowBytes)
	if uint64(len(rows.bytes)) != length+7 {
		return rows.broken(0, "it has another length than its records need")
	}
	if !allZero(rows.bytes[length:]) {
		return rows.broken(int(length), "the bytes after the rows are not 0")
	}
	t.rows = rows.bytes
	// The bits of the last byte of a row that no code has.
	unused := byte(0)
	if used := bitsInAll % 8; used != 0 || bitsInAll == 0 {
		unused = 0xff << used
	}
	for at := t.rowBytes - 1; at < int(length); at += t.rowBytes {
		if t.rows[at]&unused != 0 {
			return rows.broken(at, "a row has bits after its codes")
		}
	}
	for n := range t.columns {
		c, highest := &t.columns[n], uint64(t.columns[n].highest())
		if highest == c.mask {
			continue
		}
		at := c.byteAt
		for number := range t.recordCount {
			if binary.LittleEndian.Uint64(t.rows[at:at+8])>>c.shift&c.mask > highest {
				return rows.broken(int(at), fmt.Sprintf("record %d has no value in column %d", number+1, n+1))
			}
			at += uint(t.rowBytes)
		}
	}
	return nil
}

// read takes and verifies the sections of the values of a column, from this kind on.
func (c *column) read(of *tableSections, kind uint16) error {
	values, err := of.need(0, kind)
	if err != nil {
		return err
	}
	c.values = values.bytes
	switch c.kind {
	case typeText:
		if !utf8.Valid(c.values) {
			return values.broken(0, "its texts are not UTF-8")
		}
		ends, err := endsOf(of, kind+partTextEnds, uint64(c.count), uint64(len(c.values)), "a text")
		if err != nil {
			return err
		}
		c.textEnds = ends.bytes
		for n := range int(c.count) {
			// Where the whole is UTF-8, its parts are if none begins inside of a character.
			if end := int(u32(c.textEnds, 4*n)); end < len(c.values) && !utf8.RuneStart(c.values[end]) {
				return ends.broken(4*n, "a text ends inside of a character")
			}
		}
	case typeBoolean:
		if uint64(len(c.values)) != uint64(c.count) {
			return values.broken(0, "it has another number of values than its column")
		}
		for at, b := range c.values {
			if b > 1 {
				return values.broken(at, "a value is neither 0 nor 1")
			}
		}
	default:
		if uint64(len(c.values)) != 8*uint64(c.count) {
			return values.broken(0, "it has another number of values than its column")
		}
	}
	if !c.isList {
		return nil
	}
	codes, err := of.need(0, kind+partListCodes)
	if err != nil {
		return err
	}
	if len(codes.bytes)%4 != 0 {
		return codes.broken(0, "its length is no multiple of an element's")
	}
	ends, err := endsOf(of, kind+partListEnds, uint64(c.lists), uint64(len(codes.bytes)/4), "a list")
	if err != nil {
		return err
	}
	c.listEnds, c.codes = ends.bytes, codes.bytes
	for at := 0; at < len(c.codes); at += 4 {
		if code := u32(c.codes, at); code == 0 || code > c.count {
			return codes.broken(at, "an element has no value")
		}
	}
	return nil
}

// endsOf verifies words that say where each of so many parts of a whole ends.
func endsOf(of *tableSections, kind uint16, count, whole uint64, part string) (*section, error) {
	ends, err := of.need(0, kind)
	if err != nil {
		return nil, err
	}
	if uint64(len(ends.bytes)) != 4*count {
		return nil, ends.broken(0, "it has another length than its column says")
	}
	last := uint32(0)
	for at := 0; at < len(ends.bytes); at += 4 {
		end := u32(ends.bytes, at)
		if end < last {
			return nil, ends.broken(at, part+" does not end after its beginning")
		}
		last = end
	}
	if uint64(last) != whole {
		return nil, ends.broken(0, "the last one does not end where all do")
	}
	return ends, nil
}

// code is the code that a record has in a column; 0 is no value.
func (t *Table) code(c *column, number uint32) uint32 {
	if t.rowBytes == 0 || number == 0 {
		return number
	}
	at := uint(number-1)*uint(t.rowBytes) + c.byteAt
	return uint32(binary.LittleEndian.Uint64(t.rows[at:at+8]) >> c.shift & c.mask)
}
