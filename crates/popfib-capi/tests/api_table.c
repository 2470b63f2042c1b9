/* Routes, lookups and readers: a part of the program `api`. */
#include "api.h"

/* Places for next hops that begin there, aligned or not. */
static uint32_t *places(uint8_t *at)
{
    return (uint32_t *)(void *)at;
}

/* ---------------------------------------------------------------- routes */

/* Longest matches of each route and of an address without one, by every function: a compiled table of prefixes, if there is one,
 * must be that of the current routes. */
static void check_matches(const popfib_table *table)
{
    const size_t size = popfib_family(table) == POPFIB_IPV4 ? 4 : 16, count = COUNT + 2;
    uint8_t addresses[(COUNT + 2) * 16], lengths[COUNT + 2], prefix[16], length;
    uint32_t next_hops[COUNT + 2], next_hop;
    for (size_t at = 0; at < count; at++)
        memcpy(addresses + at * size, at < COUNT ? ROUTES[at].prefix : at == COUNT ? HOST : ELSEWHERE, size);
    memset(lengths, 0xaa, sizeof lengths);
    memset(next_hops, 0xaa, sizeof next_hops);
    RETURNS(0, popfib_longest_match_bulk(table, addresses, lengths, next_hops, count));
    for (size_t at = 0; at < count; at++) {
        const uint8_t *address = addresses + at * size;
        const uint32_t want = popfib_lookup(table, address);
        CHECK(next_hops[at] == want);
        RETURNS(want == 0 ? -ENOENT : 0, popfib_longest_match(table, address, prefix, &length, &next_hop));
        CHECK(lengths[at] == (want == 0 ? 0 : length) && (want == 0 || next_hop == want));
        RETURNS(want == 0 ? -ENOENT : 0, want == 0 ? -ENOENT : popfib_get(table, prefix, length, &next_hop));
        CHECK(next_hop == want || want == 0);
    }
}

void test_matches(uint32_t family, uint32_t flags)
{
    popfib_table *table = filled(family, flags);
    const uint8_t width = family == POPFIB_IPV4 ? 32 : 128;
    uint8_t lengths[4] = {9, 9, 9, 9}, array[64];
    uint32_t next_hops[4] = {9, 9, 9, 9};
    const size_t bytes = popfib_bytes(table);

    check_matches(table);
    RETURNS(0, popfib_compile_prefixes(table));
    RETURNS(0, popfib_compile_prefixes(table));
    CHECK(popfib_bytes(table) > bytes || flags == POPFIB_KEEP_PREFIXES);
    check_matches(table);
    /* After any change matches are right; a change that fails changes nothing. */
    RETURNS(0, popfib_add(table, HOST, width, 7));
    check_matches(table);
    RETURNS(0, popfib_compile_prefixes(table));
    check_matches(table);
    RETURNS(0, popfib_delete(table, HOST, width));
    RETURNS(0, popfib_delete(table, ROUTES[0].prefix, 0));
    check_matches(table);
    RETURNS(0, popfib_compile_prefixes(table));
    RETURNS(-ENOENT, popfib_delete(table, HOST, width));
    check_matches(table);

    /* The highest next hop that fits beside a length, and one more. */
    if (flags == 0) {
        const uint32_t highest = family == POPFIB_IPV4 ? 65075261 : 16647159;
        RETURNS(0, popfib_add(table, HOST, width, highest));
        RETURNS(0, popfib_compile_prefixes(table));
        check_matches(table);
        RETURNS(0, popfib_add(table, HOST, width, highest + 1));
        RETURNS(-ERANGE, popfib_compile_prefixes(table));
        check_matches(table);
    }

    /* Nonsense. */
    memset(array, 0, sizeof array);
    RETURNS(-EINVAL, popfib_compile_prefixes(NULL));
    RETURNS(-EINVAL, popfib_longest_match_bulk(NULL, array, lengths, next_hops, 1));
    RETURNS(-EINVAL, popfib_longest_match_bulk(table, NULL, lengths, next_hops, 1));
    RETURNS(-EINVAL, popfib_longest_match_bulk(table, array, NULL, next_hops, 1));
    RETURNS(-EINVAL, popfib_longest_match_bulk(table, array, lengths, NULL, 1));
    RETURNS(-EINVAL, popfib_longest_match_bulk(table, array, lengths, places((uint8_t *)next_hops + 1), 1));
    RETURNS(-EINVAL, popfib_longest_match_bulk(table, array, array + width / 8 - 1, next_hops, 1));
    RETURNS(-EINVAL, popfib_longest_match_bulk(table, array, (uint8_t *)next_hops + 1, next_hops, 1));
    RETURNS(-EINVAL, popfib_longest_match_bulk(table, next_hops, lengths, next_hops, 1));
    RETURNS(-EINVAL, popfib_longest_match_bulk(table, array, lengths, next_hops, SIZE_MAX));
    RETURNS(-EINVAL, popfib_longest_match_bulk(table, array, lengths, next_hops, SIZE_MAX / 16));
    RETURNS(0, popfib_longest_match_bulk(table, NULL, NULL, NULL, 0));
    CHECK(lengths[0] == 9 && next_hops[0] == 9);
    popfib_free(table);
}

