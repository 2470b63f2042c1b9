/*
 * Asks all that C can ask of a real table and compares with what Rust found (see rust_side.rs).
 *
 *     answers DIR
 */
#include <stdbool.h>
#include <time.h>

#include "files.h"

static struct file_route *routes;
static uint8_t *addresses, *lengths;
static uint32_t *answers;
static size_t route_count, address_count, width;
static unsigned long compared;

/* Bulk lookups of all addresses, `burst` at a time. */
static void check_bulk(popfib_table *table, popfib_reader *reader, bool in_host_order, size_t burst)
{
    uint8_t *turned = (uint8_t *)malloc(burst * width);
    uint32_t *next_hops = (uint32_t *)malloc(burst * sizeof *next_hops);
    CHECK(turned && next_hops);
    for (size_t from = 0; from < address_count; from += burst) {
        const size_t n = address_count - from < burst ? address_count - from : burst;
        const uint8_t *asked = addresses + from * width;
        if (in_host_order) {
            for (size_t at = 0; at < n * width; at++)
                turned[at] = asked[at / width * width + (width - 1 - at % width)];
            RETURNS(0, reader ? popfib_reader_lookup_bulk_host(reader, turned, next_hops, n)
                              : popfib_lookup_bulk_host(table, turned, next_hops, n));
        } else {
            RETURNS(0, reader ? popfib_reader_lookup_bulk(reader, asked, next_hops, n)
                              : popfib_lookup_bulk(table, asked, next_hops, n));
        }
        for (size_t at = 0; at < n; at++)
            CHECK(next_hops[at] == answers[from + at]);
        compared += n;
    }
    free(turned);
    free(next_hops);
}

static int on_route(void *user, const uint8_t *prefix, uint8_t length, uint32_t next_hop)
{
    const struct file_route *route = &routes[(*(size_t *)user)++];
    CHECK(memcmp(prefix, route->prefix, width) == 0);
    CHECK(length == route->length && next_hop == route->next_hop);
    return 0;
}

/* Remembers the last route of a walk over those that cover an address. */
static int on_covering(void *user, const uint8_t *prefix, uint8_t length, uint32_t next_hop)
{
    (void)prefix;
    uint32_t *last = (uint32_t *)user;
    CHECK(last[0] == 255 || last[0] < length);
    last[0] = length;
    last[1] = next_hop;
    return 0;
}

static void check_matches(popfib_table *table)
{
    uint8_t *found = (uint8_t *)malloc(address_count);
    uint32_t *next_hops = (uint32_t *)malloc(address_count * sizeof *next_hops);
    CHECK(found != NULL && next_hops != NULL);
    RETURNS(0, popfib_longest_match_bulk(table, addresses, found, next_hops, address_count));
    for (size_t at = 0; at < address_count; at++) {
        const uint8_t *address = addresses + at * width;
        uint8_t prefix[16], length = 255;
        uint32_t next_hop = 0;
        const int error = popfib_longest_match(table, address, prefix, &length, &next_hop);
        CHECK(error == (lengths[at] == 255 ? -ENOENT : 0));
        CHECK(length == lengths[at] && next_hop == answers[at]);
        CHECK(found[at] == (lengths[at] == 255 ? 0 : lengths[at]));
        CHECK(next_hops[at] == answers[at]);
        for (size_t byte = 0; byte < width && error == 0; byte++) {
            const int left = length - 8 * (int)byte;
            const uint8_t mask = left >= 8 ? 0xff : left <= 0 ? 0 : (uint8_t)(0xff << (8 - left));
            CHECK(prefix[byte] == (address[byte] & mask));
        }
        compared += 2;
    }
    free(found);
    free(next_hops);
}

static void check_table(popfib_table *table)
{
    popfib_reader *reader;
    RETURNS(0, popfib_reader_create(table, &reader));
    check_bulk(table, NULL, false, 64);
    check_bulk(table, NULL, true, 1000);
    check_bulk(table, reader, false, 10000);
    RETURNS(0, popfib_reader_online(reader));
    check_bulk(table, reader, true, 77);
    for (size_t at = 0; at < address_count; at++) {
        const uint8_t *address = addresses + at * width;
        CHECK(popfib_lookup(table, address) == answers[at]);
        CHECK(popfib_reader_lookup(reader, address) == answers[at]);
        if (at % 16 == 0) {
            uint32_t last[2] = {255, 0};
            RETURNS(0, popfib_walk_covering(table, address, (uint8_t)(8 * width), on_covering, last));
            CHECK(last[0] == lengths[at] && last[1] == answers[at]);
        }
        compared += 2;
    }
    popfib_reader_free(reader);
    check_matches(table);
    RETURNS(0, popfib_compile_prefixes(table));
    check_matches(table);

    CHECK(popfib_count(table) == route_count);
    size_t met = 0;
    RETURNS(0, popfib_walk(table, on_route, &met));
    CHECK(met == route_count);
    for (size_t at = 0; at < route_count; at++) {
        uint32_t next_hop;
        RETURNS(0, popfib_get(table, routes[at].prefix, routes[at].length, &next_hop));
        CHECK(next_hop == routes[at].next_hop);
    }
    for (size_t at = 0; at < route_count; at += 1 + route_count / 5000) {
        /* The walk must begin with the prefix itself and stay inside. */
        size_t first = met = at;
        RETURNS(0, popfib_walk_covered(table, routes[at].prefix, routes[at].length, on_route, &met));
        CHECK(met > first);
        CHECK(met == route_count || popfib_longest_match(table, routes[met].prefix, NULL, NULL, NULL) == 0);
    }
}

