package popfib

// The sections of one FIB in; a fib that lookups may rely on out. Every pointer leads to a whole page
// or block inside the arena, no word belongs to two of them, and no way down is longer than the key, so
// each lookup ends and stays inside, and the walk that verifies this takes linear time.

import (
	"fmt"
	"math/bits"
)

const (
	descriptionLen = 40
	maxDirectBits  = 24
	maxRoutes      = 1<<31 - 1
	maxArenaWords  = 1<<29 - 1
	// The words 1, 0, 0, which no pointer leads to.
	idleWords = 3
	// Flat blocks begin at multiples of so many words.
	flatLine = 16
	// The bits that a block resolves.
	stride = 6
)

// A checker walks one FIB.
type checker struct {
	*fib
	width uint
	// Its arena has so many words.
	words uint64
	// A bit for each word that belongs to a block or page that has been seen, unless the arena is shared.
	owned  []uint64
	shared *sharedArena
	todo   []pending
}

// sharedArena is what is known of an arena that several FIBs have in common.
type sharedArena struct {
	// What is the same of all.
	valueBits uint
	maxAnswer uint32
	// By place and width of a block: how many blocks a lookup could pass from there on when it was met, the fewest; 0: it was not.
	room []uint8
}

// pending is a pointer to a block, and the bits of the key above it.
type pending struct {
	pointer uint32
	depth   uint8
}

// newFib verifies a FIB for keys of this width, whose answers are at most maxAnswer; what is known of common arenas is among these.
func newFib(description, root, arena *section, width uint, maxAnswer uint64, common map[*section]*sharedArena) (*fib, error) {
	d := description.bytes
	if len(d) != descriptionLen || d[5] > 1 || d[6] > 1 || d[7] != 0 || (d[3] != 16 && d[3] != 32) {
		return nil, description.broken(0, "it is malformed")
	}
	f := &fib{
		root: root.bytes, arena: arena.bytes,
		rootBits: uint(d[0]), pageBits: uint(d[1]), valueBits: uint(d[2]), isFlat: d[6] == 1,
		routes: u64(d, 24),
	}
	f.maxAnswer = uint32(min(maxAnswer, 1<<d[3]-1, 1<<31-1))
	if f.routes > maxRoutes {
		return nil, description.broken(24, "there are too many routes")
	}
	if f.routes == 0 {
		f.maxAnswer = 0
	}
	// Direct bits beyond the first 16 of long keys are page bits.
	maxRoot, maxPage := uint(maxDirectBits), uint(0)
	if width > 32 {
		maxRoot = 16
		if f.rootBits == 16 {
			maxPage = maxDirectBits - 16
		}
	}
	switch {
	case f.rootBits > maxRoot || f.pageBits > maxPage || f.valueBits < 1 || f.valueBits > 32:
		return nil, description.broken(0, "it is malformed")
	case uint64(len(f.root)) != 4<<f.rootBits:
		return nil, root.broken(0, "it has another length than its description says")
	case len(f.arena)%4 != 0 || len(f.arena) < 4*idleWords || len(f.arena)/4 > maxArenaWords:
		return nil, arena.broken(0, "its length is none that it can have")
	case word(f.arena, 0) != 1 || wordPair(f.arena, 1) != 0:
		return nil, arena.broken(0, "it does not begin with the words 1, 0, 0")
	}
	if width <= 32 && f.isFlat {
		if f.rootBits == 0 {
			return nil, description.broken(0, "size fastest is no longer read; compile the table again")
		}
		if f.rootBits+stride > width {
			return nil, description.broken(0, "its blocks resolve more bits than keys have")
		}
	}
	words := uint64(len(f.arena) / 4)
	c := checker{fib: f, width: width, words: words}
	if arena.id.table != 0 {
		c.owned = make([]uint64, words/64+1)
	} else {
		if c.shared = common[arena]; c.shared == nil {
			c.shared = &sharedArena{f.valueBits, f.maxAnswer, make([]uint8, 2*words)}
			common[arena] = c.shared
		}
		if f.isFlat || c.shared.valueBits != f.valueBits || c.shared.maxAnswer != f.maxAnswer {
			return nil, description.broken(0, "FIBs with one arena differ")
		}
	}
	if err := c.all(); err != nil {
		return nil, arena.broken(err.at*4, err.reason)
	}
	return f, nil
}

// layoutError says what is wrong, at this word of the arena or, if nothing better is known, at its beginning.
type layoutError struct {
	at     int
	reason string
}

