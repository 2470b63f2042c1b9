// SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only
/* Drops packets whose source is in the table of the interface that they come in by: a table for each interface. What has no table
 * passes.
 *
 *	clang -O2 -g -target bpf -mcpu=v2 -I engines/bpf -c engines/bpf/examples/interfaces.bpf.c -o interfaces.o
 *	popfib compile "$(cat /sys/class/net/eth0/ifindex)=eth0.txt" "$(cat /sys/class/net/eth1/ifindex)=eth1.txt" -o interfaces.fib
 *	popfib xdp load --vrf '*' interfaces.fib
 *	bpftool prog load interfaces.o /sys/fs/bpf/interfaces type xdp
 *	ip link set dev eth0 xdp pinned /sys/fs/bpf/interfaces
 *	ip link set dev eth1 xdp pinned /sys/fs/bpf/interfaces
 */
#include "packet.h"
#include "popfib.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

POPFIB_MAP(popfib);

SEC("xdp")
int interfaces(struct xdp_md *context)
{
	void *start = (void *)(long)context->data, *end = (void *)(long)context->data_end;
	__u32 id = context->ingress_ifindex;
	void *table = popfib_table(&popfib);

	if (!table)
		return XDP_PASS;
	switch (family(start, end)) {
	case ETH_P_IP:
		return popfib_lookup4_in(table, id, IPV4(start)->saddr) ? XDP_DROP : XDP_PASS;
	case ETH_P_IPV6:
		return popfib_lookup6_in(table, id, &IPV6(start)->saddr) ? XDP_DROP : XDP_PASS;
	}
	return XDP_PASS;
}
