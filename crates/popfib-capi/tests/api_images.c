/* Images, whole and damaged: a part of the program `api`. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api.h"

static char path[4096], other_path[4096];

/* Functions of an allocator, which the table of an image refuses. */
static void *allocate(void *user, size_t alignment, size_t size)
{
    (void)user, (void)alignment, (void)size;
    return NULL;
}

static void release(void *user, void *memory, size_t alignment, size_t size)
{
    (void)user, (void)memory, (void)alignment, (void)size;
}

static void check_image_table(popfib_image *image, uint32_t family, uint32_t flags)
{
    struct popfib_config config = POPFIB_CONFIG_INIT(family);
    popfib_table *table;
    popfib_reader *reader;
    uint8_t length;
    uint32_t next_hop;
    config.flags = flags;
    RETURNS(0, popfib_image_table(image, &config, &table));
    CHECK(popfib_family(table) == family);
    CHECK(popfib_count(table) == COUNT && popfib_bytes(table) > 0 && popfib_kernel(table) != NULL);
    test_walks(table);
    for (int at = 0; at < COUNT; at++) {
        RETURNS(0, popfib_get(table, ROUTES[at].prefix, ROUTES[at].length, &next_hop));
        CHECK(next_hop == ROUTES[at].next_hop);
    }
    RETURNS(-ENOENT, popfib_get(table, ELSEWHERE, 32, &next_hop));
    RETURNS(0, popfib_longest_match(table, HOST, NULL, &length, &next_hop));
    CHECK(length == 32 && next_hop == 5);
    RETURNS(0, popfib_compile_prefixes(table));
    uint32_t found[4] = {0};
    RETURNS(0, popfib_longest_match_bulk(table, HOST, &length, found, 1));
    CHECK(length == 32 && found[0] == 5);
    RETURNS(-EROFS, popfib_add(table, HOST, 32, 1));
    RETURNS(-EROFS, popfib_delete(table, HOST, 32));
    RETURNS(0, popfib_reclaim(table));
    RETURNS(0, popfib_reader_create(table, &reader));
    RETURNS(0, popfib_reader_online(reader));
    popfib_free(table);
    CHECK(popfib_reader_lookup(reader, HOST) == 5);
    uint8_t of_reader;
    uint32_t next_hop_of_reader[2];
    RETURNS(0, popfib_reader_longest_match(reader, HOST, NULL, &of_reader, next_hop_of_reader));
    CHECK(of_reader == 32 && next_hop_of_reader[0] == 5);
    of_reader = 0;
    RETURNS(0, popfib_reader_longest_match_bulk(reader, HOST, &of_reader, next_hop_of_reader, 1));
    CHECK(of_reader == 32 && next_hop_of_reader[0] == 5);
    uint32_t *space = (uint32_t *)calloc(16, sizeof *space);
    CHECK(space != NULL);
    RETURNS(0, popfib_reader_lookup_bulk(reader, HOST, space, 1));
    CHECK(space[0] == 5);
    space[0] = space[4] = 0;
    RETURNS(0, popfib_reader_lookup_bulk_host(reader, space, space + 4, 1));
    CHECK(space[4] == 1);
    free(space);
    RETURNS(0, popfib_reader_quiescent(reader));
    RETURNS(0, popfib_reader_offline(reader));
    popfib_reader_free(reader);
}

