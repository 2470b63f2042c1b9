/*
 * popfib_xdp.h - tables where BPF programs (XDP, tc) look up in them, for C11 and C++17.
 *
 *     popfib_image *image;
 *
 *     if (popfib_image_open("drop.fib", POPFIB_IMAGE_COPY, &image) < 0) ...
 *     if (popfib_xdp_load_image(NULL, NULL, image, NULL, 0) < 0)
 *         fprintf(stderr, "%s\n", popfib_error());
 *     popfib_image_free(image);
 *
 * This file is installed only with a library that has these functions: one for Linux, built by `make FEATURES=xdp`. So a
 * program that needs them does not compile without, and one that can do without asks for this header
 * (`__has_include(<popfib_xdp.h>)`, AC_CHECK_HEADERS, check_include_file).
 *
 * These functions do what the command `popfib xdp` does. A table is in a map, which is pinned by its name in a folder of a
 * BPF file system and stays there whatever becomes of the process. Loading exchanges it as a whole: no packet sees a
 * mixture of two tables, and if loading fails or the process ends, programs keep the previous one. docs/xdp.md has the
 * programs' side.
 *
 * ARGUMENTS
 *   folder, map   Where the map is pinned: a folder, NULL for "/sys/fs/bpf", and the name that the programs declare, NULL
 *                 for "popfib".
 *
 * THREADS
 *   All functions may be called at any time from any thread. Tables and images that are arguments are only read: their
 *   rules are those of popfib.h for [table] and [any]. If two load at the same time, the last one stays.
 *
 * ERRORS
 *   As in popfib.h; the line of popfib_error() has path, reason and what helps.
 *     -EPERM    the kernel refuses it: loading takes the capability CAP_BPF, and finding what is loaded CAP_SYS_ADMIN too
 *     -ENOTDIR  the folder is not there, or in no BPF file system
 *     -EEXIST   something else is pinned there: a map of another program, or of another layout than this version's
 *     -ENOENT   (all but loading) nothing is pinned there, or no table is loaded
 *   Others are listed with each function, or are what the kernel returns.
 */
#ifndef POPFIB_XDP_H
#define POPFIB_XDP_H

#include "popfib.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Also loads what popfib_match4() and popfib_match6() of programs need, and the lengths of popfib_xdp_lookup(): about as
 * much memory again. */
#define POPFIB_XDP_MATCHES 1u

/* Loads tables of one or both families in place of the previous table; either may be NULL, but not both. The map is made
 * if there is none. What lookups of programs answer, and popfib_value() for it, is the next hop. The tables are compiled
 * for it, as popfib_image_save() does: O(routes). Changes of them are not followed; load them again.
 * -EINVAL: also a table of the other family. -ENODATA: a table of an image without routes. -ENOSPC: more than 16 GiB.
 * -ENOMEM. */
int popfib_xdp_load(const char *folder, const char *map, const popfib_table *ipv4, const popfib_table *ipv6,
                    uint32_t flags);

/* Loads the table of an image, the only one or that which was selected, in place of the previous table. It is copied as it
 * is: O(bytes). Lookups of programs answer the number of a record, and popfib_value() its value in the column of this
 * name (NULL for the one that is a record's value if no column is asked for): the value itself if all are numbers of 32 bits,
 * such as AS numbers, otherwise its number.
 * -ENOENT: also no such column, or several tables and none was selected. -ENODATA: an image that lacks what programs are
 * to find (`popfib compile --keep`). -EILSEQ: the name is not UTF-8. -ENOSPC, -ENOMEM: as for popfib_xdp_load(). */
int popfib_xdp_load_image(const char *folder, const char *map, const popfib_image *image, const char *column,
                          uint32_t flags);

/* What is loaded. Later versions add fields after these; `size` shows which version a program was built with. */
struct popfib_xdp_info {
    size_t size;          /* sizeof(struct popfib_xdp_info), set by the caller */
    uint64_t bytes;       /* memory of the map */
    uint64_t ipv4_routes; /* of which the table was made */
    uint64_t ipv6_routes;
    uint32_t generation;  /* how many tables have been loaded, this one included; 0 if who loaded it could not know */
    uint32_t values;      /* different values; 0 if next hops are numbers without values */
    uint32_t value_kind;  /* POPFIB_XDP_NUMBERS or one of the others */
    uint32_t has_matches; /* 1 if it was loaded with POPFIB_XDP_MATCHES */
};

#define POPFIB_XDP_INFO_INIT { sizeof(struct popfib_xdp_info), 0, 0, 0, 0, 0, 0, 0 }

/* What popfib_value() answers programs. */
#define POPFIB_XDP_NUMBERS 0u  /* numbers of values in the table, or next hops */
#define POPFIB_XDP_INTEGERS 1u /* the numbers that the values are */
#define POPFIB_XDP_IDS 2u      /* numbers that a file gives them: popfib xdp load --ids, popfibd --bpf-ids */

/* Writes what is loaded to `info`, whose `size` is set: POPFIB_XDP_INFO_INIT does. O(1).
 * -E2BIG: the structure is longer than this version knows and not 0 there. */
int popfib_xdp_show(const char *folder, const char *map, struct popfib_xdp_info *info);

/* The answer for an address. */
struct popfib_xdp_match {
    uint32_t number;    /* what lookups of programs answer; 0 for no match */
    uint32_t value;     /* what popfib_value() answers for it */
    int32_t length;     /* of the prefix that matches; -1 for no match, and without POPFIB_XDP_MATCHES */
    uint32_t reserved;  /* 0 */
    size_t text_length; /* bytes of the value as text; 0 if the table has no texts */
};

/* Looks up an address of `family` in what is loaded, as programs do. If `size` is not 0, the value as text is written to
 * `text`, as much of it as there is room for, and a byte 0. All of the answer is from one table.
 * Each call finds and maps the table, which takes some microseconds: to look up many addresses, use a popfib_table. */
int popfib_xdp_lookup(const char *folder, const char *map, uint32_t family, const uint8_t *address,
                      struct popfib_xdp_match *match, char *text, size_t size);

/* Removes the pin of a map. Programs that have it go on with its table; programs and loaders that come later make a new
 * map. */
int popfib_xdp_remove(const char *folder, const char *map);

#ifdef __cplusplus
}
#endif

#endif
