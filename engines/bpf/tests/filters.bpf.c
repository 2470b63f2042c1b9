// SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only
/* For scripts/bench-bpf: the filter of the examples with other lookups or none, and what sends it frames. */
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
		IPV4(start)->saddr = address->words[0];
		break;
	case ETH_P_IPV6:
		__builtin_memcpy(&IPV6(start)->saddr, address, sizeof(*address));
		break;
	default:
		return XDP_ABORTED;
	}
	return bpf_redirect(to->port, 0);
}
