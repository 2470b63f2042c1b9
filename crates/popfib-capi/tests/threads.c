/*
 * One writer and several readers hammer a table; each answer must be one that the table gave at some time.
 *
 *     threads CHANGES
 *
 * 10.0.0.0/8 leads to 1 or 2 by turns. Within it come and go /16s, /24s and /32s that lead to 1000 * length +
 * the number of the /16, so an answer shows which route it is from. 192.0.2.0/24 never changes. Readers
 * are online or offline, look up one by one and in bulk, and are made and freed all the time. All this once with
 * next hops alone and once with prefixes; groups change beside it.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "check.h"

enum { READERS = 4, BURST = 300, SUBNETS = 200 };

static popfib_table *table;
static int keeps_prefixes;
static popfib_groups *groups;
/* Whether the writer is done, how many threads may still make a reader, and whether the table is freed. */
static atomic_bool done, freed;
static atomic_int making = READERS;
static atomic_ulong looked_up;
/* Answers for the host 10.x.y.z that the writer has just set: everyone must see it at once. */
static atomic_uint floor_of_counter;

static uint32_t random_number(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)(*state >> 32);
}

static void check_answer(const uint8_t *address, uint32_t next_hop)
{
    if (address[0] == 192) {
        CHECK(next_hop == 7);
    } else if (address[0] == 11) {
        CHECK(next_hop == 0);
    } else if (next_hop != 1 && next_hop != 2) {
        const uint32_t length = next_hop / 1000, subnet = next_hop % 1000;
        CHECK(subnet == address[1]);
        CHECK(length == 16 || (length == 24 && address[2] == 1) ||
              (length == 32 && address[2] == 1 && address[3] == 1));
    }
}

static void random_address(uint64_t *state, uint8_t *address)
{
    const uint32_t number = random_number(state);
    address[0] = number % 16 == 0 ? 192 : number % 16 == 1 ? 11 : 10;
    address[1] = address[0] == 192 ? 0 : (uint8_t)(number >> 8) % SUBNETS;
    address[2] = address[0] == 192 ? 2 : (uint8_t)(number >> 16) % 2;
    address[3] = (uint8_t)(number >> 24) % 2;
}

static void *read_table(void *argument)
{
    uint64_t state = 88172645463325252u + (uintptr_t)argument;
    const int is_online = (uintptr_t)argument % 2 == 0;
    uint8_t addresses[BURST][4], lengths[BURST];
    uint32_t next_hops[BURST];
    static const uint8_t COUNTER[4] = {198, 51, 100, 1};
    unsigned long count = 0;
    popfib_reader *reader;
    popfib_group_reader *flows;
    while (!atomic_load(&done)) {
        RETURNS(0, popfib_reader_create(table, &reader)); /* beside the writer */
        RETURNS(0, popfib_group_reader_create(groups, &flows));
        if (is_online)
            RETURNS(0, popfib_reader_online(reader));
        for (int burst = 0; burst < 50; burst++) {
            for (int at = 0; at < BURST; at++)
                random_address(&state, addresses[at]);
            RETURNS(0, popfib_reader_lookup_bulk(reader, addresses, next_hops, BURST));
            for (int at = 0; at < BURST; at++)
                check_answer(addresses[at], next_hops[at]);
            if (keeps_prefixes) {
                RETURNS(0, popfib_reader_longest_match_bulk(reader, addresses, lengths, next_hops, BURST));
                for (int at = 0; at < BURST; at++) {
                    check_answer(addresses[at], next_hops[at]);
                    CHECK(lengths[at] == (next_hops[at] >= 1000 ? next_hops[at] / 1000 : next_hops[at] == 7 ? 24 :
                                          next_hops[at] != 0 ? 8 : 0));
                }
            }
            for (int at = 0; at < 20; at++) {
                const uint64_t hash = (uint64_t)random_number(&state) << 32;
                const uint32_t member = popfib_group_reader_select(flows, (uint32_t)at % 3, hash);
                CHECK(member == 0 ? at % 3 == 2 : member / 10 == (uint32_t)at % 3);
            }
            for (int at = 0; at < 20; at++)
                check_answer(addresses[at], popfib_reader_lookup(reader, addresses[at]));
            /* What popfib_add() has finished is seen; it counts upwards. */
            const uint32_t at_least = atomic_load(&floor_of_counter);
            CHECK(popfib_reader_lookup(reader, COUNTER) >= at_least);
            RETURNS(0, popfib_reader_quiescent(reader));
            count += BURST + 21;
        }
        if (random_number(&state) % 2)
            RETURNS(0, popfib_reader_offline(reader));
        popfib_reader_free(reader);
        popfib_group_reader_free(flows);
    }
    /* A reader that outlives the table, and is used while the table is freed. */
    RETURNS(0, popfib_reader_create(table, &reader));
    atomic_fetch_sub(&making, 1);
    int has_seen_it_gone = (uintptr_t)argument == 0;
    do {
        has_seen_it_gone |= atomic_load(&freed);
        for (int at = 0; at < BURST; at++)
            random_address(&state, addresses[at]);
        RETURNS(0, popfib_reader_lookup_bulk(reader, addresses, next_hops, BURST));
        for (int at = 0; at < BURST; at++)
            check_answer(addresses[at], next_hops[at]);
        count += BURST;
    } while (!has_seen_it_gone);
    popfib_reader_free(reader);
    atomic_fetch_add(&looked_up, count);
    return NULL;
}

