/* The functions of popfib_xdp.h one by one, for engines/bpf/tests/test_c.py:
 *
 *     xdp arguments                            what is refused whatever the kernel takes
 *     xdp tables MAP FLAGS < ROUTES            loads tables of lines FAMILY PREFIX LENGTH NUMBER, prefixes in hexadecimal digits
 *     xdp image MAP FLAGS IMAGE [COLUMN]       loads the table of an image
 *     xdp show MAP                             prints what is loaded
 *     xdp lookup MAP < ADDRESSES               prints the answers of lines FAMILY ADDRESS
 *     xdp remove MAP
 *
 * MAP is the path of its pin; - stands for NULL and NULL. An error ends the program with status 2 and its line. */
#include <inttypes.h>

#include "check.h"
#include "popfib_xdp.h"

static char folder_space[4096];
static const char *folder, *map;

static void fail(const char *what, int error)
{
    fprintf(stderr, "%d %s: %s\n", error, what, popfib_error());
    exit(2);
}

static void name_map(const char *path)
{
    if (strcmp(path, "-") == 0)
        return;
    const char *slash = strrchr(path, '/');
    CHECK(slash != NULL && (size_t)(slash - path) < sizeof folder_space);
    memcpy(folder_space, path, (size_t)(slash - path));
    folder = folder_space;
    map = slash + 1;
}

static int read_address(uint8_t bytes[16], const char *digits)
{
    size_t length = strlen(digits) / 2;
    for (size_t at = 0; at < length && at < 16; at++) {
        unsigned byte;
        CHECK(sscanf(digits + 2 * at, "%2x", &byte) == 1);
        bytes[at] = (uint8_t)byte;
    }
    return length == 4 || length == 16;
}

static void load_tables(uint32_t flags)
{
    popfib_table *tables[2];
    uint32_t families[2] = {POPFIB_IPV4, POPFIB_IPV6};
    for (int at = 0; at < 2; at++) {
        struct popfib_config config = POPFIB_CONFIG_INIT(families[at]);
        RETURNS(0, popfib_create(&config, &tables[at]));
    }
    unsigned family, length, number;
    char digits[40];
    uint8_t prefix[16];
    while (scanf("%u %32s %u %u", &family, digits, &length, &number) == 4) {
        CHECK(read_address(prefix, digits));
        RETURNS(0, popfib_add(tables[family == 6], prefix, (uint8_t)length, number));
    }
    /* A family without routes may as well be left out. */
    popfib_table *ipv6 = popfib_count(tables[1]) ? tables[1] : NULL;
    int error = popfib_xdp_load(folder, map, tables[0], ipv6, flags);
    if (error < 0)
        fail("tables", error);
    popfib_free(tables[0]);
    popfib_free(tables[1]);
}

static void load_image(uint32_t flags, const char *path, const char *column)
{
    popfib_image *image;
    int error = popfib_image_open(path, POPFIB_IMAGE_COPY, &image);
    if (error < 0) {
        fprintf(stderr, "%d %s: %s\n", error, path, popfib_strerror(error));
        exit(2);
    }
    error = popfib_xdp_load_image(folder, map, image, column, flags);
    if (error < 0)
        fail("image", error);
    popfib_image_free(image);
}

static void show(void)
{
    struct popfib_xdp_info info = POPFIB_XDP_INFO_INIT;
    int error = popfib_xdp_show(folder, map, &info);
    if (error < 0)
        fail("show", error);
    CHECK(info.size == sizeof info);
    printf("%u %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %u %u\n", info.generation, info.bytes, info.ipv4_routes,
           info.ipv6_routes, info.values, info.value_kind, info.has_matches);
}

