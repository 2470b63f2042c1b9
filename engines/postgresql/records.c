/* Functions of SQL that list columns and records: the name of a table in, rows out. */
#include "values.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

PG_FUNCTION_INFO_V1(pg_popfib_columns);
PG_FUNCTION_INFO_V1(pg_popfib_records);

static Table *table_of(FunctionCallInfo fcinfo)
{
    text *name = PG_GETARG_TEXT_PP(0);
    return store_acquire(VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name));
}

static void put_columns(Table *table, ReturnSetInfo *result)
{
    uint32 count = popfib_records_columns(store_records(table));
    for (uint32 at = 0; at < count; at++) {
        uint32 type;
        Datum values[2];
        bool nulls[2] = {false, false};
        popfib_records_column_info(table->records, at, NULL, NULL, &type);
        values[0] = CStringGetTextDatum(column_name(table, at));
        values[1] = ObjectIdGetDatum(column_type(type));
        tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
    }
}

/* Whether the server, which cuts names to 63 bytes between characters, makes `name` of `whole`. */
static bool is_cut(const char *whole, const char *name)
{
    Size length = strlen(whole);
    return length >= NAMEDATALEN && pg_mbcliplen(whole, length, NAMEDATALEN - 1) == strlen(name) && memcmp(whole, name, strlen(name)) == 0;
}

/* The column of a name that the server may have cut: one of exactly this name, or else the first. */
static Column column_declared(Table *table, const char *name)
{
    uint32 count = strlen(name) < NAMEDATALEN - MAX_MULTIBYTE_CHAR_LEN ? 0 : popfib_records_columns(store_records(table));
    char *found = NULL;
    for (uint32 at = 0; at < count; at++) {
        char *whole = column_name(table, at);
        if (strcmp(whole, name) == 0)
            found = whole;
        else if (found == NULL && is_cut(whole, name))
            found = whole;
        else
            pfree(whole);
    }
    return column_named(table, found == NULL ? name : found);
}

/* The columns that the call declares; an error unless they are there and have these types. */
static Column *columns_of(Table *table, TupleDesc form)
{
    Column *columns = palloc(form->natts * sizeof *columns);
    for (int at = 0; at < form->natts; at++) {
        Form_pg_attribute attribute = TupleDescAttr(form, at);
        const char *name = NameStr(attribute->attname);
        Oid type;
        if (at == 0) {
            if (attribute->atttypid != INT4OID)
                ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                                errmsg("the first column of popfib.records is the number of the record, not \"%s\" of type %s", name,
                                       format_type_be(attribute->atttypid)),
                                errhint("Begin with \"record integer\".")));
            continue;
        }
        columns[at] = column_declared(table, name);
        type = column_type(columns[at].type);
        if (attribute->atttypmod != -1 || (attribute->atttypid != type && attribute->atttypid != TEXTOID))
            ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                            errmsg("column \"%s\" of table \"%s\" is %s, not %s", name, table->name, format_type_be(type),
                                   format_type_with_typemod(attribute->atttypid, attribute->atttypmod)),
                            errhint("Declare it as %s or text.", format_type_be(type))));
    }
    return columns;
}

static void put_records(Table *table, ReturnSetInfo *result)
{
    TupleDesc form = result->setDesc;
    Column *columns = columns_of(table, form);
    Datum *values = palloc(form->natts * sizeof *values);
    bool *nulls = palloc0(form->natts * sizeof *nulls);
    uint32 count = popfib_records_count(store_records(table));
    MemoryContext row = AllocSetContextCreate(CurrentMemoryContext, "popfib row", ALLOCSET_DEFAULT_SIZES);
    for (uint32 record = 1; record <= count; record++) {
        MemoryContext before = MemoryContextSwitchTo(row);
        CHECK_FOR_INTERRUPTS();
        values[0] = Int32GetDatum(record);
        for (int at = 1; at < form->natts; at++) {
            bool is_text = TupleDescAttr(form, at)->atttypid == TEXTOID;
            nulls[at] = !(is_text ? value_get_text : value_get)(table, &columns[at], record, &values[at]);
        }
        MemoryContextSwitchTo(before);
        tuplestore_putvalues(result->setResult, form, values, nulls);
        MemoryContextReset(row);
    }
}

/* Returns all rows that `put` makes of a table at once. */
static Datum materialize(FunctionCallInfo fcinfo, bits32 flags, void (*put)(Table *, ReturnSetInfo *))
{
    Table *table;
    InitMaterializedSRF(fcinfo, flags);
    table = table_of(fcinfo);
    PG_TRY();
    put(table, (ReturnSetInfo *)fcinfo->resultinfo);
    PG_FINALLY();
    store_release(table);
    PG_END_TRY();
    return (Datum)0;
}

Datum pg_popfib_columns(PG_FUNCTION_ARGS)
{
    return materialize(fcinfo, 0, put_columns);
}

Datum pg_popfib_records(PG_FUNCTION_ARGS)
{
    return materialize(fcinfo, MAT_SRF_USE_EXPECTED_DESC, put_records);
}
