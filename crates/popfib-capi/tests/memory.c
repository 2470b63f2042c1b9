/*
 * Memory that the system refuses: -ENOMEM, and the table as it was.
 *
 * Not for sanitizers and valgrind, which need more memory than the limit leaves.
 */
#include <sys/resource.h>

#include "check.h"

/* Lets the program have `more` bytes than it has now, or any number for 0. */
static void limit_memory(size_t more)
{
    struct rlimit limit;
    unsigned long pages = 0;
    CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%lu", &pages) == 1);
    fclose(file);
    limit.rlim_cur = more == 0 ? limit.rlim_max : pages * 4096 + more;
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
}

int main(void)
{
    struct popfib_config config = POPFIB_CONFIG_INIT(POPFIB_IPV4);
    popfib_table *table;
    const uint8_t net[4] = {10};
    /* 2^24 entries of 4 bytes are 64 MiB. */
    config.direct_bits = 24;
    limit_memory(32u << 20);
    RETURNS(-ENOMEM, popfib_create(&config, &table));
    CHECK(table == NULL);
    limit_memory(0);
    RETURNS(0, popfib_create(&config, &table));
    RETURNS(0, popfib_add(table, net, 8, 7));
    popfib_free(table);

    /* A table that grows until there is no more memory. */
    config.direct_bits = 16;
    RETURNS(0, popfib_create(&config, &table));
    limit_memory(48u << 20);
    int error = 0;
    uint32_t count = 0;
    while (error == 0) {
        const uint32_t number = count * 2654435761u;
        const uint8_t prefix[4] = {(uint8_t)(number >> 24), (uint8_t)(number >> 16), (uint8_t)(number >> 8),
                                   (uint8_t)number};
        error = popfib_add(table, prefix, 32, 1 + count);
        if (error == 0)
            count++;
        else
            CHECK(popfib_get(table, prefix, 32, NULL) == -ENOENT && popfib_lookup(table, prefix) == 0);
    }
    RETURNS(-ENOMEM, error);
    CHECK(popfib_count(table) == count);
    /* Far below the usual number (130,000): gaps in the heap decide at which size an array is refused. */
    CHECK(count > 10000);
    for (uint32_t at = 0; at < count; at++) {
        const uint32_t number = at * 2654435761u;
        const uint8_t address[4] = {(uint8_t)(number >> 24), (uint8_t)(number >> 16), (uint8_t)(number >> 8),
                                    (uint8_t)number};
        CHECK(popfib_lookup(table, address) == 1 + at);
    }
    limit_memory(0);
    RETURNS(0, popfib_add(table, net, 8, 7));
    popfib_free(table);
    printf("memory: refused after %u routes, and the table as it was\n", (unsigned)count);
    return 0;
}
