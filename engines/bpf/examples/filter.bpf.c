// SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only
/* Drops packets whose source is in a table, and counts IP packets by the value of their source: 0 for those that pass.
 *
 *	clang -O2 -g -target bpf -mcpu=v2 -I engines/bpf -c engines/bpf/examples/filter.bpf.c -o filter.o
 *	popfib xdp load drop.txt
 *	bpftool prog load filter.o /sys/fs/bpf/filter type xdp
 *	ip link set dev eth0 xdp pinned /sys/fs/bpf/filter
 */
#include "packet.h"
#include "popfib.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

POPFIB_MAP(popfib);
POPFIB_COUNTS(popfib_counts, 65536);

SEC("xdp")
int filter(struct xdp_md *context)
{
	void *start = (void *)(long)context->data, *end = (void *)(long)context->data_end;
	void *table = popfib_table(&popfib);
	__u32 number, bytes;

	if (!table)
		return XDP_PASS;
	switch (family(start, end)) {
	case ETH_P_IP:
		number = popfib_lookup4(table, IPV4(start)->saddr);
		bytes = bpf_ntohs(IPV4(start)->tot_len);
		break;
	case ETH_P_IPV6:
		number = popfib_lookup6(table, &IPV6(start)->saddr);
		bytes = sizeof(struct ipv6hdr) + bpf_ntohs(IPV6(start)->payload_len);
		break;
	default:
		return XDP_PASS;
	}
	popfib_count(&popfib_counts, popfib_value(table, number), bytes);
	return number ? XDP_DROP : XDP_PASS;
}
