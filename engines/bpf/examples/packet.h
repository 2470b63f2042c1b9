/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only
 *
 * What the examples share: which IP header a packet has, found within its bounds. No VLANs, no tunnels.
 */
#ifndef POPFIB_PACKET_H
#define POPFIB_PACKET_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

/* The headers of a packet whose family was tested. */
#define ETHERNET(start) ((struct ethhdr *)(start))
#define IPV4(start) ((struct iphdr *)((start) + ETH_HLEN))
#define IPV6(start) ((struct ipv6hdr *)((start) + ETH_HLEN))

/* ETH_P_IP or ETH_P_IPV6 if that header is there as a whole; otherwise 0. */
static __always_inline int family(void *start, void *end)
{
	if (start + ETH_HLEN + sizeof(struct iphdr) > end)
		return 0;
	if (ETHERNET(start)->h_proto == bpf_htons(ETH_P_IP))
		return ETH_P_IP;
	if (ETHERNET(start)->h_proto != bpf_htons(ETH_P_IPV6) || start + ETH_HLEN + sizeof(struct ipv6hdr) > end)
		return 0;
	return ETH_P_IPV6;
}

#endif
