/* Images that are changed by hand and at random: refused, or answering, as the Python of docs/image-format.md has it. The file that
 * is the argument, and its form, are those of engines/vectors/changed.py. */
#include <inttypes.h>
#include <math.h>

#include "check.h"

enum { ADDRESSES = 64, MOST_RECORDS = 50 };

static struct {
    uint32_t family;
    uint8_t bytes[16];
} asked[ADDRESSES];
static size_t asked_count;

struct part {
    char *bytes;
    size_t length;
};

/* The next part of the file, in memory of its own and with a 0 after it; none at the end of the file. */
static struct part read_part(FILE *file)
{
    struct part part = {NULL, 0};
    uint8_t length[4];
    if (fread(length, 1, 4, file) < 4)
        return part;
    part.length = length[0] | (size_t)length[1] << 8 | (size_t)length[2] << 16 | (size_t)length[3] << 24;
    part.bytes = malloc(part.length + 1);
    CHECK(part.bytes != NULL && fread(part.bytes, 1, part.length, file) == part.length);
    part.bytes[part.length] = 0;
    return part;
}

static void read_addresses(FILE *file)
{
    struct part lines = read_part(file);
    for (const char *line = lines.bytes; *line != 0; line = strchr(line, '\n') + 1) {
        size_t length = strcspn(line, "\n") / 2;
        CHECK(asked_count < ADDRESSES && (length == 4 || length == 16));
        asked[asked_count].family = length == 4 ? POPFIB_IPV4 : POPFIB_IPV6;
        for (size_t at = 0; at < length; at++) {
            char digits[3] = {line[2 * at], line[2 * at + 1], 0};
            asked[asked_count].bytes[at] = (uint8_t)strtoul(digits, NULL, 16);
        }
        asked_count++;
    }
    free(lines.bytes);
}

/* What follows this text, in which tabs and line feeds are blanks; NULL if another one is there, or for NULL. */
static const char *after(const char *at, const char *text, size_t length, int is_element)
{
    for (size_t n = 0; at != NULL && n < length; n++) {
        char c = text[n] == '\t' || text[n] == '\n' ? ' ' : text[n];
        if (is_element && (c == ',' || c == '\\') && *at++ != '\\')
            return NULL;
        at = *at == c ? at + 1 : NULL;
    }
    return at;
}

/* What follows this value of a record. */
static const char *after_value(const popfib_records *records, uint32_t column, uint32_t number, size_t index, uint32_t type,
                               const char *at)
{
    const char *text;
    size_t length;
    char digits[32];
    int64_t integer;
    uint64_t unsigned_integer;
    double real;
    uint8_t truth;
    switch (type & ~POPFIB_LIST) {
    case POPFIB_TEXT:
        RETURNS(0, popfib_records_text(records, column, number, index, &text, &length));
        return after(at, text, length, (type & POPFIB_LIST) != 0);
    case POPFIB_DOUBLE: {
        char *end;
        RETURNS(0, popfib_records_double(records, column, number, index, &real));
        double given = strtod(at, &end);
        return isnan(real) ? isnan(given) ? end : NULL : given == real && !signbit(given) == !signbit(real) ? end : NULL;
    }
    case POPFIB_INT64:
        RETURNS(0, popfib_records_int64(records, column, number, index, &integer));
        snprintf(digits, sizeof digits, "%" PRId64, integer);
        break;
    case POPFIB_UINT64:
        RETURNS(0, popfib_records_uint64(records, column, number, index, &unsigned_integer));
        snprintf(digits, sizeof digits, "%" PRIu64, unsigned_integer);
        break;
    default:
        RETURNS(0, popfib_records_bool(records, column, number, index, &truth));
        snprintf(digits, sizeof digits, "%s", truth ? "true" : "false");
    }
    return after(at, digits, strlen(digits), 0);
}

/* What follows the lines of the records; NULL if they are others. */
static const char *after_records(const popfib_records *records, const char *at)
{
    uint32_t columns = popfib_records_columns(records);
    for (uint32_t number = 1; number <= popfib_records_count(records) && number <= MOST_RECORDS; number++) {
        for (uint32_t column = 0; at != NULL && column < columns; column++) {
            uint32_t type;
            size_t length;
            RETURNS(0, popfib_records_column_info(records, column, NULL, NULL, &type));
            RETURNS(0, popfib_records_length(records, column, number, &length));
            if (length == 0 && *at == '~')
                at++;
            for (size_t index = 0; at != NULL && index < length; index++) {
                if (index > 0)
                    at = after(at, ",", 1, 0);
                at = at == NULL ? NULL : after_value(records, column, number, index, type, at);
            }
            at = at != NULL && *at == (column + 1 < columns ? '\t' : '\n') ? at + 1 : NULL;
        }
    }
    return at;
}

