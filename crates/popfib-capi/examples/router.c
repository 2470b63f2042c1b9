/*
 * The loop of a router: one thread forwards packets while another keeps the routes up to date.
 *
 *     router [ROUTES [UPDATES]]
 *
 * ROUTES has a line `PREFIX/LENGTH NEXTHOP` for each IPv4 route, the next hop a number; UPDATES has lines
 * `A PREFIX/LENGTH NEXTHOP` and `W PREFIX/LENGTH`. Without them the program makes some up. Packets are
 * random addresses. In the end it prints how many went to which next hop.
 *
 *     cc router.c $(pkg-config --cflags --libs popfib) -pthread
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <popfib.h>

enum { BURST = 64, NEXT_HOPS = 1 << 16 };

/* What the worker gets, and what it has counted in the end. */
struct worker {
    popfib_reader *reader;
    atomic_bool stop;
    uint64_t packets, dropped;
    uint64_t sent[NEXT_HOPS];
};

/* Stands for the network card: a burst of destination addresses, in network order. */
static size_t receive(uint64_t *state, uint8_t (*addresses)[4])
{
    for (size_t at = 0; at < BURST; at++) {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        memcpy(addresses[at], state, 4);
    }
    return BURST;
}

static void *forward(void *argument)
{
    struct worker *worker = argument;
    uint64_t state = 42;
    uint8_t addresses[BURST][4];
    uint32_t next_hops[BURST];

    /* Online, the reader costs next to nothing; it has to say when it is between two bursts. */
    popfib_reader_online(worker->reader);
    while (!atomic_load_explicit(&worker->stop, memory_order_relaxed)) {
        const size_t n = receive(&state, addresses);
        popfib_reader_lookup_bulk(worker->reader, addresses, next_hops, n);
        for (size_t at = 0; at < n; at++) {
            if (next_hops[at] == 0)
                worker->dropped++;
            else
                worker->sent[next_hops[at]]++;
        }
        worker->packets += n;
        popfib_reader_quiescent(worker->reader);
    }
    popfib_reader_offline(worker->reader);
    return NULL;
}

/* Reads `PREFIX/LENGTH`; returns 0 for other text. */
static int parse_prefix(const char *text, uint8_t *prefix, uint8_t *length)
{
    char address[INET_ADDRSTRLEN];
    unsigned bits;
    if (sscanf(text, "%15[0-9.]/%u", address, &bits) != 2 || bits > 32)
        return 0;
    *length = (uint8_t)bits;
    return inet_pton(AF_INET, address, prefix) == 1;
}

/* Adds and deletes routes as the file says: lines of routes, or with A and W. Returns how many. */
static long read_changes(popfib_table *table, const char *name)
{
    char line[256], text[64];
    long number = 0;
    FILE *file = fopen(name, "r");
    if (file == NULL) {
        perror(name);
        exit(2);
    }
    while (fgets(line, sizeof line, file) != NULL) {
        const int withdraws = line[0] == 'W' && line[1] == ' ';
        const char *route = withdraws || (line[0] == 'A' && line[1] == ' ') ? line + 2 : line;
        uint8_t prefix[4], length;
        unsigned next_hop = 0;
        int error = -1;
        number++;
        if (sscanf(route, "%63s %u", text, &next_hop) == (withdraws ? 1 : 2) && parse_prefix(text, prefix, &length)) {
            error = withdraws ? popfib_delete(table, prefix, length) : popfib_add(table, prefix, length, next_hop);
            if (error < 0) {
                fprintf(stderr, "%s:%ld: %s\n", name, number, popfib_error());
                exit(2);
            }
        } else {
            fprintf(stderr, "%s:%ld: not a route\n", name, number);
            exit(2);
        }
    }
    fclose(file);
    return number;
}

/* Routes if there is no file: a default route, and /8s that come and go. */
static long make_changes(popfib_table *table, int rounds)
{
    long changes = 0;
    for (int round = 0; round < rounds; round++) {
        for (int at = 0; at < 256; at++) {
            const uint8_t prefix[4] = {(uint8_t)at};
            int error = 0;
            if (at == 0)
                error = popfib_add(table, prefix, 0, 1);
            else if ((at + round) % 3 != 0)
                error = popfib_add(table, prefix, 8, 2 + (uint32_t)(at + round) % 6);
            else if (popfib_get(table, prefix, 8, NULL) == 0)
                error = popfib_delete(table, prefix, 8);
            if (error < 0) {
                fprintf(stderr, "%d.0.0.0/8: %s\n", at, popfib_error());
                exit(1);
            }
            changes++;
        }
    }
    return changes;
}

int main(int argc, char **argv)
{
    struct popfib_config config = POPFIB_CONFIG_INIT(POPFIB_IPV4);
    struct worker *worker = calloc(1, sizeof *worker);
    popfib_table *table;
    pthread_t thread;
    int error;

    if (worker == NULL || (error = popfib_create(&config, &table)) < 0) {
        fprintf(stderr, "no table: %s\n", worker == NULL ? "out of memory" : popfib_error());
        return 1;
    }
    const long routes = argc > 1 ? read_changes(table, argv[1]) : make_changes(table, 1);
    printf("%ld routes, kernel %s\n", routes, popfib_kernel(table));

    if ((error = popfib_reader_create(table, &worker->reader)) < 0) {
        fprintf(stderr, "no reader: %s\n", popfib_error());
        return 1;
    }
    if (pthread_create(&thread, NULL, forward, worker) != 0) {
        fprintf(stderr, "no thread\n");
        return 1;
    }
    /* The worker sees each of these as soon as it is made. */
    const long changes = argc > 2 ? read_changes(table, argv[2]) : make_changes(table, 200);
    popfib_reclaim(table);
    atomic_store(&worker->stop, 1);
    pthread_join(thread, NULL);

    printf("%ld changes meanwhile, %zu routes now\n", changes, popfib_count(table));
    printf("%llu packets, %llu without a route\n", (unsigned long long)worker->packets,
           (unsigned long long)worker->dropped);
    for (unsigned next_hop = 1; next_hop < NEXT_HOPS && argc < 2; next_hop++) {
        if (worker->sent[next_hop] > 0)
            printf("next hop %u: %llu\n", next_hop, (unsigned long long)worker->sent[next_hop]);
    }
    popfib_reader_free(worker->reader);
    popfib_free(table);
    free(worker);
    return 0;
}