static void test_whole_images(void)
{
    is_flat = 1; /* tables are flat, and so are those of images of them if a flag asks for it */
    popfib_table *ipv4 = filled(POPFIB_IPV4, 0), *ipv6 = filled(POPFIB_IPV6, 0), *table;
    is_flat = 0;
    popfib_image *image;
    struct popfib_config config = POPFIB_CONFIG_INIT(POPFIB_IPV4);
    popfib_records *records;
    const char *name;
    size_t length;
    uint32_t type;

    RETURNS(0, popfib_image_save(path, NULL, ipv4, ipv6));
    for (uint32_t mode = POPFIB_IMAGE_COPY; mode <= POPFIB_IMAGE_MAP_TRUSTED; mode++) {
        RETURNS(0, popfib_image_open(path, mode, &image));
        for (uint32_t flags = 0; flags <= POPFIB_BALANCED; flags += POPFIB_BALANCED) {
            check_image_table(image, POPFIB_IPV4, flags);
            check_image_table(image, POPFIB_IPV6, flags);
        }
        RETURNS(-ENODATA, popfib_image_records(image, &records));
        CHECK(records == NULL);
        /* A table outlives the image. */
        RETURNS(0, popfib_image_table(image, &config, &table));
        popfib_image_free(image);
        CHECK(popfib_lookup(table, HOST) == 5);
        popfib_free(table);
    }
    RETURNS(-EINVAL, popfib_image_open(path, 3, &image));
    RETURNS(-EINVAL, popfib_image_open(NULL, POPFIB_IMAGE_COPY, &image));
    RETURNS(-EINVAL, popfib_image_open(path, POPFIB_IMAGE_COPY, NULL));
    RETURNS(-ENOENT, popfib_image_open(other_path, POPFIB_IMAGE_COPY, &image));
    CHECK(image == NULL);
    RETURNS(-EINVAL, popfib_image_save(NULL, NULL, ipv4, ipv6));
    RETURNS(-EINVAL, popfib_image_save(path, NULL, NULL, NULL));
    RETURNS(-EINVAL, popfib_image_save(path, NULL, ipv6, NULL));
    RETURNS(-EINVAL, popfib_image_save(path, NULL, ipv4, ipv4));
    RETURNS(-EINVAL, popfib_image_save("/", NULL, ipv4, ipv6));
    RETURNS(-ENOENT, popfib_image_save("/nowhere/image", NULL, ipv4, ipv6));
    RETURNS(-EISDIR, popfib_image_open("/", POPFIB_IMAGE_COPY, &image));

    /* Of one family. */
    RETURNS(0, popfib_image_save(path, NULL, NULL, ipv6));
    RETURNS(0, popfib_image_open(path, POPFIB_IMAGE_COPY, &image));
    RETURNS(-ENOENT, popfib_image_table(image, &config, &table));
    CHECK(table == NULL);
    config.family = POPFIB_IPV6;
    config.direct_bits = 18;
    RETURNS(-EINVAL, popfib_image_table(image, &config, &table));
    config.direct_bits = 0;
    config.allocate = allocate;
    config.release = release;
    RETURNS(-EINVAL, popfib_image_table(image, &config, &table));
    config.allocate = NULL;
    config.release = NULL;
    config.kernel = "fastest";
    RETURNS(-EINVAL, popfib_image_table(image, &config, &table));
    for (size_t at = 0; at < sizeof KERNELS / sizeof KERNELS[0]; at++) {
        config.kernel = KERNELS[at];
        const int error = popfib_image_table(image, &config, &table);
        CHECK((error == 0 && strcmp(popfib_kernel(table), KERNELS[at]) == 0) || (error == -ENOTSUP && table == NULL));
        popfib_free(table);
    }
    config.kernel = NULL;
    struct {
        struct popfib_config known;
        uint64_t unknown;
    } later = {config, 1};
    later.known.size = sizeof later;
    RETURNS(-E2BIG, popfib_image_table(image, &later.known, &table));
    CHECK(table == NULL);
    later.unknown = 0;
    RETURNS(0, popfib_image_table(image, &later.known, &table));
    popfib_free(table);
    config.flags = POPFIB_BALANCED | 4;
    RETURNS(-EINVAL, popfib_image_table(image, &config, &table));
    config.flags = POPFIB_KEEP_PREFIXES; /* allowed: an image has them */
    config.size = 8;
    RETURNS(-EINVAL, popfib_image_table(image, &config, &table));
    config.size = sizeof config;
    RETURNS(-EINVAL, popfib_image_table(NULL, &config, &table));
    RETURNS(-EINVAL, popfib_image_table(image, NULL, &table));
    RETURNS(-EINVAL, popfib_image_table(image, &config, NULL));
    /* The table of an image can be saved again. */
    RETURNS(0, popfib_image_table(image, &config, &table));
    popfib_image_free(image);
    RETURNS(0, popfib_image_save(other_path, NULL, NULL, table));
    popfib_free(table);
    RETURNS(0, popfib_image_open(other_path, POPFIB_IMAGE_MAP, &image));
    popfib_image_free(image);

    /* Names and provenance. */
    static const char *const NAMES[] = {"east", "west", "", "s\xc3\xbc" "d", "five"};
    struct popfib_image_config content = POPFIB_IMAGE_CONFIG_INIT;
    content.names = NAMES;
    content.name_count = 5;
    content.source = "a test";
    content.created = 1800000000;
    RETURNS(-ERANGE, popfib_image_save(path, &content, ipv4, NULL)); /* 65535 has none */
    RETURNS(0, popfib_delete(ipv4, ROUTES[5].prefix, 31));
    RETURNS(0, popfib_delete(ipv4, ROUTES[6].prefix, 24));
    RETURNS(0, popfib_image_save(path, &content, ipv4, NULL));
    RETURNS(0, popfib_image_open(path, POPFIB_IMAGE_COPY, &image));
    RETURNS(0, popfib_image_records(image, &records));
    popfib_image_free(image);
    CHECK(popfib_records_count(records) == 5 && popfib_records_columns(records) == 1);
    RETURNS(0, popfib_records_column_info(records, 0, &name, &length, &type));
    CHECK(length == 5 && memcmp(name, "value", length) == 0 && type == POPFIB_TEXT);
    for (uint32_t number = 1; number <= 5; number++) {
        RETURNS(0, popfib_records_text(records, 0, number, 0, &name, &length));
        CHECK(length == strlen(NAMES[number - 1]) && memcmp(name, NAMES[number - 1], length) == 0);
    }
    RETURNS(-ENOENT, popfib_records_text(records, 0, 0, 0, &name, &length));
    RETURNS(-ERANGE, popfib_records_text(records, 0, 6, 0, &name, &length));
    popfib_records_free(records);
    popfib_image_free(NULL);

    static const char *const BROKEN[] = {"east", "\xff", "", "", ""}, *const MISSING[] = {"a", NULL};
    content.names = BROKEN;
    RETURNS(-EILSEQ, popfib_image_save(path, &content, ipv4, NULL));
    content.names = MISSING;
    content.name_count = 2;
    RETURNS(-EINVAL, popfib_image_save(path, &content, ipv4, NULL));
    content.names = NULL;
    content.source = "\xff";
    RETURNS(-EILSEQ, popfib_image_save(path, &content, ipv4, NULL));
    content.source = NULL;
    content.flags = 2;
    RETURNS(-EINVAL, popfib_image_save(path, &content, ipv4, NULL));
    content.size = 4;
    RETURNS(-EINVAL, popfib_image_save(path, &content, ipv4, NULL));

    /* Without routes: lookups only. */
    content.size = sizeof content;
    content.flags = POPFIB_IMAGE_NO_ROUTES;
    RETURNS(0, popfib_image_save(path, &content, ipv4, NULL));
    RETURNS(0, popfib_image_open(path, POPFIB_IMAGE_COPY, &image));
    config.family = POPFIB_IPV4;
    RETURNS(0, popfib_image_table(image, &config, &table));
    CHECK(popfib_lookup(table, HOST) == 5 && popfib_count(table) == COUNT - 2);
    RETURNS(-ENODATA, popfib_get(table, HOST, 32, NULL));
    RETURNS(-ENODATA, popfib_longest_match(table, HOST, NULL, NULL, NULL));
    uint8_t bits;
    uint32_t found;
    RETURNS(-ENODATA, popfib_longest_match_bulk(table, HOST, &bits, &found, 1));
    RETURNS(-ENODATA, popfib_compile_prefixes(table));
    RETURNS(-ENODATA, popfib_walk(table, refuse, NULL));
    RETURNS(-ENODATA, popfib_walk_covering(table, HOST, 32, refuse, NULL));
    RETURNS(-ENODATA, popfib_walk_covered(table, HOST, 32, refuse, NULL));
    RETURNS(-ENODATA, popfib_image_save(other_path, NULL, table, NULL));
    popfib_free(table);
    /* It has this size, which takes no routes. */
    config.flags = POPFIB_BALANCED;
    RETURNS(0, popfib_image_table(image, &config, &table));
    popfib_free(table);
    config.flags = 0;
    popfib_table_set *set;
    RETURNS(-ENODATA, popfib_image_table_set(image, &config, &set));
    CHECK(set == NULL);
    popfib_image_free(image);

    struct {
        struct popfib_image_config known;
        uint64_t unknown;
    } longer = {POPFIB_IMAGE_CONFIG_INIT, 1};
    longer.known.size = sizeof longer;
    RETURNS(-E2BIG, popfib_image_save(path, &longer.known, ipv4, NULL));

    popfib_free(ipv4);
    popfib_free(ipv6);
}

