/* The values of some keys of a MaxMind database for a file of IPv4 addresses, by libmaxminddb: what lab/bench/records compares popfib with.

   records DATABASE ADDRESSES KEY... ; prints as crates/popfib-table/examples/records.rs. */
#include <maxminddb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    MMDB_s database;
    if (argc < 4 || MMDB_open(argv[1], MMDB_MODE_MMAP, &database) != MMDB_SUCCESS) {
        fprintf(stderr, "records DATABASE ADDRESSES KEY...\n");
        return 1;
    }
    FILE *file = fopen(argv[2], "rb");
    fseek(file, 0, SEEK_END);
    size_t count = (size_t)ftell(file) / 4;
    rewind(file);
    uint32_t *addresses = malloc(count * 4);
    if (fread(addresses, 4, count, file) != count)
        return 1;
    double rates[5];
    size_t found = 0, bytes = 0;
    for (int pass = 0; pass < 5; pass++) {
        struct timespec start, end;
        found = bytes = 0;
        clock_gettime(CLOCK_MONOTONIC, &start);
        for (size_t i = 0; i < count; i++) {
            struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = addresses[i]};
            int error;
            MMDB_lookup_result_s result = MMDB_lookup_sockaddr(&database, (const struct sockaddr *)&address, &error);
            if (error != MMDB_SUCCESS || !result.found_entry)
                continue;
            found++;
            for (int key = 3; key < argc; key++) {
                const char *path[] = {argv[key], NULL};
                MMDB_entry_data_s data;
                if (MMDB_aget_value(&result.entry, &data, path) != MMDB_SUCCESS || !data.has_data)
                    continue;
                switch (data.type) {
                case MMDB_DATA_TYPE_UTF8_STRING: bytes += data.data_size + (data.data_size > 0 && data.utf8_string[0] == 0); break;
                case MMDB_DATA_TYPE_DOUBLE: bytes += data.double_value != 0.0; break;
                case MMDB_DATA_TYPE_FLOAT: bytes += data.float_value != 0.0f; break;
                default: bytes += 8;
                }
            }
        }
        clock_gettime(CLOCK_MONOTONIC, &end);
        rates[pass] = (double)count / ((double)(end.tv_sec - start.tv_sec) * 1e6 + (double)(end.tv_nsec - start.tv_nsec) / 1e3);
    }
    qsort(rates, 5, sizeof *rates, by_value);
    printf("found %zu bytes %zu\nlibmaxminddb %.2f %.2f %.2f\n", found, bytes, rates[2], rates[0], rates[4]);
    return 0;
}
