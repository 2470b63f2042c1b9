/* The records of engines/vectors/records.fib, compared with the lines that the image was made of: a part of the program
 * `api`. What an address should find is decided here by a scan of these lines. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <pthread.h>

#include "api.h"

/* The columns of the table `records`, in their order. */
static const struct {
    const char *name;
    uint32_t type;
} COLUMNS[] = {
    {"country", POPFIB_TEXT},
    {"asn", POPFIB_INT64},
    {"names.city", POPFIB_TEXT},
    {"tags", POPFIB_TEXT | POPFIB_LIST},
    {"ports", POPFIB_INT64 | POPFIB_LIST},
    {"rate", POPFIB_DOUBLE},
    {"up", POPFIB_BOOL},
    {"delta", POPFIB_INT64},
    {"id", POPFIB_UINT64},
};
enum { COLUMN_COUNT = sizeof COLUMNS / sizeof COLUMNS[0], LINES = 64, ELEMENTS = 8, SIZE = 64 };

/* A member of a line, by its dotted path: its elements as they are written, without quotes and escapes. */
struct member {
    char path[SIZE];
    size_t count;
    char values[ELEMENTS][SIZE];
};

struct line {
    uint32_t family;
    uint8_t prefix[16];
    unsigned length;
    size_t count;
    struct member members[16];
};

static struct line lines[LINES];
static size_t line_count;

/* ---------------------------------------------------------------- JSON, as far as the file has it */

static const char *read_scalar(const char *at, char *value)
{
    size_t length = 0;
    if (*at != '"') {
        length = strcspn(at, ",]}");
        CHECK(0 < length && length < SIZE);
        memcpy(value, at, length);
        value[length] = 0;
        return at + length;
    }
    for (at++; *at != '"'; at++) {
        char c = *at;
        if (c == '\\') {
            c = *++at;
            CHECK(c == 't' || c == '\\' || c == '"');
            c = c == 't' ? '\t' : c;
        }
        CHECK(c != 0 && length < SIZE - 1);
        value[length++] = c;
    }
    value[length] = 0;
    return at + 1;
}

static const char *read_value(struct line *line, const char *path, const char *at)
{
    if (*at == '{') {
        while (*at != '}') {
            char name[SIZE], below[2 * SIZE];
            at = read_scalar(at + 1, name);
            CHECK(*at == ':');
            snprintf(below, sizeof below, "%s%s%s", path, *path ? "." : "", name);
            at = read_value(line, below, at + 1);
            CHECK(*at == ',' || *at == '}');
        }
        return at + 1;
    }
    CHECK(line->count < sizeof line->members / sizeof line->members[0]);
    struct member *member = &line->members[line->count++];
    CHECK(strlen(path) < sizeof member->path);
    strcpy(member->path, path);
    if (*at != '[') {
        member->count = 1;
        return read_scalar(at, member->values[0]);
    }
    while (*at != ']') {
        CHECK(member->count < ELEMENTS);
        at = read_scalar(at + 1, member->values[member->count++]);
        CHECK(*at == ',' || *at == ']');
    }
    return at + 1;
}

static void read_lines(const char *file)
{
    char text[4096], prefix[SIZE];
    FILE *from = fopen(file, "r");
    CHECK(from != NULL);
    while (fgets(text, sizeof text, from) != NULL) {
        CHECK(line_count < LINES);
        struct line *line = &lines[line_count++];
        const char *end = read_value(line, "", text);
        CHECK(*end == '\n' && strcmp(line->members[0].path, "prefix") == 0);
        strcpy(prefix, line->members[0].values[0]);
        char *slash = strchr(prefix, '/');
        CHECK(slash != NULL);
        *slash = 0;
        line->length = (unsigned)atoi(slash + 1);
        line->family = strchr(prefix, ':') ? POPFIB_IPV6 : POPFIB_IPV4;
        CHECK(inet_pton(line->family == POPFIB_IPV4 ? AF_INET : AF_INET6, prefix, line->prefix) == 1);
    }
    fclose(from);
    CHECK(line_count > 5);
}