static size_t read_file(const char *from, uint8_t *bytes, size_t space)
{
    FILE *file = fopen(from, "rb");
    CHECK(file != NULL);
    const size_t length = fread(bytes, 1, space, file);
    CHECK(length < space);
    fclose(file);
    return length;
}

/* An image in memory of the caller's, as processes share it. */
static void test_images_in_memory(void)
{
    const size_t space = 1 << 16;
    uint8_t *bytes = (uint8_t *)aligned_alloc(64, space);
    popfib_table *ipv4 = filled(POPFIB_IPV4, 0), *ipv6 = filled(POPFIB_IPV6, 0);
    popfib_image *image;
    CHECK(bytes != NULL);
    RETURNS(0, popfib_image_save(path, NULL, ipv4, ipv6));
    const size_t length = read_file(path, bytes, space);
    for (uint32_t mode = POPFIB_IMAGE_COPY; mode <= POPFIB_IMAGE_MAP_TRUSTED; mode++) {
        RETURNS(0, popfib_image_memory(bytes, length, mode, &image));
        check_image_table(image, POPFIB_IPV4, 0);
        check_image_table(image, POPFIB_IPV6, 0);
        popfib_image_free(image);
        RETURNS(-EBADMSG, popfib_image_memory(bytes, length - 1, mode, &image));
        CHECK(image == NULL);
        RETURNS(-EBADMSG, popfib_image_memory(bytes, 0, mode, &image));
        RETURNS(-EINVAL, popfib_image_memory(NULL, length, mode, &image));
        RETURNS(-EINVAL, popfib_image_memory(bytes, length, mode, NULL));
    }
    RETURNS(-EINVAL, popfib_image_memory(bytes, SIZE_MAX, POPFIB_IMAGE_COPY, &image));
    RETURNS(-EINVAL, popfib_image_memory(bytes, length, 3, &image));
    bytes[length / 2] ^= 1;
    RETURNS(-EBADMSG, popfib_image_memory(bytes, length, POPFIB_IMAGE_COPY, &image));
    RETURNS(-EBADMSG, popfib_image_memory(bytes, length, POPFIB_IMAGE_MAP, &image));
    bytes[length / 2] ^= 1;
    memmove(bytes + 1, bytes, length);
    RETURNS(-EINVAL, popfib_image_memory(bytes + 1, length, POPFIB_IMAGE_MAP, &image));
    RETURNS(0, popfib_image_memory(bytes + 1, length, POPFIB_IMAGE_COPY, &image));
    popfib_image_free(image);
    free(bytes);
    popfib_free(ipv4);
    popfib_free(ipv6);
}