static void look_up(void)
{
    unsigned family;
    char digits[40], text[64];
    uint8_t address[16];
    while (scanf("%u %32s", &family, digits) == 2) {
        struct popfib_xdp_match match;
        CHECK(read_address(address, digits));
        int error = popfib_xdp_lookup(folder, map, family, address, &match, text, sizeof text);
        if (error < 0)
            fail("lookup", error);
        CHECK(match.reserved == 0 && strlen(text) == match.text_length);
        /* As much as there is room for, and nothing beyond. */
        char cut[3] = {'x', 'x', 'x'};
        RETURNS(0, popfib_xdp_lookup(folder, map, family, address, &match, cut, 2));
        CHECK(cut[0] == text[0] && (match.text_length == 0 || cut[1] == 0) && cut[2] == 'x');
        RETURNS(0, popfib_xdp_lookup(folder, map, family, address, &match, NULL, 0));
        printf("%u %u %d %s\n", match.number, match.value, match.length, match.text_length ? text : "-");
    }
}

static void check_arguments(void)
{
    struct popfib_config config = POPFIB_CONFIG_INIT(POPFIB_IPV4);
    struct popfib_xdp_info info = POPFIB_XDP_INFO_INIT;
    struct popfib_xdp_match match;
    uint8_t address[16] = {0};
    popfib_table *table;
    CHECK(strcmp(popfib_error(), "") == 0);
    RETURNS(0, popfib_create(&config, &table));
    RETURNS(-EINVAL, popfib_xdp_load(NULL, "c_arguments", table, NULL, 2));
    CHECK(strcmp(popfib_error(), "flags 2: unknown") == 0);
    RETURNS(-EINVAL, popfib_xdp_load(NULL, "c_arguments", NULL, NULL, 0));
    RETURNS(-EINVAL, popfib_xdp_load(NULL, "c_arguments", NULL, table, 0));
    RETURNS(-EINVAL, popfib_xdp_load_image(NULL, "c_arguments", NULL, NULL, 0));
    RETURNS(-EINVAL, popfib_xdp_show(NULL, "c_arguments", NULL));
    info.size--;
    RETURNS(-EINVAL, popfib_xdp_show(NULL, "c_arguments", &info));
    struct {
        struct popfib_xdp_info info;
        uint64_t later;
    } longer = {POPFIB_XDP_INFO_INIT, 1};
    longer.info.size = sizeof longer;
    RETURNS(-E2BIG, popfib_xdp_show(NULL, "c_arguments", &longer.info));
    RETURNS(-EINVAL, popfib_xdp_lookup(NULL, "c_arguments", 4, NULL, &match, NULL, 0));
    RETURNS(-EINVAL, popfib_xdp_lookup(NULL, "c_arguments", 4, address, NULL, NULL, 0));
    RETURNS(-EINVAL, popfib_xdp_lookup(NULL, "c_arguments", 4, address, &match, NULL, 1));
    RETURNS(-EINVAL, popfib_xdp_lookup(NULL, "c_arguments", 5, address, &match, NULL, 0));
    CHECK(strcmp(popfib_error(), "family 5: it is 4 or 6") == 0);
    RETURNS(-ENOTDIR, popfib_xdp_remove("/", "c_arguments"));
    CHECK(strstr(popfib_error(), "/: no folder of a BPF file system; ") == popfib_error());
    popfib_free(table);
}

int main(int count, char **arguments)
{
    const char *command = count > 1 ? arguments[1] : "";
    uint32_t flags = count > 3 ? (uint32_t)atoi(arguments[3]) : 0;
    if (count > 2)
        name_map(arguments[2]);
    if (strcmp(command, "arguments") == 0)
        check_arguments();
    else if (strcmp(command, "tables") == 0)
        load_tables(flags);
    else if (strcmp(command, "image") == 0)
        load_image(flags, arguments[4], count > 5 ? arguments[5] : NULL);
    else if (strcmp(command, "show") == 0)
        show();
    else if (strcmp(command, "lookup") == 0)
        look_up();
    else {
        CHECK(strcmp(command, "remove") == 0);
        int error = popfib_xdp_remove(folder, map);
        if (error < 0)
            fail("remove", error);
    }
    return 0;
}
