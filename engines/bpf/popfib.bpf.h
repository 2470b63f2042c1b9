/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only
 *
 * Longest-prefix match in BPF programs (XDP, tc and others), in tables that `popfib xdp load` keeps in a pinned map.
 *
 *	#include <linux/bpf.h>
 *	#include <bpf/bpf_helpers.h>
 *	#include "popfib.bpf.h"
 *
 *	POPFIB_MAP(popfib);
 *
 *	void *table = popfib_table(&popfib);
 *	if (!table)
 *		return XDP_PASS;
 *	__u32 number = popfib_lookup4(table, ip->daddr);	(0: no match)
 *
 * The map is an array of maps with one slot. What is in the slot is one table, of both families: an array of rows of 4 KiB.
 * Row 0 is the header; it says where the tables of both families begin and what form they have. Their words are those of
 * popfib's images (docs/image-format.md, "root table and arena"), unchanged. So no constant of a program depends on a table,
 * and `popfib xdp load` exchanges the whole table by one store. A program that takes the table once for a packet sees one
 * table, whatever is loaded meanwhile.
 *
 * Each access of a row is a lookup in an array, which the kernel bounds. So whatever the words are, a lookup reads inside of the
 * map and ends after a fixed number of steps.
 *
 * Little-endian machines only, as images. Loads with CAP_BPF and CAP_NET_ADMIN; tested with clang 14 on Linux 6.1, 6.12 and 6.18.
 * docs/xdp.md is the guide.
 */
#ifndef POPFIB_BPF_H
#define POPFIB_BPF_H

/* Declares the map. It is pinned by its name in the folder that the program's loader pins maps in (libbpf: pin_root_path), where
 * `popfib xdp load --pin FOLDER` finds it or has left it. */
#define POPFIB_MAP(map)                                                                                                        \
	struct {                                                                                                               \
		__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);                                                                      \
		__uint(key_size, sizeof(__u32));                                                                               \
		__uint(value_size, sizeof(__u32));                                                                             \
		__uint(max_entries, 1);                                                                                        \
		__uint(pinning, LIBBPF_PIN_BY_NAME);                                                                           \
		__array(values, struct popfib_any_size);                                                                       \
	} map SEC(".maps")

/* Words of a row, and those of the next row that it repeats, so that a block that begins in a row is in it as a whole. */
#define POPFIB_ROW 1024
#define POPFIB_TAIL 66

struct popfib_row {
	__u32 words[POPFIB_ROW + POPFIB_TAIL];
};

/* What the slot holds if the program came before `popfib xdp load`: tables of any number of rows. */
struct popfib_any_size {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct popfib_row));
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE | BPF_F_INNER_MAP);
};

/* Where a Fib is in the map, and its form. Places are numbers of words, POPFIB_ROW in each row. Of several tables their roots lie
 * side by side, by their ids, and all lead into one arena. */
struct popfib_fib {
	__u32 root, arena; /* where they begin */
	__u32 root_bits, page_bits, value_bits, value_mask;
	__u32 tables; /* how many; 0: there is no such Fib */
	__u32 of_loader[9];
};

struct popfib_header {
	__u32 magic, version, rows, generation;
	__u32 values, value_count; /* what popfib_value answers: where they begin, and how many there are, 0 among them */
	__u32 of_loader[3];
	__u32 ipv6_values; /* added to the numbers of IPv6, whose values come after those of IPv4; 0 if both share them */
	__u32 more_of_loader[6];
	struct popfib_fib lookup4, lookup6, match4, match6;
};

/* A pointer of the root or a block: docs/image-format.md. */
#define POPFIB_NODE (1u << 31)
#define POPFIB_WIDE (1u << 30)
#define POPFIB_FLAT (1u << 29)
#define POPFIB_ROUTE (POPFIB_WIDE | POPFIB_FLAT)
#define POPFIB_PLACE (POPFIB_FLAT - 1)
#define POPFIB_FLAT_PLACE (POPFIB_FLAT - 2)
#define POPFIB_HALF 1u

/* The row that word `place` is in. */
static __always_inline const struct popfib_row *popfib_row(void *table, __u32 place)
{
	/* The kernel reads the first 4 bytes. All 8 are written: half of a place where the compiler had kept a pointer before may
	 * not be, without CAP_PERFMON. */
	__u64 number = place / POPFIB_ROW;

	return bpf_map_lookup_elem(table, &number);
}

/* A word that others may store meanwhile. */
static __always_inline __u32 popfib_load(const __u32 *word)
{
	return *(const volatile __u32 *)word;
}

