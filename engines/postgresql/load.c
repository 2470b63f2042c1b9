/* Functions of SQL that make and drop tables: a name, and a file or a query, in; how many routes there are out. */
#include "store.h"

#include <netinet/in.h>
#include <time.h>
#include <unistd.h>

#include "access/htup_details.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/inet.h"
#include "utils/lsyscache.h"
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
    popfib_record_builder *records;
    bool mapped; /* whether routes of IPv4 are also those of IPv4-mapped addresses */
} QueryRoutes;

/* A column of a query, as that of a record. */
typedef struct QueryColumn {
    Oid type;    /* of its values, or of their elements */
    uint32 kind; /* popfib.h's type */
    FmgrInfo output;
    int16 size; /* of an element */
    bool by_value;
    char align;
} QueryColumn;

static void check(int error)
{
    if (error != 0)
        store_throw(error, "popfib.load_query");
}

static char *show(inet *prefix)
{
    return TextDatumGetCString(DirectFunctionCall1(network_show, InetPGetDatum(prefix)));
}

static void add(popfib_table *table, inet *prefix, const uint8 *address, uint8 length, uint32 number)
{
    uint32 before;
    int error = popfib_get(table, address, length, &before);
    if (error == -ENOENT)
        error = popfib_add(table, address, length, number);
    else if (error == 0 && before != number)
        ereport(ERROR, (errcode(ERRCODE_UNIQUE_VIOLATION),
                        errmsg("the query gives prefix %s two values", show(prefix))));
    if (error == -EINVAL)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("prefix %s has bits set to the right of its length", show(prefix))));
    check(error);
}

/* The callback of a walk, in which no error of the server's may be raised: adds what IPv4-mapped addresses have no route for. */
static int map_route(void *user, const uint8_t *prefix, uint8_t length, uint32_t number)
{
    QueryRoutes *rows = user;
    uint8 mapped[16] = {[10] = 0xff, [11] = 0xff};
    int error;
    memcpy(mapped + 12, prefix, 4);
    error = popfib_get(rows->ipv6, mapped, 96 + length, NULL);
    return error == -ENOENT ? popfib_add(rows->ipv6, mapped, 96 + length, number) : error;
}

static bool is_text(Oid type)
{
    return type == TEXTOID || type == VARCHAROID || type == BPCHAROID;
}

/* How values of a type of the server's are kept: a numeric as it is written, so that a column of them has the type that all have. */
static uint32 kind_of(Oid type)
{
    switch (type) {
    case INT2OID:
    case INT4OID:
    case INT8OID:
        return POPFIB_INT64;
    case FLOAT4OID:
    case FLOAT8OID:
        return POPFIB_DOUBLE;
    case BOOLOID:
        return POPFIB_BOOL;
    case NUMERICOID:
        return POPFIB_WRITTEN;
    default:
        return POPFIB_TEXT;
    }
}

/* The columns of the records, after that of the prefix. A single one is a text called "value", as in every table of one value:
 * then all processes share its texts. */
static QueryColumn *columns_of(TupleDesc form, popfib_record_builder *records)
{
    QueryColumn *columns = palloc0(form->natts * sizeof *columns);
    for (int at = 1; at < Max(form->natts, 2); at++) {
        QueryColumn *column = &columns[at];
        bool is_value = form->natts <= 2, is_varlena;
        const char *name = is_value ? "value" : NameStr(TupleDescAttr(form, at)->attname);
        uint32 index;
        Oid output, element;
        check(popfib_record_builder_column(records, pg_server_to_any(name, strlen(name), PG_UTF8), &index));
        if (form->natts == 1)
            break;
        if (index != at - 1)
            ereport(ERROR, (errcode(ERRCODE_DUPLICATE_COLUMN), errmsg("the query has two columns \"%s\"", name),
                            errhint("Name one of them otherwise, by AS.")));
        column->type = getBaseType(SPI_gettypeid(form, at + 1));
        element = is_value ? InvalidOid : get_element_type(column->type);
        if (OidIsValid(element))
            column->type = element;
        column->kind = is_value ? POPFIB_TEXT : kind_of(column->type);
        if (OidIsValid(element))
            column->kind = POPFIB_LIST | (column->kind == POPFIB_INT64 ? POPFIB_INT64 : POPFIB_TEXT);
        getTypeOutputInfo(column->type, &output, &is_varlena);
        fmgr_info(output, &column->output);
        get_typlenbyvalalign(column->type, &column->size, &column->by_value, &column->align);
    }
    return columns;
}

/* Sets values of the record at hand in a column: one, or the elements of a list. */
static void set(popfib_record_builder *records, uint32 index, QueryColumn *column, Datum *values, size_t count)
{
    union {
        int64 integer;
        double fraction;
        uint8 truth;
        const char *text;
    } *made = palloc0(count * sizeof *made);
    for (size_t at = 0; at < count; at++) {
        switch (column->kind & ~POPFIB_LIST) {
        case POPFIB_INT64:
            made[at].integer = column->type == INT2OID   ? DatumGetInt16(values[at])
                               : column->type == INT4OID ? DatumGetInt32(values[at])
                                                         : DatumGetInt64(values[at]);
            break;
        case POPFIB_DOUBLE:
            made[at].fraction = column->type == FLOAT4OID ? DatumGetFloat4(values[at]) : DatumGetFloat8(values[at]);
            break;
        case POPFIB_BOOL:
            made[at].truth = DatumGetBool(values[at]);
            break;
        default: {
            char *text = OutputFunctionCall(&column->output, values[at]);
            made[at].text = pg_server_to_any(text, strlen(text), PG_UTF8);
        }
        }
    }
    check(popfib_record_builder_set(records, index, column->kind, made, count));
}

