/* The files that `rust_side answers` writes; it documents their content. */
#ifndef FILES_H
#define FILES_H

#include "check.h"

struct file_route {
    uint8_t prefix[16];
    uint8_t length;
    uint8_t zeros[3];
    uint32_t next_hop;
};

/* The file DIR/NAME-FAMILY; `length` is its length in elements. Freed by free(). */
static inline void *read_elements(const char *dir, const char *name, uint32_t family, size_t size, size_t *length)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s-%u", dir, name, (unsigned)family);
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    CHECK(fseek(file, 0, SEEK_END) == 0);
    const long bytes = ftell(file);
    CHECK(bytes > 0 && (size_t)bytes % size == 0);
    rewind(file);
    void *elements = malloc((size_t)bytes);
    CHECK(elements != NULL);
    CHECK(fread(elements, 1, (size_t)bytes, file) == (size_t)bytes);
    fclose(file);
    *length = (size_t)bytes / size;
    return elements;
}

#endif
