/* Records that a program makes, and what errors say: a part of the program `api`. */
#include "api.h"

#define SAYS(text) CHECK(strcmp(popfib_error(), (text)) == 0)

/* What errors say beyond their number. */
void check_lines(const popfib_records *records)
{
    struct popfib_config config = POPFIB_CONFIG_INIT(5);
    const uint8_t prefix[4] = {10, 1, 0, 0};
    popfib_table *table;
    int64_t number;
    RETURNS(-EINVAL, popfib_create(&config, &table));
    SAYS("family 5: it is 4 or 6");
    config.family = POPFIB_IPV4;
    config.direct_bits = 25;
    RETURNS(-EINVAL, popfib_create(&config, &table));
    CHECK(strstr(popfib_error(), "25") != NULL && strstr(popfib_error(), "24") != NULL);
    config.direct_bits = 0;
    config.flags = 8;
    RETURNS(-EINVAL, popfib_create(&config, &table));
    SAYS("flags 8: unknown");
    config.flags = 0;
    RETURNS(0, popfib_create(&config, &table));
    RETURNS(-EINVAL, popfib_add(table, prefix, 33, 1));
    SAYS("a prefix of length 33: the prefix length is more than 32");
    RETURNS(-EINVAL, popfib_add(table, prefix, 8, 1));
    SAYS("a prefix of length 8: host bits are set beyond the prefix length");
    RETURNS(-EINVAL, popfib_add(table, prefix, 16, 0));
    SAYS("the next hop is 0, which stands for no route: they begin at 1");
    RETURNS(-ERANGE, popfib_add(table, prefix, 16, UINT32_MAX));
    CHECK(strstr(popfib_error(), "4294967295") != NULL && strstr(popfib_error(), "2147483647") != NULL);
    /* An error that has no more to say does not repeat what the last one said. */
    RETURNS(-ENOENT, popfib_delete(table, prefix, 16));
    SAYS(popfib_strerror(-ENOENT));
    popfib_free(table);
    RETURNS(-ERANGE, popfib_records_int64(records, 1, 99, 0, &number));
    CHECK(strstr(popfib_error(), "no record 99: the highest is ") == popfib_error());
    RETURNS(-EDOM, popfib_records_int64(records, 0, 1, 0, &number));
    CHECK(strstr(popfib_error(), "column \"country\" has values of type 1, not 2") == popfib_error());
    RETURNS(-EINVAL, popfib_records_int64(records, 9, 1, 0, &number));
    SAYS("no column 9: there are 9, from 0 on");
    RETURNS(-ENOENT, popfib_records_column(records, "asm", NULL));
    CHECK(strstr(popfib_error(), "no column \"asm\"; there are country, asn, names.city, ") == popfib_error());
}