/* Sets a value that is not NULL. */
static void set_value(popfib_record_builder *records, uint32 index, QueryColumn *column, Datum value)
{
    Datum *elements;
    bool *nulls;
    int count;
    if (!(column->kind & POPFIB_LIST))
        return set(records, index, column, &value, 1);
    if (ARR_NDIM(DatumGetArrayTypeP(value)) > 1)
        ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR), errmsg("the query gives an array of several dimensions: a list has one")));
    deconstruct_array(DatumGetArrayTypeP(value), column->type, column->size, column->by_value, column->align, &elements, &nulls, &count);
    for (int at = 0; at < count; at++)
        if (nulls[at])
            ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("the query gives NULL as an element of an array")));
    set(records, index, column, elements, count);
}

/* Runs the query, and saves the image of its rows as the file `path`. */
static void save_query(const char *query, const char *path, QueryRoutes *rows)
{
    struct popfib_image_config content = POPFIB_IMAGE_CONFIG_INIT;
    SPIPlanPtr plan = SPI_prepare(query, 0, NULL);
    MemoryContext row = AllocSetContextCreate(CurrentMemoryContext, "popfib row", ALLOCSET_DEFAULT_SIZES);
    QueryColumn *columns;
    TupleDesc form;
    Portal portal;
    Oid type;
    bool is_end;
    int error;
    if (plan == NULL || !SPI_is_cursor_plan(plan))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("popfib.load_query takes one query that gives rows")));
    portal = SPI_cursor_open(NULL, plan, NULL, NULL, true);
    form = portal->tupDesc;
    type = form->natts > 0 ? SPI_gettypeid(form, 1) : InvalidOid;
    if (form->natts < 1)
        ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("the query has 0 columns, not a prefix and perhaps values")));
    if (type != CIDROID && type != INETOID && !is_text(type))
        ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                        errmsg("the first column of the query is %s, not cidr, inet or text", format_type_be(type))));
    columns = columns_of(form, rows->records);
    do {
        SPI_cursor_fetch(portal, true, 1000);
        for (uint64 at = 0; at < SPI_processed; at++) {
            HeapTuple tuple = SPI_tuptable->vals[at];
            MemoryContext before = MemoryContextSwitchTo(row);
            bool is_null;
            Datum prefix = SPI_getbinval(tuple, form, 1, &is_null);
            const char *none = "";
            uint32 number;
            inet *network;
            if (form->natts == 1)
                check(popfib_record_builder_set(rows->records, 0, POPFIB_TEXT, &none, 1));
            for (int column = 1; !is_null && column < form->natts; column++) {
                Datum value = SPI_getbinval(tuple, form, column + 1, &is_null);
                if (!is_null)
                    set_value(rows->records, column - 1, &columns[column], value);
                /* Among several columns a value may be absent. */
                is_null = is_null && form->natts == 2;
            }
            if (is_null)
                ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("the query gives NULL as a prefix or value")));
            if (is_text(type))
                prefix = DirectFunctionCall1(cidr_in, CStringGetDatum(TextDatumGetCString(prefix)));
            network = DatumGetInetPP(prefix);
            check(popfib_record_builder_finish(rows->records, &number));
            add(ip_family(network) == PGSQL_AF_INET ? rows->ipv4 : rows->ipv6, network, ip_addr(network), ip_bits(network), number);
            MemoryContextSwitchTo(before);
            MemoryContextReset(row);
        }
        is_end = SPI_processed == 0;
        SPI_freetuptable(SPI_tuptable);
    } while (!is_end);
    SPI_cursor_close(portal);

    if (rows->mapped)
        check(popfib_walk(rows->ipv4, map_route, rows));
    content.created = time(NULL);
    content.source = "popfib.load_query";
    content.records = rows->records;
    error = popfib_image_save(path, &content, rows->ipv4, rows->ipv6);
    if (error != 0)
        store_throw(error, path);
}

Datum pg_popfib_load_query(PG_FUNCTION_ARGS)
{
    char name[NAMEDATALEN];
    char *query = text_to_cstring(PG_GETARG_TEXT_PP(1)), *path;
    struct popfib_config config = POPFIB_CONFIG_INIT(POPFIB_IPV4);
    QueryRoutes *rows;
    Table *volatile table = NULL;
    name_of(fcinfo, name);
    path = store_new_path(name);
    SPI_connect();
    rows = palloc0(sizeof *rows);
    rows->mapped = PG_GETARG_BOOL(2);
    PG_TRY();
    {
        check(popfib_create(&config, &rows->ipv4));
        config.family = POPFIB_IPV6;
        check(popfib_create(&config, &rows->ipv6));
        check(popfib_record_builder_create(&rows->records));
        save_query(query, path, rows);
    }
    PG_FINALLY();
    {
        popfib_free(rows->ipv4);
        popfib_free(rows->ipv6);
        popfib_record_builder_free(rows->records);
    }
    PG_END_TRY();
    table = store_put(name, path, true);
    SPI_finish();
    return counts(fcinfo, table);
}
