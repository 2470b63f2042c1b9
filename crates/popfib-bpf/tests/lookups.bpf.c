/* Lookups of many addresses in one run, for tests: of those in `addresses`, the answers of which go into `answers`. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#ifdef SLOW
/* Before the block of bits 24 to 29, which changes most, a lookup waits some 60 ms: many changes happen meanwhile. */
static __u32 accesses;

static long wait_a_little(__u64 at, void *context)
{
	return 0;
}

static __always_inline void *slow_lookup(void *map, const void *key)
{
	/* Those before are of the slot, the header, the root and three blocks. */
	if (++accesses == 7)
		for (int i = 0; i < 4; i++)
			bpf_loop(1 << 23, wait_a_little, 0, 0);
	return bpf_map_lookup_elem(map, key);
}

#define START accesses = 0
#define bpf_map_lookup_elem slow_lookup
#define COUNT 8
#else
#define START
#define COUNT 1024
#endif
#include "popfib.bpf.h"
#undef bpf_map_lookup_elem

/* Who loads this says where the map is. */
#define LIBBPF_PIN_BY_NAME LIBBPF_PIN_NONE

POPFIB_MAP(popfib);

struct words {
	__u32 words[4 * COUNT];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct words);
} addresses SEC(".maps"), answers SEC(".maps");

/* Functions that are verified once, and not for each address. */
__noinline int answer4(__u32 address)
{
	START;
	void *table = popfib_table(&popfib);
	return table ? popfib_value(table, popfib_lookup4(table, address)) : 0;
}

__noinline int answer6(__u32 a, __u32 b, __u32 c, __u32 d)
{
	__u32 address[4] = {a, b, c, d};

	START;
	void *table = popfib_table(&popfib);
	return table ? popfib_value(table, popfib_lookup6(table, address)) : 0;
}

SEC("xdp")
int lookups4(struct xdp_md *context)
{
	__u32 zero = 0;
	struct words *from = bpf_map_lookup_elem(&addresses, &zero);
	struct words *to = bpf_map_lookup_elem(&answers, &zero);

	if (from && to)
		for (__u32 i = 0; i < COUNT; i++)
			to->words[i] = answer4(from->words[i]);
	return XDP_DROP;
}

SEC("xdp")
int lookups6(struct xdp_md *context)
{
	__u32 zero = 0;
	struct words *from = bpf_map_lookup_elem(&addresses, &zero);
	struct words *to = bpf_map_lookup_elem(&answers, &zero);

	if (from && to)
		for (__u32 i = 0; i < COUNT; i++) {
			const __u32 *at = &from->words[4 * i];

			to->words[i] = answer6(at[0], at[1], at[2], at[3]);
		}
	return XDP_DROP;
}

char LICENSE[] SEC("license") = "GPL";