/* ---------------------------------------------------------------- what is expected */

static int contains(const struct line *line, const uint8_t *address)
{
    for (unsigned bit = 0; bit < line->length; bit++)
        if ((line->prefix[bit / 8] ^ address[bit / 8]) & 0x80 >> bit % 8)
            return 0;
    return 1;
}

static const struct line *longest(uint32_t family, const uint8_t *address)
{
    const struct line *found = NULL;
    for (size_t at = 0; at < line_count; at++)
        if (lines[at].family == family && contains(&lines[at], address) && (found == NULL || found->length < lines[at].length))
            found = &lines[at];
    return found;
}

static const struct member *member_of(const struct line *line, const char *path)
{
    for (size_t at = 0; line != NULL && at < line->count; at++)
        if (strcmp(line->members[at].path, path) == 0)
            return &line->members[at];
    return NULL;
}

/* ---------------------------------------------------------------- what is there */

/* A value as the file has it; a double is taken as `expected` writes it, if it is equal. */
static int read_one(const popfib_records *records, uint32_t column, uint32_t number, size_t index, const char *expected,
                    char *value)
{
    const char *text = NULL;
    size_t length = 0;
    int64_t signed_one = 0;
    uint64_t unsigned_one = 0;
    double fraction = 0;
    uint8_t truth = 0;
    int error = 0;
    switch (COLUMNS[column].type & ~POPFIB_LIST) {
    case POPFIB_TEXT:
        error = popfib_records_text(records, column, number, index, &text, &length);
        CHECK(error != 0 || (text != NULL && length < SIZE));
        snprintf(value, SIZE, "%.*s", (int)length, text == NULL ? "" : text);
        break;
    case POPFIB_INT64:
        error = popfib_records_int64(records, column, number, index, &signed_one);
        snprintf(value, SIZE, "%" PRId64, signed_one);
        break;
    case POPFIB_UINT64:
        error = popfib_records_uint64(records, column, number, index, &unsigned_one);
        snprintf(value, SIZE, "%" PRIu64, unsigned_one);
        break;
    case POPFIB_DOUBLE:
        error = popfib_records_double(records, column, number, index, &fraction);
        snprintf(value, SIZE, "%s", expected != NULL && fraction == strtod(expected, NULL) ? expected : "other");
        break;
    case POPFIB_BOOL:
        error = popfib_records_bool(records, column, number, index, &truth);
        snprintf(value, SIZE, "%s", truth == 1 ? "true" : truth == 0 ? "false" : "neither");
        break;
    default:
        CHECK(!"a type");
    }
    return error;
}

