/* The comparison of all doors: engines/vectors/comparison.py.
 *
 *     comparison FILES VECTORS SCRATCH    FILES has the images `first` and `second` of rust_side, VECTORS the rows and questions */
#include <arpa/inet.h>
#include <inttypes.h>

#include "check.h"

enum { COLUMNS = 5, FIELDS = 1 + COLUMNS, SIZE = 4096 };
static const char *const NAMES[COLUMNS] = {"name", "asn", "score", "up", "tags"};

struct lines {
    size_t count;
    char *(*fields)[FIELDS];
};

/* The fields of each line of a file, of which there are `count`. */
static struct lines read_lines(const char *folder, const char *name, int count)
{
    char path[SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL && fseek(file, 0, SEEK_END) == 0);
    const long size = ftell(file);
    char *text = (char *)malloc((size_t)size + 1);
    rewind(file);
    CHECK(text != NULL && fread(text, 1, (size_t)size, file) == (size_t)size && fclose(file) == 0);
    text[size] = 0;
    struct lines lines = {0, NULL};
    for (char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        lines.count++;
    lines.fields = (char *(*)[FIELDS])calloc(lines.count, sizeof *lines.fields);
    CHECK(lines.fields != NULL);
    char *at = text;
    for (size_t line = 0; line < lines.count; line++) {
        for (int field = 0; field < count; field++) {
            lines.fields[line][field] = at;
            at += strcspn(at, "\t\n");
            CHECK(*at == (field + 1 < count ? '\t' : '\n'));
            *at++ = 0;
        }
    }
    CHECK(at == text + size);
    return lines;
}

/* A value as the command prints it; `~` if it is absent. */
static void shown(const popfib_records *records, uint32_t column, uint32_t number, const char *expected, char *to)
{
    uint32_t type;
    size_t count, length, at = 0;
    const char *text;
    int64_t integer;
    double fraction;
    uint8_t truth;
    RETURNS(0, popfib_records_column_info(records, column, NULL, NULL, &type));
    RETURNS(0, popfib_records_length(records, column, number, &count));
    strcpy(to, "~");
    for (size_t index = 0; index < count; index++) {
        switch (type) {
        case POPFIB_TEXT:
        case POPFIB_TEXT | POPFIB_LIST:
            RETURNS(0, popfib_records_text(records, column, number, index, &text, &length));
            CHECK(at + 2 * length + 2 < SIZE);
            if (index > 0)
                to[at++] = ',';
            for (size_t byte = 0; byte < length; byte++) {
                if (type & POPFIB_LIST && (text[byte] == ',' || text[byte] == '\\'))
                    to[at++] = '\\';
                to[at++] = text[byte];
            }
            to[at] = 0;
            break;
        case POPFIB_INT64:
            RETURNS(0, popfib_records_int64(records, column, number, index, &integer));
            snprintf(to, SIZE, "%" PRId64, integer);
            break;
        case POPFIB_DOUBLE:
            RETURNS(0, popfib_records_double(records, column, number, index, &fraction));
            snprintf(to, SIZE, "%s", strcmp(expected, "~") != 0 && fraction == strtod(expected, NULL) ? expected : "another");
            break;
        case POPFIB_BOOL:
            RETURNS(0, popfib_records_bool(records, column, number, index, &truth));
            strcpy(to, truth ? "true" : "false");
            break;
        default:
            CHECK(!"a type");
        }
    }
}

static void ask(const popfib_watcher *watcher, struct lines rows, struct lines questions, int version)
{
    static char *none[FIELDS] = {(char *)"", (char *)"~", (char *)"~", (char *)"~", (char *)"~", (char *)"~"};
    popfib_image *image;
    popfib_records *records;
    uint32_t columns[COLUMNS];
    RETURNS(0, popfib_watcher_image(watcher, &image));
    RETURNS(0, popfib_image_records(image, &records));
    for (int column = 0; column < COLUMNS; column++)
        RETURNS(0, popfib_records_column(records, NAMES[column], &columns[column]));
    uint8_t *addresses = (uint8_t *)malloc(questions.count * 16), *lengths = (uint8_t *)malloc(questions.count);
    size_t *lines = (size_t *)malloc(questions.count * sizeof *lines), asked = 0;
    uint32_t *numbers = (uint32_t *)malloc(questions.count * sizeof *numbers), *same = (uint32_t *)malloc(questions.count * sizeof *same);
    CHECK(addresses != NULL && lengths != NULL && lines != NULL && numbers != NULL && same != NULL);
    for (uint32_t family = POPFIB_IPV4; family <= POPFIB_IPV6; family += 2) {
        struct popfib_config config = POPFIB_CONFIG_INIT(family);
        const size_t width = family == POPFIB_IPV4 ? 4 : 16;
        size_t count = 0;
        popfib_table *table;
        RETURNS(0, popfib_image_table(image, &config, &table));
        for (size_t line = 0; line < questions.count; line++) {
            char **question = questions.fields[line];
            if (strcmp(question[version], "-") == 0 || (strchr(question[0], ':') != NULL) != (family == POPFIB_IPV6))
                continue;
            CHECK(inet_pton(family == POPFIB_IPV4 ? AF_INET : AF_INET6, question[0], addresses + count * width) == 1);
            lines[count++] = line;
        }
        RETURNS(0, popfib_lookup_bulk(table, addresses, numbers, count));
        RETURNS(0, popfib_longest_match_bulk(table, addresses, lengths, same, count));
        for (size_t at = 0; at < count; at++) {
            char **question = questions.fields[lines[at]];
            const size_t row = (size_t)atol(question[version]);
            char **expected = row == 0 ? none : rows.fields[row - 1], value[SIZE];
            CHECK(numbers[at] == same[at] && (numbers[at] != 0) == (row != 0));
            for (int column = 0; column < COLUMNS && row != 0; column++) {
                shown(records, columns[column], numbers[at], expected[1 + column], value);
                CHECK(strcmp(value, expected[1 + column]) == 0);
            }
            uint8_t prefix[16], length;
            uint32_t number;
            if (row == 0) {
                CHECK(lengths[at] == 0);
                continue;
            }
            RETURNS(0, popfib_longest_match(table, addresses + at * width, prefix, &length, &number));
            uint8_t wanted[16];
            char text[64];
            const size_t end = strcspn(expected[0], "/");
            snprintf(text, sizeof text, "%.*s", (int)end, expected[0]);
            CHECK(inet_pton(family == POPFIB_IPV4 ? AF_INET : AF_INET6, text, wanted) == 1);
            CHECK(length == lengths[at] && length == atoi(expected[0] + end + 1) && memcmp(prefix, wanted, width) == 0 && number == numbers[at]);
        }
        asked += count;
        popfib_free(table);
    }
    CHECK(asked > 99000);
    popfib_records_free(records);
    popfib_image_free(image);
    free(addresses);
    free(lengths);
    free(lines);
    free(numbers);
    free(same);
}

/* Puts an image in the place of another. */
static void publish(const char *files, const char *name, const char *path)
{
    char from[SIZE];
    snprintf(from, sizeof from, "%s/%s", files, name);
    CHECK(rename(from, path) == 0);
}

int main(int argc, char **argv)
{
    char path[SIZE];
    popfib_watcher *watcher;
    CHECK(argc == 4);
    snprintf(path, sizeof path, "%s/comparison", argv[3]);
    const struct lines questions = read_lines(argv[2], "questions.tsv", 3);
    publish(argv[1], "first", path);
    RETURNS(0, popfib_watcher_open(path, POPFIB_IMAGE_MAP, 0, NULL, NULL, &watcher));
    ask(watcher, read_lines(argv[2], "first.tsv", FIELDS), questions, 1);
    publish(argv[1], "second", path);
    RETURNS(0, popfib_watcher_reload(watcher));
    ask(watcher, read_lines(argv[2], "second.tsv", FIELDS), questions, 2);
    popfib_watcher_free(watcher);
    printf("comparison: every answer is right\n");
    return 0;
}
