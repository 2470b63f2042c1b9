/*
 * DPDK's rte_fib (DIR24_8) and rte_fib6 (TRIE) on the files of one family.
 *
 *     rte_fib FAMILY FOLDER PASSES CPU
 *     rte_fib vrfs FOLDER PASSES CPU
 *
 * The second is a table for each VRF, those of `popfib-lab many --files`, looked up one address at a time, as the addresses of a burst
 * belong to different ones. It prints the median rate, the lowest, the highest, the bytes of all tables, and the wrong answers.
 *
 * The files are described in ../src/exchange.rs, the lines of output in
 * ../src/run.rs. Bulk lookups of 256 into one small buffer, as a router's
 * bursts; next hops of 2 bytes for IPv4 where they fit, of 4 for IPv6; the
 * lowest power of two of tbl8 with which no route is refused; both the AVX-512
 * and the scalar lookup on the same table.
 *
 * The library wants hugetlbfs for huge pages, which needs a system set up for
 * it. It runs with --no-huge instead, and once the table is built its whole
 * heap, a shared mapping that cannot have huge pages, is replaced in place by
 * anonymous memory that can.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_fib.h>
#include <rte_fib6.h>
#include <rte_memory.h>

#define HUGE_PAGE (2ul << 20)
#define BURST 256u
#define STREAMS 3
#define REFERENCE_ENTRIES (1u << 18)
#define REFERENCE_ADDRESSES (1u << 24)
#define TBL8_ENTRIES 256u
#define TBL8_LEAST 256u
/* DIR24_8 keeps one bit of an entry for itself. */
#define NEXT_HOP_2B_MAX 0x7fffu

struct route {
	uint8_t address[16];
	uint32_t len;
	uint32_t next_hop;
};

struct stream {
	const char *name;
	void *addresses;
	uint32_t *answers;
	size_t count;
};

/* One of the two; the other is NULL. */
static struct rte_fib *fib4;
static struct rte_fib6 *fib6;

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "rte_fib: %s: %s\n", what, why);
	exit(2);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static size_t round_up(size_t n)
{
	return (n + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
}

/* Memory that begins at a huge page and lies on them where there are any. */
static void *huge(size_t n)
{
	void *p = aligned_alloc(HUGE_PAGE, round_up(n));

	if (p == NULL)
		fail("memory", "out of it");
	madvise(p, round_up(n), MADV_HUGEPAGE);
	memset(p, 0, round_up(n));
	return p;
}

/* The file `folder`/`name``suffix` and its length. */
static void *read_file(const char *folder, const char *name, const char *suffix, size_t *size)
{
	char path[4096];
	FILE *file;
	long end;
	void *p;

	snprintf(path, sizeof(path), "%s/%s%s", folder, name, suffix);
	file = fopen(path, "rb");
	if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (end = ftell(file)) <= 0)
		fail(path, "cannot be read");
	rewind(file);
	*size = end;
	p = huge(*size);
	if (fread(p, 1, *size, file) != *size)
		fail(path, "cannot be read to its end");
	fclose(file);
	return p;
}

/* A line of the kernel's account of this process, 0 where there is none. */
static long memory_mib(const char *name)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "r");
	char line[256];
	long kib = 0;

	if (file == NULL)
		return 0;
	while (fgets(line, sizeof(line), file))
		if (strncmp(line, name, strlen(name)) == 0)
			kib = atol(line + strlen(name));
	fclose(file);
	return kib / 1024;
}

