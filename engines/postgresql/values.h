/* Values of records as those of the server's types.
 *
 *     text, integer, float, boolean     text, bigint (numeric, if it is unsigned), double precision, boolean
 *     lists of these                    arrays of these
 *
 * What is written here as text casts to the type: `{vpn,"a,b"}` to text[]. */
#ifndef VALUES_H
#define VALUES_H

#include "store.h"

/* A column of a table's records. */
typedef struct Column {
    uint32 index;
    uint32 type; /* popfib.h's */
} Column;

/* The column of this name in the server's encoding, or an error that lists those there are. */
extern Column column_named(Table *table, const char *name);

/* The column that is the value of a record; false: the table has no records. */
extern bool column_of_value(Table *table, Column *column);

/* Its name, in the server's encoding. */
extern char *column_name(Table *table, uint32 index);

extern Oid column_type(uint32 type);

/* Whether the record has a value there, which becomes a datum of the column's type, or text. */
extern bool value_get(Table *table, const Column *column, uint32 record, Datum *value);
extern bool value_get_text(Table *table, const Column *column, uint32 record, Datum *value);

#endif
