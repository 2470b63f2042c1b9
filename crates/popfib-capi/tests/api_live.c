/* Changes that belong together, longest matches of readers, and groups: a part of the program `api`. */
#include "api.h"

static struct popfib_change change(const uint8_t *prefix, uint8_t length, uint32_t next_hop)
{
    struct popfib_change made;
    memset(&made, 0, sizeof made);
    memcpy(made.prefix, prefix, 16);
    made.length = length;
    made.next_hop = next_hop;
    return made;
}

void test_apply(uint32_t family, uint32_t flags)
{
    popfib_table *table = create(family, flags);
    const uint8_t width = family == POPFIB_IPV4 ? 32 : 128;
    struct popfib_change changes[COUNT + 4];
    popfib_reader *reader;
    RETURNS(0, popfib_reader_create(table, &reader));
    for (int at = 0; at < COUNT; at++)
        changes[at] = change(ROUTES[at].prefix, ROUTES[at].length, ROUTES[at].next_hop);
    RETURNS(0, popfib_apply(table, changes, COUNT));
    CHECK(popfib_count(table) == COUNT && popfib_reader_lookup(reader, HOST) == 5);

    /* The last of a prefix counts; what is not there is gone already. */
    changes[0] = change(HOST, 32, 0);
    changes[1] = change(ROUTES[0].prefix, 0, 9);
    changes[2] = change(HOST, 32, 7);
    changes[3] = change(HOST, 31, 0);
    changes[3].prefix[3] = 8;
    RETURNS(0, popfib_apply(table, changes, 4));
    CHECK(popfib_count(table) == COUNT);
    CHECK(popfib_reader_lookup(reader, HOST) == 7 && popfib_reader_lookup(reader, ELSEWHERE) == 9);

    /* Many, beside the table in use, and all gone again. */
    enum { MANY = 2000 };
    struct popfib_change *many = (struct popfib_change *)calloc(MANY, sizeof *many);
    CHECK(many != NULL);
    for (int at = 0; at < MANY; at++) {
        const uint8_t prefix[16] = {11, (uint8_t)(at >> 8), (uint8_t)at};
        many[at] = change(prefix, 24, 1 + (uint32_t)at % 100);
    }
    RETURNS(0, popfib_apply(table, many, MANY));
    for (int at = 0; at < MANY; at++) {
        CHECK(popfib_reader_lookup(reader, many[at].prefix) == many[at].next_hop);
        many[at].next_hop = 0;
    }
    CHECK(popfib_count(table) == COUNT + MANY);
    RETURNS(0, popfib_apply(table, many, MANY));
    CHECK(popfib_count(table) == COUNT && popfib_reader_lookup(reader, many[9].prefix) == 9);

    /* Nonsense changes nothing. */
    changes[0] = change(HOST, 32, 0);
    changes[1] = change(HOST, 8, 1);
    RETURNS(-EINVAL, popfib_apply(table, changes, 2));
    changes[1] = change(HOST, (uint8_t)(width + 1), 1);
    RETURNS(-EINVAL, popfib_apply(table, changes, 2));
    changes[1] = change(HOST, 32, 0x80000000u);
    RETURNS(-ERANGE, popfib_apply(table, changes, 2));
    if (flags == POPFIB_KEEP_PREFIXES) {
        changes[1].next_hop = width == 32 ? 65075262 : 16647160;
        RETURNS(-ERANGE, popfib_apply(table, changes, 2));
    }
    changes[1] = change(HOST, 32, 1);
    changes[1].reserved[2] = 1;
    RETURNS(-EINVAL, popfib_apply(table, changes, 2));
    RETURNS(-EINVAL, popfib_apply(NULL, changes, 1));
    RETURNS(-EINVAL, popfib_apply(table, NULL, 1));
    RETURNS(-EINVAL, popfib_apply(table, changes, SIZE_MAX / 8));
    RETURNS(0, popfib_apply(table, NULL, 0));
    CHECK(popfib_count(table) == COUNT && popfib_lookup(table, HOST) == 7);
    free(many);
    popfib_reader_free(reader);
    popfib_free(table);
}

