// SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only
/*
 * The kernel's own tries of prefixes, beside which popfib's tables are tested and measured. Whoever includes this has `struct address`,
 * an IPv6 address.
 */
struct key4 {
	__u32 length, address;
};

struct key6 {
	__u32 length;
	struct address address;
};

struct key_in_table4 {
	__u32 length, id, address;
};

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 21);
	__type(key, struct key4);
	__type(value, __u32);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} trie4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 21);
	__type(key, struct key6);
	__type(value, __u32);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} trie6 SEC(".maps");

/* Of several tables: the id of one, and then the address. */
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 21);
	__type(key, struct key_in_table4);
	__type(value, __u32);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} trie_of_tables4 SEC(".maps");
