/* Prints the name of the next hop of 8.8.8.8 in the image that is its argument. Compiled by scripts/test-packages. */
#include <popfib.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    struct popfib_config config = POPFIB_CONFIG_INIT(POPFIB_IPV4);
    const uint8_t address[4] = {8, 8, 8, 8};
    popfib_image *image;
    popfib_table *table;
    popfib_records *records;
    const char *name;
    size_t length;
    int error;

    if (argc != 2 || (error = popfib_image_open(argv[1], POPFIB_IMAGE_MAP, &image)) != 0)
        return 1;
    if ((error = popfib_image_table(image, &config, &table)) != 0 ||
        (error = popfib_image_records(image, &records)) != 0 ||
        (error = popfib_records_text(records, 0, popfib_lookup(table, address), 0, &name, &length)) != 0) {
        fprintf(stderr, "%s\n", popfib_strerror(error));
        return 1;
    }
    printf("%.*s\n", (int)length, name);
    popfib_records_free(records);
    popfib_free(table);
    popfib_image_free(image);
    return 0;
}