/* The same values by one call; numbers end with 0. */
static void check_bulk(const popfib_records *records, uint32_t column, const uint32_t *numbers, size_t n)
{
    const char *texts[4 * LINES], *text;
    size_t lengths[4 * LINES], length;
    int64_t signed_ones[4 * LINES], signed_one;
    uint64_t unsigned_ones[4 * LINES], unsigned_one;
    double fractions[4 * LINES], fraction;
    uint8_t truths[4 * LINES], truth, present[4 * LINES];
    memset(present, 7, sizeof present);
    const uint32_t type = COLUMNS[column].type;
    RETURNS(type == POPFIB_TEXT ? 0 : -EDOM, popfib_records_text_bulk(records, column, numbers, texts, lengths, n));
    RETURNS(type == POPFIB_INT64 ? 0 : -EDOM, popfib_records_int64_bulk(records, column, numbers, signed_ones, present, n));
    RETURNS(type == POPFIB_UINT64 ? 0 : -EDOM, popfib_records_uint64_bulk(records, column, numbers, unsigned_ones, present, n));
    RETURNS(type == POPFIB_DOUBLE ? 0 : -EDOM, popfib_records_double_bulk(records, column, numbers, fractions, present, n));
    RETURNS(type == POPFIB_BOOL ? 0 : -EDOM, popfib_records_bool_bulk(records, column, numbers, truths, present, n));
    if (type & POPFIB_LIST)
        return;
    size_t absent = 0;
    for (size_t at = 0; at < n; at++) {
        int error = 0, is_same = 0;
        switch (type) {
        case POPFIB_TEXT:
            text = NULL, length = 0;
            error = popfib_records_text(records, column, numbers[at], 0, &text, &length);
            is_same = text == texts[at] && length == lengths[at];
            present[at] = texts[at] != NULL;
            break;
        case POPFIB_INT64:
            signed_one = 0;
            error = popfib_records_int64(records, column, numbers[at], 0, &signed_one);
            is_same = signed_one == signed_ones[at];
            break;
        case POPFIB_UINT64:
            unsigned_one = 0;
            error = popfib_records_uint64(records, column, numbers[at], 0, &unsigned_one);
            is_same = unsigned_one == unsigned_ones[at];
            break;
        case POPFIB_DOUBLE:
            fraction = 0;
            error = popfib_records_double(records, column, numbers[at], 0, &fraction);
            is_same = fraction == fractions[at];
            break;
        default:
            truth = 0;
            error = popfib_records_bool(records, column, numbers[at], 0, &truth);
            is_same = truth == truths[at];
        }
        CHECK(is_same && present[at] == (error == 0));
        absent += present[at] == 0;
    }
    CHECK(0 < absent && absent < n);
}

