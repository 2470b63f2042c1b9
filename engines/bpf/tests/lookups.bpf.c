// SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only
/* Looks up many addresses in one run, for tests and scripts/bench-bpf: those of the map `addresses`, as many as `settings` says. The
 * same loop without a lookup, and with the kernel's LPM_TRIE. Linux 5.17 or later (bpf_loop).
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "popfib.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define COUNT (1 << 20)

POPFIB_MAP(popfib);

/* In network order; of IPv4 the first word. */
struct address {
	__u32 words[4];
};

struct answer {
	__u32 number, value, matched, length;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct address);
	__uint(max_entries, COUNT);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} addresses SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct answer);
	__uint(max_entries, COUNT);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} answers SEC(".maps");

/* The table of each address, where there are several. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, __u32);
	__uint(max_entries, COUNT);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} ids SEC(".maps");

struct settings {
	__u64 count; /* how many addresses */
	__u64 stores; /* whether answers are kept, not only added up; for kernel4 the port that packets come from */
	__u64 sum; /* so that no lookup is left out */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct settings);
	__uint(max_entries, 1);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} settings SEC(".maps");

#include "tries.h"

struct state {
	__u64 sum, stores;
};

static __always_inline __u32 nothing(const struct address *address)
{
	return address->words[0] ^ address->words[3];
}

static __always_inline __u32 lookup4(const struct address *address)
{
	void *table = popfib_table(&popfib);

	return table ? popfib_lookup4(table, address->words[0]) : 0;
}

static __always_inline __u32 lookup6(const struct address *address)
{
	void *table = popfib_table(&popfib);

	return table ? popfib_lookup6(table, address) : 0;
}

static __always_inline __u32 in_trie4(const struct address *address)
{
	struct key4 key = { 32, address->words[0] };
	const __u32 *found = bpf_map_lookup_elem(&trie4, &key);

	return found ? *found : 0;
}

static __always_inline __u32 in_trie6(const struct address *address)
{
	struct key6 key = { 128, *address };
	const __u32 *found = bpf_map_lookup_elem(&trie6, &key);

	return found ? *found : 0;
}

static __always_inline __u32 id_of(__u32 index)
{
	const __u32 *id = bpf_map_lookup_elem(&ids, &index);

	return id ? *id : 0;
}

static __always_inline __u32 in_table4(__u32 id, const struct address *address)
{
	void *table = popfib_table(&popfib);

	return table ? popfib_lookup4_in(table, id, address->words[0]) : 0;
}

static __always_inline __u32 in_trie_of_tables4(__u32 id, const struct address *address)
{
	struct key_in_table4 key = { 64, id, address->words[0] };
	const __u32 *found = bpf_map_lookup_elem(&trie_of_tables4, &key);

	return found ? *found : 0;
}

/* A program that runs `body` for each address, which fills in `found`. */
#define EACH(name, body)                                                                                                       \
	static long each_##name(__u32 index, struct state *state)                                                              \
	{                                                                                                                      \
		const struct address *address = bpf_map_lookup_elem(&addresses, &index);                                       \
		struct answer found = {}, *to;                                                                                 \
                                                                                                                               \
		if (!address)                                                                                                  \
			return 1;                                                                                              \
		body;                                                                                                          \
		state->sum += found.number;                                                                                    \
		if (state->stores && (to = bpf_map_lookup_elem(&answers, &index)))                                             \
			*to = found;                                                                                           \
		return 0;                                                                                                      \
	}                                                                                                                      \
	SEC("xdp") int name(struct xdp_md *context __attribute__((unused)))                                                    \
	{                                                                                                                      \
		__u32 zero = 0;                                                                                                \
		struct settings *asked = bpf_map_lookup_elem(&settings, &zero);                                                \
		struct state state = {};                                                                                       \
                                                                                                                               \
		if (!asked)                                                                                                    \
			return XDP_ABORTED;                                                                                    \
		state.stores = asked->stores;                                                                                  \
		bpf_loop(asked->count, each_##name, &state, 0);                                                                \
		asked->sum = state.sum;                                                                                        \
		return XDP_PASS;                                                                                               \
	}

EACH(loop, found.number = nothing(address))
EACH(popfib4, found.number = lookup4(address))
EACH(popfib6, found.number = lookup6(address))
EACH(lpm4, found.number = in_trie4(address))
EACH(lpm6, found.number = in_trie6(address))

EACH(loop_of_tables, found.number = id_of(index) ^ nothing(address))
EACH(popfib_of_tables4, found.number = in_table4(id_of(index), address))
EACH(lpm_of_tables4, found.number = in_trie_of_tables4(id_of(index), address))

/* Everything that the header has. */
EACH(all4, {
	void *table = popfib_table(&popfib);

	if (!table)
		return 1;
	found.number = popfib_lookup4_in(table, id_of(index), address->words[0]);
	found.value = popfib_value(table, found.number);
	found.matched = popfib_match4_in(table, id_of(index), address->words[0], &found.length);
})
EACH(all6, {
	void *table = popfib_table(&popfib);

	if (!table)
		return 1;
	found.number = popfib_lookup6_in(table, id_of(index), address);
	found.value = popfib_value(table, found.number);
	found.matched = popfib_match6_in(table, id_of(index), address, &found.length);
})

struct asking {
	__u64 sum;
	struct xdp_md *context;
	__u32 port, pad;
};

/* The kernel's own routes, by the helper that forwarders use. */
static long each_route(__u32 index, struct asking *asking)
{
	const struct address *address = bpf_map_lookup_elem(&addresses, &index);
	struct bpf_fib_lookup asked = { .family = 2, .ifindex = asking->port, .l4_protocol = 17, .tot_len = 64 };

	if (!address)
		return 1;
	asked.ipv4_dst = address->words[0];
	asking->sum += bpf_fib_lookup(asking->context, &asked, sizeof(asked), BPF_FIB_LOOKUP_DIRECT);
	return 0;
}

SEC("xdp") int kernel4(struct xdp_md *context)
{
	__u32 zero = 0;
	struct settings *asked = bpf_map_lookup_elem(&settings, &zero);
	struct asking asking = { .context = context };

	if (!asked)
		return XDP_ABORTED;
	asking.port = asked->stores;
	bpf_loop(asked->count, each_route, &asking, 0);
	asked->sum = asking.sum;
	return XDP_PASS;
}

/* At the other end of a veth, so that it takes what is redirected to it. */
SEC("xdp") int pass(struct xdp_md *context __attribute__((unused)))
{
	return XDP_PASS;
}