enum { MANY = 5000 };

/* Both tables at once: the answers are those of each by itself, and numbers of no table have none. */
static void check_table_set(popfib_image *image)
{
    static uint32_t ids[MANY], addresses[MANY], next_hops[MANY];
    struct popfib_config config = POPFIB_CONFIG_INIT(POPFIB_IPV4);
    popfib_table *tables[2];
    popfib_table_set *set;
    for (uint32_t n = 0; n < 2; n++) {
        RETURNS(0, popfib_image_select(image, n == 0 ? "a" : "b"));
        RETURNS(0, popfib_image_table(image, &config, &tables[n]));
    }
    for (uint32_t at = 0; at < MANY; at++) {
        ids[at] = at % 5 == 4 ? UINT32_MAX : at % 5 == 3 ? 2 : (at * 2654435761u) >> 31;
        addresses[at] = at % 3 == 0 ? 10 | at << 8 : at * 2654435761u; /* the first byte is the lowest */
    }
    for (uint32_t flags = 0; flags <= POPFIB_BALANCED; flags += POPFIB_BALANCED) {
        config.flags = flags;
        RETURNS(0, popfib_image_table_set(image, &config, &set));
        for (size_t n = 1; n <= MANY; n += 833) {
            RETURNS(0, popfib_lookup_many_bulk(set, ids, addresses, next_hops, n));
            for (size_t at = 0; at < n; at++) {
                uint32_t expected = ids[at] < 2 ? popfib_lookup(tables[ids[at]], (const uint8_t *)&addresses[at]) : 0;
                CHECK(next_hops[at] == expected && (at % 3 != 0 || ids[at] > 1 || expected == 8 + 2 * ids[at]));
            }
        }
        RETURNS(0, popfib_lookup_many_bulk(set, NULL, NULL, NULL, 0));
        RETURNS(-EINVAL, popfib_lookup_many_bulk(NULL, ids, addresses, next_hops, 1));
        RETURNS(-EINVAL, popfib_lookup_many_bulk(set, NULL, addresses, next_hops, 1));
        RETURNS(-EINVAL, popfib_lookup_many_bulk(set, ids, NULL, next_hops, 1));
        RETURNS(-EINVAL, popfib_lookup_many_bulk(set, ids, addresses, NULL, 1));
        RETURNS(-EINVAL, popfib_lookup_many_bulk(set, ids, addresses, ids + 1, 2));
        RETURNS(-EINVAL, popfib_lookup_many_bulk(set, ids, ids, next_hops, SIZE_MAX));
        popfib_table_set_free(set);
    }
    config.flags = POPFIB_KEEP_PREFIXES;
    RETURNS(-EINVAL, popfib_image_table_set(image, &config, &set));
    CHECK(set == NULL);
    config.flags = 0;
    RETURNS(-EINVAL, popfib_image_table_set(NULL, &config, &set));
    RETURNS(-EINVAL, popfib_image_table_set(image, NULL, &set));
    RETURNS(-EINVAL, popfib_image_table_set(image, &config, NULL));
    config.direct_bits = 18;
    RETURNS(-EINVAL, popfib_image_table_set(image, &config, &set));
    /* The image has no routes of this family, and so has no table. */
    struct popfib_config ipv6 = POPFIB_CONFIG_INIT(POPFIB_IPV6);
    RETURNS(0, popfib_image_table_set(image, &ipv6, &set));
    RETURNS(0, popfib_lookup_many_bulk(set, ids, addresses, next_hops, MANY / 4));
    for (size_t at = 0; at < MANY / 4; at++)
        CHECK(next_hops[at] == 0);
    popfib_table_set_free(set);
    popfib_table_set_free(NULL);
    popfib_free(tables[0]);
    popfib_free(tables[1]);
}

