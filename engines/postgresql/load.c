/* Functions of SQL that make and drop tables: a name, and a file or a query, in; how many routes there are out. */
#include "store.h"

#include <netinet/in.h>
#include <time.h>
#include <unistd.h>

#include "access/htup_details.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/inet.h"
#include "utils/memutils.h"

PG_FUNCTION_INFO_V1(pg_popfib_load);
PG_FUNCTION_INFO_V1(pg_popfib_load_query);
PG_FUNCTION_INFO_V1(pg_popfib_drop);

static void name_of(FunctionCallInfo fcinfo, char *name)
{
    text *argument = PG_GETARG_TEXT_PP(0);
    store_check_name(VARDATA_ANY(argument), VARSIZE_ANY_EXHDR(argument), name);
}

/* How many routes a table has, as a row. Releases the table. */
static Datum counts(FunctionCallInfo fcinfo, Table *table)
{
    TupleDesc form;
    Datum values[2] = {Int64GetDatum(popfib_count(table->ipv4)), Int64GetDatum(popfib_count(table->ipv6))};
    bool nulls[2] = {false, false};
    store_release(table);
    if (get_call_result_type(fcinfo, NULL, &form) != TYPEFUNC_COMPOSITE)
        elog(ERROR, "return type must be a row type");
    return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(form), values, nulls));
}

Datum pg_popfib_load(PG_FUNCTION_ARGS)
{
    char name[NAMEDATALEN];
    name_of(fcinfo, name);
    if (!has_privs_of_role(GetUserId(), ROLE_PG_READ_SERVER_FILES))
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                        errmsg("must be superuser or have privileges of the pg_read_server_files role to load a file")));
    return counts(fcinfo, store_put(name, text_to_cstring(PG_GETARG_TEXT_PP(1)), false));
}

Datum pg_popfib_drop(PG_FUNCTION_ARGS)
{
    char name[NAMEDATALEN];
    name_of(fcinfo, name);
    PG_RETURN_BOOL(store_drop(name));
}

/* ---------------------------------------------------------------- from a query */

/* What becomes of the rows of a query. */
typedef struct QueryRoutes {
    popfib_table *ipv4, *ipv6;
    HTAB *numbers;      /* of values */
    const char **names; /* the values; number n at n - 1 */
    uint32 count, space;
    MemoryContext memory;
} QueryRoutes;

/* An entry of `numbers`. */
typedef struct NumberedValue {
    const char *text; /* the key */
    uint32 number;
} NumberedValue;

static uint32 hash_text(const void *key, Size size)
{
    const char *text = *(const char *const *)key;
    return hash_bytes((const unsigned char *)text, strlen(text));
}

static int compare_texts(const void *a, const void *b, Size size)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static uint32 number_of(QueryRoutes *rows, const char *spelled)
{
    bool found;
    NumberedValue *value = hash_search(rows->numbers, &spelled, HASH_FIND, NULL);
    if (value != NULL)
        return value->number;
    if (rows->count == rows->space) {
        rows->space *= 2;
        rows->names = repalloc_huge(rows->names, rows->space * sizeof *rows->names);
    }
    spelled = MemoryContextStrdup(rows->memory, spelled);
    value = hash_search(rows->numbers, &spelled, HASH_ENTER, &found);
    rows->names[rows->count++] = spelled;
    return value->number = rows->count;
}

static char *show(inet *prefix)
{
    return TextDatumGetCString(DirectFunctionCall1(network_show, InetPGetDatum(prefix)));
}

static void add(QueryRoutes *rows, inet *prefix, const char *spelled)
{
    popfib_table *table = ip_family(prefix) == PGSQL_AF_INET ? rows->ipv4 : rows->ipv6;
    uint32 number = number_of(rows, spelled), before;
    int error = popfib_get(table, ip_addr(prefix), ip_bits(prefix), &before);
    if (error == -ENOENT)
        error = popfib_add(table, ip_addr(prefix), ip_bits(prefix), number);
    else if (error == 0 && before != number)
        ereport(ERROR, (errcode(ERRCODE_UNIQUE_VIOLATION),
                        errmsg("the query gives prefix %s two values", show(prefix))));
    if (error == -EINVAL)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("prefix %s has bits set to the right of its length", show(prefix))));
    if (error != 0)
        store_throw(error, "popfib.load_query");
}

