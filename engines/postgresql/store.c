/* Tables as the server's processes share them: see store.h.
 *
 * A list in shared memory says which segment a name of a database has. Its lock is held while an entry is read, or while a file
 * is renamed and the list changed, so that file and segment of a name always belong together. It is never held while rows are
 * looked up. */
#include "store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/xact.h"
#include "common/file_perm.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/memutils.h"

/* At most so many tables of all databases: the list has to fit into the shared memory that a running server has to spare. */
enum { TABLES = 128 };

typedef struct Entry {
    Oid database;
    char name[NAMEDATALEN];
    uint64 version; /* 0: free */
    dsm_handle segment;
    Size length;
} Entry;

typedef struct SharedList {
    LWLock lock;
    int tranche;
    uint64 versions;
    Entry entries[TABLES];
} SharedList;

uint64 store_changes = 0;
static SharedList *shared = NULL;
static Table *tables = NULL;

void store_throw(int error, const char *what)
{
    int code = ERRCODE_DATA_EXCEPTION;
    switch (error) {
    case -ENOMEM:
        code = ERRCODE_OUT_OF_MEMORY;
        break;
    case -ENOSPC:
    case -E2BIG:
    case -ERANGE:
        code = ERRCODE_PROGRAM_LIMIT_EXCEEDED;
        break;
    case -ENOTSUP:
        code = ERRCODE_FEATURE_NOT_SUPPORTED;
        break;
    case -ENOTRECOVERABLE:
    case -EINVAL:
        code = ERRCODE_INTERNAL_ERROR;
        break;
    case -EILSEQ:
        code = ERRCODE_CHARACTER_NOT_IN_REPERTOIRE;
        break;
    }
    ereport(ERROR, (errcode(code), errmsg("%s: %s", what, popfib_error())));
    pg_unreachable();
}

void store_list(StringInfo names, const char *name, size_t length)
{
    appendStringInfoString(names, names->len == 0 ? "\"" : ", \"");
    for (size_t at = 0; at < length; at++)
        appendStringInfoChar(names, name[at] == 0 || (IS_HIGHBIT_SET(name[at]) && GetDatabaseEncoding() != PG_UTF8) ? '?' : name[at]);
    appendStringInfoChar(names, '"');
}

/* Removes the files of loads that a crash has ended. Nobody loads yet. */
static void remove_new_files(void)
{
    DIR *all = AllocateDir("popfib");
    struct dirent *database, *file;
    while (all != NULL && (database = ReadDirExtended(all, "popfib", LOG)) != NULL) {
        char *path = psprintf("popfib/%s", database->d_name);
        DIR *files = database->d_name[0] == '.' ? NULL : AllocateDir(path);
        while (files != NULL && (file = ReadDirExtended(files, path, LOG)) != NULL) {
            Size length = strlen(file->d_name);
            if (length > 4 && strcmp(file->d_name + length - 4, ".new") == 0)
                unlink(psprintf("%s/%s", path, file->d_name));
        }
        if (files != NULL)
            FreeDir(files);
    }
    if (all != NULL)
        FreeDir(all);
}

static void attach(void)
{
    bool found;
    if (shared != NULL)
        return;
    LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
    shared = ShmemInitStruct("popfib", sizeof(SharedList), &found);
    if (!found) {
        memset(shared, 0, sizeof *shared);
        shared->tranche = LWLockNewTrancheId();
        LWLockInitialize(&shared->lock, shared->tranche);
        remove_new_files();
    }
    LWLockRelease(AddinShmemInitLock);
    LWLockRegisterTranche(shared->tranche, "popfib");
}

void store_check_name(const char *text, size_t length, char *name)
{
    bool good = 0 < length && length < NAMEDATALEN && text[0] != '.';
    for (size_t at = 0; good && at < length; at++) {
        char c = text[at];
        good = ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '_' || c == '-' || c == '.';
    }
    if (!good)
        ereport(ERROR, (errcode(ERRCODE_INVALID_NAME),
                        errmsg("invalid name of a table: \"%.*s\"", pg_mbcliplen(text, Min(length, 1000), 100), text),
                        errdetail("It has 1 to %d letters, digits, \"_\", \"-\" and \".\", and begins with none of the last.",
                                  NAMEDATALEN - 1)));
    memcpy(name, text, length);
    name[length] = 0;
}

