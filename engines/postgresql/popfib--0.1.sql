\echo Use "CREATE EXTENSION popfib" to load this file. \quit

CREATE FUNCTION lookup("table" text, address inet) RETURNS text
    AS 'MODULE_PATHNAME', 'pg_popfib_lookup' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION lookup("table" text, address inet, "column" text) RETURNS text
    AS 'MODULE_PATHNAME', 'pg_popfib_lookup' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION lookup_int("table" text, address inet) RETURNS bigint
    AS 'MODULE_PATHNAME', 'pg_popfib_lookup_int' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION lookup_int("table" text, address inet, "column" text) RETURNS bigint
    AS 'MODULE_PATHNAME', 'pg_popfib_lookup_int' LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- Those of records are restricted to the leader: a worker might find a table that another process has just loaded, in which the
-- numbers are others.
CREATE FUNCTION lookup_record("table" text, address inet) RETURNS integer
    AS 'MODULE_PATHNAME', 'pg_popfib_lookup_record' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
CREATE FUNCTION lookup_prefix("table" text, address inet) RETURNS cidr
    AS 'MODULE_PATHNAME', 'pg_popfib_lookup_prefix' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION lookup_all("table" text, address inet, OUT prefix cidr, OUT value text, OUT record integer) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'pg_popfib_lookup_all' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED ROWS 3;
CREATE FUNCTION records("table" text) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'pg_popfib_records' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED ROWS 10000;
CREATE FUNCTION columns("table" text, OUT name text, OUT type regtype) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'pg_popfib_columns' LANGUAGE C STABLE STRICT PARALLEL SAFE ROWS 10;
CREATE FUNCTION create_view("table" text, "view" text) RETURNS void LANGUAGE plpgsql VOLATILE STRICT AS $$
DECLARE
    columns text;
BEGIN
    SELECT pg_catalog.string_agg(pg_catalog.format(', %I %s', name, type), '') INTO columns FROM @extschema@.columns("table");
    EXECUTE pg_catalog.format('CREATE VIEW %I AS SELECT * FROM @extschema@.records(%L) AS r(record integer%s)', "view", "table", columns);
END $$;
CREATE FUNCTION tables(OUT name text, OUT bytes bigint, OUT loaded timestamptz) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'pg_popfib_tables' LANGUAGE C VOLATILE STRICT PARALLEL SAFE ROWS 10;
CREATE FUNCTION load("table" text, path text, OUT ipv4 bigint, OUT ipv6 bigint) RETURNS record
    AS 'MODULE_PATHNAME', 'pg_popfib_load' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
CREATE FUNCTION load_query("table" text, query text, mapped boolean DEFAULT false, OUT ipv4 bigint, OUT ipv6 bigint) RETURNS record
    AS 'MODULE_PATHNAME', 'pg_popfib_load_query' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
CREATE FUNCTION drop("table" text) RETURNS boolean
    AS 'MODULE_PATHNAME', 'pg_popfib_drop' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- What \df+ shows.
COMMENT ON FUNCTION lookup(text, inet) IS 'the value of the longest prefix that contains the address, whose mask does not count; NULL if there is none';
COMMENT ON FUNCTION lookup(text, inet, text) IS 'the value in a column of its record, as text that can be cast to the type of the column; NULL also if it is absent';
COMMENT ON FUNCTION lookup_int(text, inet) IS 'the value as bigint, where all values are integers';
COMMENT ON FUNCTION lookup_int(text, inet, text) IS 'the value in a column as bigint, where all its values are integers';
COMMENT ON FUNCTION lookup_record(text, inet) IS 'the number of the record, to join records() by';
COMMENT ON FUNCTION lookup_prefix(text, inet) IS 'the longest prefix that contains the address';
COMMENT ON FUNCTION lookup_all(text, inet) IS 'every route that covers the address, the shortest first';
COMMENT ON FUNCTION records(text) IS 'the records: the number of each, then the columns that the call names, each of its type or text';
COMMENT ON FUNCTION columns(text) IS 'the columns of the records, and their types';
COMMENT ON FUNCTION create_view(text, text) IS 'makes a view of all records with all columns';
COMMENT ON FUNCTION tables() IS 'the tables of this database';
COMMENT ON FUNCTION load(text, text) IS 'makes a table of an image that is a file of the server, in place of one of that name; returns how many routes it has';
COMMENT ON FUNCTION load_query(text, text, boolean) IS 'makes a table of the rows of a query: a prefix (cidr, inet, text), then nothing, a value, or columns by their names and types; mapped: IPv4-mapped addresses have the routes of IPv4';
COMMENT ON FUNCTION drop(text) IS 'drops a table; returns whether there was one';

-- Only those to whom the owner of the extension grants it change tables.
REVOKE ALL ON FUNCTION load(text, text), load_query(text, text, boolean), drop(text) FROM PUBLIC;