static __always_inline __u32 popfib_word(void *table, __u32 place)
{
	const struct popfib_row *row = popfib_row(table, place);

	return row ? popfib_load(&row->words[place % POPFIB_ROW]) : 0;
}

static __always_inline const struct popfib_header *popfib_header(void *table)
{
	return (const void *)popfib_row(table, 0);
}

static __always_inline __u32 popfib_ones(__u64 x)
{
	x -= (x >> 1) & 0x5555555555555555ull;
	x = (x & 0x3333333333333333ull) + ((x >> 2) & 0x3333333333333333ull);
	x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0full;
	return (x * 0x0101010101010101ull) >> 56;
}

/* What the block that `pointer` leads to holds for a key of which these bits are left; of flat blocks those with whole words. Several
 * tables also have wide blocks whose first value is that of all slots without a bit, and blocks of one route: its bits with a one
 * after them, its number, and the one around it. */
static __always_inline __u32 popfib_step(void *table, const struct popfib_fib *fib, __u32 pointer, __u32 left)
{
	__u32 kind = pointer & POPFIB_ROUTE;
	__u32 slot = left >> 26;
	__u32 place = fib->arena + (kind == POPFIB_FLAT ? (pointer & POPFIB_FLAT_PLACE) + slot : pointer & POPFIB_PLACE);
	const struct popfib_row *row = popfib_row(table, place);
	const __u32 *block;
	__u32 run, bit;
	__u64 runs, up_to;

	if (!row)
		return 0;
	block = &row->words[place % POPFIB_ROW];
	if (kind == POPFIB_FLAT)
		return popfib_load(block);
	if (kind == POPFIB_ROUTE) {
		__u32 end = block[0] & -block[0];

		return block[1] >> ((block[0] ^ left) & -(end << 1) ? 16 : 0) & 0xffff;
	}
	runs = block[0] | (__u64)block[1] << 32;
	up_to = runs << (63 - slot);
	/* All bits, or none where it is the first value: a branch before a pointer is refused without CAP_PERFMON. */
	run = (popfib_ones(up_to) - (__u32)(runs & 1)) & (__s64)(up_to | runs << 63) >> 63 & 63;
	if (kind == POPFIB_WIDE)
		return popfib_load(&block[2 + run]);
	bit = run * fib->value_bits;
	block += 2 + (bit / 32 & 63);
	return ((block[0] | (__u64)block[1] << 32) >> (bit & 31)) & fib->value_mask;
}

/* What the root of the table of this id holds for an address that begins with these bits. */
static __always_inline __u32 popfib_root(void *table, const struct popfib_fib *fib, __u32 id, __u64 first)
{
	__u32 bits = fib->root_bits & 31;

	if (id && id >= fib->tables)
		return 0;
	return popfib_word(table, fib->root + (id << bits) + (__u32)(first >> 1 >> (63 - bits)));
}

static __always_inline __u32 popfib_answer4(void *table, const struct popfib_fib *fib, __u32 id, __u32 address)
{
	__u64 rest = (__u64)address << 32;
	__u32 pointer = popfib_root(table, fib, id, rest);

	rest <<= fib->root_bits & 31;
	if ((pointer & (POPFIB_NODE | POPFIB_ROUTE)) == (POPFIB_NODE | POPFIB_FLAT)) {
		__u32 slot = rest >> 58;
		__u32 place = fib->arena + (pointer & POPFIB_FLAT_PLACE);

		rest <<= 6;
		if (pointer & POPFIB_HALF)
			pointer = popfib_word(table, place + slot / 2) >> slot % 2 * 16 & 0xffff;
		else
			pointer = popfib_word(table, place + slot);
	}
#pragma unroll
	for (int level = 0; level < 6; level++) {
		if (!(pointer & POPFIB_NODE))
			return pointer;
		pointer = popfib_step(table, fib, pointer, rest >> 32);
		rest <<= 6;
	}
	return pointer & POPFIB_NODE ? 0 : pointer;
}

static __always_inline __u32 popfib_answer6(void *table, const struct popfib_fib *fib, __u32 id, __u64 high, __u64 low)
{
	__u32 bits = fib->root_bits & 31;
	__u32 pointer = popfib_root(table, fib, id, high);

	if (!(pointer & POPFIB_NODE))
		return pointer;
	high = high << bits | low >> 1 >> (63 - bits);
	low <<= bits;
	bits = fib->page_bits & 31;
	if (bits) {
		pointer = popfib_word(table, fib->arena + (pointer & ~POPFIB_NODE) + (__u32)(high >> 1 >> (63 - bits)));
		high = high << bits | low >> 1 >> (63 - bits);
		low <<= bits;
	}
#pragma unroll
	for (int level = 0; level < 22; level++) {
		if (!(pointer & POPFIB_NODE))
			return pointer;
		pointer = popfib_step(table, fib, pointer, high >> 32);
		high = high << 6 | low >> 58;
		low <<= 6;
	}
	return pointer & POPFIB_NODE ? 0 : pointer;
}