char *store_directory(void)
{
    return psprintf("popfib/%u", MyDatabaseId);
}

static char *path_of(const char *name)
{
    return psprintf("popfib/%u/%s.fib", MyDatabaseId, name);
}

static void make_directory(const char *path)
{
    if (MakePGDirectory(path) != 0 && errno != EEXIST)
        ereport(ERROR, (errcode_for_file_access(), errmsg("could not create directory \"%s\": %m", path)));
}

/* The file that this session writes, or wrote last. */
static char new_file[MAXPGPATH];

/* For a session that is terminated, which PG_CATCH does not see. */
static void remove_new_file(int code, Datum arg)
{
    (void)code;
    (void)arg;
    unlink(new_file);
}

char *store_new_path(const char *name)
{
    static bool registered;
    attach();
    make_directory("popfib");
    make_directory(store_directory());
    if (!registered)
        before_shmem_exit(remove_new_file, 0);
    registered = true;
    snprintf(new_file, sizeof new_file, "popfib/%u/%s.%d.new", MyDatabaseId, name, MyProcPid);
    return pstrdup(new_file);
}

/* Needs the lock. */
static Entry *find(const char *name)
{
    for (Entry *entry = shared->entries; entry < shared->entries + TABLES; entry++)
        if (entry->version != 0 && entry->database == MyDatabaseId && strcmp(entry->name, name) == 0)
            return entry;
    return NULL;
}

popfib_records *store_records(Table *table)
{
    int error = table->records_known ? 0 : popfib_image_records(table->image, &table->records);
    if (error != 0 && error != -ENODATA)
        store_throw(error, table->name);
    table->records_known = true;
    return table->records;
}

static void discard(Table *table)
{
    popfib_records_free(table->records);
    popfib_free(table->ipv4);
    popfib_free(table->ipv6);
    popfib_image_free(table->image);
    dsm_detach(table->segment);
    pfree(table);
}

/* Counts one user more, in this statement. */
static Table *use(Table *table)
{
    table->users++;
    table->statement = GetCurrentStatementStartTimestamp();
    table->changes = store_changes;
    return table;
}

/* Whether this statement uses the table already, and has to go on with it. */
static bool is_of_statement(const Table *table)
{
    return table->statement == GetCurrentStatementStartTimestamp() && table->changes == store_changes;
}

/* Adds a table to those of this process, with one user. */
static void keep(Table *table)
{
    dsm_pin_mapping(table->segment);
    use(table);
    table->next = tables;
    tables = table;
}

/* Needs the lock. The entry of a name, or a free one; NULL: the list is full. */
static Entry *place_of(const char *name)
{
    Entry *entry = find(name);
    for (Entry *other = shared->entries; entry == NULL && other < shared->entries + TABLES; other++)
        if (other->version == 0)
            entry = other;
    return entry;
}

static void throw_full(void)
{
    ereport(ERROR, (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED), errmsg("the server has %d tables of popfib already", TABLES)));
}

/* Needs the lock. Puts the table into the entry, with one user in this process, and gives back the segment that was there. */
static void publish(Entry *entry, Table *table, Size length)
{
    dsm_handle old = entry->version == 0 ? DSM_HANDLE_INVALID : entry->segment;
    dsm_pin_segment(table->segment);
    entry->database = MyDatabaseId;
    strlcpy(entry->name, table->name, NAMEDATALEN);
    entry->segment = dsm_segment_handle(table->segment);
    entry->length = length;
    entry->version = table->version = ++shared->versions;
    keep(table);
    if (old != DSM_HANDLE_INVALID)
        dsm_unpin_segment(old);
}

/* Needs the lock. Frees the tables of this process that it does not use and that are not in the list any more. */
static void sweep(void)
{
    for (Table **place = &tables; *place != NULL;) {
        Table *table = *place;
        Entry *entry = find(table->name);
        if (table->users > 0 || is_of_statement(table) || (entry != NULL && entry->version == table->version)) {
            place = &table->next;
            continue;
        }
        *place = table->next;
        discard(table);
    }
}