/* Records of a program's own: what is set is read again, from the file. */
void check_builder(const char *path)
{
    static const char *const TAGS[] = {"a,b", ""}, *const BROKEN = "\xff";
    struct popfib_image_config content = POPFIB_IMAGE_CONFIG_INIT;
    struct popfib_config config = POPFIB_CONFIG_INIT(POPFIB_IPV4);
    const uint8_t net[4] = {10}, branch[4] = {10, 1}, host[4] = {10, 1, 2, 3};
    const char *text = "Wien", *written = "48.50", *const *names = TAGS;
    const int64_t asn = -7, ports[] = {80, 443};
    const uint64_t id = UINT64_MAX;
    const double rate = 48;
    const uint8_t up = 1;
    uint32_t columns[8], numbers[3], type;
    popfib_record_builder *builder;
    popfib_table *table;
    popfib_image *image;
    popfib_records *records;
    size_t length;
    static const char *const COLUMN_NAMES[] = {"asn", "city", "id", "rate", "up", "tags", "ports", "written"};
    static const uint32_t TYPES[] = {POPFIB_INT64, POPFIB_TEXT, POPFIB_UINT64, POPFIB_DOUBLE, POPFIB_BOOL, POPFIB_TEXT | POPFIB_LIST,
                                     POPFIB_INT64 | POPFIB_LIST, POPFIB_DOUBLE};
    RETURNS(-EINVAL, popfib_record_builder_create(NULL));
    RETURNS(0, popfib_record_builder_create(&builder));
    for (int at = 0; at < 8; at++) {
        RETURNS(0, popfib_record_builder_column(builder, COLUMN_NAMES[at], &columns[at]));
        CHECK(columns[at] == (uint32_t)at);
    }
    RETURNS(0, popfib_record_builder_column(builder, "city", NULL));
    RETURNS(-EILSEQ, popfib_record_builder_column(builder, BROKEN, NULL));
    RETURNS(-EINVAL, popfib_record_builder_column(NULL, "city", NULL));
    for (int record = 0; record < 2; record++) {
        RETURNS(0, popfib_record_builder_set(builder, 0, POPFIB_INT64, &asn, 1));
        RETURNS(0, popfib_record_builder_set(builder, 1, POPFIB_TEXT, &text, 1));
        RETURNS(0, popfib_record_builder_set(builder, 2, POPFIB_UINT64, &id, 1));
        RETURNS(0, popfib_record_builder_set(builder, 3, POPFIB_DOUBLE, &rate, 1));
        RETURNS(0, popfib_record_builder_set(builder, 4, POPFIB_BOOL, &up, 1));
        RETURNS(0, popfib_record_builder_set(builder, 5, POPFIB_TEXT | POPFIB_LIST, names, 2));
        RETURNS(0, popfib_record_builder_set(builder, 6, POPFIB_INT64 | POPFIB_LIST, ports, 2));
        RETURNS(0, popfib_record_builder_set(builder, 7, POPFIB_WRITTEN, &written, 1));
        RETURNS(0, popfib_record_builder_finish(builder, &numbers[record]));
    }
    RETURNS(0, popfib_record_builder_set(builder, 1, POPFIB_TEXT, NULL, 0));
    RETURNS(0, popfib_record_builder_finish(builder, &numbers[2]));
    CHECK(numbers[0] == 1 && numbers[1] == 1 && numbers[2] == 2);
    RETURNS(-EINVAL, popfib_record_builder_set(builder, 8, POPFIB_INT64, &asn, 1));
    SAYS("no column 8: there are 8, from 0 on");
    RETURNS(-EINVAL, popfib_record_builder_set(builder, 0, 7, &asn, 1));
    SAYS("type 7: unknown");
    RETURNS(-EINVAL, popfib_record_builder_set(builder, 0, POPFIB_INT64, ports, 2));
    RETURNS(-EINVAL, popfib_record_builder_set(builder, 0, POPFIB_INT64, NULL, 1));
    RETURNS(-EILSEQ, popfib_record_builder_set(builder, 1, POPFIB_TEXT, &BROKEN, 1));

    RETURNS(0, popfib_create(&config, &table));
    RETURNS(0, popfib_add(table, net, 8, 2));
    RETURNS(0, popfib_add(table, branch, 16, 3));
    content.records = builder;
    RETURNS(-ERANGE, popfib_image_save(path, &content, table, NULL));
    RETURNS(0, popfib_add(table, branch, 16, 1));
    content.names = TAGS;
    content.name_count = 2;
    RETURNS(-EINVAL, popfib_image_save(path, &content, table, NULL));
    content.names = NULL;
    RETURNS(0, popfib_image_save(path, &content, table, NULL));
    popfib_free(table);
    popfib_record_builder_free(builder);
    popfib_record_builder_free(NULL);

    RETURNS(0, popfib_image_open(path, POPFIB_IMAGE_COPY, &image));
    RETURNS(0, popfib_image_table(image, &config, &table));
    RETURNS(0, popfib_image_records(image, &records));
    popfib_image_free(image);
    CHECK(popfib_lookup(table, host) == 1 && popfib_records_count(records) == 2);
    popfib_free(table);
    for (uint32_t at = 0; at < 8; at++) {
        RETURNS(0, popfib_records_column_info(records, at, NULL, NULL, &type));
        CHECK(type == TYPES[at]);
        RETURNS(0, popfib_records_length(records, at, 1, &length));
        CHECK(length == (at == 5 || at == 6 ? 2 : 1));
        RETURNS(0, popfib_records_length(records, at, 2, &length));
        CHECK(length == 0);
    }
    int64_t integer;
    uint64_t unsigned_one;
    double fraction;
    uint8_t truth;
    RETURNS(0, popfib_records_int64(records, 0, 1, 0, &integer));
    RETURNS(0, popfib_records_text(records, 1, 1, 0, &text, &length));
    RETURNS(0, popfib_records_uint64(records, 2, 1, 0, &unsigned_one));
    RETURNS(0, popfib_records_double(records, 3, 1, 0, &fraction));
    RETURNS(0, popfib_records_bool(records, 4, 1, 0, &truth));
    CHECK(integer == asn && length == 4 && memcmp(text, "Wien", 4) == 0 && unsigned_one == id && fraction == 48 && truth == 1);
    RETURNS(0, popfib_records_text(records, 5, 1, 1, &text, &length));
    RETURNS(0, popfib_records_int64(records, 6, 1, 1, &integer));
    RETURNS(0, popfib_records_double(records, 7, 1, 0, &fraction));
    CHECK(length == 0 && integer == 443 && fraction == 48.5);
    popfib_records_free(records);
}