/* Replaces one mapping of the library's heap by anonymous memory with the same content. */
static int move_to_huge_pages(const struct rte_memseg_list *msl, void *arg)
{
	char *fresh, *aligned;
	/* The same offset from a huge page, or moving could not keep them whole. */
	size_t offset = (uintptr_t)msl->base_va & (HUGE_PAGE - 1);

	(void)arg;
	if (msl->external || msl->base_va == NULL)
		return 0;
	fresh = mmap(NULL, msl->len + 2 * HUGE_PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (fresh == MAP_FAILED)
		fail("memory", "out of it");
	aligned = (char *)round_up((uintptr_t)fresh) + offset;
	madvise(aligned, msl->len, MADV_HUGEPAGE);
	memcpy(aligned, msl->base_va, msl->len);
	if (mremap(aligned, msl->len, msl->len, MREMAP_MAYMOVE | MREMAP_FIXED, msl->base_va) !=
	    msl->base_va)
		fail("heap", "cannot be moved");
	return 0;
}

/* A power of two of tbl8 that is enough even if no two routes shared one. */
static size_t most_tbl8(const struct route *routes, size_t count)
{
	size_t most = 0, power = TBL8_LEAST;

	for (size_t i = 0; i < count; i++)
		if (routes[i].len > 24)
			most += (routes[i].len - 24 + 7) / 8;
	while (power < most)
		power *= 2;
	return power;
}

static size_t table_bytes(size_t tbl8, int wide)
{
	return ((1ul << 24) + tbl8 * TBL8_ENTRIES) * (wide ? 4 : 2);
}

/* Creates the table and adds the routes; returns how many were refused. */
static size_t build(int ipv6, const struct route *routes, size_t count, size_t tbl8, int wide)
{
	size_t refused = 0;

	if (ipv6) {
		struct rte_fib6_conf conf = {0};

		conf.type = RTE_FIB6_TRIE;
		conf.max_routes = count + 1024;
		conf.trie.nh_sz = RTE_FIB6_TRIE_4B;
		conf.trie.num_tbl8 = tbl8;
		fib6 = rte_fib6_create("peer", SOCKET_ID_ANY, &conf);
	} else {
		struct rte_fib_conf conf = {0};

		conf.type = RTE_FIB_DIR24_8;
		conf.max_routes = count + 1024;
		conf.dir24_8.nh_sz = wide ? RTE_FIB_DIR24_8_4B : RTE_FIB_DIR24_8_2B;
		conf.dir24_8.num_tbl8 = tbl8;
		fib4 = rte_fib_create("peer", SOCKET_ID_ANY, &conf);
	}
	if (fib4 == NULL && fib6 == NULL)
		fail("create", rte_strerror(rte_errno));
	for (size_t i = 0; i < count; i++) {
		const struct route *r = &routes[i];
		uint32_t ip;
		int error;

		memcpy(&ip, r->address, 4);
		if (ipv6)
			error = rte_fib6_add(fib6, r->address, r->len, r->next_hop);
		else
			error = rte_fib_add(fib4, ntohl(ip), r->len, r->next_hop);
		refused += error != 0;
	}
	return refused;
}

static void lookup(const struct stream *s, size_t first, uint64_t *next_hops, unsigned int n)
{
	int error;

	if (fib4 != NULL)
		error = rte_fib_lookup_bulk(fib4, (uint32_t *)s->addresses + first, next_hops, n);
	else
		error = rte_fib6_lookup_bulk(fib6, (uint8_t (*)[16])s->addresses + first, next_hops, n);
	if (error != 0)
		fail("lookup", "refused");
}

/* The measured loop. */
static void pass(const struct stream *s)
{
	uint64_t next_hops[BURST];

	for (size_t i = 0; i < s->count; i += BURST) {
		lookup(s, i, next_hops, s->count - i < BURST ? s->count - i : BURST);
		/* Every burst counts as read. */
		__asm__ volatile("" : : "r"(next_hops) : "memory");
	}
}

static size_t count_wrong(const struct stream *s)
{
	uint64_t next_hops[BURST];
	size_t wrong = 0;

	for (size_t i = 0; i < s->count; i += BURST) {
		size_t n = s->count - i < BURST ? s->count - i : BURST;

		lookup(s, i, next_hops, n);
		for (size_t k = 0; k < n; k++)
			wrong += next_hops[k] != s->answers[i + k];
	}
	return wrong;
}

static uint32_t *reference_table, *reference_addresses;

/* The numbers of popfib's reference loop: SplitMix64, seed 0. */
static void reference_make(void)
{
	uint64_t state = 0, z;

	reference_table = huge(4ul * REFERENCE_ENTRIES);
	reference_addresses = huge(4ul * REFERENCE_ADDRESSES);
	for (size_t i = 0; i < REFERENCE_ENTRIES + REFERENCE_ADDRESSES; i++) {
		z = state += 0x9e3779b97f4a7c15;
		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
		z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
		z ^= z >> 31;
		if (i < REFERENCE_ENTRIES)
			reference_table[i] = z;
		else
			reference_addresses[i - REFERENCE_ENTRIES] = z;
	}
}

/*
 * The same loop must take the same time in every program, or ratios would not
 * compare: unrolled as popfib's is, and no vectors, which are 7 % faster here.
 */
static __attribute__((noinline, optimize("no-tree-vectorize"))) void reference_pass(void)
{
	uint32_t sum = 0;

#pragma GCC unroll 4
	for (size_t i = 0; i < REFERENCE_ADDRESSES; i++)
		sum += reference_table[reference_addresses[i] >> 14];
	__asm__ volatile("" : : "r"(sum));
}

static void print_rates(const char *name, const double *rates, int n)
{
	printf(",\"%s\":[", name);
	for (int i = 0; i < n; i++)
		printf("%s%.3f", i ? "," : "", rates[i]);
	printf("]");
}

static void measure(const struct stream *s, int passes, const char *algorithm, const char *kernel,
		    size_t bytes, double build_s, size_t refused)
{
	double rates[passes], reference[passes], start;
	size_t wrong = count_wrong(s);

	/* One pass of each that does not count brings tables and pages in. */
	reference_pass();
	pass(s);
	for (int i = 0; i < passes; i++) {
		start = now();
		reference_pass();
		reference[i] = REFERENCE_ADDRESSES / (now() - start) / 1e6;
		start = now();
		pass(s);
		rates[i] = s->count / (now() - start) / 1e6;
	}
	printf("{\"algorithm\":\"%s\",\"kernel\":\"%s\",\"traffic\":\"%s\",\"bytes\":%zu,"
	       "\"build_s\":%.6f,\"refused\":%zu,\"wrong\":%zu,\"huge_mib\":%ld,\"resident_mib\":%ld",
	       algorithm, kernel, s->name, bytes, build_s, refused, wrong,
	       memory_mib("AnonHugePages:"), memory_mib("Rss:"));
	print_rates("mlps", rates, passes);
	print_rates("reference", reference, passes);
	printf("}\n");
	fflush(stdout);
}

/* Starts the library with `mib` of heap on core `cpu`. */
static void start_eal(size_t mib, char *cpu)
{
	char heap[32];
	char *arguments[] = {"rte_fib",	      "--no-huge",
			     "-m",	      heap,
			     "--no-pci",      "--no-telemetry",
			     "--no-shconf",   "--force-max-simd-bitwidth=512",
			     "--log-level=3", "-l",
			     cpu,	      NULL};

	snprintf(heap, sizeof(heap), "%zu", mib);
	if (rte_eal_init(sizeof(arguments) / sizeof(*arguments) - 1, arguments) < 0)
		fail("EAL", rte_strerror(rte_errno));
}

/* A route and a lookup of one of many tables. */
struct vrf_route {
	uint32_t table, address, len, next_hop;
};
struct vrf_lookup {
	uint32_t table, address, next_hop;
};

static int by_rate(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int vrfs(const char *folder, int passes, char *cpu)
{
	size_t size, count, lookups, tables, bytes = 0, wrong = 0;
	struct vrf_route *routes = read_file(folder, "routes", "", &size);
	struct vrf_lookup *lookup;
	struct rte_fib **fibs;
	double rates[passes], start;

	count = size / sizeof(*routes);
	lookup = read_file(folder, "lookups", "", &size);
	lookups = size / sizeof(*lookup);
	tables = routes[count - 1].table + 1;
	fibs = calloc(tables, sizeof(*fibs));
	/* A tbl24 and tbl8 of 2 bytes each, and two nodes of the RIB a route. */
	start_eal(tables * 34 + count / 1024 + 512, cpu);
	for (size_t at = 0, end; at < count; at = end) {
		struct rte_fib_conf conf = {0};
		char name[32];
		size_t longer = 0;

		for (end = at; end < count && routes[end].table == routes[at].table; end++)
			longer += routes[end].len > 24;
		conf.type = RTE_FIB_DIR24_8;
		conf.max_routes = end - at + 64;
		conf.dir24_8.nh_sz = RTE_FIB_DIR24_8_2B;
		for (conf.dir24_8.num_tbl8 = 64; conf.dir24_8.num_tbl8 < longer;)
			conf.dir24_8.num_tbl8 *= 2;
		snprintf(name, sizeof(name), "vrf%u", routes[at].table);
		fibs[routes[at].table] = rte_fib_create(name, SOCKET_ID_ANY, &conf);
		if (fibs[routes[at].table] == NULL)
			fail("create", rte_strerror(rte_errno));
		bytes += table_bytes(conf.dir24_8.num_tbl8, 0);
		for (; at < end; at++)
			if (rte_fib_add(fibs[routes[at].table], routes[at].address, routes[at].len,
					routes[at].next_hop) != 0)
				fail("add", "refused");
	}
	rte_memseg_list_walk(move_to_huge_pages, NULL);
	for (int i = -1; i < passes; i++) {
		uint64_t next_hop;

		start = now();
		for (size_t k = 0; k < lookups; k++) {
			rte_fib_lookup_bulk(fibs[lookup[k].table], &lookup[k].address, &next_hop, 1);
			if (i < 0)
				wrong += next_hop != lookup[k].next_hop;
			__asm__ volatile("" : : "r"(next_hop) : "memory");
		}
		if (i >= 0)
			rates[i] = lookups / (now() - start) / 1e6;
	}
	qsort(rates, passes, sizeof(*rates), by_rate);
	printf("%.1f %.1f %.1f %zu %zu\n", rates[passes / 2], rates[0], rates[passes - 1], bytes, wrong);
	return wrong != 0;
}

int main(int argc, char **argv)
{
	static const char *const names[STREAMS] = {"random", "routes", "zipf"};
	struct stream streams[STREAMS];
	size_t size, count, most, tbl8, bytes, refused;
	struct route *routes;
	uint32_t highest = 0;
	int ipv6, wide, passes;
	double start, build_s;

	if (argc == 5 && strcmp(argv[1], "vrfs") == 0 && atoi(argv[3]) > 0)
		return vrfs(argv[2], atoi(argv[3]), argv[4]);
	if (argc != 5 || (passes = atoi(argv[3])) < 1 ||
	    (strcmp(argv[1], "ipv4") != 0 && strcmp(argv[1], "ipv6") != 0))
		fail("usage", "rte_fib ipv4|ipv6|vrfs FOLDER PASSES CPU");
	ipv6 = strcmp(argv[1], "ipv6") == 0;

	routes = read_file(argv[2], "table", "", &size);
	count = size / sizeof(*routes);
	for (size_t i = 0; i < count; i++)
		if (routes[i].next_hop > highest)
			highest = routes[i].next_hop;
	wide = ipv6 || highest > NEXT_HOP_2B_MAX;
	most = most_tbl8(routes, count);
	/* Two tables while one follows the other, two nodes of the RIB a route, and the rest. */
	start_eal((2 * table_bytes(most, wide) >> 20) + count / 1024 + 256, argv[4]);

	/* IPv6 routes reserve more tbl8 than they come to use, how many is hard to foretell. */
	for (tbl8 = TBL8_LEAST;; tbl8 *= 2) {
		start = now();
		refused = build(ipv6, routes, count, tbl8, wide);
		build_s = now() - start;
		if (refused == 0 || tbl8 >= most)
			break;
		rte_fib_free(fib4);
		rte_fib6_free(fib6);
	}
	bytes = table_bytes(tbl8, wide);
	rte_memseg_list_walk(move_to_huge_pages, NULL);

	for (int i = 0; i < STREAMS; i++) {
		size_t answers;

		streams[i].name = names[i];
		streams[i].addresses = read_file(argv[2], names[i], ".addresses", &size);
		streams[i].answers = read_file(argv[2], names[i], ".answers", &answers);
		streams[i].count = size / (ipv6 ? 16 : 4);
		if (answers / 4 != streams[i].count)
			fail(names[i], "not one answer for each address");
	}
	reference_make();

	for (int vector = 1; vector >= 0; vector--) {
		const char *kernel = vector ? "avx512" : "scalar";
		int error;

		if (ipv6)
			error = rte_fib6_select_lookup(fib6, vector ? RTE_FIB6_LOOKUP_TRIE_VECTOR_AVX512 :
								      RTE_FIB6_LOOKUP_TRIE_SCALAR);
		else
			error = rte_fib_select_lookup(fib4,
						      vector ? RTE_FIB_LOOKUP_DIR24_8_VECTOR_AVX512 :
							       RTE_FIB_LOOKUP_DIR24_8_SCALAR_MACRO);
		if (error != 0) {
			fprintf(stderr, "rte_fib: skipped: the %s lookup is not available here\n", kernel);
			continue;
		}
		for (int i = 0; i < STREAMS; i++)
			measure(&streams[i], passes, ipv6 ? "rte_fib6" : "rte_fib", kernel, bytes, build_s,
				refused);
	}
	return 0;
}