static bool is_text(Oid type)
{
    return type == TEXTOID || type == VARCHAROID || type == BPCHAROID;
}

/* Runs the query, and saves the image of its rows as the file `path`. */
static void save_query(const char *query, const char *path, QueryRoutes *rows)
{
    struct popfib_image_config content = POPFIB_IMAGE_CONFIG_INIT;
    SPIPlanPtr plan = SPI_prepare(query, 0, NULL);
    MemoryContext row = AllocSetContextCreate(rows->memory, "popfib row", ALLOCSET_DEFAULT_SIZES);
    Portal portal;
    Oid type;
    int columns, error;
    if (plan == NULL || !SPI_is_cursor_plan(plan))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("popfib.load_query takes one query that gives rows")));
    portal = SPI_cursor_open(NULL, plan, NULL, NULL, true);
    columns = portal->tupDesc->natts;
    type = columns > 0 ? SPI_gettypeid(portal->tupDesc, 1) : InvalidOid;
    if (columns < 1 || columns > 2)
        ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                        errmsg("the query has %d columns, not a prefix and perhaps a value", columns)));
    if (type != CIDROID && type != INETOID && !is_text(type))
        ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                        errmsg("the first column of the query is %s, not cidr, inet or text", format_type_be(type))));
    do {
        SPI_cursor_fetch(portal, true, 1000);
        for (uint64 at = 0; at < SPI_processed; at++) {
            HeapTuple tuple = SPI_tuptable->vals[at];
            MemoryContext before = MemoryContextSwitchTo(row);
            bool is_null;
            Datum prefix = SPI_getbinval(tuple, SPI_tuptable->tupdesc, 1, &is_null);
            char *value = "";
            if (!is_null && columns == 2) {
                value = SPI_getvalue(tuple, SPI_tuptable->tupdesc, 2);
                is_null = value == NULL;
            }
            if (is_null)
                ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("the query gives NULL as a prefix or value")));
            if (is_text(type))
                prefix = DirectFunctionCall1(cidr_in, CStringGetDatum(TextDatumGetCString(prefix)));
            value = pg_server_to_any(value, strlen(value), PG_UTF8);
            add(rows, DatumGetInetPP(prefix), value);
            MemoryContextSwitchTo(before);
            MemoryContextReset(row);
        }
        error = SPI_processed == 0;
        SPI_freetuptable(SPI_tuptable);
    } while (!error);
    SPI_cursor_close(portal);

    content.created = time(NULL);
    content.source = "popfib.load_query";
    content.names = rows->names;
    content.name_count = rows->count;
    error = popfib_image_save(path, &content, rows->ipv4, rows->ipv6);
    if (error != 0)
        store_throw(error, path);
}

Datum pg_popfib_load_query(PG_FUNCTION_ARGS)
{
    char name[NAMEDATALEN];
    char *query = text_to_cstring(PG_GETARG_TEXT_PP(1)), *path;
    struct popfib_config config = POPFIB_CONFIG_INIT(POPFIB_IPV4);
    HASHCTL control = {.keysize = sizeof(const char *), .entrysize = sizeof(NumberedValue), .hash = hash_text, .match = compare_texts};
    QueryRoutes *rows;
    Table *volatile table = NULL;
    name_of(fcinfo, name);
    path = store_new_path(name);
    SPI_connect();
    rows = palloc0(sizeof *rows);
    rows->memory = control.hcxt = CurrentMemoryContext;
    rows->numbers = hash_create("popfib values", 1024, &control, HASH_ELEM | HASH_FUNCTION | HASH_COMPARE | HASH_CONTEXT);
    rows->space = 1024;
    rows->names = palloc(rows->space * sizeof *rows->names);
    PG_TRY();
    {
        int error = popfib_create(&config, &rows->ipv4);
        config.family = POPFIB_IPV6;
        if (error == 0)
            error = popfib_create(&config, &rows->ipv6);
        if (error != 0)
            store_throw(error, "popfib.load_query");
        save_query(query, path, rows);
    }
    PG_FINALLY();
    {
        popfib_free(rows->ipv4);
        popfib_free(rows->ipv6);
    }
    PG_END_TRY();
    table = store_put(name, path, true);
    SPI_finish();
    return counts(fcinfo, table);
}
