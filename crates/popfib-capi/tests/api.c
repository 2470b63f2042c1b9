/*
 * Every function of popfib.h with every family and width, and every error that it documents, but for those
 * that need a table of gigabytes (-ENOSPC) or an error in popfib (-ENOTRECOVERABLE, tested in Rust).
 *
 * Compiles as C++ too, so that a test proves the header there as well.
 *
 *     api DIR      DIR is an empty directory to write to
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static char path[4096], other_path[4096];

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

static popfib_table *create(uint32_t family, uint32_t bits)
{
    struct popfib_config config = POPFIB_CONFIG_INIT(family);
    popfib_table *table;
    config.next_hop_bits = bits;
    RETURNS(0, popfib_create(&config, &table));
    CHECK(popfib_family(table) == family);
    CHECK(popfib_next_hop_bits(table) == (bits == 0 ? 32 : bits));
    CHECK(strcmp(popfib_kernel(table), "") != 0);
    return table;
}

static popfib_table *filled(uint32_t family, uint32_t bits)
{
    popfib_table *table = create(family, bits);
    for (int at = COUNT; at-- > 0;)
        RETURNS(0, popfib_add(table, ROUTES[at].prefix, ROUTES[at].length, ROUTES[at].next_hop));
    CHECK(popfib_count(table) == COUNT);
    return table;
}

/* ---------------------------------------------------------------- making a table */

static void test_create(void)
{
    struct popfib_config config = POPFIB_CONFIG_INIT(POPFIB_IPV4);
    popfib_table *table = (popfib_table *)&config;
    RETURNS(-EINVAL, popfib_create(NULL, &table));
    CHECK(table == NULL);
    RETURNS(-EINVAL, popfib_create(&config, NULL));

    config.family = 5;
    RETURNS(-EINVAL, popfib_create(&config, &table));
    config.family = POPFIB_IPV4;
    config.next_hop_bits = 24;
    RETURNS(-EINVAL, popfib_create(&config, &table));
    config.next_hop_bits = 0;
    config.reserved = 1;
    RETURNS(-EINVAL, popfib_create(&config, &table));
    config.reserved = 0;
    config.direct_bits = 25;
    RETURNS(-EINVAL, popfib_create(&config, &table));
    config.direct_bits = 256 + 18;
    RETURNS(-EINVAL, popfib_create(&config, &table));
    config.direct_bits = 0;
    config.size--;
    RETURNS(-EINVAL, popfib_create(&config, &table));
    config.size = 0;
    RETURNS(-EINVAL, popfib_create(&config, &table));

    for (uint32_t bits = 1; bits <= 18; bits++) {
        config.size = sizeof config;
        config.direct_bits = bits;
        RETURNS(0, popfib_create(&config, &table));
        popfib_free(table);
    }
    popfib_free(NULL);
}

/* A structure of a later version. */
static void test_longer_config(void)
{
    struct {
        struct popfib_config known;
        uint32_t unknown[2];
    } config = {POPFIB_CONFIG_INIT(POPFIB_IPV6), {0, 0}};
    popfib_table *table;
    config.known.size = sizeof config;
    RETURNS(0, popfib_create(&config.known, &table));
    popfib_free(table);
    config.unknown[1] = 1;
    RETURNS(-E2BIG, popfib_create(&config.known, &table));
    CHECK(table == NULL);
}

static void test_kernels(void)
{
    static const char *const ALL[] = {"scalar", "portable", "avx2", "avx512bw", "avx512"};
    struct popfib_config config = POPFIB_CONFIG_INIT(POPFIB_IPV4);
    popfib_table *table;
    size_t count = 0, supported = 0;
    while (popfib_kernel_list(count) != NULL)
        count++;
    CHECK(count >= 2);
    for (size_t at = 0; at < sizeof ALL / sizeof ALL[0]; at++) {
        int listed = 0;
        for (size_t index = 0; index < count; index++)
            listed |= strcmp(popfib_kernel_list(index), ALL[at]) == 0;
        supported += (size_t)listed;
        config.kernel = ALL[at];
        if (!listed) {
            RETURNS(-ENOTSUP, popfib_create(&config, &table));
            CHECK(table == NULL);
            continue;
        }
        RETURNS(0, popfib_create(&config, &table));
        CHECK(strcmp(popfib_kernel(table), ALL[at]) == 0);
        popfib_reader *reader;
        RETURNS(0, popfib_reader_create(table, &reader));
        CHECK(strcmp(popfib_reader_kernel(reader), ALL[at]) == 0);
        popfib_reader_free(reader);
        popfib_free(table);
    }
    CHECK(supported == count);
    config.kernel = "fastest";
    RETURNS(-EINVAL, popfib_create(&config, &table));

    config.kernel = NULL;
    CHECK(setenv("POPFIB_KERNEL", "nonsense", 1) == 0);
    RETURNS(-EINVAL, popfib_create(&config, &table));
    CHECK(setenv("POPFIB_KERNEL", "scalar", 1) == 0);
    RETURNS(0, popfib_create(&config, &table));
    CHECK(strcmp(popfib_kernel(table), "scalar") == 0);
    popfib_free(table);
    CHECK(unsetenv("POPFIB_KERNEL") == 0);
    CHECK(popfib_kernel(NULL) == NULL);
    CHECK(popfib_reader_kernel(NULL) == NULL);
}

