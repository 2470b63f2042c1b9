/* Tables as the server's processes share them.
 *
 * A table is an image: a file popfib/DATABASE/NAME.fib in the data directory, which outlives the server, and a segment of
 * its dynamic shared memory with the same bytes, in which all look up. Nobody maps the file: who is the first to ask
 * after a start of the server reads it into a segment. So whatever happens to a file is never seen by lookups. */
#ifndef STORE_H
#define STORE_H

#include "postgres.h"

#include "popfib.h"
#include "datatype/timestamp.h"
#include "lib/stringinfo.h"
#include "storage/dsm.h"

/* What this process has of a table. It stays until nobody uses it and it is no longer the table of that name. */
typedef struct Table {
    struct Table *next;
    char name[NAMEDATALEN];
    uint64 version; /* of all tables since the server's start, none has the same */
    int users;
    dsm_segment *segment;
    popfib_image *image;
    popfib_table *ipv4, *ipv6; /* NULL: the image has none of that family */
    popfib_records *records;   /* as store_records() says */
    bool records_known;
    TimestampTz statement; /* the last one that asked for it, which goes on with it */
    uint64 changes;
} Table;

/* The table of that name, for a user more; an error if there is none. For a whole statement the same, so that the numbers of
 * records that one call gives are those that another takes; unless this process changes it itself. */
extern Table *store_acquire(const char *name, size_t length);
extern void store_release(Table *table);

/* What its next hops stand for; NULL: the image has no records. This process's own copy, but for names, which is made
 * when it is first asked for. */
extern popfib_records *store_records(Table *table);

/* Changes whenever this process puts or drops a table, so that it sees at once what it did. */
extern uint64 store_changes;

/* A name as a string, or an error if it may not be one. `name` has NAMEDATALEN bytes. */
extern void store_check_name(const char *text, size_t length, char *name);

/* A path beside the tables for a file that becomes one; the directory is there afterwards. */
extern char *store_new_path(const char *name);

/* Makes the image in the file `path` the table of that name, for a user more. `is_new`: it is at store_new_path() and
 * becomes the file of the table, else it is copied. */
extern Table *store_put(const char *name, const char *path, bool is_new);

/* Whether there was one. */
extern bool store_drop(const char *name);

/* The directory of this database's tables. */
extern char *store_directory(void);

/* Adds a name to a list of them for a hint. No error about its characters. */
extern void store_list(StringInfo names, const char *name, size_t length);

/* Throws `error` of popfib's. */
extern void store_throw(int error, const char *what) __attribute__((noreturn));

#endif
