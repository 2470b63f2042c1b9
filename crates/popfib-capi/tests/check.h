/* CHECK, for tests: says what is wrong and ends the program. */
#ifndef CHECK_H
#define CHECK_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "popfib.h"

#define CHECK(condition)                                                             \
    do {                                                                             \
        if (!(condition)) {                                                          \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);  \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

/* As CHECK, for a function's result, which it prints. */
#define RETURNS(expected, call)                                                      \
    do {                                                                             \
        const int returned_ = (call), expected_ = (expected);                        \
        if (returned_ != expected_) {                                                \
            fprintf(stderr, "%s:%d: %s returned %d (%s), not %d (%s)\n", __FILE__,   \
                    __LINE__, #call, returned_, popfib_strerror(returned_),          \
                    expected_, popfib_strerror(expected_));                          \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

#endif
