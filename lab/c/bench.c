/*
 * Rates of a reader's bulk lookups from C and, by src/lib.rs, from Rust: the same addresses into the same place by
 * turns, a pass of a few milliseconds each. Prints medians, in million a second of CPU time, and the median
 * of the ratios of neighbouring passes. Then what a lookup of one address costs by a reader that is online, by one that
 * comes in and leaves each time, and the difference, in nanoseconds; and the rates of bursts of 256 in an image, without and
 * with a value of each record.
 *
 *     bench DIR ROUNDS      DIR as `rust_side` has filled it
 */
#include <stdbool.h>
#include <time.h>

#include "files.h"

enum { ADDRESSES = 1 << 20, LONGEST = 4096, HOT = 256, MOST_ROUNDS = 10000 };
static const size_t BURSTS[] = {64, 256, 1024, LONGEST};

void *rust_bench_table(uint32_t family, const void *routes, size_t count);
void rust_bench_pass(const void *bench, const void *addresses, size_t count, uint32_t *next_hops, size_t burst,
                     bool network);

static uint64_t random_number(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1du;
}

/* CPU time: what other programs take of it does not count. */
static double seconds(void)
{
    struct timespec now;
    CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int compare(const void *one, const void *other)
{
    const double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
    return values[count / 2];
}

static double c_pass(popfib_reader *reader, const uint8_t *addresses, size_t width, uint32_t *next_hops, size_t burst,
                     bool network)
{
    const double begin = seconds();
    for (size_t done = 0; done < ADDRESSES; done += burst) {
        if (network)
            popfib_reader_lookup_bulk(reader, addresses + done * width, next_hops, burst);
        else
            popfib_reader_lookup_bulk_host(reader, addresses + done * width, next_hops, burst);
    }
    return seconds() - begin;
}

static double rust_pass(const void *rust, const uint8_t *addresses, uint32_t *next_hops, size_t burst, bool network)
{
    const double begin = seconds();
    rust_bench_pass(rust, addresses, ADDRESSES, next_hops, burst, network);
    return seconds() - begin;
}

/* Of few addresses, which are in the cache with what they lead to: the way in and out is what differs. */
static double single_pass(popfib_reader *reader, const uint8_t *addresses, size_t width)
{
    uint32_t sum = 0;
    const double begin = seconds();
    for (size_t at = 0; at < ADDRESSES; at++)
        sum += popfib_reader_lookup(reader, addresses + at % HOT * width);
    const double taken = seconds() - begin;
    CHECK(sum != 0);
    return taken;
}

static void bench_single(popfib_table *table, const uint8_t *addresses, size_t width, size_t rounds)
{
    static double stays[MOST_ROUNDS], comes[MOST_ROUNDS], differences[MOST_ROUNDS];
    const double ns = 1e9 / ADDRESSES;
    popfib_reader *online, *offline;
    RETURNS(0, popfib_reader_create(table, &online));
    RETURNS(0, popfib_reader_create(table, &offline));
    RETURNS(0, popfib_reader_online(online));
    for (size_t round = 0; round < rounds; round++) {
        stays[round] = single_pass(online, addresses, width);
        comes[round] = single_pass(offline, addresses, width);
        differences[round] = comes[round] - stays[round];
    }
    printf("ipv%u   one address: online %.1f ns, offline %.1f ns, difference %.1f ns\n",
           (unsigned)popfib_family(table), median(stays, rounds) * ns, median(comes, rounds) * ns,
           median(differences, rounds) * ns);
    fflush(stdout);
    popfib_reader_free(online);
    popfib_reader_free(offline);
}

/* What a value of a column costs beside the lookup of its record. */
static void bench_records(const char *dir, uint32_t family, const uint8_t *addresses, size_t width, size_t rounds)
{
    enum { LOOKUP, INT64, TEXT, WHATS };
    static double taken[WHATS][MOST_ROUNDS];
    static uint32_t numbers[HOT];
    static int64_t values[HOT];
    static uint8_t present[HOT];
    static const char *texts[HOT];
    static size_t lengths[HOT];
    struct popfib_config config = POPFIB_CONFIG_INIT(family);
    popfib_image *image;
    popfib_table *table;
    popfib_records *records;
    char path[4096];
    uint32_t asn, name;
    snprintf(path, sizeof path, "%s/records", dir);
    RETURNS(0, popfib_image_open(path, POPFIB_IMAGE_COPY, &image));
    RETURNS(0, popfib_image_table(image, &config, &table));
    RETURNS(0, popfib_image_records(image, &records));
    RETURNS(0, popfib_records_column(records, "asn", &asn));
    RETURNS(0, popfib_records_column(records, "name", &name));
    for (size_t round = 0; round < rounds; round++) {
        for (int what = LOOKUP; what < WHATS; what++) {
            const double begin = seconds();
            for (size_t done = 0; done < ADDRESSES; done += HOT) {
                popfib_lookup_bulk(table, addresses + done * width, numbers, HOT);
                if (what == INT64)
                    popfib_records_int64_bulk(records, asn, numbers, values, present, HOT);
                if (what == TEXT)
                    popfib_records_text_bulk(records, name, numbers, texts, lengths, HOT);
            }
            taken[what][round] = seconds() - begin;
        }
        for (size_t at = 0; at < HOT; at++)
            CHECK(present[at] == (numbers[at] != 0) && values[at] == numbers[at] && (texts[at] != NULL) == present[at]);
    }
    double rates[WHATS];
    for (int what = LOOKUP; what < WHATS; what++)
        rates[what] = ADDRESSES / median(taken[what], rounds) / 1e6;
    printf("ipv%u   of an image %.1f, with an integer of each record %.1f, with a text of each %.1f\n", (unsigned)family, rates[LOOKUP],
           rates[INT64], rates[TEXT]);
    fflush(stdout);
    popfib_records_free(records);
    popfib_free(table);
    popfib_image_free(image);
}

static void bench(const char *dir, uint32_t family, size_t rounds)
{
    static double c[MOST_ROUNDS], rust[MOST_ROUNDS], ratios[MOST_ROUNDS];
    const size_t width = family == POPFIB_IPV4 ? 4 : 16;
    struct popfib_config config = POPFIB_CONFIG_INIT(family);
    popfib_table *table;
    popfib_reader *reader;
    size_t route_count, address_count;
    struct file_route *routes =
        (struct file_route *)read_elements(dir, "routes", family, sizeof *routes, &route_count);
    uint8_t *from = (uint8_t *)read_elements(dir, "addresses", family, width, &address_count);
    RETURNS(0, popfib_create(&config, &table));
    for (size_t at = 0; at < route_count; at++)
        RETURNS(0, popfib_add(table, routes[at].prefix, routes[at].length, routes[at].next_hop));
    const void *in_rust = rust_bench_table(family, routes, route_count);
    free(routes);

    uint8_t *network = (uint8_t *)aligned_alloc(64, ADDRESSES * width);
    uint8_t *host = (uint8_t *)aligned_alloc(64, ADDRESSES * width);
    uint32_t *next_hops = (uint32_t *)aligned_alloc(64, LONGEST * sizeof *next_hops);
    uint32_t *others = (uint32_t *)aligned_alloc(64, LONGEST * sizeof *others);
    CHECK(network && host && next_hops && others);
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
        for (int is_network = 0; is_network < 2; is_network++) {
            const uint8_t *addresses = is_network ? network : host;
            const size_t burst = BURSTS[at];
            for (size_t round = 0; round < rounds; round++) {
                /* By turns first, as the second finds more of the addresses in the cache. */
                if (round % 2 == 0)
                    c[round] = c_pass(reader, addresses, width, next_hops, burst, is_network);
                rust[round] = rust_pass(in_rust, addresses, others, burst, is_network);
                if (round % 2 != 0)
                    c[round] = c_pass(reader, addresses, width, next_hops, burst, is_network);
                ratios[round] = rust[round] / c[round];
                CHECK(memcmp(next_hops, others, burst * sizeof *others) == 0);
            }
            printf("ipv%u   %-8s %6zu %8.1f %8.1f %6.3f\n", (unsigned)family, is_network ? "network" : "host", burst,
                   ADDRESSES / median(c, rounds) / 1e6, ADDRESSES / median(rust, rounds) / 1e6,
                   median(ratios, rounds));
            fflush(stdout);
        }
    }
    popfib_reader_free(reader);
    bench_single(table, network, width, rounds);
    bench_records(dir, family, network, width, rounds);
    popfib_free(table);
    free(network);
    free(host);
    free(next_hops);
    free(others);
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    const size_t rounds = strtoul(argv[2], NULL, 10);
    CHECK(rounds > 0 && rounds <= MOST_ROUNDS);
    printf("%-6s %-8s %6s %8s %8s %6s\n", "family", "order", "burst", "C", "Rust", "ratio");
    bench(argv[1], POPFIB_IPV4, rounds);
    bench(argv[1], POPFIB_IPV6, rounds);
    return 0;
}
