/* Functions of SQL that look up: a name and an address in; a value, a prefix or rows out. And that which lists the tables. */
#include "values.h"

#include <netinet/in.h>
#include <sys/stat.h>

#include "access/xact.h"
#include "common/int.h"
#include "fmgr.h"
#include "funcapi.h"
#include "storage/fd.h"
#include "utils/builtins.h"
#include "utils/inet.h"
#include "utils/timestamp.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(pg_popfib_lookup);
PG_FUNCTION_INFO_V1(pg_popfib_lookup_int);
PG_FUNCTION_INFO_V1(pg_popfib_lookup_record);
PG_FUNCTION_INFO_V1(pg_popfib_lookup_prefix);
PG_FUNCTION_INFO_V1(pg_popfib_lookup_all);
PG_FUNCTION_INFO_V1(pg_popfib_tables);

/* What one call in a query keeps from row to row. */
typedef struct Call {
    Table *table;
    Size length; /* of the table's name */
    TimestampTz statement;
    uint64 changes;
    /* The column that is asked for, if there are records, and its name if the call names one. */
    bool has_column;
    Column column;
    text *name;
    MemoryContextCallback at_end;
} Call;

static void release(void *user)
{
    Call *call = user;
    if (call->table != NULL)
        store_release(call->table);
    call->table = NULL;
}

/* The table of the first argument: the same for a whole statement, unless this process changes it itself. */
static inline Call *call_of(FunctionCallInfo fcinfo)
{
    Call *call = fcinfo->flinfo->fn_extra;
    text *name = PG_GETARG_TEXT_PP(0);
    Size length = VARSIZE_ANY_EXHDR(name);
    if (likely(call != NULL && call->table != NULL && call->length == length &&
               memcmp(call->table->name, VARDATA_ANY(name), length) == 0 && call->changes == store_changes &&
               call->statement == GetCurrentStatementStartTimestamp()))
        return call;
    if (call == NULL) {
        call = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof *call);
        call->at_end.func = release;
        call->at_end.arg = call;
        MemoryContextRegisterResetCallback(fcinfo->flinfo->fn_mcxt, &call->at_end);
        fcinfo->flinfo->fn_extra = call;
    }
    release(call);
    call->has_column = false;
    call->table = store_acquire(VARDATA_ANY(name), length);
    call->length = length;
    call->statement = GetCurrentStatementStartTimestamp();
    call->changes = store_changes;
    return call;
}

/* Finds the column of the third argument, or that of the value if there is none; false: the image has no records. */
static inline bool find_column(FunctionCallInfo fcinfo, Call *call)
{
    text *name = PG_NARGS() > 2 ? PG_GETARG_TEXT_PP(2) : NULL;
    Size length = name == NULL ? 0 : VARSIZE_ANY_EXHDR(name);
    if (likely(call->has_column && (name == NULL || (VARSIZE(call->name) - VARHDRSZ == length &&
                                                     memcmp(VARDATA(call->name), VARDATA_ANY(name), length) == 0))))
        return true;
    call->has_column = false;
    if (name == NULL)
        return call->has_column = column_of_value(call->table, &call->column);
    call->column = column_named(call->table, text_to_cstring(name));
    if (call->name != NULL)
        pfree(call->name);
    call->name = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, VARHDRSZ + length);
    SET_VARSIZE(call->name, VARHDRSZ + length);
    memcpy(VARDATA(call->name), VARDATA_ANY(name), length);
    return call->has_column = true;
}

static inline popfib_table *family_of(const Table *table, const inet *address)
{
    return ip_family(address) == PGSQL_AF_INET ? table->ipv4 : table->ipv6;
}

/* The number of the record of the longest match of the second argument; 0 for none. */
static inline uint32 record_of(const Call *call, const inet *address)
{
    /* NULL is a table without routes. */
    return popfib_lookup(family_of(call->table, address), ip_addr(address));
}

/* The value of a record in the column that is asked for, as text; false: it is absent. An image of the C library may have no
 * records; then the value is the number. */
static inline bool text_of(FunctionCallInfo fcinfo, Call *call, uint32 record, Datum *value)
{
    if (likely(find_column(fcinfo, call)))
        return value_get_text(call->table, &call->column, record, value);
    *value = CStringGetTextDatum(psprintf("%u", record));
    return true;
}

static Datum cidr_of(const inet *address, const uint8_t *prefix, uint8_t length)
{
    inet *made = palloc0(sizeof(inet));
    ip_family(made) = ip_family(address);
    ip_bits(made) = length;
    memcpy(ip_addr(made), prefix, ip_addrsize(made));
    SET_INET_VARSIZE(made);
    return PointerGetDatum(made);
}

Datum pg_popfib_lookup(PG_FUNCTION_ARGS)
{
    Call *call = call_of(fcinfo);
    uint32 record = record_of(call, PG_GETARG_INET_PP(1));
    Datum value;
    /* A column that is not there is an error for every address. */
    if (PG_NARGS() > 2)
        find_column(fcinfo, call);
    if (record == 0 || !text_of(fcinfo, call, record, &value))
        PG_RETURN_NULL();
    return value;
}

