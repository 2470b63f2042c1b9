/*
 * Every function of popfib.h with every family and flag, and every error that it documents, but for those
 * that need a table of gigabytes (-ENOSPC) or an error in popfib (-ENOTRECOVERABLE, tested in Rust), and but for
 * memory (allocator.c, memory.c). Here are configurations, kernels and texts; the rest is in the files api_*.c.
 *
 * Compiles as C++ too, so that a test proves the header there as well.
 *
 *     api DIR VECTORS      DIR is an empty directory to write to, VECTORS is engines/vectors
 */
#include "api.h"

static void *allocate(void *user, size_t alignment, size_t size)
{
    (void)user, (void)alignment, (void)size;
    CHECK(!"called");
    return NULL;
}

static void release(void *user, void *memory, size_t alignment, size_t size)
{
    (void)memory;
    (void)allocate(user, alignment, size);
}

static void test_create(void)
{
    struct popfib_config config = POPFIB_CONFIG_INIT(POPFIB_IPV4);
    popfib_table *table = (popfib_table *)&config;
    RETURNS(-EINVAL, popfib_create(NULL, &table));
    CHECK(table == NULL);
    RETURNS(-EINVAL, popfib_create(&config, NULL));

    config.family = 5;
    RETURNS(-EINVAL, popfib_create(&config, &table));
    config.family = POPFIB_IPV4;
    config.flags = 4;
    RETURNS(-EINVAL, popfib_create(&config, &table));
    config.flags = 0;
    config.allocate = allocate;
    RETURNS(-EINVAL, popfib_create(&config, &table));
    config.allocate = NULL;
    config.release = release;
    RETURNS(-EINVAL, popfib_create(&config, &table));
    config.release = NULL;
    config.direct_bits = 25;
    RETURNS(-EINVAL, popfib_create(&config, &table));
    config.direct_bits = 256 + 18;
    RETURNS(-EINVAL, popfib_create(&config, &table));
    config.direct_bits = 0;
    config.size--;
    RETURNS(-EINVAL, popfib_create(&config, &table));
    config.size = 0;
    RETURNS(-EINVAL, popfib_create(&config, &table));

    for (uint32_t bits = 1; bits <= 18; bits++) {
        config.size = sizeof config;
        config.direct_bits = bits;
        RETURNS(0, popfib_create(&config, &table));
        popfib_free(table);
    }
    popfib_free(NULL);
}

/* A structure of a later version. */
static void test_longer_config(void)
{
    struct {
        struct popfib_config known;
        uint32_t unknown[2];
    } config = {POPFIB_CONFIG_INIT(POPFIB_IPV6), {0, 0}};
    popfib_table *table;
    config.known.size = sizeof config;
    RETURNS(0, popfib_create(&config.known, &table));
    popfib_free(table);
    config.unknown[1] = 1;
    RETURNS(-E2BIG, popfib_create(&config.known, &table));
    CHECK(table == NULL);
}

static void test_kernels(void)
{
    struct popfib_config config = POPFIB_CONFIG_INIT(POPFIB_IPV4);
    popfib_table *table;
    size_t count = 0, supported = 0;
    while (popfib_kernel_list(count) != NULL)
        count++;
    CHECK(count >= 2);
    for (size_t at = 0; at < sizeof KERNELS / sizeof KERNELS[0]; at++) {
        int listed = 0;
        for (size_t index = 0; index < count; index++)
            listed |= strcmp(popfib_kernel_list(index), KERNELS[at]) == 0;
        supported += (size_t)listed;
        config.kernel = KERNELS[at];
        if (!listed) {
            RETURNS(-ENOTSUP, popfib_create(&config, &table));
            CHECK(table == NULL);
            continue;
        }
        RETURNS(0, popfib_create(&config, &table));
        CHECK(strcmp(popfib_kernel(table), KERNELS[at]) == 0);
        popfib_reader *reader;
        RETURNS(0, popfib_reader_create(table, &reader));
        CHECK(strcmp(popfib_reader_kernel(reader), KERNELS[at]) == 0);
        popfib_reader_free(reader);
        popfib_free(table);
    }
    CHECK(supported == count);
    config.kernel = "fastest";
    RETURNS(-EINVAL, popfib_create(&config, &table));

    config.kernel = NULL;
    CHECK(setenv("POPFIB_KERNEL", "nonsense", 1) == 0);
    RETURNS(-EINVAL, popfib_create(&config, &table));
    CHECK(setenv("POPFIB_KERNEL", "scalar", 1) == 0);
    RETURNS(0, popfib_create(&config, &table));
    CHECK(strcmp(popfib_kernel(table), "scalar") == 0);
    popfib_free(table);
    CHECK(unsetenv("POPFIB_KERNEL") == 0);
    CHECK(popfib_kernel(NULL) == NULL);
    CHECK(popfib_reader_kernel(NULL) == NULL);
}

static void test_texts(void)
{
    static const int KNOWN[] = {0,       EINVAL, E2BIG,  ENOENT,   ENOMEM, ENOSPC, ENODATA, ERANGE, EDOM, EROFS, EBUSY,
                                ENOTSUP, EILSEQ, EBADMSG, EIO, ENOTRECOVERABLE, EACCES, EISDIR, ENOTDIR, EFBIG};
    const char *unknown = popfib_strerror(123456);
    char version[32];
    for (size_t at = 0; at < sizeof KNOWN / sizeof KNOWN[0]; at++) {
        const char *text = popfib_strerror(-KNOWN[at]);
        CHECK(text != NULL && strlen(text) > 4 && strcmp(text, unknown) != 0);
        CHECK(popfib_strerror(KNOWN[at]) == text);
    }
    CHECK(unknown != NULL && popfib_strerror(-2147483647 - 1) == unknown);
    CHECK(strstr(popfib_strerror(-EBADMSG), "popfib compile FILE --columns '*'") != NULL);
    snprintf(version, sizeof version, "%d.%d.%d", POPFIB_VERSION_MAJOR, POPFIB_VERSION_MINOR, POPFIB_VERSION_PATCH);
    CHECK(strcmp(popfib_version(), version) == 0);
    CHECK(popfib_kernel_list((size_t)-1) == NULL);
}

int is_flat;

int main(int argc, char **argv)
{
    CHECK(argc == 3 && *popfib_error() == 0);
    test_kernels();
    test_create();
    test_longer_config();
    for (uint32_t family = POPFIB_IPV4; family <= POPFIB_IPV6; family += 2) {
        for (int at = 0; at < 4; at++) {
            const uint32_t flags = at / 2 ? POPFIB_KEEP_PREFIXES : 0;
            is_flat = at % 2;
            test_routes(family, flags);
            test_matches(family, flags);
            test_bulk(family, flags);
            test_readers(family, flags);
            test_apply(family, flags);
            test_reader_matches(family, flags);
            popfib_table *table = filled(family, flags);
            test_walks(table);
            popfib_free(table);
        }
        is_flat = 0;
    }
    test_changes_in_walks();
    test_groups();
    test_images(argv[1]);
    test_watchers(argv[1]);
    test_records(argv[2], argv[1]);
    test_texts();
    printf("api: all functions and errors as documented\n");
    return 0;
}