/* ---------------------------------------------------------------- routes */

static void test_routes(uint32_t family, uint32_t bits)
{
    popfib_table *table = filled(family, bits);
    const uint8_t width = family == POPFIB_IPV4 ? 32 : 128;
    uint8_t prefix[16], length;
    uint32_t next_hop;

    for (int at = 0; at < COUNT; at++) {
        RETURNS(0, popfib_get(table, ROUTES[at].prefix, ROUTES[at].length, &next_hop));
        CHECK(next_hop == ROUTES[at].next_hop);
        RETURNS(0, popfib_get(table, ROUTES[at].prefix, ROUTES[at].length, NULL));
    }
    RETURNS(-ENOENT, popfib_get(table, ELSEWHERE, 16, &next_hop));
    CHECK(popfib_lookup(table, HOST) == 5);
    CHECK(popfib_lookup(table, ELSEWHERE) == 1);

    memset(prefix, 0xaa, sizeof prefix);
    RETURNS(0, popfib_longest_match(table, ELSEWHERE, prefix, &length, &next_hop));
    CHECK(length == 0 && next_hop == 1);
    for (int at = 0; at < 16; at++)
        CHECK(prefix[at] == (at < width / 8 ? 0 : 0xaa));
    RETURNS(0, popfib_longest_match(table, HOST, prefix, &length, &next_hop));
    CHECK(length == 32 && next_hop == 5 && memcmp(prefix, HOST, width / 8) == 0);
    RETURNS(0, popfib_longest_match(table, HOST, NULL, NULL, NULL));

    /* Replaced, set again, removed. */
    RETURNS(0, popfib_add(table, HOST, 32, 7));
    CHECK(popfib_lookup(table, HOST) == 7 && popfib_count(table) == COUNT);
    RETURNS(0, popfib_add(table, HOST, 32, 7));
    RETURNS(0, popfib_delete(table, HOST, 32));
    CHECK(popfib_lookup(table, HOST) == 4 && popfib_count(table) == COUNT - 1);
    RETURNS(-ENOENT, popfib_delete(table, HOST, 32));
    RETURNS(-ENOENT, popfib_get(table, HOST, 32, &next_hop));
    RETURNS(0, popfib_delete(table, ROUTES[0].prefix, 0));
    CHECK(popfib_lookup(table, ELSEWHERE) == 0);
    RETURNS(-ENOENT, popfib_longest_match(table, ELSEWHERE, prefix, &length, &next_hop));
    RETURNS(0, popfib_reclaim(table));
    CHECK(popfib_bytes(table) > 0);

    /* The longest prefix, and next hops at the border of the width. */
    const uint32_t highest = bits == 16 ? 65535 : 0x7fffffff;
    RETURNS(0, popfib_add(table, HOST, width, highest));
    CHECK(popfib_lookup(table, HOST) == highest);
    RETURNS(-ERANGE, popfib_add(table, HOST, width, highest + 1));
    RETURNS(-ERANGE, popfib_add(table, HOST, width, UINT32_MAX));
    CHECK(popfib_lookup(table, HOST) == highest);

    /* Nonsense. */
    const size_t count = popfib_count(table);
    RETURNS(-EINVAL, popfib_add(NULL, HOST, 32, 1));
    RETURNS(-EINVAL, popfib_add(table, NULL, 32, 1));
    RETURNS(-EINVAL, popfib_add(table, HOST, 32, 0));
    RETURNS(-EINVAL, popfib_add(table, HOST, 31, 1));
    RETURNS(-EINVAL, popfib_add(table, HOST, width + 1, 1));
    RETURNS(-EINVAL, popfib_add(table, HOST, 255, 1));
    RETURNS(-EINVAL, popfib_delete(NULL, HOST, 32));
    RETURNS(-EINVAL, popfib_delete(table, NULL, 32));
    RETURNS(-EINVAL, popfib_delete(table, HOST, 8));
    RETURNS(-EINVAL, popfib_delete(table, HOST, width + 1));
    RETURNS(-EINVAL, popfib_get(NULL, HOST, 32, &next_hop));
    RETURNS(-EINVAL, popfib_get(table, NULL, 32, &next_hop));
    RETURNS(-EINVAL, popfib_get(table, HOST, 8, &next_hop));
    RETURNS(-EINVAL, popfib_get(table, HOST, width + 1, &next_hop));
    RETURNS(-EINVAL, popfib_longest_match(NULL, HOST, prefix, &length, &next_hop));
    RETURNS(-EINVAL, popfib_longest_match(table, NULL, prefix, &length, &next_hop));
    RETURNS(-EINVAL, popfib_reclaim(NULL));
    CHECK(popfib_lookup(NULL, HOST) == 0 && popfib_lookup(table, NULL) == 0);
    CHECK(popfib_family(NULL) == 0 && popfib_next_hop_bits(NULL) == 0);
    CHECK(popfib_count(NULL) == 0 && popfib_bytes(NULL) == 0);
    CHECK(popfib_count(table) == count);
    popfib_free(table);
}

