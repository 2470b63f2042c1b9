// SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only
/* In tc: sets the mark of packets to the value of their destination, such as its AS or tenant, for queues, filters and accounting
 * that read marks; 0 without a match.
 *
 *	popfib xdp load --map marks origin.fib
 *	bpftool prog load mark.o /sys/fs/bpf/mark type classifier
 *	tc qdisc add dev eth0 clsact
 *	tc filter add dev eth0 egress bpf direct-action pinned /sys/fs/bpf/mark
 */
#include <linux/pkt_cls.h>
#include "packet.h"
#include "popfib.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

POPFIB_MAP(marks);

SEC("tc")
int mark(struct __sk_buff *buffer)
{
	void *start = (void *)(long)buffer->data, *end = (void *)(long)buffer->data_end;
	void *table = popfib_table(&marks);
	__u32 number;

	if (!table)
		return TC_ACT_UNSPEC;
	switch (family(start, end)) {
	case ETH_P_IP:
		number = popfib_lookup4(table, IPV4(start)->daddr);
		break;
	case ETH_P_IPV6:
		number = popfib_lookup6(table, &IPV6(start)->daddr);
		break;
	default:
		return TC_ACT_UNSPEC;
	}
	buffer->mark = popfib_value(table, number);
	return TC_ACT_UNSPEC;
}