void test_routes(uint32_t family, uint32_t flags)
{
    popfib_table *table = filled(family, flags);
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

    /* The longest prefix, and the highest next hop. */
    const uint32_t highest = flags == 0 ? 0x7fffffff : width == 32 ? 65075261 : 16647159;
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
    CHECK(popfib_family(NULL) == 0);
    CHECK(popfib_count(NULL) == 0 && popfib_bytes(NULL) == 0);
    CHECK(popfib_count(table) == count);
    popfib_free(table);
}

/* ---------------------------------------------------------------- bulk lookups */

enum { BULK = 5000 };

void test_bulk(uint32_t family, uint32_t flags)
{
    popfib_table *table = filled(family, flags);
    const size_t width = family == POPFIB_IPV4 ? 4 : 16;
    static const size_t SIZES[] = {0, 1, 15, 16, 17, 63, 64, 255, 256, 257, 4096, BULK};
    popfib_reader *reader;
    RETURNS(0, popfib_reader_create(table, &reader));

    /* Exact sizes, so that the sanitizer sees what is read and written beyond. */
    for (size_t size = 0; size < sizeof SIZES / sizeof SIZES[0]; size++) {
        const size_t n = SIZES[size];
        uint8_t *addresses = (uint8_t *)malloc(n * width + 1), *host = (uint8_t *)malloc(n * width + 1);
        uint32_t *next_hops = (uint32_t *)malloc(n * sizeof *next_hops + 1);
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
            memset(next_hops, 0xff, n * sizeof *next_hops);
            switch (call) {
            case 0: RETURNS(0, popfib_lookup_bulk(table, network, next_hops, n)); break;
            case 1: RETURNS(0, popfib_lookup_bulk_host(table, host, next_hops, n)); break;
            case 4: RETURNS(0, popfib_reader_online(reader)); /* fall through */
            case 2: RETURNS(0, popfib_reader_lookup_bulk(reader, network, next_hops, n)); break;
            default: RETURNS(0, popfib_reader_lookup_bulk_host(reader, host, next_hops, n));
            }
            for (size_t at = 0; at < n; at++) {
                const uint32_t next_hop = popfib_lookup(table, network + at * width);
                CHECK(next_hops[at] == next_hop);
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
    RETURNS(-EINVAL, popfib_lookup_bulk(NULL, bytes, places(bytes + 64), 1));
    RETURNS(-EINVAL, popfib_lookup_bulk(table, NULL, places(bytes), 1));
    RETURNS(-EINVAL, popfib_lookup_bulk(table, bytes, NULL, 1));
    RETURNS(-EINVAL, popfib_lookup_bulk(table, bytes, places(bytes + 65), 1));      /* misaligned results */
    RETURNS(-EINVAL, popfib_lookup_bulk(table, bytes, places(bytes), 2));           /* one array */
    RETURNS(-EINVAL, popfib_lookup_bulk(table, bytes, places(bytes + width), 2));   /* overlapping ends */
    RETURNS(-EINVAL, popfib_lookup_bulk(table, bytes + 4, places(bytes), 2 * 4));
    RETURNS(0, popfib_lookup_bulk(table, bytes, places(bytes + 4 * width), 4));     /* side by side */
    RETURNS(-EINVAL, popfib_lookup_bulk(table, bytes, places(bytes + 64), (size_t)-1));
    RETURNS(-EINVAL, popfib_lookup_bulk_host(NULL, bytes, places(bytes + 64), 1));
    RETURNS(-EINVAL, popfib_lookup_bulk_host(table, bytes + 1, places(bytes + 64), 1));
    RETURNS(0, popfib_lookup_bulk_host(table, NULL, NULL, 0));
    RETURNS(-EINVAL, popfib_reader_lookup_bulk(NULL, bytes, places(bytes + 64), 1));
    RETURNS(-EINVAL, popfib_reader_lookup_bulk(reader, bytes, places(bytes + 65), 1));
    RETURNS(-EINVAL, popfib_reader_lookup_bulk_host(NULL, bytes, places(bytes + 64), 1));
    RETURNS(-EINVAL, popfib_reader_lookup_bulk_host(reader, bytes + 1, places(bytes + 64), 1));
    free(bytes);
    popfib_reader_free(reader);
    popfib_free(table);
}

/* ---------------------------------------------------------------- readers */

void test_readers(uint32_t family, uint32_t flags)
{
    popfib_table *table = filled(family, flags);
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