/* ---------------------------------------------------------------- bulk lookups */

enum { BULK = 5000 };

/* The next hop at an index of an array of either width. */
static uint32_t element(const void *next_hops, uint32_t bits, size_t index)
{
    if (bits == 16)
        return ((const uint16_t *)next_hops)[index];
    return ((const uint32_t *)next_hops)[index];
}

static void test_bulk(uint32_t family, uint32_t bits)
{
    popfib_table *table = filled(family, bits);
    const size_t width = family == POPFIB_IPV4 ? 4 : 16;
    static const size_t SIZES[] = {0, 1, 15, 16, 17, 63, 64, 255, 256, 257, 4096, BULK};
    popfib_reader *reader;
    RETURNS(0, popfib_reader_create(table, &reader));

    /* Exact sizes, so that the sanitizer sees what is read and written beyond. */
    for (size_t size = 0; size < sizeof SIZES / sizeof SIZES[0]; size++) {
        const size_t n = SIZES[size];
        uint8_t *addresses = (uint8_t *)malloc(n * width + 1), *host = (uint8_t *)malloc(n * width + 1);
        void *next_hops = malloc(n * bits / 8 + 1);
        CHECK(addresses && host && next_hops);
        for (size_t at = 0; at < n; at++) {
            uint8_t *address = addresses + 1 + at * width;
            memset(address, (int)at, width);
            memcpy(address, at % 3 == 0 ? ELSEWHERE : ROUTES[at % COUNT].prefix, 4);
            for (size_t byte = 0; byte < width; byte++)
                host[at * width + byte] = address[width - 1 - byte];
        }
        for (int call = 0; call < 6; call++) {
            const uint8_t *network = addresses + 1; /* misaligned */
            memset(next_hops, 0xff, n * bits / 8);
            switch (call) {
            case 0: RETURNS(0, popfib_lookup_bulk(table, network, next_hops, n)); break;
            case 1: RETURNS(0, popfib_lookup_bulk_host(table, host, next_hops, n)); break;
            case 4: RETURNS(0, popfib_reader_online(reader)); /* fall through */
            case 2: RETURNS(0, popfib_reader_lookup_bulk(reader, network, next_hops, n)); break;
            default: RETURNS(0, popfib_reader_lookup_bulk_host(reader, host, next_hops, n));
            }
            for (size_t at = 0; at < n; at++) {
                const uint32_t next_hop = popfib_lookup(table, network + at * width);
                CHECK(element(next_hops, bits, at) == next_hop);
                CHECK(popfib_reader_lookup(reader, network + at * width) == next_hop);
            }
        }
        RETURNS(0, popfib_reader_offline(reader));
        free(addresses);
        free(host);
        free(next_hops);
    }

    uint8_t *bytes = (uint8_t *)calloc(512, 1);
    CHECK(bytes != NULL);
    RETURNS(0, popfib_lookup_bulk(table, NULL, NULL, 0));
    RETURNS(-EINVAL, popfib_lookup_bulk(NULL, bytes, bytes + 64, 1));
    RETURNS(-EINVAL, popfib_lookup_bulk(table, NULL, bytes, 1));
    RETURNS(-EINVAL, popfib_lookup_bulk(table, bytes, NULL, 1));
    RETURNS(-EINVAL, popfib_lookup_bulk(table, bytes, bytes + 65, 1));      /* misaligned results */
    RETURNS(-EINVAL, popfib_lookup_bulk(table, bytes, bytes, 2));           /* one array */
    RETURNS(-EINVAL, popfib_lookup_bulk(table, bytes, bytes + width, 2));   /* overlapping ends */
    RETURNS(-EINVAL, popfib_lookup_bulk(table, bytes + 4, bytes, 2 * 4));
    RETURNS(0, popfib_lookup_bulk(table, bytes, bytes + 4 * width, 4));     /* side by side */
    RETURNS(-EINVAL, popfib_lookup_bulk(table, bytes, bytes + 64, (size_t)-1));
    RETURNS(-EINVAL, popfib_lookup_bulk_host(NULL, bytes, bytes + 64, 1));
    RETURNS(-EINVAL, popfib_lookup_bulk_host(table, bytes + 1, bytes + 64, 1));
    RETURNS(0, popfib_lookup_bulk_host(table, NULL, NULL, 0));
    RETURNS(-EINVAL, popfib_reader_lookup_bulk(NULL, bytes, bytes + 64, 1));
    RETURNS(-EINVAL, popfib_reader_lookup_bulk(reader, bytes, bytes + 65, 1));
    RETURNS(-EINVAL, popfib_reader_lookup_bulk_host(NULL, bytes, bytes + 64, 1));
    RETURNS(-EINVAL, popfib_reader_lookup_bulk_host(reader, bytes + 1, bytes + 64, 1));
    free(bytes);
    popfib_reader_free(reader);
    popfib_free(table);
}

