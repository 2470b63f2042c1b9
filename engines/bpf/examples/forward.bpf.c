// SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only
/* Forwards packets by their destination. The value of a route is the number of a next hop (`popfib xdp load --map routes --ids`),
 * which user space describes in the map `next_hops`: several ports with their neighbours, of which each flow takes one. The kernel
 * gets everything else: packets without a route or next hop, with IPv4 options, or whose TTL ends here.
 */
#include "packet.h"
#include "popfib.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define NEXT_HOPS 4096
#define PATHS 8

struct path {
	__u32 ifindex;
	__u8 to[ETH_ALEN], from[ETH_ALEN];
};

struct next_hop {
	__u32 paths; /* how many of these there are, up to PATHS; 0: the kernel forwards */
	struct path path[PATHS];
};

POPFIB_MAP(routes);
POPFIB_COUNTS(routes_counts, NEXT_HOPS);

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct next_hop);
	__uint(max_entries, NEXT_HOPS);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} next_hops SEC(".maps");

static __always_inline __u32 mix(__u32 hash, __u32 word)
{
	return (hash ^ word) * 0x9e3779b1;
}

/* The ports of TCP and UDP, which begin so; 0 of other protocols. */
static __always_inline __u32 ports_of(__u32 protocol, void *ports, void *end)
{
	return (protocol == 6 || protocol == 17) && ports + sizeof(__u32) <= end ? *(__u32 *)ports : 0;
}

/* A number that all packets of a flow share: of addresses, protocol and ports. */
static __always_inline __u32 flow4(const struct iphdr *ipv4, void *end)
{
	/* Only the first fragment has ports, so none counts them. */
	int is_fragment = ipv4->frag_off & bpf_htons(0x3fff);
	__u32 ports = is_fragment ? 0 : ports_of(ipv4->protocol, (void *)(ipv4 + 1), end);

	return mix(mix(mix(ipv4->protocol, ipv4->saddr), ipv4->daddr), ports);
}

static __always_inline __u32 flow6(const struct ipv6hdr *ipv6, void *end)
{
	__u32 hash = mix(ipv6->nexthdr, ports_of(ipv6->nexthdr, (void *)(ipv6 + 1), end));

#pragma unroll
	for (int i = 0; i < 4; i++)
		hash = mix(mix(hash, ipv6->saddr.in6_u.u6_addr32[i]), ipv6->daddr.in6_u.u6_addr32[i]);
	return hash;
}

SEC("xdp")
int forward(struct xdp_md *context)
{
	void *start = (void *)(long)context->data, *end = (void *)(long)context->data_end;
	void *table = popfib_table(&routes);
	const struct next_hop *next_hop;
	const struct path *path;
	struct iphdr *ipv4 = IPV4(start);
	struct ipv6hdr *ipv6 = IPV6(start);
	__u32 number, value, hash, bytes;
	int is_ipv4;

	if (!table)
		return XDP_PASS;
	switch (family(start, end)) {
	case ETH_P_IP:
		if (ipv4->ihl != 5 || ipv4->ttl <= 1)
			return XDP_PASS;
		is_ipv4 = 1;
		number = popfib_lookup4(table, ipv4->daddr);
		hash = flow4(ipv4, end);
		bytes = bpf_ntohs(ipv4->tot_len);
		break;
	case ETH_P_IPV6:
		if (ipv6->hop_limit <= 1)
			return XDP_PASS;
		is_ipv4 = 0;
		number = popfib_lookup6(table, &ipv6->daddr);
		hash = flow6(ipv6, end);
		bytes = sizeof(struct ipv6hdr) + bpf_ntohs(ipv6->payload_len);
		break;
	default:
		return XDP_PASS;
	}
	value = popfib_value(table, number);
	next_hop = bpf_map_lookup_elem(&next_hops, &value);
	if (!number || !next_hop || !next_hop->paths)
		return XDP_PASS;
	path = &next_hop->path[(hash ^ hash >> 16) % next_hop->paths % PATHS];
	popfib_count(&routes_counts, value, bytes);
	if (is_ipv4) {
		/* One less in the upper half of a word, so one more in the checksum (RFC 1624). */
		__u32 sum = (__u32)ipv4->check + bpf_htons(0x0100);

		ipv4->check = sum + (sum >= 0xffff);
		ipv4->ttl--;
	} else {
		ipv6->hop_limit--;
	}
	__builtin_memcpy(ETHERNET(start)->h_dest, path->to, ETH_ALEN);
	__builtin_memcpy(ETHERNET(start)->h_source, path->from, ETH_ALEN);
	return bpf_redirect(path->ifindex, 0);
}
