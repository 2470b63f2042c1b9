package popfib

// Records in; their values out, typed by [ColumnOf] or, one at a time, as any.

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"
)

// A Record is what the longest match of an address leads to: a row of values, each of which may be
// absent. The zero Record, and that of an address without a match, have no values. Records of one
// table are equal (==) if they are the same record.
type Record struct {
	table  *Table
	number uint32
}

// Number is the number of the record in its table, from 1 on; 0 if there is none. In a table without
// records it is all that there is of a route.
func (r Record) Number() uint32 { return r.number }

// Record returns the record with this number, which [Table.LookupBatch] returned; that of 0 has no values.
func (t *Table) Record(number uint32) Record {
	if t.columns != nil && number > t.recordCount {
		panic(fmt.Sprintf("popfib: there is no record %d of %d", number, t.recordCount))
	}
	return Record{t, number}
}

// Records is how many records the table has.
func (t *Table) Records() int { return int(t.recordCount) }

// A ColumnType says what the values of a column are.
type ColumnType struct {
	Name string
	// Type is "text", "integer", "unsigned integer", "float" or "boolean", or a list of these:
	// "list of texts".
	Type string
}

// Columns returns the names and types of all columns; none for a table without records.
func (t *Table) Columns() []ColumnType {
	types := make([]ColumnType, len(t.columns))
	for n := range t.columns {
		types[n] = ColumnType{t.columns[n].name, t.columns[n].typeName()}
	}
	return types
}

// A Value is what a column may have: text, integer, unsigned integer, float, boolean, or a list of these.
type Value interface {
	string | int64 | uint64 | float64 | bool | []string | []int64 | []uint64 | []float64 | []bool
}

// A Column returns the values of one column.
type Column[T Value] struct {
	table  *Table
	column *column
	values []T
}

// ColumnOf returns the column of this name. It is an error if there is none, or if its values are of
// another type than T; the error has the names or the type that there are. The first time, its values
// are decoded, each different one once: O(values).
func ColumnOf[T Value](t *Table, name string) (*Column[T], error) {
	c, err := t.column(name)
	if err != nil {
		return nil, err
	}
	values, is := c.all().([]T)
	if !is {
		var value T
		return nil, fmt.Errorf("column %q is of type %s, which is not %T", name, c.typeName(), value)
	}
	return &Column[T]{t, c, values}, nil
}

// Of returns the value that a record has, and whether it has one. A list is shared: it may not be
// changed. It panics for a record of another table.
func (c *Column[T]) Of(record Record) (T, bool) {
	if record.table != c.table && record.table != nil {
		panic("popfib: the record is of another table than the column " + strconv.Quote(c.column.name))
	}
	return c.At(record.number)
}

// At returns the value of the record with this number, as [Table.LookupBatch] returns it.
func (c *Column[T]) At(number uint32) (T, bool) {
	code := c.table.code(c.column, number)
	return c.values[code], code != 0
}

// column is the column of this name.
func (t *Table) column(name string) (*column, error) {
	for n := range t.columns {
		if t.columns[n].name == name {
			return &t.columns[n], nil
		}
	}
	if t.columns == nil {
		return nil, fmt.Errorf("no column %q: the table has no records", name)
	}
	names := make([]string, len(t.columns))
	for n := range names {
		names[n] = strconv.Quote(t.columns[n].name)
	}
	return nil, fmt.Errorf("no column %q in %s", name, strings.Join(names, ", "))
}

// all returns the values by their codes: a slice of the column's type, whose first element is no value.
func (c *column) all() any {
	c.once.Do(func() {
		switch c.kind {
		case typeText:
			c.decoded = withLists(c, c.texts())
		case typeInteger:
			c.decoded = withLists(c, numbers(c, func(bits uint64) int64 { return int64(bits) }))
		case typeUnsigned:
			c.decoded = withLists(c, numbers(c, func(bits uint64) uint64 { return bits }))
		case typeFloat:
			c.decoded = withLists(c, numbers(c, math.Float64frombits))
		case typeBoolean:
			values := make([]bool, 1+len(c.values))
			for n, b := range c.values {
				values[1+n] = b == 1
			}
			c.decoded = withLists(c, values)
		}
	})
	return c.decoded
}

func (c *column) texts() []string {
	// One copy, of which all texts are parts: they stay when a mapping is taken away.
	whole, values := string(c.values), make([]string, 1+c.count)
	start := uint32(0)
	for n := range int(c.count) {
		end := u32(c.textEnds, 4*n)
		values[1+n], start = whole[start:end], end
	}
	return values
}

func numbers[T any](c *column, of func(bits uint64) T) []T {
	values := make([]T, 1+c.count)
	for n := range int(c.count) {
		values[1+n] = of(binary.LittleEndian.Uint64(c.values[8*n:]))
	}
	return values
}

// withLists returns the lists of these values, if the column is one of lists, otherwise the values.
func withLists[T any](c *column, values []T) any {
	if !c.isList {
		return values
	}
	elements := make([]T, len(c.codes)/4)
	for n := range elements {
		elements[n] = values[u32(c.codes, 4*n)]
	}
	lists := make([][]T, 1+c.lists)
	start := uint32(0)
	for n := range int(c.lists) {
		end := u32(c.listEnds, 4*n)
		lists[1+n], start = elements[start:end:end], end
	}
	return lists
}

// Get returns the value that the record has in the column of this name: a string, int64, uint64,
// float64, bool or a slice of these; nil if it is absent, or there is no such column. [ColumnOf] is
// faster, and says if a column is not there.
func (r Record) Get(name string) any {
	if r.table == nil {
		return nil
	}
	c, err := r.table.column(name)
	if err != nil {
		return nil
	}
	return r.valueIn(c)
}

func (r Record) valueIn(c *column) any {
	code := r.table.code(c, r.number)
	if code == 0 {
		return nil
	}
	switch values := c.all().(type) {
	case []string:
		return values[code]
	case []int64:
		return values[code]
	case []uint64:
		return values[code]
	case []float64:
		return values[code]
	case []bool:
		return values[code]
	case [][]string:
		return values[code]
	case [][]int64:
		return values[code]
	case [][]uint64:
		return values[code]
	case [][]float64:
		return values[code]
	case [][]bool:
		return values[code]
	}
	return nil
}

// All goes through the names and values of all columns, absent ones (nil) too.
func (r Record) All() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		if r.table == nil {
			return
		}
		for n := range r.table.columns {
			c := &r.table.columns[n]
			if !yield(c.name, r.valueIn(c)) {
				return
			}
		}
	}
}

// String is the value of the record's main column, the one that the image says, as text: for a table of
// one value a route that value. It is what the command prints: elements of a list are separated by commas.
// It is "" if it is absent, and the number where there are no records.
func (r Record) String() string {
	if r.table == nil || r.number == 0 {
		return ""
	}
	if r.table.columns == nil {
		return strconv.FormatUint(uint64(r.number), 10)
	}
	return textOf(r.valueIn(&r.table.columns[r.table.valueColumn]))
}