/* ---------------------------------------------------------------- walks */

struct walk {
    popfib_table *table;
    size_t width;
    int met, first, stop_at;
};

static int on_route(void *user, const uint8_t *prefix, uint8_t length, uint32_t next_hop)
{
    struct walk *walk = (struct walk *)user;
    const struct route *route = &ROUTES[walk->first + walk->met];
    CHECK(memcmp(prefix, route->prefix, walk->width) == 0);
    CHECK(length == route->length && next_hop == route->next_hop);
    /* Asking is fine, changing is not. */
    RETURNS(0, popfib_get(walk->table, prefix, length, NULL));
    RETURNS(-EBUSY, popfib_add(walk->table, prefix, length, 1));
    walk->met++;
    return walk->met == walk->stop_at ? 42 : 0;
}

static int refuse(void *user, const uint8_t *prefix, uint8_t length, uint32_t next_hop)
{
    (void)user, (void)prefix, (void)length, (void)next_hop;
    return -1;
}

static void test_walks(popfib_table *table)
{
    const size_t width = popfib_family(table) == POPFIB_IPV4 ? 4 : 16;
    struct walk walk = {table, width, 0, 0, 0};
    RETURNS(0, popfib_walk(table, on_route, &walk));
    CHECK(walk.met == COUNT);
    walk.met = 0, walk.stop_at = 3;
    RETURNS(42, popfib_walk(table, on_route, &walk));
    CHECK(walk.met == 3);
    RETURNS(-1, popfib_walk(table, refuse, NULL));

    walk.met = 0, walk.stop_at = 0;
    RETURNS(0, popfib_walk_covering(table, HOST, 32, on_route, &walk));
    CHECK(walk.met == 5);
    walk.met = 0, walk.stop_at = 2;
    RETURNS(42, popfib_walk_covering(table, HOST, 32, on_route, &walk));
    CHECK(walk.met == 2);
    walk.met = 0, walk.stop_at = 0;
    RETURNS(0, popfib_walk_covering(table, ELSEWHERE, (uint8_t)(8 * width), on_route, &walk));
    CHECK(walk.met == 1);

    walk.met = 0, walk.first = 1;
    RETURNS(0, popfib_walk_covered(table, ROUTES[1].prefix, 8, on_route, &walk));
    CHECK(walk.met == 5);
    walk.met = 0, walk.stop_at = 4;
    RETURNS(42, popfib_walk_covered(table, ROUTES[1].prefix, 8, on_route, &walk));
    walk.met = 0, walk.first = 0, walk.stop_at = 0;
    RETURNS(0, popfib_walk_covered(table, ROUTES[0].prefix, 0, on_route, &walk));
    CHECK(walk.met == COUNT);
    walk.met = 0;
    RETURNS(0, popfib_walk_covered(table, ELSEWHERE, 16, on_route, &walk));
    CHECK(walk.met == 0);

    RETURNS(-EINVAL, popfib_walk(NULL, on_route, &walk));
    RETURNS(-EINVAL, popfib_walk(table, NULL, &walk));
    RETURNS(-EINVAL, popfib_walk_covering(NULL, HOST, 32, on_route, &walk));
    RETURNS(-EINVAL, popfib_walk_covering(table, NULL, 32, on_route, &walk));
    RETURNS(-EINVAL, popfib_walk_covering(table, HOST, 8, on_route, &walk));
    RETURNS(-EINVAL, popfib_walk_covering(table, HOST, 32, NULL, &walk));
    RETURNS(-EINVAL, popfib_walk_covered(NULL, HOST, 32, on_route, &walk));
    RETURNS(-EINVAL, popfib_walk_covered(table, NULL, 32, on_route, &walk));
    RETURNS(-EINVAL, popfib_walk_covered(table, HOST, 129, on_route, &walk));
    RETURNS(-EINVAL, popfib_walk_covered(table, HOST, 32, NULL, &walk));
}