/* The error of an image with several tables, none of which has the name. */
static void throw_tables(popfib_image *image, const char *name, const char *what)
{
    StringInfoData names;
    const char *other;
    size_t length;
    initStringInfo(&names);
    for (size_t at = 0; at < 100 && popfib_image_table_name(image, at, &other, &length) == 0; at++)
        store_list(&names, other, length);
    popfib_image_free(image);
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("%s: an image of several tables, none of which is called \"%s\"", what, name),
                    errhint("Of such an image that table is loaded which has the same name: %s.", names.data)));
}

/* Opens the image in the segment. The caller sets `version` and calls keep(). */
static Table *open_segment(const char *name, dsm_segment *segment, Size length, uint32 mode, const char *what)
{
    struct popfib_config config = POPFIB_CONFIG_INIT(POPFIB_IPV4);
    Table *table = MemoryContextAllocZero(TopMemoryContext, sizeof *table);
    int error;
    strlcpy(table->name, name, NAMEDATALEN);
    table->segment = segment;
    error = popfib_image_memory(dsm_segment_address(segment), length, mode, &table->image);
    if (error == 0 && popfib_image_table_name(table->image, 1, NULL, NULL) == 0 && popfib_image_select(table->image, name) != 0) {
        popfib_image *image = table->image;
        pfree(table);
        throw_tables(image, name, what);
    }
    if (error == 0 && (error = popfib_image_table(table->image, &config, &table->ipv4)) == -ENOENT)
        error = 0;
    config.family = POPFIB_IPV6;
    if (error == 0 && (error = popfib_image_table(table->image, &config, &table->ipv6)) == -ENOENT)
        error = 0;
    /* A load is where damaged records have to be seen. */
    if (error == 0 && mode == POPFIB_IMAGE_MAP && (error = popfib_image_records(table->image, &table->records)) == -ENODATA)
        error = 0;
    table->records_known = mode == POPFIB_IMAGE_MAP;
    if (error != 0) {
        popfib_free(table->ipv4);
        popfib_free(table->ipv6);
        popfib_image_free(table->image);
        pfree(table);
        store_throw(error, what);
    }
    return table;
}

static void throw_no_image(const char *path)
{
    ereport(ERROR, (errcode(ERRCODE_DATA_EXCEPTION), errmsg("%s: %s", path, popfib_strerror(-EBADMSG))));
}

/* The image in a file, read and validated; NULL: there is no such file, which is an error unless `may_miss`. */
static Table *read_image(const char *name, const char *path, bool may_miss, struct stat *found)
{
    dsm_segment *segment;
    char *bytes;
    Size length, at = 0;
    /* O_NONBLOCK: to open a FIFO would wait for a writer. */
    int file = OpenTransientFile(path, O_RDONLY | O_NONBLOCK | PG_BINARY);
    if (file < 0 && errno == ENOENT && may_miss)
        return NULL;
    if (file < 0 || fstat(file, found) != 0)
        ereport(ERROR, (errcode_for_file_access(), errmsg("could not open file \"%s\": %m", path)));
    if (!S_ISREG(found->st_mode))
        ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("\"%s\" is not a regular file", path)));
    if (found->st_size == 0)
        throw_no_image(path);
    length = found->st_size;
    /* A file that is no image is refused before memory is asked for. */
    segment = NULL;
    while (at < length) {
        char start[8];
        ssize_t got;
        CHECK_FOR_INTERRUPTS();
        if (segment == NULL) {
            if (pread(file, start, sizeof start, 0) != sizeof start || memcmp(start, "\x89POPFIB\n", sizeof start) != 0)
                throw_no_image(path);
            segment = dsm_create(length, 0);
            bytes = dsm_segment_address(segment);
        }
        got = read(file, bytes + at, Min(length - at, 1 << 24));
        if (got < 0 && errno != EINTR)
            ereport(ERROR, (errcode_for_file_access(), errmsg("could not read file \"%s\": %m", path)));
        if (got == 0)
            throw_no_image(path);
        if (got > 0)
            at += got;
    }
    CloseTransientFile(file);
    return open_segment(name, segment, length, POPFIB_IMAGE_MAP, path);
}

