package popfib

// A key in; the answer of one FIB out, found as docs/image-format.md says. What is read here has been
// verified by check.go. Words are read from the bytes of the image, which a compiler turns into one
// load where bytes are little-endian, and which is right where they are not.

import (
	"encoding/binary"
	"math/bits"
)

// Bits of pointers.
const (
	bitNode   = 1 << 31
	bitWide   = 1 << 30
	bitFlat   = 1 << 29
	bitHalf   = 1
	placeMask = bitWide - 1
	pageMask  = bitNode - 1
	flatMask  = bitFlat - 2
	// Entries of 16 bits are below this.
	halfEnd = 1 << 15
)

// A fib is what keys of one width are looked up in.
type fib struct {
	root, arena []byte
	rootBits    uint
	pageBits    uint
	valueBits   uint
	// What the description says besides, for the checks.
	isFlat    bool
	maxAnswer uint32
	routes    uint64
}

// word is the word with this number.
func word(words []byte, at uint) uint32 {
	return binary.LittleEndian.Uint32(words[at*4 : at*4+4])
}

// wordPair is this word, and the next one in the upper half.
func wordPair(words []byte, at uint) uint64 {
	return binary.LittleEndian.Uint64(words[at*4 : at*4+8])
}

// lookup4 is the answer for an IPv4 address; 0 if there is none.
func (f *fib) lookup4(key uint32) uint32 {
	// Index above, what is left of the key below. Masks of shifts say that they are by less than 64.
	split := uint64(key) << (f.rootBits & 63)
	p := word(f.root, uint(split>>32))
	if p < bitNode {
		return p
	}
	return f.below4(p, uint32(split))
}

// below4 is the answer below a pointer of the root, by what is left of the key.
func (f *fib) below4(p, rest uint32) uint32 {
	if p&bitFlat != 0 {
		p = f.flatEntry(p, uint(rest>>26))
		if p < bitNode {
			return p
		}
		rest <<= stride
	}
	// The same loop is in lookup6: as a function it would be a call for each block.
	arena := f.arena
	for {
		place := uint(p & placeMask)
		// How many runs begin at or before the slot.
		count := uint(bits.OnesCount64(wordPair(arena, place) << (^(rest >> 26) & 63)))
		if p&bitWide == 0 {
			return narrow(arena, place, count, f.valueBits)
		}
		if p = word(arena, place+1+count); p < bitNode {
			return p
		}
		rest <<= stride
	}
}

// lookup6 is the answer for an IPv6 address, whose halves these are.
func (f *fib) lookup6(high, low uint64) uint32 {
	p := word(f.root, uint(high>>1>>((63-f.rootBits)&63)))
	if p < bitNode {
		return p
	}
	used, arena := f.rootBits, f.arena
	if f.pageBits != 0 {
		p = word(arena, uint(p&pageMask)+uint(high<<(used&63)>>((64-f.pageBits)&63)))
		if p < bitNode {
			return p
		}
		used += f.pageBits
	}
	// The upper half has what is left of the key. When the lower one has bits to give, they follow.
	high, low = high<<(used&63)|low>>1>>((63-used)&63), low<<(used&63)
	if p&bitFlat != 0 {
		for p >= bitNode {
			p = word(arena, uint(p&flatMask)+uint(high>>58))
			high, low = high<<stride|low>>(64-stride), low<<stride
		}
		return p
	}
	for {
		place := uint(p & placeMask)
		count := uint(bits.OnesCount64(wordPair(arena, place) << (^(high >> 58) & 63)))
		if p&bitWide == 0 {
			return narrow(arena, place, count, f.valueBits)
		}
		if p = word(arena, place+1+count); p < bitNode {
			return p
		}
		high, low = high<<stride|low>>(64-stride), low<<stride
	}
}

// narrow is the value of a narrow block of so many bits that ends the first `count` of them.
func narrow(arena []byte, place, count, valueBits uint) uint32 {
	// The word with its last bit and the one before, which is at worst the second of `runs`.
	last := count*valueBits - 1
	both := wordPair(arena, place+1+last/32)
	return uint32(both << (^last & 31) >> ((64 - valueBits) & 63))
}

// flatEntry is what the flat block has in this slot that the pointer leads to, for keys of up to 32 bits.
func (f *fib) flatEntry(p uint32, slot uint) uint32 {
	place := uint(p & flatMask)
	if p&bitHalf == 0 {
		return word(f.arena, place+slot)
	}
	at := place*4 + slot*2
	return uint32(binary.LittleEndian.Uint16(f.arena[at : at+2]))
}