/* A callback that changes the table is refused, whether it walks one or two deep. */
static int change(void *user, const uint8_t *prefix, uint8_t length, uint32_t next_hop)
{
    popfib_table *table = (popfib_table *)user;
    RETURNS(-EBUSY, popfib_add(table, prefix, length, next_hop + 1));
    RETURNS(-EBUSY, popfib_delete(table, prefix, length));
    RETURNS(-EBUSY, popfib_reclaim(table));
    RETURNS(-1, popfib_walk(table, refuse, NULL));
    RETURNS(-EBUSY, popfib_delete(table, prefix, length));
    return 0;
}

static void test_changes_in_walks(void)
{
    popfib_table *table = filled(POPFIB_IPV4, 16);
    RETURNS(0, popfib_walk(table, change, table));
    RETURNS(0, popfib_delete(table, HOST, 32));
    popfib_free(table);
}

/* ---------------------------------------------------------------- readers */

static void test_readers(uint32_t family, uint32_t bits)
{
    popfib_table *table = filled(family, bits);
    popfib_reader *offline, *online, *never = (popfib_reader *)table;
    RETURNS(-EINVAL, popfib_reader_create(NULL, &never));
    CHECK(never == NULL);
    RETURNS(-EINVAL, popfib_reader_create(table, NULL));
    RETURNS(0, popfib_reader_create(table, &offline));
    RETURNS(0, popfib_reader_create(table, &online));
    RETURNS(0, popfib_reader_quiescent(offline));
    RETURNS(0, popfib_reader_offline(offline));
    RETURNS(0, popfib_reader_online(online));
    RETURNS(0, popfib_reader_online(online));
    RETURNS(0, popfib_reader_quiescent(online));
    CHECK(popfib_reader_lookup(online, HOST) == 5 && popfib_reader_lookup(offline, HOST) == 5);
    for (uint32_t change = 0; change < 2000; change++) {
        const uint32_t next_hop = 100 + change % 7;
        RETURNS(0, popfib_add(table, HOST, 32, next_hop));
        CHECK(popfib_reader_lookup(online, HOST) == next_hop);
        CHECK(popfib_reader_lookup(offline, HOST) == next_hop);
    }
    RETURNS(0, popfib_reclaim(table));
    popfib_free(table);
    /* They outlive the table. */
    CHECK(popfib_reader_lookup(online, ELSEWHERE) == 1 && popfib_reader_lookup(offline, ELSEWHERE) == 1);
    RETURNS(0, popfib_reader_offline(online));
    CHECK(popfib_reader_lookup(online, ELSEWHERE) == 1);
    RETURNS(0, popfib_reader_online(online));
    popfib_reader_free(online); /* while online */
    CHECK(popfib_reader_lookup(offline, ELSEWHERE) == 1);
    popfib_reader_free(offline);
    popfib_reader_free(NULL);
    CHECK(popfib_reader_lookup(NULL, HOST) == 0);
    RETURNS(-EINVAL, popfib_reader_online(NULL));
    RETURNS(-EINVAL, popfib_reader_offline(NULL));
    RETURNS(-EINVAL, popfib_reader_quiescent(NULL));
}

/* ---------------------------------------------------------------- images */

