package popfib

// The same as check.go of flat FIBs, whose blocks have their entries one by one. Several pointers may
// lead to one flat block, which is verified once.

const (
	flatPlace = flatMask &^ 1
	// The bits that say what a pointer leads to, and what they are of one to a flat block.
	pointerBits = bitNode | bitWide | bitFlat
	toFlat      = bitNode | bitFlat
)

// flatTable verifies a table of keys of up to 32 bits: every entry of the root leads to a flat block.
func (c *checker) flatTable() *layoutError {
	depth := c.rootBits + stride
	// A bit for each place that a block without halves, and one with, may have.
	seen := make([]uint64, c.words/flatLine/32+1)
	for at := range uint(len(c.root) / 4) {
		entry := word(c.root, at)
		place, isHalf := uint64(entry&flatPlace), entry&bitHalf != 0
		length := uint64(1) << stride
		number := place / flatLine * 2
		if isHalf {
			length /= 2
			number++
		}
		if entry&pointerBits != toFlat || place%flatLine != 0 || place+length > c.words {
			return nowhere(entry)
		}
		if seen[number/64]>>(number%64)&1 != 0 {
			continue
		}
		seen[number/64] |= 1 << (number % 64)
		if err := c.own(place, length); err != nil {
			return err
		}
		for n := range uint(length) {
			value := word(c.arena, uint(place)+n)
			if !isHalf {
				if err := c.pointer(value, depth); err != nil {
					return err
				}
				continue
			}
			for _, half := range [2]uint32{value & 0xffff, value >> 16} {
				if half >= halfEnd {
					return nowhere(half)
				}
				if err := c.answer(half); err != nil {
					return err
				}
			}
		}
		if err := c.rest(); err != nil {
			return err
		}
	}
	return c.rest()
}

// longFlatTable verifies a table of longer keys, all of whose blocks are flat. They are verified from the
// highest place down: each when all pointers to it have been seen, and so once.
func (c *checker) longFlatTable() *layoutError {
	// By the line that a block begins: the most bits above it plus one, or 0 if nothing leads there.
	depths := make([]uint8, c.words/flatLine+1)
	for at := range uint(len(c.root) / 4) {
		entry := word(c.root, at)
		if entry < bitNode || c.pageBits == 0 {
			if err := c.longPointer(entry, c.rootBits, depths); err != nil {
				return err
			}
			continue
		}
		page, err := c.page(entry)
		if err != nil {
			return err
		}
		for n := range uint(1) << c.pageBits {
			if err := c.longPointer(word(page, n), c.rootBits+c.pageBits, depths); err != nil {
				return err
			}
		}
	}
	for line := len(depths) - 1; line >= 0; line-- {
		if depths[line] == 0 {
			continue
		}
		place, depth := uint64(line)*flatLine, uint(depths[line])-1
		if err := c.own(place, 1<<stride); err != nil {
			return err
		}
		for n := range uint(1) << stride {
			entry := word(c.arena, uint(place)+n)
			if entry >= bitNode && uint64(entry&flatPlace) >= place {
				return nowhere(entry)
			}
			if err := c.longPointer(entry, depth+stride, depths); err != nil {
				return err
			}
		}
	}
	return nil
}

// longPointer verifies a pointer after so many bits, but for the block that it leads to, whose depth it notes.
func (c *checker) longPointer(p uint32, depth uint, depths []uint8) *layoutError {
	if p < bitNode {
		return c.answer(p)
	}
	place := uint64(p & flatPlace)
	if p&^uint32(flatPlace) != toFlat || place%flatLine != 0 || place+1<<stride > c.words {
		return nowhere(p)
	}
	if depth >= c.width {
		return &layoutError{int(place), "a block is too deep"}
	}
	noted := &depths[place/flatLine]
	*noted = max(*noted, uint8(depth+1))
	return nil
}
