package popfib

// The sections of metadata in; keys and values out, and from them who wrote an image, and what a
// table is called and made of.

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Source is where routes or records of a table come from. What is unknown is empty.
type Source struct {
	// Name is usually that of a file.
	Name string
	// Description is what the data is, in a line.
	Description string
	// Licence is the terms that it is under, in a line.
	Licence string
	// Date is the time of the data, as RFC 3339 has it: 2026-06-17 or 2026-06-17T19:00:00Z.
	Date string
}

type pair struct{ key, value string }

// metadataOf returns the lines of a section, which it verifies.
func metadataOf(s *section) ([]pair, error) {
	if !utf8.Valid(s.bytes) {
		return nil, s.broken(0, "it is not UTF-8")
	}
	tabs := 0
	for at, b := range s.bytes {
		switch {
		case b == '\t' && tabs == 0:
			tabs = 1
		case b == '\n' && tabs == 1:
			tabs = 0
		case b < ' ' || b == 0x7f:
			return nil, s.broken(at, "a line is malformed")
		}
	}
	if n := len(s.bytes); n > 0 && s.bytes[n-1] != '\n' {
		return nil, s.broken(n, "the last line is cut off")
	}
	var pairs []pair
	for line := range strings.Lines(string(s.bytes)) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		pairs = append(pairs, pair{key, value})
	}
	return pairs, nil
}

// describe takes what the lines say of a table.
func (t *Table) describe(s *section) error {
	pairs, err := metadataOf(s)
	if err != nil {
		return err
	}
	named := false
	for _, line := range pairs {
		if line.key == "source" {
			t.sources = append(t.sources, Source{Name: line.value})
			continue
		}
		if line.key == "name" && !named {
			t.name, named = line.value, true
		}
		if len(t.sources) == 0 {
			continue
		}
		source := &t.sources[len(t.sources)-1]
		switch line.key {
		case "description":
			source.Description = line.value
		case "licence":
			source.Licence = line.value
		case "date":
			source.Date = line.value
		}
	}
	if !named {
		return s.broken(0, "the table has no name")
	}
	return nil
}

// describe takes what the lines say of an image.
func (i *Image) describe(s *section) error {
	pairs, err := metadataOf(s)
	if err != nil {
		return err
	}
	// The first line of a key counts.
	seen := map[string]bool{}
	for _, line := range pairs {
		if seen[line.key] {
			continue
		}
		seen[line.key] = true
		switch line.key {
		case "writer":
			i.writer = line.value
		case "written":
			if seconds, err := strconv.ParseInt(line.value, 10, 64); err == nil {
				i.written = time.Unix(seconds, 0).UTC()
			}
		}
	}
	return nil
}