/* An image of several tables: the one that is selected by its name answers. */
static void check_two_tables(const char *path)
{
    const uint8_t address[4] = {10, 1, 2, 3};
    struct popfib_config config = POPFIB_CONFIG_INIT(POPFIB_IPV4);
    popfib_image *image;
    popfib_table *table;
    popfib_records *records;
    RETURNS(0, popfib_image_open(path, POPFIB_IMAGE_COPY, &image));
    RETURNS(-ENOENT, popfib_image_table(image, &config, &table));
    RETURNS(-ENOENT, popfib_image_records(image, &records));
    RETURNS(-ENOENT, popfib_image_select(image, "c"));
    RETURNS(-EILSEQ, popfib_image_select(image, "\xff"));
    RETURNS(-EINVAL, popfib_image_select(image, NULL));
    RETURNS(-EINVAL, popfib_image_select(NULL, "a"));
    for (uint32_t n = 0; n < 2; n++) {
        RETURNS(0, popfib_image_select(image, n == 0 ? "a" : "b"));
        RETURNS(0, popfib_image_table(image, &config, &table));
        CHECK(popfib_lookup(table, address) == (n == 0 ? 8 : 10));
        popfib_free(table);
    }
    RETURNS(-ENODATA, popfib_image_records(image, &records));
    check_table_set(image);
    popfib_image_free(image);
}

/* A valid image with damaged records. */
static void check_broken_records(const char *path)
{
    popfib_image *image;
    popfib_records *records = (popfib_records *)&image;
    RETURNS(0, popfib_image_open(path, POPFIB_IMAGE_COPY, &image));
    RETURNS(-EBADMSG, popfib_image_records(image, &records));
    CHECK(records == NULL);
    popfib_image_free(image);
}

/* A list of 80,000 elements, each of which is there at once: to look for each from the first took 11 s. */
static void check_long_list(const char *path)
{
    popfib_image *image;
    popfib_records *records;
    size_t count;
    RETURNS(0, popfib_image_open(path, POPFIB_IMAGE_COPY, &image));
    RETURNS(0, popfib_image_records(image, &records));
    RETURNS(0, popfib_records_length(records, 0, 1, &count));
    CHECK(count == 80000);
    const clock_t start = clock();
    for (size_t at = 0; at < count; at++) {
        int64_t value;
        RETURNS(0, popfib_records_int64(records, 0, 1, at, &value));
        CHECK(value == (int64_t)at);
    }
    CHECK(clock() - start < 2 * CLOCKS_PER_SEC);
    popfib_records_free(records);
    popfib_image_free(image);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    char path[4096], own_path[4096];
    popfib_table *tables[2];
    popfib_image *image;
    snprintf(path, sizeof path, "%s/two-tables", argv[1]);
    check_two_tables(path);
    snprintf(path, sizeof path, "%s/broken-records", argv[1]);
    check_broken_records(path);
    snprintf(path, sizeof path, "%s/long-list", argv[1]);
    check_long_list(path);
    snprintf(path, sizeof path, "%s/image", argv[1]);
    snprintf(own_path, sizeof own_path, "%s/image-of-c", argv[1]);
    RETURNS(0, popfib_image_open(path, POPFIB_IMAGE_COPY, &image));
    for (uint32_t family = POPFIB_IPV4; family <= POPFIB_IPV6; family += 2) {
        size_t count;
        width = family == POPFIB_IPV4 ? 4 : 16;
        routes = (struct file_route *)read_elements(argv[1], "routes", family, sizeof *routes, &route_count);
        addresses = (uint8_t *)read_elements(argv[1], "addresses", family, width, &address_count);
        answers = (uint32_t *)read_elements(argv[1], "answers", family, sizeof *answers, &count);
        CHECK(count == address_count);
        lengths = (uint8_t *)read_elements(argv[1], "lengths", family, 1, &count);
        CHECK(count == address_count);
        struct popfib_config config = POPFIB_CONFIG_INIT(family);
        popfib_table *table;
        RETURNS(0, popfib_image_table(image, &config, &table));
        check_table(table);
        popfib_free(table);
        RETURNS(0, popfib_create(&config, &table));
        /* Backwards, and each with a wrong next hop first, so that routes are replaced and inherited. */
        for (size_t at = route_count; at-- > 0;) {
            if (at % 7 == 0)
                RETURNS(0, popfib_add(table, routes[at].prefix, routes[at].length, 65535));
            RETURNS(0, popfib_add(table, routes[at].prefix, routes[at].length, routes[at].next_hop));
        }
        for (size_t at = 0; at < route_count; at += 5) {
            RETURNS(0, popfib_delete(table, routes[at].prefix, routes[at].length));
            RETURNS(-ENOENT, popfib_get(table, routes[at].prefix, routes[at].length, NULL));
        }
        for (size_t at = 0; at < route_count; at += 5)
            RETURNS(0, popfib_add(table, routes[at].prefix, routes[at].length, routes[at].next_hop));
        check_table(table);
        tables[family == POPFIB_IPV6] = table;
        printf("answers: IPv%u, %zu routes\n", (unsigned)family, route_count);
        free(routes);
        free(addresses);
        free(answers);
        free(lengths);
    }
    popfib_image_free(image);
    /* The caller compares it with the one that Rust wrote, byte by byte. */
    RETURNS(0, popfib_image_save(own_path, NULL, tables[0], tables[1]));
    popfib_free(tables[0]);
    popfib_free(tables[1]);
    printf("answers: %lu compared, all as in Rust\n", compared);
    return 0;
}
