/* Records in, values of the server's types out.
 *
 *     text, integer, float, boolean     text, bigint (numeric, if it is unsigned), double precision, boolean
 *     lists of these                    arrays of these
 *
 * A value as text can be cast to its type: `{vpn,"a,b"}` to text[]. */
#ifndef VALUES_H
#define VALUES_H

#include "store.h"
#include "funcapi.h"

/* In 15.0 it has another name, which 15 keeps: what is built with the headers of a later minor runs there as well. */
#if PG_VERSION_NUM < 160000
#define InitMaterializedSRF SetSingleFuncCall
#ifndef MAT_SRF_USE_EXPECTED_DESC
#define MAT_SRF_USE_EXPECTED_DESC SRF_SINGLE_USE_EXPECTED
#endif
#endif

/* A column of a table's records. */
typedef struct Column {
    uint32 index;
    uint32 type; /* popfib.h's */
} Column;

/* The column of this name, which is in the server's encoding; an error that lists all columns if there is none. */
extern Column column_named(Table *table, const char *name);

/* The column that is the value of a record; false: the table has no records. */
extern bool column_of_value(Table *table, Column *column);

/* The name of a column, in the server's encoding. */
extern char *column_name(Table *table, uint32 index);

/* The server's type for one of popfib.h's. */
extern Oid column_type(uint32 type);

/* The value of a record in a column, as a datum of the column's type or as text; false: it is absent. */
extern bool value_get(Table *table, const Column *column, uint32 record, Datum *value);
extern bool value_get_text(Table *table, const Column *column, uint32 record, Datum *value);

#endif