static void check_image_table(popfib_image *image, uint32_t family, uint32_t bits)
{
    struct popfib_config config = POPFIB_CONFIG_INIT(family);
    popfib_table *table;
    popfib_reader *reader;
    uint8_t length;
    uint32_t next_hop;
    config.next_hop_bits = bits;
    RETURNS(0, popfib_image_table(image, &config, &table));
    CHECK(popfib_family(table) == family && popfib_next_hop_bits(table) == bits);
    CHECK(popfib_count(table) == COUNT && popfib_bytes(table) > 0 && popfib_kernel(table) != NULL);
    test_walks(table);
    for (int at = 0; at < COUNT; at++) {
        RETURNS(0, popfib_get(table, ROUTES[at].prefix, ROUTES[at].length, &next_hop));
        CHECK(next_hop == ROUTES[at].next_hop);
    }
    RETURNS(-ENOENT, popfib_get(table, ELSEWHERE, 32, &next_hop));
    RETURNS(0, popfib_longest_match(table, HOST, NULL, &length, &next_hop));
    CHECK(length == 32 && next_hop == 5);
    RETURNS(-EROFS, popfib_add(table, HOST, 32, 1));
    RETURNS(-EROFS, popfib_delete(table, HOST, 32));
    RETURNS(0, popfib_reclaim(table));
    RETURNS(0, popfib_reader_create(table, &reader));
    RETURNS(0, popfib_reader_online(reader));
    popfib_free(table);
    CHECK(popfib_reader_lookup(reader, HOST) == 5);
    uint32_t *space = (uint32_t *)calloc(16, sizeof *space);
    CHECK(space != NULL);
    RETURNS(0, popfib_reader_lookup_bulk(reader, HOST, space, 1));
    CHECK(element(space, bits, 0) == 5);
    space[0] = space[4] = 0;
    RETURNS(0, popfib_reader_lookup_bulk_host(reader, space, space + 4, 1));
    CHECK(element(space + 4, bits, 0) == 1);
    free(space);
    RETURNS(0, popfib_reader_quiescent(reader));
    RETURNS(0, popfib_reader_offline(reader));
    popfib_reader_free(reader);
}

