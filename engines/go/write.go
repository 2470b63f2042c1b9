package popfib

// Sections in their order in; the bytes of an image out.

import (
	"encoding/binary"
	"hash/crc32"
)

// words are bytes that numbers are added to.
type words []byte

func (w *words) add(word uint32)   { *w = binary.LittleEndian.AppendUint32(*w, word) }
func (w *words) add64(word uint64) { *w = binary.LittleEndian.AppendUint64(*w, word) }

// An imageWriter has the sections of an image.
type imageWriter struct{ sections []section }

// add adds a section; all are added in the order of table, key width and kind.
func (w *imageWriter) add(table uint32, width, kind uint16, bytes []byte) {
	w.sections = append(w.sections, section{id: sectionID{table, width, kind}, bytes: bytes})
}

// image arranges all sections, each at a multiple of 64.
func (w *imageWriter) image() []byte {
	end := uint64(headerLen + entryLen*len(w.sections))
	var table words
	for n := range w.sections {
		s := &w.sections[n]
		s.start = (end + alignment - 1) / alignment * alignment
		end = s.start + uint64(len(s.bytes))
		table.add(s.id.table)
		table.add(uint32(s.id.width) | uint32(s.id.kind)<<16)
		table.add64(s.start)
		table.add64(uint64(len(s.bytes)))
		table.add(crc32.ChecksumIEEE(s.bytes))
		table.add(0)
	}
	image := make(words, 0, end)
	image = append(image, magic...)
	image.add(major)
	image.add(uint32(len(w.sections)))
	image.add64(end)
	image.add(crc32.ChecksumIEEE(table))
	image = append(image, make([]byte, 32)...)
	image.add(crc32.ChecksumIEEE(image))
	image = append(image, table...)
	image = image[:end]
	for _, s := range w.sections {
		copy(image[s.start:], s.bytes)
	}
	return image
}
