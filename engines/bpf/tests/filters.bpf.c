// SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only
/* For scripts/bench-bpf and scripts/bench-bpf-live: the filter of the examples with other lookups or none, or whose answers are
 * checked, and what sends them frames.
 */
#include "../examples/packet.h"
#include "popfib.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define COUNT (1 << 20)

POPFIB_MAP(popfib);
POPFIB_COUNTS(popfib_counts, 65536);

struct address {
	__u32 words[4];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct address);
	__uint(max_entries, COUNT);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} addresses SEC(".maps");

struct sending {
	__u64 next; /* the address that the next frame comes from */
	__u64 port; /* where it leaves */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct sending);
	__uint(max_entries, 1);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} sending SEC(".maps");

#include "tries.h"

/* Drops all IP packets, and counts them by what `ipv4` and `ipv6` say. */
#define FILTER(name, ipv4, ipv6)                                                                                               \
	SEC("xdp") int name(struct xdp_md *context)                                                                            \
	{                                                                                                                      \
		void *start = (void *)(long)context->data, *end = (void *)(long)context->data_end;                             \
		__u32 value, bytes;                                                                                            \
                                                                                                                               \
		switch (family(start, end)) {                                                                                  \
		case ETH_P_IP:                                                                                                 \
			value = ipv4;                                                                                          \
			bytes = bpf_ntohs(IPV4(start)->tot_len);                                                               \
			break;                                                                                                 \
		case ETH_P_IPV6:                                                                                               \
			value = ipv6;                                                                                          \
			bytes = sizeof(struct ipv6hdr) + bpf_ntohs(IPV6(start)->payload_len);                                  \
			break;                                                                                                 \
		default:                                                                                                       \
			return XDP_PASS;                                                                                       \
		}                                                                                                              \
		popfib_count(&popfib_counts, value, bytes);                                                                    \
		return XDP_DROP;                                                                                               \
	}

static __always_inline __u32 in_trie4(__u32 address)
{
	struct key4 key = { 32, address };
	const __u32 *found = bpf_map_lookup_elem(&trie4, &key);

	return found ? *found : 0;
}

static __always_inline __u32 in_trie6(const void *address)
{
	struct key6 key = { .length = 128 };
	const __u32 *found;

	__builtin_memcpy(&key.address, address, sizeof(key.address));
	found = bpf_map_lookup_elem(&trie6, &key);
	return found ? *found : 0;
}

FILTER(without, IPV4(start)->saddr & 63, IPV6(start)->saddr.in6_u.u6_addr32[3] & 63)
FILTER(with_lpm, in_trie4(IPV4(start)->saddr), in_trie6(&IPV6(start)->saddr))

/* Where a frame of IPv4 and UDP has the number of its address. */
#define NUMBER(start) ((__u32 *)((start) + ETH_HLEN + sizeof(struct iphdr) + 8))

/* What each address may be answered now: a bit for each value below 128. */
struct allowed {
	__u64 values[2];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct allowed);
	__uint(max_entries, COUNT);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} allowed SEC(".maps");

struct checks {
	__u64 frames, wrong;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct checks);
	__uint(max_entries, 1);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} checks SEC(".maps");

/* The filter for IPv4, which drops all and counts frames with another answer than those that are allowed. All come on one CPU. */
SEC("xdp") int checked(struct xdp_md *context)
{
	void *start = (void *)(long)context->data, *end = (void *)(long)context->data_end;
	void *table = popfib_table(&popfib);
	const struct allowed *may_be;
	__u32 zero = 0, index, value;
	struct checks *seen = bpf_map_lookup_elem(&checks, &zero);

	if (!table || !seen || family(start, end) != ETH_P_IP || (void *)(NUMBER(start) + 1) > end)
		return XDP_PASS;
	value = popfib_value(table, popfib_lookup4(table, IPV4(start)->saddr));
	popfib_count(&popfib_counts, value, bpf_ntohs(IPV4(start)->tot_len));
	index = *NUMBER(start);
	may_be = bpf_map_lookup_elem(&allowed, &index);
	seen->frames++;
	/* No index that the verifier would have to know the bounds of. */
	if (!may_be || value >= 128 || !((value < 64 ? may_be->values[0] : may_be->values[1]) >> value % 64 & 1))
		seen->wrong++;
	return XDP_DROP;
}

/* Gives the frame the next address as its source, and sends it. */
SEC("xdp") int sender(struct xdp_md *context)
{
	void *start = (void *)(long)context->data, *end = (void *)(long)context->data_end;
	__u32 zero = 0, index;
	struct sending *to = bpf_map_lookup_elem(&sending, &zero);
	const struct address *address;

	if (!to)
		return XDP_ABORTED;
	index = to->next++ % COUNT;
	address = bpf_map_lookup_elem(&addresses, &index);
	if (!address)
		return XDP_ABORTED;
	switch (family(start, end)) {
	case ETH_P_IP:
		if ((void *)(NUMBER(start) + 1) > end)
			return XDP_ABORTED;
		IPV4(start)->saddr = address->words[0];
		*NUMBER(start) = index;
		break;
	case ETH_P_IPV6:
		__builtin_memcpy(&IPV6(start)->saddr, address, sizeof(*address));
		break;
	default:
		return XDP_ABORTED;
	}
	return bpf_redirect(to->port, 0);
}