static void test_images(void)
{
    popfib_table *ipv4 = filled(POPFIB_IPV4, 16), *ipv6 = filled(POPFIB_IPV6, 32), *table;
    popfib_image *image;
    struct popfib_config config = POPFIB_CONFIG_INIT(POPFIB_IPV4);
    const char *name;
    size_t length;

    RETURNS(0, popfib_image_save(path, NULL, ipv4, ipv6));
    for (uint32_t mode = POPFIB_IMAGE_COPY; mode <= POPFIB_IMAGE_MAP_TRUSTED; mode++) {
        RETURNS(0, popfib_image_open(path, mode, &image));
        check_image_table(image, POPFIB_IPV4, 16);
        check_image_table(image, POPFIB_IPV4, 32);
        check_image_table(image, POPFIB_IPV6, 16);
        check_image_table(image, POPFIB_IPV6, 32);
        RETURNS(-ENODATA, popfib_image_name(image, 1, &name, &length));
        /* A table outlives the image. */
        RETURNS(0, popfib_image_table(image, &config, &table));
        popfib_image_free(image);
        CHECK(popfib_lookup(table, HOST) == 5);
        popfib_free(table);
    }
    RETURNS(-EINVAL, popfib_image_open(path, 3, &image));
    RETURNS(-EINVAL, popfib_image_open(NULL, POPFIB_IMAGE_COPY, &image));
    RETURNS(-EINVAL, popfib_image_open(path, POPFIB_IMAGE_COPY, NULL));
    RETURNS(-ENOENT, popfib_image_open(other_path, POPFIB_IMAGE_COPY, &image));
    CHECK(image == NULL);
    RETURNS(-EINVAL, popfib_image_save(NULL, NULL, ipv4, ipv6));
    RETURNS(-EINVAL, popfib_image_save(path, NULL, NULL, NULL));
    RETURNS(-EINVAL, popfib_image_save(path, NULL, ipv6, NULL));
    RETURNS(-EINVAL, popfib_image_save(path, NULL, ipv4, ipv4));
    RETURNS(-EINVAL, popfib_image_save("/", NULL, ipv4, ipv6));
    RETURNS(-ENOENT, popfib_image_save("/nowhere/image", NULL, ipv4, ipv6));
    RETURNS(-EISDIR, popfib_image_open("/", POPFIB_IMAGE_COPY, &image));

    /* Of one family, and with next hops that need 32 bits. */
    RETURNS(0, popfib_add(ipv6, HOST, 32, 65536));
    RETURNS(0, popfib_image_save(path, NULL, NULL, ipv6));
    RETURNS(0, popfib_image_open(path, POPFIB_IMAGE_COPY, &image));
    RETURNS(-ENOENT, popfib_image_table(image, &config, &table));
    CHECK(table == NULL);
    config.family = POPFIB_IPV6;
    config.next_hop_bits = 16;
    RETURNS(-ERANGE, popfib_image_table(image, &config, &table));
    config.next_hop_bits = 32;
    config.direct_bits = 18;
    RETURNS(-EINVAL, popfib_image_table(image, &config, &table));
    config.direct_bits = 0;
    config.kernel = "fastest";
    RETURNS(-EINVAL, popfib_image_table(image, &config, &table));
    config.kernel = NULL;
    config.size = 8;
    RETURNS(-EINVAL, popfib_image_table(image, &config, &table));
    config.size = sizeof config;
    RETURNS(-EINVAL, popfib_image_table(NULL, &config, &table));
    RETURNS(-EINVAL, popfib_image_table(image, NULL, &table));
    RETURNS(-EINVAL, popfib_image_table(image, &config, NULL));
    /* The table of an image can be saved again. */
    RETURNS(0, popfib_image_table(image, &config, &table));
    popfib_image_free(image);
    RETURNS(0, popfib_image_save(other_path, NULL, NULL, table));
    popfib_free(table);
    RETURNS(0, popfib_image_open(other_path, POPFIB_IMAGE_MAP, &image));
    popfib_image_free(image);

    /* Names and provenance. */
    static const char *const NAMES[] = {"east", "west", "", "s\xc3\xbc" "d", "five"};
    struct popfib_image_config content = POPFIB_IMAGE_CONFIG_INIT;
    content.names = NAMES;
    content.name_count = 5;
    content.source = "a test";
    content.created = 1800000000;
    RETURNS(-ERANGE, popfib_image_save(path, &content, ipv4, NULL)); /* 65535 has none */
    RETURNS(0, popfib_delete(ipv4, ROUTES[5].prefix, 31));
    RETURNS(0, popfib_delete(ipv4, ROUTES[6].prefix, 24));
    RETURNS(0, popfib_image_save(path, &content, ipv4, NULL));
    RETURNS(0, popfib_image_open(path, POPFIB_IMAGE_COPY, &image));
    RETURNS(0, popfib_image_name(image, 4, &name, &length));
    CHECK(length == 4 && memcmp(name, NAMES[3], length) == 0);
    RETURNS(0, popfib_image_name(image, 3, &name, &length));
    CHECK(length == 0);
    RETURNS(0, popfib_image_name(image, 1, NULL, NULL));
    RETURNS(-ENOENT, popfib_image_name(image, 0, &name, &length));
    RETURNS(-ENOENT, popfib_image_name(image, 6, &name, &length));
    RETURNS(-EINVAL, popfib_image_name(NULL, 1, &name, &length));
    popfib_image_free(image);
    popfib_image_free(NULL);

    static const char *const BROKEN[] = {"east", "\xff", "", "", ""}, *const MISSING[] = {"a", NULL};
    content.names = BROKEN;
    RETURNS(-EILSEQ, popfib_image_save(path, &content, ipv4, NULL));
    content.names = MISSING;
    content.name_count = 2;
    RETURNS(-EINVAL, popfib_image_save(path, &content, ipv4, NULL));
    content.names = NULL;
    content.source = "\xff";
    RETURNS(-EILSEQ, popfib_image_save(path, &content, ipv4, NULL));
    content.source = NULL;
    content.flags = 2;
    RETURNS(-EINVAL, popfib_image_save(path, &content, ipv4, NULL));
    content.size = 4;
    RETURNS(-EINVAL, popfib_image_save(path, &content, ipv4, NULL));

    /* Without routes: lookups only. */
    content.size = sizeof content;
    content.flags = POPFIB_IMAGE_NO_ROUTES;
    RETURNS(0, popfib_image_save(path, &content, ipv4, NULL));
    RETURNS(0, popfib_image_open(path, POPFIB_IMAGE_COPY, &image));
    config.family = POPFIB_IPV4;
    RETURNS(0, popfib_image_table(image, &config, &table));
    CHECK(popfib_lookup(table, HOST) == 5 && popfib_count(table) == COUNT - 2);
    RETURNS(-ENODATA, popfib_get(table, HOST, 32, NULL));
    RETURNS(-ENODATA, popfib_longest_match(table, HOST, NULL, NULL, NULL));
    RETURNS(-ENODATA, popfib_walk(table, refuse, NULL));
    RETURNS(-ENODATA, popfib_walk_covering(table, HOST, 32, refuse, NULL));
    RETURNS(-ENODATA, popfib_walk_covered(table, HOST, 32, refuse, NULL));
    RETURNS(-ENODATA, popfib_image_save(other_path, NULL, table, NULL));
    popfib_free(table);
    popfib_image_free(image);

    struct {
        struct popfib_image_config known;
        uint64_t unknown;
    } longer = {POPFIB_IMAGE_CONFIG_INIT, 1};
    longer.known.size = sizeof longer;
    RETURNS(-E2BIG, popfib_image_save(path, &longer.known, ipv4, NULL));

    popfib_free(ipv4);
    popfib_free(ipv6);
}

static size_t read_file(const char *from, uint8_t *bytes, size_t space)
{
    FILE *file = fopen(from, "rb");
    CHECK(file != NULL);
    const size_t length = fread(bytes, 1, space, file);
    CHECK(length < space);
    fclose(file);
    return length;
}

