/* Values of records as those of the server's types: see values.h. */
#include "values.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

static void throw_zero(Table *table)
{
    ereport(ERROR, (errcode(ERRCODE_UNTRANSLATABLE_CHARACTER),
                    errmsg("table \"%s\" has a text with the character 0, which text of the server cannot hold", table->name)));
}

static Datum text_of(Table *table, const char *bytes, size_t length)
{
    if (unlikely(memchr(bytes, 0, length) != NULL))
        throw_zero(table);
    if (unlikely(GetDatabaseEncoding() != PG_UTF8))
        return CStringGetTextDatum(pg_any_to_server(pnstrdup(bytes, length), length, PG_UTF8));
    return PointerGetDatum(cstring_to_text_with_len(bytes, length));
}

/* ---------------------------------------------------------------- columns */

/* Up to a hundred names, for a hint. */
static char *names_of(popfib_records *records)
{
    StringInfoData names;
    uint32 count = popfib_records_columns(records);
    initStringInfo(&names);
    for (uint32 at = 0; at < Min(count, 100); at++) {
        const char *name;
        size_t length;
        if (popfib_records_column_info(records, at, &name, &length, NULL) != 0)
            break;
        store_list(&names, name, length);
    }
    if (count > 100)
        appendStringInfo(&names, " and %u others", count - 100);
    return names.data;
}

Column column_named(Table *table, const char *name)
{
    popfib_records *records = store_records(table);
    Column found;
    if (records == NULL)
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN), errmsg("no column \"%s\" in table \"%s\": it has numbers alone", name, table->name)));
    if (popfib_records_column(records, pg_server_to_any(name, strlen(name), PG_UTF8), &found.index) != 0)
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN), errmsg("no column \"%s\" in table \"%s\"", name, table->name),
                        errhint("There are %s.", names_of(records))));
    popfib_records_column_info(records, found.index, NULL, NULL, &found.type);
    return found;
}

bool column_of_value(Table *table, Column *column)
{
    popfib_records *records = store_records(table);
    return records != NULL && popfib_records_column(records, NULL, &column->index) == 0 &&
           popfib_records_column_info(records, column->index, NULL, NULL, &column->type) == 0;
}

char *column_name(Table *table, uint32 index)
{
    const char *name;
    size_t length;
    int error = popfib_records_column_info(store_records(table), index, &name, &length, NULL);
    if (error != 0)
        store_throw(error, table->name);
    return TextDatumGetCString(text_of(table, name, length));
}

static Oid element_type(uint32 type)
{
    switch (type & ~POPFIB_LIST) {
    case POPFIB_INT64:
        return INT8OID;
    case POPFIB_UINT64:
        return NUMERICOID;
    case POPFIB_DOUBLE:
        return FLOAT8OID;
    case POPFIB_BOOL:
        return BOOLOID;
    default:
        return TEXTOID;
    }
}

Oid column_type(uint32 type)
{
    Oid element = element_type(type);
    return type & POPFIB_LIST ? get_array_type(element) : element;
}

/* ---------------------------------------------------------------- values */

static Datum numeric_of(uint64 number)
{
    return DirectFunctionCall3(numeric_in, CStringGetDatum(psprintf(UINT64_FORMAT, number)), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

/* The element of this index, which is 0 in a column without lists, by its type or as text; false: there is none. */
static inline bool element_of(Table *table, const Column *column, uint32 record, size_t index, bool as_text, Datum *value)
{
    popfib_records *records = table->records;
    const char *text;
    char digits[MAXINT8LEN + 1];
    size_t length;
    int64_t number;
    uint64_t unsigned_number;
    double fraction;
    uint8_t truth;
    int error;
    switch (column->type & ~POPFIB_LIST) {
    case POPFIB_INT64:
        error = popfib_records_int64(records, column->index, record, index, &number);
        if (error == 0 && as_text)
            *value = PointerGetDatum(cstring_to_text_with_len(digits, pg_lltoa(number, digits)));
        else if (error == 0)
            *value = Int64GetDatum(number);
        break;
    case POPFIB_UINT64:
        error = popfib_records_uint64(records, column->index, record, index, &unsigned_number);
        if (error == 0)
            *value = as_text ? CStringGetTextDatum(psprintf(UINT64_FORMAT, unsigned_number)) : numeric_of(unsigned_number);
        break;
    case POPFIB_DOUBLE:
        error = popfib_records_double(records, column->index, record, index, &fraction);
        if (error == 0)
            *value = as_text ? CStringGetTextDatum(float8out_internal(fraction)) : Float8GetDatum(fraction);
        break;
    case POPFIB_BOOL:
        error = popfib_records_bool(records, column->index, record, index, &truth);
        if (error == 0)
            *value = as_text ? CStringGetTextDatum(truth ? "true" : "false") : BoolGetDatum(truth);
        break;
    default:
        error = popfib_records_text(records, column->index, record, index, &text, &length);
        if (error == 0)
            *value = text_of(table, text, length);
    }
    if (unlikely(error != 0 && error != -ENOENT))
        store_throw(error, table->name);
    return error == 0;
}

/* A list as an array; false: it is absent. */
static bool list_of(Table *table, const Column *column, uint32 record, Datum *value)
{
    Oid type = element_type(column->type);
    int16 size;
    bool by_value;
    char align;
    size_t count;
    Datum *elements;
    int error = popfib_records_length(store_records(table), column->index, record, &count);
    if (error != 0)
        store_throw(error, table->name);
    if (count == 0)
        return false;
    elements = palloc_extended(count * sizeof *elements, MCXT_ALLOC_HUGE);
    for (size_t at = 0; at < count; at++) {
        CHECK_FOR_INTERRUPTS();
        element_of(table, column, record, at, false, &elements[at]);
    }
    get_typlenbyvalalign(type, &size, &by_value, &align);
    *value = PointerGetDatum(construct_array(elements, count, type, size, by_value, align));
    return true;
}

bool value_get(Table *table, const Column *column, uint32 record, Datum *value)
{
    if (column->type & POPFIB_LIST)
        return list_of(table, column, record, value);
    return element_of(table, column, record, 0, false, value);
}

bool value_get_text(Table *table, const Column *column, uint32 record, Datum *value)
{
    Oid output;
    bool is_varlena;
    if (!(column->type & POPFIB_LIST))
        return element_of(table, column, record, 0, true, value);
    if (!list_of(table, column, record, value))
        return false;
    getTypeOutputInfo(column_type(column->type), &output, &is_varlena);
    *value = CStringGetTextDatum(OidOutputFunctionCall(output, *value));
    return true;
}
