/* What the files of the program `api` share: routes to test with, and each other's tests. */
#ifndef API_H
#define API_H

#include "check.h"

/* The routes of the tests, in the order of a walk; the IPv6 ones begin with the bytes of the IPv4 ones. */
struct route {
    uint8_t prefix[16];
    uint8_t length;
    uint32_t next_hop;
};
static const struct route ROUTES[] = {
    {{0}, 0, 1},
    {{10}, 8, 2},
    {{10, 1}, 16, 3},
    {{10, 1, 2}, 24, 4},
    {{10, 1, 2, 3}, 32, 5},
    {{10, 1, 2, 4}, 31, 6},
    {{192, 0, 2}, 24, 65535},
};
enum { COUNT = sizeof ROUTES / sizeof ROUTES[0] };

static const uint8_t HOST[16] = {10, 1, 2, 3}, ELSEWHERE[16] = {172, 16};

/* KERNELS: all there are, from rust_side; not every CPU can run all of them. */
#include "kernels.h"

/* Whether tables have flat blocks, if they are of IPv4. */
extern int is_flat;

/* A table with flags 0 or POPFIB_KEEP_PREFIXES. */
static inline popfib_table *create(uint32_t family, uint32_t flags)
{
    struct popfib_config config = POPFIB_CONFIG_INIT(family);
    popfib_table *table;
    config.flags = flags | (is_flat ? POPFIB_BALANCED : 0);
    config.direct_bits = is_flat ? 18 : 0;
    RETURNS(0, popfib_create(&config, &table));
    CHECK(popfib_family(table) == family);
    CHECK(strcmp(popfib_kernel(table), "") != 0);
    return table;
}

static inline popfib_table *filled(uint32_t family, uint32_t flags)
{
    popfib_table *table = create(family, flags);
    for (int at = COUNT; at-- > 0;)
        RETURNS(0, popfib_add(table, ROUTES[at].prefix, ROUTES[at].length, ROUTES[at].next_hop));
    CHECK(popfib_count(table) == COUNT);
    return table;
}

/* api_table.c */
void test_routes(uint32_t family, uint32_t flags);
void test_matches(uint32_t family, uint32_t flags);
void test_bulk(uint32_t family, uint32_t flags);
void test_readers(uint32_t family, uint32_t flags);

/* api_live.c */
void test_apply(uint32_t family, uint32_t flags);
void test_reader_matches(uint32_t family, uint32_t flags);
void test_groups(void);

/* api_walks.c; the table has the routes above. */
void test_walks(popfib_table *table);
void test_changes_in_walks(void);
/* A callback that ends the walk with -1. */
int refuse(void *user, const uint8_t *prefix, uint8_t length, uint32_t next_hop);

/* api_images.c; they write into the directory. */
void test_images(const char *dir);
/* api_watcher.c; the same. */
void test_watchers(const char *dir);

/* api_records.c; reads the directory of vectors. */
void test_records(const char *vectors, const char *folder);
/* api_builder.c; of the same records, and a file that is written. */
void check_lines(const popfib_records *records);
void check_builder(const char *path);

#endif