Datum pg_popfib_lookup_int(PG_FUNCTION_ARGS)
{
    Call *call = call_of(fcinfo);
    uint32 record = record_of(call, PG_GETARG_INET_PP(1));
    Datum value;
    const char *digits;
    size_t length, at = 0;
    /* Negative, since the lowest number has no positive counterpart. */
    int64 number = 0;
    bool good, negative;
    if (PG_NARGS() > 2)
        find_column(fcinfo, call);
    if (record == 0)
        PG_RETURN_NULL();
    if (!find_column(fcinfo, call) || call->column.type == POPFIB_INT64) {
        if (call->has_column && !value_get(call->table, &call->column, record, &value))
            PG_RETURN_NULL();
        PG_RETURN_INT64(call->has_column ? DatumGetInt64(value) : record);
    }
    if (call->column.type == POPFIB_TEXT) {
        /* Without a copy. */
        int error = popfib_records_text(call->table->records, call->column.index, record, 0, &digits, &length);
        if (error == -ENOENT)
            PG_RETURN_NULL();
        if (error != 0)
            store_throw(error, call->table->name);
    } else {
        if (!value_get_text(call->table, &call->column, record, &value))
            PG_RETURN_NULL();
        digits = VARDATA_ANY(DatumGetPointer(value));
        length = VARSIZE_ANY_EXHDR(DatumGetPointer(value));
    }
    negative = length > 0 && digits[0] == '-';
    at += negative || (length > 0 && digits[0] == '+');
    good = at < length;
    for (; good && at < length; at++)
        good = '0' <= digits[at] && digits[at] <= '9' && !pg_mul_s64_overflow(number, 10, &number) &&
               !pg_sub_s64_overflow(number, digits[at] - '0', &number);
    if (!good || (!negative && number == PG_INT64_MIN))
        ereport(ERROR, (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
                        errmsg("value \"%s\" of table \"%s\" is no bigint", text_of(fcinfo, call, record, &value) ? TextDatumGetCString(value) : "",
                               call->table->name)));
    PG_RETURN_INT64(negative ? number : -number);
}

Datum pg_popfib_lookup_record(PG_FUNCTION_ARGS)
{
    uint32 record = record_of(call_of(fcinfo), PG_GETARG_INET_PP(1));
    if (record == 0)
        PG_RETURN_NULL();
    PG_RETURN_INT32(record);
}

Datum pg_popfib_lookup_prefix(PG_FUNCTION_ARGS)
{
    Call *call = call_of(fcinfo);
    inet *address = PG_GETARG_INET_PP(1);
    popfib_table *table = family_of(call->table, address);
    uint8_t prefix[16], length;
    int error = table == NULL ? -ENOENT : popfib_longest_match(table, ip_addr(address), prefix, &length, NULL);
    if (error == -ENOENT)
        PG_RETURN_NULL();
    if (error != 0)
        store_throw(error, call->table->name);
    return cidr_of(address, prefix, length);
}

/* The routes that cover an address: at most one of each length. */
typedef struct CoveringRoutes {
    int count, size;
    struct {
        uint8_t prefix[16], length;
        uint32_t next_hop;
    } routes[129];
} CoveringRoutes;

/* The callback of the walk. No error of the server's may pass through the library, so nothing here can raise one. */
static int collect(void *user, const uint8_t *prefix, uint8_t length, uint32_t next_hop)
{
    CoveringRoutes *found = user;
    memcpy(found->routes[found->count].prefix, prefix, found->size);
    found->routes[found->count].length = length;
    found->routes[found->count++].next_hop = next_hop;
    return 0;
}

Datum pg_popfib_lookup_all(PG_FUNCTION_ARGS)
{
    ReturnSetInfo *result = (ReturnSetInfo *)fcinfo->resultinfo;
    inet *address = PG_GETARG_INET_PP(1);
    Call *call;
    popfib_table *table;
    CoveringRoutes found;
    int error;
    InitMaterializedSRF(fcinfo, 0);
    call = call_of(fcinfo);
    table = family_of(call->table, address);
    found.count = 0;
    found.size = ip_addrsize(address);
    error = table == NULL ? 0 : popfib_walk_covering(table, ip_addr(address), ip_maxbits(address), collect, &found);
    if (error != 0)
        store_throw(error, call->table->name);
    for (int at = 0; at < found.count; at++) {
        uint32 record = found.routes[at].next_hop;
        Datum values[3] = {cidr_of(address, found.routes[at].prefix, found.routes[at].length), 0, Int32GetDatum(record)};
        bool nulls[3] = {false, !text_of(fcinfo, call, record, &values[1]), false};
        tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
    }
    return (Datum)0;
}

Datum pg_popfib_tables(PG_FUNCTION_ARGS)
{
    ReturnSetInfo *result = (ReturnSetInfo *)fcinfo->resultinfo;
    char *directory = store_directory();
    DIR *listed;
    struct dirent *entry;
    InitMaterializedSRF(fcinfo, 0);
    listed = AllocateDir(directory);
    if (listed == NULL && errno == ENOENT)
        return (Datum)0;
    while ((entry = ReadDir(listed, directory)) != NULL) {
        Size length = strlen(entry->d_name);
        struct stat found;
        Datum values[3];
        bool nulls[3] = {false, false, false};
        if (length <= 4 || strcmp(entry->d_name + length - 4, ".fib") != 0 ||
            stat(psprintf("%s/%s", directory, entry->d_name), &found) != 0)
            continue;
        values[0] = PointerGetDatum(cstring_to_text_with_len(entry->d_name, length - 4));
        values[1] = Int64GetDatum(found.st_size);
        values[2] = TimestampTzGetDatum(time_t_to_timestamptz(found.st_mtime));
        tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
    }
    FreeDir(listed);
    return (Datum)0;
}
