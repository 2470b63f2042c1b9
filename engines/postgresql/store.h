/* Tables as the server's processes share them.
 *
 * A table is an image: a file popfib/DATABASE/NAME.fib in the data directory, which outlives the server, and a segment of
 * dynamic shared memory with the same bytes, in which all processes look up. Nobody maps the file: the first process that
 * asks for a table after a start of the server reads its file into a segment. So lookups never see what happens to a file. */
#ifndef STORE_H
#define STORE_H

#include "postgres.h"

#include "popfib.h"
#include "datatype/timestamp.h"
#include "lib/stringinfo.h"
#include "storage/dsm.h"

/* A table as this process has it. It stays until nobody uses it and its name belongs to another table, or to none. */
typedef struct Table {
    struct Table *next;
    char name[NAMEDATALEN];
    uint64 version; /* different for all tables since the server's start */
    int users;
    dsm_segment *segment;
    popfib_image *image;
    popfib_table *ipv4, *ipv6; /* NULL: the image has none of that family */
    popfib_records *records;   /* as store_records() says */
    bool records_known;
    TimestampTz statement; /* the last one that asked for it, which keeps it until it ends */
    uint64 changes;
} Table;

/* The table of that name, with one user more, until store_release(); an error if there is none. It is the same for a whole
 * statement, so that the numbers of records that one call returns are those that another takes, unless this process changes
 * the table itself. */
extern Table *store_acquire(const char *name, size_t length);
extern void store_release(Table *table);

/* What its next hops stand for; NULL: the image has no records. All but names is a copy of this process, made when it is first
 * asked for. */
extern popfib_records *store_records(Table *table);

/* Changes whenever this process puts or drops a table, so that it sees at once what it did. */
extern uint64 store_changes;

/* Copies the text of a name into `name`, which has NAMEDATALEN bytes; an error if no table may have this name. */
extern void store_check_name(const char *text, size_t length, char *name);

/* A path beside the tables, for the file of a new table; makes the directory. */
extern char *store_new_path(const char *name);

/* Makes the image in the file `path` the table of that name, with one user more. `is_new`: the file is at store_new_path()
 * and becomes the file of the table; otherwise it is copied. */
extern Table *store_put(const char *name, const char *path, bool is_new);

/* Drops the table of that name; returns whether there was one. */
extern bool store_drop(const char *name);

/* The directory of this database's tables. */
extern char *store_directory(void);

/* Adds a name to a list of names for a hint, with ? for characters that the server can't show. */
extern void store_list(StringInfo names, const char *name, size_t length);

/* Raises an error of the server for an error of popfib's. */
extern void store_throw(int error, const char *what) __attribute__((noreturn));

#endif