static void write_file(const char *to, const uint8_t *bytes, size_t length)
{
    FILE *file = fopen(to, "wb");
    CHECK(file != NULL);
    CHECK(fwrite(bytes, 1, length, file) == length);
    CHECK(fclose(file) == 0);
}

/* Whatever is wrong with an image, opening it says so. */
static void test_damaged_images(void)
{
    static uint8_t bytes[1 << 16];
    popfib_table *table = filled(POPFIB_IPV4, 16);
    popfib_image *image;
    RETURNS(0, popfib_image_save(path, NULL, table, NULL));
    popfib_free(table);
    const size_t length = read_file(path, bytes, sizeof bytes);
    for (size_t at = 0; at < length; at++) {
        const uint8_t whole = bytes[at];
        bytes[at] ^= (uint8_t)(1 << at % 8);
        write_file(other_path, bytes, length);
        const int error = popfib_image_open(other_path, at % 2 ? POPFIB_IMAGE_COPY : POPFIB_IMAGE_MAP, &image);
        const int is_version = 8 <= at && at < 12;
        CHECK(error == -EBADMSG || (is_version && error == -ENOTSUP));
        CHECK(image == NULL);
        bytes[at] = whole;
    }
    for (size_t cut = 0; cut < length; cut += cut < 128 ? 1 : 37) {
        write_file(other_path, bytes, cut);
        RETURNS(-EBADMSG, popfib_image_open(other_path, POPFIB_IMAGE_COPY, &image));
    }
    write_file(other_path, bytes, length + 1);
    RETURNS(-EBADMSG, popfib_image_open(other_path, POPFIB_IMAGE_COPY, &image));
    bytes[8] = 2;
    write_file(other_path, bytes, length);
    RETURNS(-ENOTSUP, popfib_image_open(other_path, POPFIB_IMAGE_COPY, &image));
    if (geteuid() != 0) {
        CHECK(chmod(path, 0) == 0);
        RETURNS(-EACCES, popfib_image_open(path, POPFIB_IMAGE_COPY, &image));
    }
}

/* A file that may not be as large as it would be. */
static void test_file_limit(void)
{
    popfib_table *table = filled(POPFIB_IPV4, 16);
    struct rlimit limit, before;
    struct stat old_file, new_file;
    RETURNS(0, popfib_image_save(other_path, NULL, table, NULL));
    CHECK(stat(other_path, &old_file) == 0);
    CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    limit = before;
    limit.rlim_cur = 100;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    RETURNS(-EFBIG, popfib_image_save(other_path, NULL, table, NULL));
    CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK(stat(other_path, &new_file) == 0);
    CHECK(old_file.st_ino == new_file.st_ino && old_file.st_size == new_file.st_size);
    popfib_free(table);
}

/* ---------------------------------------------------------------- the library */

static void test_texts(void)
{
    static const int KNOWN[] = {0,       EINVAL, E2BIG,  ENOENT,   ENOMEM, ENOSPC, ENODATA, ERANGE, EROFS, EBUSY,
                                ENOTSUP, EILSEQ, EBADMSG, EIO, ENOTRECOVERABLE, EACCES, EISDIR, ENOTDIR, EFBIG};
    const char *unknown = popfib_strerror(123456);
    char version[32];
    for (size_t at = 0; at < sizeof KNOWN / sizeof KNOWN[0]; at++) {
        const char *text = popfib_strerror(-KNOWN[at]);
        CHECK(text != NULL && strlen(text) > 4 && strcmp(text, unknown) != 0);
        CHECK(popfib_strerror(KNOWN[at]) == text);
    }
    CHECK(unknown != NULL && popfib_strerror(-2147483647 - 1) == unknown);
    snprintf(version, sizeof version, "%d.%d.%d", POPFIB_VERSION_MAJOR, POPFIB_VERSION_MINOR, POPFIB_VERSION_PATCH);
    CHECK(strcmp(popfib_version(), version) == 0);
    CHECK(popfib_kernel_list((size_t)-1) == NULL);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    snprintf(path, sizeof path, "%s/image", argv[1]);
    snprintf(other_path, sizeof other_path, "%s/other", argv[1]);
    test_kernels();
    test_create();
    test_longer_config();
    for (uint32_t family = POPFIB_IPV4; family <= POPFIB_IPV6; family += 2) {
        for (uint32_t bits = 16; bits <= 32; bits += 16) {
            test_routes(family, bits);
            test_bulk(family, bits);
            test_readers(family, bits);
            popfib_table *table = filled(family, bits);
            test_walks(table);
            popfib_free(table);
        }
        popfib_free(create(family, 0));
    }
    test_changes_in_walks();
    test_images();
    test_damaged_images();
    test_file_limit();
    test_texts();
    printf("api: all functions and errors as documented\n");
    return 0;
}