/* ---- What programs call. Addresses are in network order, as in packets. */

/* The table that is loaded now; NULL if none is: to be tested once, before all others. */
static __always_inline void *popfib_table(void *map)
{
	__u64 slot = 0;

	return bpf_map_lookup_elem(map, &slot);
}

/* The number of the longest match of an IPv4 address in the table of this id; 0 if there is none. Ids are those of the tables of a file
 * that `popfib xdp load --vrf '*'` has loaded. */
static __always_inline __u32 popfib_lookup4_in(void *table, __u32 id, __u32 address)
{
	const struct popfib_header *header = popfib_header(table);

	return header ? popfib_answer4(table, &header->lookup4, id, __builtin_bswap32(address)) : 0;
}

/* The number of the longest match of an IPv6 address, 16 bytes (a struct in6_addr); 0 if there is none. */
static __always_inline __u32 popfib_lookup6_in(void *table, __u32 id, const void *address)
{
	const __u32 *words = address;
	const struct popfib_header *header = popfib_header(table);
	__u64 high = (__u64)__builtin_bswap32(words[0]) << 32 | __builtin_bswap32(words[1]);
	__u64 low = (__u64)__builtin_bswap32(words[2]) << 32 | __builtin_bswap32(words[3]);
	__u32 answer = header ? popfib_answer6(table, &header->lookup6, id, high, low) : 0;

	return answer ? answer + header->ipv6_values : 0;
}

/* The same, and the length of the prefix that matches: for tables loaded with `popfib xdp load --matches`. Without it, each
 * lookup answers 0. */
static __always_inline __u32 popfib_match4_in(void *table, __u32 id, __u32 address, __u32 *length)
{
	const struct popfib_header *header = popfib_header(table);
	__u32 answer = 0;

	if (header)
		answer = popfib_answer4(table, &header->match4, id, __builtin_bswap32(address));
	*length = answer % 33;
	return answer / 33;
}

static __always_inline __u32 popfib_match6_in(void *table, __u32 id, const void *address, __u32 *length)
{
	const __u32 *words = address;
	const struct popfib_header *header = popfib_header(table);
	__u64 high = (__u64)__builtin_bswap32(words[0]) << 32 | __builtin_bswap32(words[1]);
	__u64 low = (__u64)__builtin_bswap32(words[2]) << 32 | __builtin_bswap32(words[3]);
	__u32 answer = 0;

	if (header)
		answer = popfib_answer6(table, &header->match6, id, high, low);
	*length = answer % 129;
	return answer / 129;
}

/* The same where one table is loaded, or in the table of id 0. */
#define popfib_lookup4(table, address) popfib_lookup4_in(table, 0, address)
#define popfib_lookup6(table, address) popfib_lookup6_in(table, 0, address)
#define popfib_match4(table, address, length) popfib_match4_in(table, 0, address, length)
#define popfib_match6(table, address, length) popfib_match6_in(table, 0, address, length)

/* What the route of this number stands for, as a number: the value itself if all values of the table are numbers, or what
 * `popfib xdp load --ids` gives it; otherwise the number of the value in the table, or the number itself if the table has no
 * values. The number is that of a lookup in the same table. */
static __always_inline __u32 popfib_value(void *table, __u32 number)
{
	const struct popfib_header *header = popfib_header(table);

	if (!header)
		return 0;
	if (number >= header->value_count)
		return header->value_count ? 0 : number;
	return popfib_word(table, header->values + number);
}

/* Declares counts of packets and bytes for values below `count`. `popfib xdp stats` prints them if they have the name of the map and
 * `_counts` after it. */
#define POPFIB_COUNTS(counts, count)                                                                                           \
	struct {                                                                                                               \
		__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);                                                                       \
		__uint(key_size, sizeof(__u32));                                                                               \
		__uint(value_size, sizeof(struct popfib_count));                                                               \
		__uint(max_entries, count);                                                                                    \
		__uint(pinning, LIBBPF_PIN_BY_NAME);                                                                           \
	} counts SEC(".maps")

struct popfib_count {
	__u64 packets, bytes;
};

/* Counts a packet for a value; nothing if the value is too high. */
static __always_inline void popfib_count(void *counts, __u32 value, __u32 bytes)
{
	__u64 index = value;
	struct popfib_count *count = bpf_map_lookup_elem(counts, &index);

	if (!count)
		return;
	count->packets++;
	count->bytes += bytes;
}

#endif