void test_reader_matches(uint32_t family, uint32_t flags)
{
    popfib_table *table = filled(family, flags);
    const size_t width = family == POPFIB_IPV4 ? 4 : 16;
    enum { MANY = 700 };
    uint8_t *addresses = (uint8_t *)calloc(MANY, width), lengths[MANY], prefix[16], length;
    uint32_t next_hops[MANY], next_hop, of_table;
    popfib_reader *reader;
    CHECK(addresses != NULL);
    RETURNS(0, popfib_reader_create(table, &reader));
    if (flags == 0) {
        RETURNS(-ENOTSUP, popfib_reader_longest_match(reader, HOST, prefix, &length, &next_hop));
        RETURNS(-ENOTSUP, popfib_reader_longest_match_bulk(reader, HOST, lengths, next_hops, 1));
    }
    RETURNS(-EINVAL, popfib_reader_longest_match(NULL, HOST, prefix, &length, &next_hop));
    RETURNS(-EINVAL, popfib_reader_longest_match(reader, NULL, prefix, &length, &next_hop));
    RETURNS(-EINVAL, popfib_reader_longest_match_bulk(NULL, HOST, lengths, next_hops, 1));
    RETURNS(-EINVAL, popfib_reader_longest_match_bulk(reader, NULL, lengths, next_hops, 1));
    RETURNS(-EINVAL, popfib_reader_longest_match_bulk(reader, HOST, NULL, next_hops, 1));
    RETURNS(-EINVAL, popfib_reader_longest_match_bulk(reader, HOST, lengths, NULL, 1));
    for (int round = 0; flags == POPFIB_KEEP_PREFIXES && round < 3; round++) {
        uint8_t length_of_table, prefix_of_table[16];
        for (size_t at = 0; at < MANY; at++)
            memcpy(addresses + at * width, at % 3 == 0 ? ELSEWHERE : ROUTES[at % COUNT].prefix, width);
        RETURNS(0, popfib_reader_longest_match_bulk(reader, addresses, lengths, next_hops, MANY));
        for (size_t at = 0; at < MANY; at++) {
            const uint8_t *address = addresses + at * width;
            const int found = popfib_longest_match(table, address, prefix_of_table, &length_of_table, &of_table);
            RETURNS(found, popfib_reader_longest_match(reader, address, prefix, &length, &next_hop));
            CHECK(next_hops[at] == popfib_reader_lookup(reader, address));
            if (found == 0) {
                CHECK(length == length_of_table && next_hop == of_table);
                CHECK(memcmp(prefix, prefix_of_table, width) == 0);
                CHECK(lengths[at] == length && next_hops[at] == next_hop);
            } else {
                CHECK(found == -ENOENT && lengths[at] == 0 && next_hops[at] == 0);
            }
        }
        RETURNS(0, popfib_reader_longest_match(reader, HOST, NULL, NULL, NULL));
        /* Changes are seen at once; without the default route there are addresses without a match. */
        RETURNS(0, popfib_reader_online(reader));
        if (round == 0)
            RETURNS(0, popfib_delete(table, ROUTES[0].prefix, 0));
        RETURNS(0, popfib_add(table, HOST, 32, 70 + (uint32_t)round));
        RETURNS(0, popfib_reader_longest_match(reader, HOST, prefix, &length, &next_hop));
        CHECK(next_hop == 70 + (uint32_t)round && length == 32);
        RETURNS(0, popfib_reader_quiescent(reader));
    }
    free(addresses);
    popfib_reader_free(reader);
    popfib_free(table);
}

