#!/bin/sh
# Prints an example of docs/c.md as a program, within what the guide leaves out: it exits with status 0 if all is as it says.
#
#   sh crates/popfib-capi/tests/guide.sh GUIDE N      the file of the guide, and which of its examples, from 1; none if there is no such
set -eu

example() { awk -v n="$2" '/^```c$/ {inside = ++count == n; next} /^```$/ {inside = 0} inside' "$1"; }
shown=$(example "$1" "$2")
case $2 in
1)
    cat <<C
#include <stdio.h>
$(printf '%s\n' "$shown" | grep '^#')
int main(void)
{
$(printf '%s\n' "$shown" | grep -v '^#')
    return next_hops[0] == 7 && next_hops[1] == 0 ? 0 : 2;
}
C
    ;;
2)
    cat <<C
#include <popfib.h>
static uint8_t addresses[64][4];
static uint32_t next_hops[64];
static int packets, bursts = 3, forwarded;
static size_t receive(int to) { (void)to; return bursts-- > 0 ? 64 : 0; }
static void forward(int from, const uint32_t *to, size_t n) { (void)from; forwarded += n == 64 && to[63] == 7; }
int main(void)
{
    size_t n;
    struct popfib_config config = POPFIB_CONFIG_INIT(POPFIB_IPV4);
    popfib_table *table;
    const uint8_t net[4] = {0};
    if (popfib_create(&config, &table) < 0 || popfib_add(table, net, 0, 7) < 0) return 1;
$shown
    popfib_free(table);
    return forwarded == 3 ? 0 : 2;
}
C
    ;;
3)
    cat <<C
#include <stdio.h>
#include <popfib.h>
static uint8_t addresses[64][4];
static uint32_t next_hops[64];
static int packets, bursts = 3, forwarded;
static size_t receive(int to) { (void)to; return bursts-- > 0 ? 64 : 0; }
static void forward(int from, const uint32_t *to, size_t n) { (void)from; forwarded += n == 64 && to[63] == 7; }
$(printf '%s\n' "$shown" | sed '/^$/,$d')
int main(void)
{
    size_t n;
    const char *path = "guide.fib";
    struct popfib_config config = POPFIB_CONFIG_INIT(POPFIB_IPV4);
    popfib_table *saved;
    const uint8_t net[4] = {0};
    if (popfib_create(&config, &saved) < 0 || popfib_add(saved, net, 0, 7) < 0 ||
        popfib_image_save(path, NULL, saved, NULL) < 0)
        return 1;
$(printf '%s\n' "$shown" | sed '1,/^$/d')
    popfib_free(table);
    popfib_free(saved);
    remove(path);
    return forwarded == 3 ? 0 : 2;
}
C
    ;;
4)
    cat <<C
#include <stdio.h>
#include <string.h>
#include <popfib.h>
int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "";
    int error;
$(printf '%s\n' "$shown")
    popfib_records_free(records);
    popfib_free(table);
    popfib_image_free(image);
    return count == 2 && asns[0] == 64500 && !present[1] && present[2] && asns[2] == 0 ? 0 : 2;
}
C
    ;;
5)
    cat <<C
#include <stdio.h>
#include <popfib.h>
int main(void)
{
$shown
    popfib_image *image;
    popfib_records *records;
    int64_t found = 0;
    if (popfib_image_open("owners.fib", POPFIB_IMAGE_COPY, &image) < 0 || popfib_image_records(image, &records) < 0)
        return 1;
    popfib_records_int64(records, asns, number, 0, &found);
    popfib_records_free(records);
    popfib_image_free(image);
    remove("owners.fib");
    return found == asn ? 0 : 2;
}
C
    ;;
6)
    cat <<C
#include <stdlib.h>
#include <popfib.h>
static int node;
$(printf '%s\n' "$shown" | grep '^void')
void *from_my_node(void *user, size_t alignment, size_t size)
{
    ++*(int *)user;
    return aligned_alloc(alignment < sizeof(void *) ? sizeof(void *) : alignment, (size + 7) / 8 * 8);
}
void to_my_node(void *user, void *memory, size_t alignment, size_t size)
{
    (void)alignment, (void)size;
    --*(int *)user;
    free(memory);
}
int main(void)
{
    struct popfib_config config = POPFIB_CONFIG_INIT(POPFIB_IPV4);
    popfib_table *table;
$(printf '%s\n' "$shown" | grep -v '^void')
    if (popfib_create(&config, &table) < 0 || node == 0) return 1;
    popfib_free(table);
    return node == 0 ? 0 : 2;
}
C
    ;;
7)
    cat <<C
#include <stdio.h>
#include <popfib_xdp.h>
int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "";
    int error;
$(printf '%s\n' "$shown")
    return 0;
}
C
    ;;
*)
    [ -z "$shown" ] || {
        echo "$1 has an example that is not tested" >&2
        exit 1
    }
    ;;
esac