/* What follows the lines of the selected table from the number of its routes on; NULL if they are others. */
static const char *after_table(const popfib_image *image, const char *at)
{
    popfib_table *tables[2] = {NULL, NULL};
    int made[2];
    uint64_t count = 0;
    char *end;
    for (int n = 0; n < 2; n++) {
        struct popfib_config config = POPFIB_CONFIG_INIT(n == 0 ? POPFIB_IPV4 : POPFIB_IPV6);
        made[n] = popfib_image_table(image, &config, &tables[n]);
        /* C looks up in FIBs of next hops alone. */
        CHECK(made[n] == 0 || made[n] == -ENOENT || made[n] == -ENODATA);
        count += made[n] == 0 ? popfib_count(tables[n]) : 0;
    }
    at = after(at, "routes ", 7, 0);
    if (at != NULL) {
        uint64_t expected = strtoull(at, &end, 10);
        at = made[0] == -ENODATA || made[1] == -ENODATA || expected == count ? end + 1 : NULL;
    }
    for (size_t n = 0; at != NULL && n < asked_count; n++) {
        int of = asked[n].family == POPFIB_IPV6;
        uint8_t prefix[16], length = 0;
        uint32_t next_hop = 0;
        uint32_t number = (uint32_t)strtoul(at, &end, 10);
        int has_match = end[1] != '-', has_length = has_match && strchr("0123456789", strchr(end, '/')[1]) != NULL;
        uint32_t of_match = has_match ? (uint32_t)strtoul(end + 1, &end, 10) : 0;
        unsigned long of_length = has_length ? strtoul(end + 1, NULL, 10) : 0;
        at = strchr(end, '\n') + 1;
        if (made[of] == -ENOENT && number != 0)
            at = NULL;
        if (made[of] != 0)
            continue;
        if (popfib_lookup(tables[of], asked[n].bytes) != number)
            at = NULL;
        int found = popfib_longest_match(tables[of], asked[n].bytes, prefix, &length, &next_hop);
        if (found != -ENODATA && (found == -ENOENT ? has_match : next_hop != of_match || length != of_length))
            at = NULL;
    }
    popfib_free(tables[0]);
    popfib_free(tables[1]);
    return at;
}

/* Whether an image is refused, or answers, as it has to. */
static int is_as_expected(struct part bytes, const char *expected)
{
    popfib_image *image;
    const char *at = expected;
    if (popfib_image_memory(bytes.bytes, bytes.length, POPFIB_IMAGE_COPY, &image) != 0)
        return *expected == 0;
    const char *name, *before;
    size_t length, length_before;
    for (size_t table = 0; at != NULL && popfib_image_table_name(image, table, &name, &length) == 0; table++) {
        int is_first = 1;
        for (size_t n = 0; n < table; n++) {
            RETURNS(0, popfib_image_table_name(image, n, &before, &length_before));
            is_first &= length != length_before || memcmp(name, before, length) != 0;
        }
        char *selected = malloc(length + 1);
        CHECK(selected != NULL);
        memcpy(selected, name, length);
        selected[length] = 0;
        RETURNS(0, popfib_image_select(image, selected));
        free(selected);
        popfib_records *records;
        int made = popfib_image_records(image, &records);
        if (made != 0 && made != -ENODATA) {
            /* Refused as late as that. */
            RETURNS(-EBADMSG, made);
            at = *expected == 0 ? at : NULL;
            break;
        }
        if (is_first && *expected == 0) {
            at = NULL;
        } else if (is_first) {
            at = after(after(at, "table ", 6, 0), name, length, 0);
            at = at != NULL && *at == '\n' ? at + 1 : NULL;
            at = at == NULL ? NULL : after_table(image, at);
            at = at == NULL ? NULL : after_records(records, at);
        }
        popfib_records_free(records);
    }
    popfib_image_free(image);
    return at != NULL && *at == 0;
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    FILE *file = fopen(argv[1], "rb");
    CHECK(file != NULL);
    read_addresses(file);
    size_t images = 0, differ = 0;
    for (struct part name; (name = read_part(file)).bytes != NULL; images++) {
        struct part bytes = read_part(file), expected = read_part(file);
        if (!is_as_expected(bytes, expected.bytes)) {
            fprintf(stderr, "%s: %s\n", name.bytes, expected.length == 0 ? "is not refused" : "is refused, or has other answers");
            differ++;
        }
        free(name.bytes);
        free(bytes.bytes);
        free(expected.bytes);
    }
    fclose(file);
    printf("%zu images, %zu differ\n", images, differ);
    return images <= 10000 || differ != 0;
}