/* Writes a file with these bytes to the disk. */
static void write_file(const char *path, const char *bytes, Size length)
{
    int file = OpenTransientFile(path, O_WRONLY | O_CREAT | O_TRUNC | PG_BINARY);
    if (file < 0)
        ereport(ERROR, (errcode_for_file_access(), errmsg("could not create file \"%s\": %m", path)));
    while (length > 0) {
        ssize_t put;
        errno = 0;
        put = write(file, bytes, Min(length, 1 << 24));
        if (put <= 0 && errno != EINTR) {
            if (errno == 0)
                errno = ENOSPC;
            ereport(ERROR, (errcode_for_file_access(), errmsg("could not write file \"%s\": %m", path)));
        }
        if (put > 0) {
            bytes += put;
            length -= put;
        }
    }
    if (pg_fsync(file) != 0 || CloseTransientFile(file) != 0)
        ereport(ERROR, (errcode_for_file_access(), errmsg("could not write file \"%s\": %m", path)));
}

Table *store_put(const char *name, const char *path, bool is_new)
{
    char *new_path = is_new ? pstrdup(path) : store_new_path(name), *final = path_of(name);
    Table *volatile table = NULL;
    struct stat found;
    Entry *entry;
    attach();
    PG_TRY();
    {
        table = read_image(name, path, false, &found);
        if (!is_new)
            write_file(new_path, dsm_segment_address(table->segment), found.st_size);
        LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
        entry = place_of(name);
        if (entry == NULL)
            throw_full();
        /* Nothing fails from here on. */
        if (rename(new_path, final) != 0)
            ereport(ERROR, (errcode_for_file_access(), errmsg("could not rename file \"%s\" to \"%s\": %m", new_path, final)));
        publish(entry, table, found.st_size);
        store_changes++;
        sweep();
        LWLockRelease(&shared->lock);
    }
    PG_CATCH();
    {
        if (table != NULL)
            discard(table);
        unlink(new_path);
        PG_RE_THROW();
    }
    PG_END_TRY();
    fsync_fname_ext(store_directory(), true, true, WARNING);
    return table;
}

bool store_drop(const char *name)
{
    bool there;
    Entry *entry;
    attach();
    LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
    there = unlink(path_of(name)) == 0;
    if (!there && errno != ENOENT)
        ereport(ERROR, (errcode_for_file_access(), errmsg("could not remove file \"%s\": %m", path_of(name))));
    entry = find(name);
    if (entry != NULL) {
        there = true;
        entry->version = 0;
        dsm_unpin_segment(entry->segment);
    }
    store_changes++;
    sweep();
    LWLockRelease(&shared->lock);
    return there;
}

Table *store_acquire(const char *text, size_t length)
{
    char name[NAMEDATALEN];
    store_check_name(text, length, name);
    attach();
    for (Table *table = tables; table != NULL; table = table->next)
        if (is_of_statement(table) && strcmp(table->name, name) == 0)
            return use(table);
    for (;;) {
        Entry *entry;
        Table *table;
        struct stat found, now;
        LWLockAcquire(&shared->lock, LW_SHARED);
        entry = find(name);
        for (table = tables; entry != NULL && table != NULL; table = table->next) {
            if (table->version == entry->version) {
                LWLockRelease(&shared->lock);
                return use(table);
            }
        }
        sweep();
        if (entry != NULL) {
            /* With the lock held, so that the segment is not given back meanwhile. */
            dsm_segment *segment = dsm_attach(entry->segment);
            if (segment == NULL)
                elog(ERROR, "the segment of table \"%s\" is gone", name);
            /* The process that loaded it has validated it. */
            table = open_segment(name, segment, entry->length, POPFIB_IMAGE_MAP_TRUSTED, name);
            table->version = entry->version;
            keep(table);
            LWLockRelease(&shared->lock);
            return table;
        }
        LWLockRelease(&shared->lock);

        /* Nobody has asked for it since the server started. */
        table = read_image(name, path_of(name), true, &found);
        if (table == NULL)
            ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("there is no table \"%s\" of popfib in this database", name)));
        LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
        entry = place_of(name);
        if (entry != NULL && entry->version == 0 && stat(path_of(name), &now) == 0 && now.st_ino == found.st_ino &&
            now.st_dev == found.st_dev) {
            publish(entry, table, found.st_size);
            LWLockRelease(&shared->lock);
            return table;
        }
        LWLockRelease(&shared->lock);
        discard(table);
        if (entry == NULL)
            throw_full();
        /* Somebody else was faster. */
    }
}

void store_release(Table *table)
{
    table->users--;
}