void test_groups(void)
{
    static const uint32_t MEMBERS[4] = {1, 2, 3, 4}, WEIGHTS[4] = {1, 1, 2, 0}, NOBODY[2] = {1, 0}, ZEROS[4] = {0};
    enum { FLOWS = 1000 };
    popfib_groups *groups = (popfib_groups *)&groups;
    popfib_group_reader *reader, *other;
    uint32_t ids[FLOWS], before[FLOWS], after[FLOWS], counts[5] = {0};
    uint64_t hashes[FLOWS], state = 88172645463325252u;
    RETURNS(-EINVAL, popfib_groups_create(NULL));
    RETURNS(0, popfib_groups_create(&groups));
    RETURNS(-EINVAL, popfib_group_reader_create(NULL, &reader));
    RETURNS(-EINVAL, popfib_group_reader_create(groups, NULL));
    RETURNS(0, popfib_group_reader_create(groups, &reader));
    RETURNS(0, popfib_group_reader_create(groups, &other));
    CHECK(popfib_group_reader_select(reader, 7, 1) == 0);

    RETURNS(0, popfib_groups_set(groups, 7, MEMBERS, WEIGHTS, 4));
    RETURNS(0, popfib_groups_set(groups, UINT32_MAX, MEMBERS, NULL, 1));
    for (int at = 0; at < FLOWS; at++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        hashes[at] = state;
        ids[at] = at % 10 == 8 ? UINT32_MAX : at % 10 == 9 ? 8 : 7;
    }
    RETURNS(0, popfib_group_reader_select_bulk(reader, ids, hashes, before, FLOWS));
    for (int at = 0; at < FLOWS; at++) {
        CHECK(before[at] == popfib_group_reader_select(reader, ids[at], hashes[at]));
        CHECK(ids[at] == 7 ? before[at] >= 1 && before[at] <= 3 : before[at] == (ids[at] == 8 ? 0 : 1));
        counts[before[at]] += ids[at] == 7;
    }
    CHECK(counts[1] > 100 && counts[2] > 100 && counts[3] > 300);

    /* A member leaves: flows of the others stay. */
    RETURNS(0, popfib_groups_set(groups, 7, MEMBERS + 1, NULL, 2));
    RETURNS(0, popfib_group_reader_select_bulk(other, ids, hashes, after, FLOWS));
    int moved = 0;
    for (int at = 0; at < FLOWS; at++) {
        CHECK(ids[at] != 7 || after[at] == 2 || after[at] == 3);
        moved += ids[at] == 7 && before[at] != 1 && before[at] != after[at];
    }
    CHECK(moved <= 20);

    /* Nonsense. */
    RETURNS(-EINVAL, popfib_groups_set(NULL, 7, MEMBERS, NULL, 2));
    RETURNS(-EINVAL, popfib_groups_set(groups, 7, NULL, NULL, 2));
    RETURNS(-EINVAL, popfib_groups_set(groups, 7, MEMBERS, NULL, 0));
    RETURNS(-EINVAL, popfib_groups_set(groups, 7, MEMBERS, ZEROS, 4));
    RETURNS(-EINVAL, popfib_groups_set(groups, 7, NOBODY, NULL, 2));
    RETURNS(-EINVAL, popfib_groups_set(groups, 7, MEMBERS, NULL, SIZE_MAX / 4));
    uint32_t *too_many = (uint32_t *)malloc(4097 * sizeof *too_many);
    CHECK(too_many != NULL);
    for (int at = 0; at < 4097; at++)
        too_many[at] = 1 + (uint32_t)at;
    RETURNS(-EINVAL, popfib_groups_set(groups, 9, too_many, NULL, 4097));
    RETURNS(0, popfib_groups_set(groups, 9, too_many, NULL, 4096));
    free(too_many);
    RETURNS(-EINVAL, popfib_group_reader_select_bulk(NULL, ids, hashes, after, 1));
    RETURNS(-EINVAL, popfib_group_reader_select_bulk(reader, NULL, hashes, after, 1));
    RETURNS(-EINVAL, popfib_group_reader_select_bulk(reader, ids, NULL, after, 1));
    RETURNS(-EINVAL, popfib_group_reader_select_bulk(reader, ids, hashes, NULL, 1));
    RETURNS(-EINVAL, popfib_group_reader_select_bulk(reader, ids, hashes, ids, 1));
    RETURNS(-EINVAL, popfib_group_reader_select_bulk(reader, ids, hashes, ids + 1, 2));
    RETURNS(0, popfib_group_reader_select_bulk(reader, NULL, NULL, NULL, 0));
    CHECK(popfib_group_reader_select(NULL, 7, 1) == 0);

    RETURNS(0, popfib_groups_remove(groups, 7));
    RETURNS(-ENOENT, popfib_groups_remove(groups, 7));
    RETURNS(-EINVAL, popfib_groups_remove(NULL, 7));
    CHECK(popfib_group_reader_select(reader, 7, 1) == 0);
    popfib_groups_free(groups);
    popfib_groups_free(NULL);
    /* They outlive the groups. */
    CHECK(popfib_group_reader_select(reader, UINT32_MAX, 1) == 1);
    popfib_group_reader_free(reader);
    popfib_group_reader_free(other);
    popfib_group_reader_free(NULL);
}