func nowhere(pointer uint32) *layoutError {
	return &layoutError{0, fmt.Sprintf("pointer 0x%08x leads nowhere", pointer)}
}

// all walks from every pointer of the root.
func (c *checker) all() *layoutError {
	if err := c.own(0, idleWords); err != nil {
		return err
	}
	if c.isFlat && c.width <= 32 {
		return c.flatTable()
	}
	if c.isFlat {
		return c.longFlatTable()
	}
	depth := c.rootBits + c.pageBits
	for at := range uint(len(c.root) / 4) {
		entry := word(c.root, at)
		if entry < bitNode || c.pageBits == 0 {
			if err := c.pointer(entry, depth); err != nil {
				return err
			}
		} else {
			page, err := c.page(entry)
			if err != nil {
				return err
			}
			for n := range uint(1) << c.pageBits {
				if err := c.pointer(word(page, n), depth); err != nil {
					return err
				}
			}
		}
		if err := c.rest(); err != nil {
			return err
		}
	}
	return nil
}

// page takes the page that a pointer of the root leads to.
func (c *checker) page(entry uint32) ([]byte, *layoutError) {
	// A page carries no mark of width.
	place, length := uint64(entry&pageMask), uint64(1)<<c.pageBits
	if place+length > c.words {
		return nil, nowhere(entry)
	}
	return c.arena[place*4 : (place+length)*4], c.own(place, length)
}

// rest verifies the blocks that are to do, and all below them.
func (c *checker) rest() *layoutError {
	for len(c.todo) > 0 {
		last := c.todo[len(c.todo)-1]
		c.todo = c.todo[:len(c.todo)-1]
		if err := c.block(last.pointer, uint(last.depth)); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) answer(answer uint32) *layoutError {
	if answer > c.maxAnswer {
		return &layoutError{0, fmt.Sprintf("the answer %d is none there is", answer)}
	}
	return nil
}

// pointer verifies an answer, or notes the block that is to be verified.
func (c *checker) pointer(p uint32, depth uint) *layoutError {
	if p < bitNode {
		return c.answer(p)
	}
	if depth >= c.width {
		return &layoutError{int(p & placeMask), "a block is too deep"}
	}
	if c.shared != nil {
		at := uint64(p&placeMask)*2 + uint64(p>>30&1)
		if at >= uint64(len(c.shared.room)) {
			return nowhere(p)
		}
		room := uint8((c.width - depth + stride - 1) / stride)
		if least := c.shared.room[at]; least != 0 && least <= room {
			return nil
		}
		c.shared.room[at] = room
	}
	c.todo = append(c.todo, pending{p, uint8(depth)})
	return nil
}

// own takes so many words, all in the arena, which must have no owner, unless it is shared.
func (c *checker) own(place, length uint64) *layoutError {
	if c.shared != nil {
		return nil
	}
	for at, end := place, place+length; at < end; {
		next := min(end, (at/64+1)*64)
		mask := ^uint64(0) >> (64 - (next - at)) << (at % 64)
		if c.owned[at/64]&mask != 0 {
			return &layoutError{int(place), "a word has two owners"}
		}
		c.owned[at/64] |= mask
		at = next
	}
	return nil
}

// block verifies the block with runs that a pointer leads to.
func (c *checker) block(p uint32, depth uint) *layoutError {
	place := uint64(p & placeMask)
	if place+2 > c.words {
		return nowhere(p)
	}
	runs := wordPair(c.arena, uint(place))
	if runs&1 == 0 {
		return &layoutError{int(place), "a block has no first run"}
	}
	count := uint64(bits.OnesCount64(runs))
	length := count
	if p&bitWide == 0 {
		length = (count*uint64(c.valueBits) + 31) / 32
	}
	if place+2+length > c.words {
		return nowhere(p)
	}
	if err := c.own(place, 2+length); err != nil {
		return err
	}
	if p&bitWide != 0 {
		for n := range count {
			if err := c.pointer(word(c.arena, uint(place+2+n)), depth+stride); err != nil {
				return err
			}
		}
		return nil
	}
	if uint64(c.maxAnswer) >= 1<<c.valueBits-1 {
		return nil
	}
	for last := c.valueBits - 1; count > 0; count-- {
		both := wordPair(c.arena, uint(place)+1+last/32)
		if err := c.answer(uint32(both << (^last & 31) >> (64 - c.valueBits))); err != nil {
			return err
		}
		last += c.valueBits
	}
	return nil
}