/* Every column at the borders of every prefix. */
static void *check_values(void *argument)
{
    popfib_image *image = (popfib_image *)argument;
    popfib_records *records;
    uint32_t numbers[2 * LINES + 1];
    size_t n = 0, present = 0;
    RETURNS(0, popfib_image_records(image, &records));
    for (uint32_t family = POPFIB_IPV4; family <= POPFIB_IPV6; family += 2) {
        struct popfib_config config = POPFIB_CONFIG_INIT(family);
        popfib_table *table;
        RETURNS(0, popfib_image_table(image, &config, &table));
        for (size_t at = 0; at < 2 * line_count; at++) {
            const struct line *line = &lines[at / 2];
            uint8_t address[16];
            memcpy(address, line->prefix, sizeof address);
            for (unsigned bit = line->length; at % 2 && bit < 128; bit++)
                address[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
            if (line->family != family)
                continue;
            const struct line *expected = longest(family, address);
            const uint32_t number = numbers[n++] = popfib_lookup(table, address);
            CHECK(0 < number && number <= popfib_records_count(records));
            for (uint32_t column = 0; column < COLUMN_COUNT; column++) {
                const struct member *member = member_of(expected, COLUMNS[column].name);
                const size_t count = member == NULL ? 0 : member->count;
                size_t length = 99;
                char value[SIZE];
                RETURNS(0, popfib_records_length(records, column, number, &length));
                CHECK(length == count);
                for (size_t index = 0; index < count; index++) {
                    RETURNS(0, read_one(records, column, number, index, member->values[index], value));
                    CHECK(strcmp(value, member->values[index]) == 0);
                    present++;
                }
                RETURNS(-ENOENT, read_one(records, column, number, count, NULL, value));
                RETURNS(-ENOENT, read_one(records, column, number, SIZE_MAX, NULL, value));
            }
        }
        popfib_free(table);
    }
    CHECK(n == 2 * line_count && present > 50);
    numbers[n++] = 0;
    for (uint32_t column = 0; column < COLUMN_COUNT; column++)
        check_bulk(records, column, numbers, n);
    popfib_records_free(records);
    return NULL;
}

static void check_columns(const popfib_records *records)
{
    const char *name;
    size_t length;
    uint32_t column = 99, type;
    CHECK(popfib_records_columns(records) == COLUMN_COUNT);
    for (uint32_t at = 0; at < COLUMN_COUNT; at++) {
        RETURNS(0, popfib_records_column(records, COLUMNS[at].name, &column));
        CHECK(column == at);
        RETURNS(0, popfib_records_column_info(records, at, &name, &length, &type));
        CHECK(length == strlen(COLUMNS[at].name) && memcmp(name, COLUMNS[at].name, length) == 0 && type == COLUMNS[at].type);
    }
    RETURNS(0, popfib_records_column(records, NULL, &column));
    CHECK(strcmp(COLUMNS[column].name, "asn") == 0);
    RETURNS(0, popfib_records_column(records, "asn", NULL));
    RETURNS(0, popfib_records_column_info(records, 0, NULL, NULL, NULL));
    RETURNS(-ENOENT, popfib_records_column(records, "nothing", &column));
    RETURNS(-ENOENT, popfib_records_column(records, "", &column));
    RETURNS(-ENOENT, popfib_records_column(records, "\xff", &column));
    RETURNS(-EINVAL, popfib_records_column(NULL, "asn", &column));
    RETURNS(-EINVAL, popfib_records_column_info(records, COLUMN_COUNT, &name, &length, &type));
    RETURNS(-EINVAL, popfib_records_column_info(NULL, 0, &name, &length, &type));
    CHECK(column == 1 && popfib_records_count(NULL) == 0 && popfib_records_columns(NULL) == 0);
}

static void check_errors(const popfib_records *records)
{
    const uint32_t highest = popfib_records_count(records), wrong[2] = {1, highest + 1};
    uint32_t words[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    const char *text = "before", *texts[2] = {text, text};
    size_t length = 99, lengths[2];
    int64_t number = 99, numbers[2] = {99, 99};
    uint64_t unsigned_one;
    double fraction;
    uint8_t truth, present[2] = {7, 7};
    for (uint32_t column = 0; column < COLUMN_COUNT; column++) {
        const uint32_t type = COLUMNS[column].type & ~POPFIB_LIST;
        char value[SIZE];
        CHECK(type == POPFIB_TEXT || popfib_records_text(records, column, 1, 0, &text, &length) == -EDOM);
        CHECK(type == POPFIB_INT64 || popfib_records_int64(records, column, 1, 0, &number) == -EDOM);
        CHECK(type == POPFIB_UINT64 || popfib_records_uint64(records, column, 1, 0, &unsigned_one) == -EDOM);
        CHECK(type == POPFIB_DOUBLE || popfib_records_double(records, column, 1, 0, &fraction) == -EDOM);
        CHECK(type == POPFIB_BOOL || popfib_records_bool(records, column, 1, 0, &truth) == -EDOM);
        RETURNS(-ENOENT, read_one(records, column, 0, 0, NULL, value));
        RETURNS(-ERANGE, read_one(records, column, highest + 1, 0, NULL, value));
        RETURNS(-ERANGE, read_one(records, column, UINT32_MAX, 0, NULL, value));
        RETURNS(-ERANGE, popfib_records_length(records, column, highest + 1, &length));
    }
    RETURNS(-EINVAL, popfib_records_text(records, COLUMN_COUNT, 1, 0, &text, &length));
    RETURNS(-EINVAL, popfib_records_length(records, UINT32_MAX, 1, &length));
    RETURNS(-EINVAL, popfib_records_int64(NULL, 1, 1, 0, &number));
    RETURNS(-EINVAL, popfib_records_text(NULL, 0, 1, 0, &text, &length));
    RETURNS(-EINVAL, popfib_records_length(NULL, 0, 1, &length));
    CHECK(strcmp(text, "before") == 0 && length == 99 && number == 99);
    RETURNS(0, popfib_records_text(records, 0, 1, 0, NULL, NULL));
    RETURNS(0, popfib_records_int64(records, 1, 1, 0, NULL));
    RETURNS(0, popfib_records_length(records, 0, 1, NULL));

    /* A bulk call that fails writes nothing. */
    RETURNS(-ERANGE, popfib_records_int64_bulk(records, 1, wrong, numbers, present, 2));
    RETURNS(-ERANGE, popfib_records_text_bulk(records, 0, wrong, texts, lengths, 2));
    RETURNS(-EINVAL, popfib_records_int64_bulk(records, COLUMN_COUNT, words, numbers, present, 2));
    RETURNS(-EINVAL, popfib_records_int64_bulk(NULL, 1, words, numbers, present, 2));
    RETURNS(-EINVAL, popfib_records_int64_bulk(records, 1, NULL, numbers, present, 2));
    RETURNS(-EINVAL, popfib_records_int64_bulk(records, 1, words, NULL, present, 2));
    RETURNS(-EINVAL, popfib_records_int64_bulk(records, 1, words, numbers, NULL, 2));
    RETURNS(-EINVAL, popfib_records_text_bulk(records, 0, words, texts, NULL, 2));
    RETURNS(-EINVAL, popfib_records_int64_bulk(records, 1, words, numbers, present, SIZE_MAX));
    RETURNS(-EINVAL, popfib_records_int64_bulk(records, 1, words, (int64_t *)(void *)words, present, 2));
    RETURNS(-EINVAL, popfib_records_int64_bulk(records, 1, words, numbers, (uint8_t *)words + 7, 2));
    RETURNS(-EINVAL, popfib_records_int64_bulk(records, 1, words, numbers, (uint8_t *)(numbers + 1), 2));
    RETURNS(-EINVAL, popfib_records_int64_bulk(records, 1, (const uint32_t *)(const void *)((const char *)words + 1), numbers, present, 2));
    CHECK(numbers[0] == 99 && numbers[1] == 99 && present[0] == 7 && strcmp(texts[0], "before") == 0);
    RETURNS(0, popfib_records_int64_bulk(records, 1, NULL, NULL, NULL, 0));
    RETURNS(-EDOM, popfib_records_int64_bulk(records, 0, NULL, NULL, NULL, 0));
}

void test_records(const char *vectors, const char *folder)
{
    char path[4096];
    popfib_image *image;
    popfib_records *records, *country;
    const char *name;
    size_t length;
    uint32_t column;
    snprintf(path, sizeof path, "%s/records.jsonl", vectors);
    read_lines(path);
    snprintf(path, sizeof path, "%s/records.fib", vectors);
    RETURNS(0, popfib_image_open(path, POPFIB_IMAGE_MAP, &image));
    static const char *const TABLES[] = {"records", "country"};
    for (size_t at = 0; at < 2; at++) {
        RETURNS(0, popfib_image_table_name(image, at, &name, &length));
        CHECK(length == strlen(TABLES[at]) && memcmp(name, TABLES[at], length) == 0);
    }
    RETURNS(0, popfib_image_table_name(image, 0, NULL, NULL));
    RETURNS(-ENOENT, popfib_image_table_name(image, 2, &name, &length));
    RETURNS(-EINVAL, popfib_image_table_name(NULL, 0, &name, &length));
    records = (popfib_records *)&image;
    RETURNS(-ENOENT, popfib_image_records(image, &records));
    CHECK(records == NULL);
    RETURNS(-EINVAL, popfib_image_records(NULL, &records));
    RETURNS(-EINVAL, popfib_image_records(image, NULL));

    RETURNS(0, popfib_image_select(image, "records"));
    pthread_t threads[4];
    for (int at = 0; at < 4; at++)
        CHECK(pthread_create(&threads[at], NULL, check_values, image) == 0);
    for (int at = 0; at < 4; at++)
        CHECK(pthread_join(threads[at], NULL) == 0);
    RETURNS(0, popfib_image_records(image, &records));
    /* The records of another table; and both outlive the image. */
    RETURNS(0, popfib_image_select(image, "country"));
    RETURNS(0, popfib_image_records(image, &country));
    popfib_image_free(image);
    check_columns(records);
    check_errors(records);
    check_lines(records);
    snprintf(path, sizeof path, "%s/built.fib", folder);
    check_builder(path);
    popfib_records_free(records);
    CHECK(popfib_records_columns(country) == 1);
    RETURNS(0, popfib_records_column(country, "country", &column));
    popfib_records_free(country);
    popfib_records_free(NULL);
}
