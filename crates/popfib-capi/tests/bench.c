/*
 * Rates of a reader's bulk lookups, as `rust_side bench` prints them: family, order, burst, million a second.
 *
 *     bench DIR      DIR as `rust_side answers` has filled it
 */
#include <time.h>

#include "files.h"

enum { ADDRESSES = 1 << 20, PASSES = 25 };
static const size_t BURSTS[] = {64, 256, 1024, 4096};

static uint64_t random_number(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1du;
}

static double seconds(void)
{
    struct timespec now;
    CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void bench(const char *dir, uint32_t family)
{
    const size_t width = family == POPFIB_IPV4 ? 4 : 16;
    struct popfib_config config = POPFIB_CONFIG_INIT(family);
    popfib_table *table;
    popfib_reader *reader;
    size_t route_count, address_count;
    struct file_route *routes =
        (struct file_route *)read_elements(dir, "routes", family, sizeof *routes, &route_count);
    uint8_t *from = (uint8_t *)read_elements(dir, "addresses", family, width, &address_count);
    RETURNS(0, popfib_create(&config, &table));
    const double start = seconds();
    for (size_t at = 0; at < route_count; at++)
        RETURNS(0, popfib_add(table, routes[at].prefix, routes[at].length, routes[at].next_hop));
    fprintf(stderr, "ipv%u: %zu routes in %.2f s\n", (unsigned)family, route_count, seconds() - start);
    free(routes);

    uint8_t *network = (uint8_t *)malloc(ADDRESSES * width), *host = (uint8_t *)malloc(ADDRESSES * width);
    uint32_t *next_hops = (uint32_t *)malloc(4096 * sizeof *next_hops);
    CHECK(network && host && next_hops);
    for (size_t at = 0; at < ADDRESSES; at++)
        memcpy(network + at * width, from + at % address_count * width, width);
    free(from);
    uint64_t state = 2;
    for (size_t at = ADDRESSES - 1; at > 0; at--) {
        const size_t other = random_number(&state) % (at + 1);
        uint8_t saved[16];
        memcpy(saved, network + at * width, width);
        memcpy(network + at * width, network + other * width, width);
        memcpy(network + other * width, saved, width);
    }
    for (size_t at = 0; at < ADDRESSES * width; at++)
        host[at] = network[at / width * width + (width - 1 - at % width)];

    RETURNS(0, popfib_reader_create(table, &reader));
    RETURNS(0, popfib_reader_online(reader));
    for (size_t at = 0; at < sizeof BURSTS / sizeof BURSTS[0]; at++) {
        const size_t burst = BURSTS[at];
        for (int order = 0; order < 2; order++) {
            double best = 1e9;
            for (int pass = 0; pass < PASSES; pass++) {
                const double begin = seconds();
                for (size_t done = 0; done < ADDRESSES; done += burst) {
                    if (order == 0)
                        popfib_reader_lookup_bulk_host(reader, host + done * width, next_hops, burst);
                    else
                        popfib_reader_lookup_bulk(reader, network + done * width, next_hops, burst);
                }
                const double time = seconds() - begin;
                best = time < best ? time : best;
            }
            printf("ipv%u %s %zu %.1f\n", (unsigned)family, order == 0 ? "host" : "network", burst,
                   ADDRESSES / best / 1e6);
        }
    }
    popfib_reader_free(reader);
    popfib_free(table);
    free(network);
    free(host);
    free(next_hops);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    bench(argv[1], POPFIB_IPV4);
    bench(argv[1], POPFIB_IPV6);
    return 0;
}