/* The members 10 to 15 of group 0, or of 20 to 25 of group 1, some of them or all; group 2 comes and goes. */
static void change_groups(uint32_t number)
{
    uint32_t members[6], id = number % 3, n = 1 + number / 3 % 6;
    for (uint32_t at = 0; at < n; at++)
        members[at] = 10 * id + at + (id == 0 ? 1 : 0);
    if (id == 2 && n < 3) {
        const int error = popfib_groups_remove(groups, id);
        CHECK(error == 0 || error == -ENOENT);
    } else {
        RETURNS(0, popfib_groups_set(groups, id, members, NULL, n));
    }
}

static void run(unsigned long changes)
{
    static const uint8_t TEN[4] = {10}, FIXED[4] = {192, 0, 2}, COUNTER[4] = {198, 51, 100, 1};
    static const uint8_t LENGTHS[3] = {16, 24, 32};
    struct popfib_config config = POPFIB_CONFIG_INIT(POPFIB_IPV4);
    struct popfib_change both[2] = {{{198, 51, 100, 1}, 32, {0}, 0}, {{198, 51, 100, 1}, 32, {0}, 0}};
    pthread_t threads[READERS];
    uint64_t state = 1;
    atomic_store(&done, 0);
    atomic_store(&freed, 0);
    atomic_store(&making, READERS);
    atomic_store(&floor_of_counter, 0);
    config.flags = keeps_prefixes ? POPFIB_KEEP_PREFIXES : 0;
    RETURNS(0, popfib_groups_create(&groups));
    change_groups(0);
    change_groups(1);

    RETURNS(0, popfib_create(&config, &table));
    RETURNS(0, popfib_add(table, FIXED, 24, 7));
    RETURNS(0, popfib_add(table, TEN, 8, 1));
    for (uintptr_t at = 0; at < READERS; at++)
        CHECK(pthread_create(&threads[at], NULL, read_table, (void *)at) == 0);
    for (unsigned long change = 1; change <= changes; change++) {
        const uint32_t number = random_number(&state);
        const uint8_t length = LENGTHS[number % 3], subnet = (uint8_t)(number >> 8) % SUBNETS;
        uint8_t prefix[4] = {10, subnet, length > 16, length > 24};
        if (change % 1000 == 0) {
            RETURNS(0, popfib_add(table, TEN, 8, 1 + change / 1000 % 2));
        } else if (number >> 16 & 1) {
            RETURNS(0, popfib_add(table, prefix, length, 1000u * length + subnet));
        } else {
            const int error = popfib_delete(table, prefix, length);
            CHECK(error == 0 || error == -ENOENT);
        }
        if (change % 16 == 0) {
            /* Removed and added again: readers never miss it. */
            both[1].next_hop = (uint32_t)change;
            if (change % 32 == 0)
                RETURNS(0, popfib_apply(table, both, 2));
            else
                RETURNS(0, popfib_add(table, COUNTER, 32, (uint32_t)change));
            change_groups(number >> 8);
            atomic_store(&floor_of_counter, (uint32_t)change);
        }
        if (change % 5000 == 0)
            RETURNS(0, popfib_reclaim(table));
    }
    /* Readers are made before the table is freed; those that are there go on. */
    atomic_store(&done, 1);
    CHECK(pthread_join(threads[0], NULL) == 0);
    while (atomic_load(&making) != 0)
        sched_yield();
    popfib_free(table);
    popfib_groups_free(groups);
    atomic_store(&freed, 1);
    for (int at = 1; at < READERS; at++)
        CHECK(pthread_join(threads[at], NULL) == 0);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    const unsigned long changes = strtoul(argv[1], NULL, 10);
    CHECK(changes > 0);
    for (keeps_prefixes = 0; keeps_prefixes < 2; keeps_prefixes++)
        run(changes);
    printf("threads: 2 * %lu changes, %lu lookups by %d readers\n", changes, atomic_load(&looked_up), READERS);
    return 0;
}