static void write_file(const char *to, const uint8_t *bytes, size_t length)
{
    FILE *file = fopen(to, "wb");
    CHECK(file != NULL);
    CHECK(fwrite(bytes, 1, length, file) == length);
    CHECK(fclose(file) == 0);
}

/* An image with any damage is refused when it is opened. */
static void test_damaged_images(void)
{
    static uint8_t bytes[1 << 16];
    popfib_table *table = filled(POPFIB_IPV4, 0);
    popfib_image *image;
    RETURNS(0, popfib_image_save(path, NULL, table, NULL));
    popfib_free(table);
    const size_t length = read_file(path, bytes, sizeof bytes);
    for (size_t at = 0; at < length; at++) {
        const uint8_t whole = bytes[at];
        bytes[at] ^= (uint8_t)(1 << at % 8);
        write_file(other_path, bytes, length);
        const int error = popfib_image_open(other_path, at % 2 ? POPFIB_IMAGE_COPY : POPFIB_IMAGE_MAP, &image);
        const int is_version = 8 <= at && at < 12;
        CHECK(error == -EBADMSG || (is_version && error == -ENOTSUP));
        CHECK(image == NULL);
        bytes[at] = whole;
    }
    for (size_t cut = 0; cut < length; cut += cut < 128 ? 1 : 37) {
        write_file(other_path, bytes, cut);
        RETURNS(-EBADMSG, popfib_image_open(other_path, POPFIB_IMAGE_COPY, &image));
    }
    write_file(other_path, bytes, length + 1);
    RETURNS(-EBADMSG, popfib_image_open(other_path, POPFIB_IMAGE_COPY, &image));
    bytes[8] = 1;
    write_file(other_path, bytes, length);
    RETURNS(-ENOTSUP, popfib_image_open(other_path, POPFIB_IMAGE_COPY, &image));

    /* A file that the user may not read. The superuser, who may read all files, becomes another user meanwhile. */
    const uid_t self = geteuid();
    CHECK(chmod(path, 0) == 0);
    CHECK(self != 0 || seteuid(65534) == 0);
    RETURNS(-EACCES, popfib_image_open(path, POPFIB_IMAGE_COPY, &image));
    CHECK(image == NULL);
    CHECK(seteuid(self) == 0);
    CHECK(chmod(path, 0600) == 0);
}

/* A limit on the size of files. */
static void test_file_limit(void)
{
    popfib_table *table = filled(POPFIB_IPV4, 0);
    struct rlimit limit, before;
    struct stat old_file, new_file;
    RETURNS(0, popfib_image_save(other_path, NULL, table, NULL));
    CHECK(stat(other_path, &old_file) == 0);
    CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    limit = before;
    limit.rlim_cur = 100;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    RETURNS(-EFBIG, popfib_image_save(other_path, NULL, table, NULL));
    CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK(stat(other_path, &new_file) == 0);
    CHECK(old_file.st_ino == new_file.st_ino && old_file.st_size == new_file.st_size);
    popfib_free(table);
}

void test_images(const char *dir)
{
    snprintf(path, sizeof path, "%s/image", dir);
    snprintf(other_path, sizeof other_path, "%s/other", dir);
    test_whole_images();
    test_images_in_memory();
    test_damaged_images();
    test_file_limit();
}
