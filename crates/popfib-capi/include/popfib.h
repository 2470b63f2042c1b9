/*
 * popfib.h - IP longest-prefix match by Poptrie, for C11 and C++17.
 *
 *     struct popfib_config config = POPFIB_CONFIG_INIT(POPFIB_IPV4);
 *     popfib_table *table;
 *     const uint8_t net[4] = {10, 0, 0, 0}, address[4] = {10, 1, 2, 3};
 *
 *     if (popfib_create(&config, &table) < 0) ...
 *     popfib_add(table, net, 8, 7);
 *     popfib_lookup(table, address);              // 7
 *     popfib_free(table);
 *
 * WORDS
 *   table      The routes of one family, IPv4 or IPv6, and the Poptrie that is compiled from them and kept up to
 *              date. Both families use the same functions.
 *   next hop   The number, 1 or more, that a route leads to; its meaning is up to the caller. In answers 0 means
 *              "no route". The highest is 2^31 - 1. In an image it may be the number of a record, which has columns.
 *   address    4 bytes (IPv4) or 16 bytes (IPv6) in network byte order, as in a packet, with any alignment.
 *              Functions whose names end in _host take addresses as integers.
 *   prefix     An address and a length, 0 to 32 or 0 to 128. Host bits (those beyond the length) must be 0:
 *              otherwise the error is -EINVAL.
 *   reader     What a thread uses to look up while another thread changes the table.
 *
 * ERRORS
 *   Functions that return `int` return 0 for success and a negative errno value for failure (walks may
 *   return the callback's value as well); popfib_error() returns a line of text for the last one, with what it is about. A call that fails changes
 *   nothing (except popfib_apply()), and sets the handle that it would have made to NULL.
 *     -EINVAL          an invalid argument: NULL where a pointer is required, a prefix that is too long or has host
 *                      bits set, a next hop of 0, an array that is misaligned or overlaps the other, a structure
 *                      field out of range
 *     -ENOTRECOVERABLE an error in popfib itself, reported on standard error. If it happened in a change, the table
 *                      and its readers still answer lookups; all other functions except popfib_free() return this
 *                      error from then on. Any function that returns `int` may return it; it is not repeated below.
 *   The others are listed with each function. -ENOMEM means that an allocation for a table or a reader failed, however
 *   small it was. Three things always use malloc(): what images need besides the content of the file (records, handles,
 *   what is compiled while an image is saved), groups, and the list of changes while popfib_apply() sorts it. If one of
 *   those allocations fails, the program may end by abort(), as Rust programs do.
 *
 * POINTERS
 *   NULL is -EINVAL (in functions that return no `int`: 0, NULL, or nothing happens) unless a function says what it
 *   does then. Any other pointer must be valid until the function returns:
 *     - A handle is what the function that makes it has set, and it is not freed.
 *     - An array has as many elements as the call says, and a string ends with a byte 0. They are only read, and nobody
 *       changes them meanwhile.
 *     - A place for a result has the size and alignment of its type. It need not be initialised, and no other thread
 *       uses it meanwhile.
 *     - A callback returns: it is not left by longjmp() or a C++ exception.
 *   Otherwise the behaviour is undefined; the same holds for calls that break the rules on threads.
 *
 * THREADS
 *   Different tables never share anything. For one table:
 *     - Functions marked [writer] change it: no other thread may be in any function of the same table, except those
 *       marked [any] and whatever is done with readers.
 *     - Functions marked [table] only read it: any number of threads may call them at the same time, as long as no
 *       thread is in a [writer] function.
 *     - Functions marked [any] may be called at any time from any thread, while the handle is not freed.
 *     - Functions marked [reader] belong to the thread that uses the reader: one thread at a time for each reader,
 *       whatever other readers and the writer do. They never wait and take no lock.
 *   So a program whose table never changes needs no readers. If a table changes while other threads look up, each of
 *   those threads needs a reader. A handle may be passed from thread to thread.
 *
 * OWNERSHIP
 *   The caller of a function that makes a handle owns the handle and frees it once, with the function named there.
 *   Readers may outlive their table (they keep answering from its last state), and tables and records of an image may
 *   outlive the image. Arguments are not kept, with exceptions that say so: the functions and `user` of a
 *   configuration or a watcher, and the memory of popfib_image_memory(). Prefixes, addresses, names, structures and strings belong
 *   to the caller and may be freed when the function returns.
 */
#ifndef POPFIB_H
#define POPFIB_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header; popfib_version() returns that of the library. Programs built with a header
 * of the same major version (while that is 0: of the same minor version) work with the library. */
#define POPFIB_VERSION_MAJOR 0
#define POPFIB_VERSION_MINOR 1
#define POPFIB_VERSION_PATCH 0

typedef struct popfib_table popfib_table;
typedef struct popfib_reader popfib_reader;
typedef struct popfib_image popfib_image;
typedef struct popfib_table_set popfib_table_set;
typedef struct popfib_watcher popfib_watcher;
typedef struct popfib_records popfib_records;
typedef struct popfib_record_builder popfib_record_builder;
typedef struct popfib_groups popfib_groups;
typedef struct popfib_group_reader popfib_group_reader;

/* Families. */
#define POPFIB_IPV4 4u
#define POPFIB_IPV6 6u

/* ---------------------------------------------------------------- tables */

/* Returns `size` bytes aligned to `alignment`, or NULL if there is no memory. The alignment is a power of two and
 * divides the size, so aligned_alloc() can be used. The memory need not be zero. `user` is that of the configuration.
 *
 * Alignments are at most 128 bytes, with one exception: on Linux a compiled table of 1 MiB or more is one allocation,
 * which is first requested with an alignment of 2 MiB so that the system can use huge pages; if that fails, with 64
 * bytes. Misaligned memory is released and counts as a failure.
 *
 * Called by functions marked "-ENOMEM", in the thread that calls them. It must not call popfib for the same table. As
 * any thread may call popfib_reader_create() at any time, several threads may call this function at the same time if
 * they create or free readers. */
typedef void *(*popfib_allocate_fn)(void *user, size_t alignment, size_t size);

/* Releases memory that popfib_allocate_fn returned for that alignment and size; never NULL. Called by functions that
 * change or free a table or a reader, in the thread that calls them. This may be after popfib_free(): the last reader
 * of a freed table frees what is left of it. Until then both functions and `user` must stay valid. */
typedef void (*popfib_release_fn)(void *user, void *memory, size_t alignment, size_t size);

/* The configuration of a table. Later versions add fields after these, in which 0 means the present behaviour; `size`
 * shows which version a program was built with. */
struct popfib_config {
    size_t size;            /* sizeof(struct popfib_config) */
    uint32_t family;        /* POPFIB_IPV4 or POPFIB_IPV6 */
    uint32_t direct_bits;   /* leading bits that the direct table resolves, 1 to 24; 0 chooses by the number
                             * of routes, which is nearly always best */
    uint32_t flags;         /* POPFIB_KEEP_PREFIXES, POPFIB_BALANCED, both or 0 */
    const char *kernel;     /* kernel of bulk lookups, by a name from popfib_kernel_list(); NULL for the one
                             * that the environment variable POPFIB_KERNEL names, or else the best for this CPU */
    popfib_allocate_fn allocate; /* where all memory of the table and its readers comes from, handles included, */
    popfib_release_fn release;   /* and where it goes back to: both functions, or NULL and NULL for malloc() */
    void *user;                  /* what they are called with; may be NULL */
};

/* Keeps the prefix lengths in the compiled table, which makes it about a tenth larger. Readers can then return longest
 * matches, and those of the table are as fast as lookups, also after changes. Next hops are at most 65,075,261 (IPv4) or
 * 16,647,159 (IPv6). */
#define POPFIB_KEEP_PREFIXES 1u

/* More memory for fewer steps of a lookup; the answers are the same. Measure which is quickest with your tables and
 * caches.
 * A large IPv4 table takes some 8 MiB instead of 3, one of 1,000 routes 1 MiB; an IPv6 table of an image takes three to twelve
 * times the memory, too, unless it would take more than 12 MiB. Tables of fewer routes stay as they are.
 * With the flag, the table of an image is compiled from the image's routes, unless the image has it of that size
 * (`popfib compile --size`); without it, it is as the image has it. */
#define POPFIB_BALANCED 2u

#define POPFIB_CONFIG_INIT(family) { sizeof(struct popfib_config), (family), 0, 0, NULL, NULL, NULL, NULL }

/* Makes a table without routes. Free it by popfib_free().
 * [any] -EINVAL: also an unknown name of a kernel, or one of allocate and release without the other. -ENOTSUP: this
 * CPU can't run that kernel. -E2BIG: the structure is longer than this version knows and not 0 there. -ENOMEM. */
int popfib_create(const struct popfib_config *config, popfib_table **table);

/* Frees a table; does nothing for NULL. Its readers keep the last state.
 * [writer] Not from a callback of a walk of this table. */
void popfib_free(popfib_table *table);

/* Sets the route of a prefix and replaces an existing one. Lookups of all readers that begin after it returns see the
 * change. O(key width / 6), more if there are routes inside the prefix.
 * [writer] -ERANGE: the next hop is too high for the table. -ENOMEM. -ENOSPC: the table is as large as
 * it can be. -EBUSY: called from a callback of a walk. -EROFS: the table is part of an image. */
int popfib_add(popfib_table *table, const uint8_t *prefix, uint8_t length, uint32_t next_hop);

/* Removes the route of exactly this prefix. As fast as popfib_add().
 * [writer] -ENOENT: there is none. -ENOMEM, -ENOSPC: rarely, when aggregated routes have to be stored separately.
 * -EBUSY, -EROFS: as for popfib_add(). */
int popfib_delete(popfib_table *table, const uint8_t *prefix, uint8_t length);

/* A change of a route: next_hop 0 removes it. For IPv4 only the first 4 bytes of the prefix are used. */
struct popfib_change {
    uint8_t prefix[16];
    uint8_t length;
    uint8_t reserved[3]; /* 0 */
    uint32_t next_hop;
};

/* Makes `n` changes as one batch; for n = 0 `changes` may be NULL. If several are for the same prefix, the last one
 * counts: a route that is removed and added again is never missing meanwhile. For each prefix, lookups see the state
 * before or after the batch. Removing a route that does not exist changes nothing. If the batch is a large part of the
 * table, a new table is compiled beside the one in use, once: this is how to load a table. O(n log n).
 * [writer] -ERANGE: a next hop is too high for the table; nothing has changed. -ENOMEM, -ENOSPC: some of the changes
 * may have been made, each of them completely; lookups see those that are not visible yet after the next successful
 * change. -EBUSY, -EROFS: as for popfib_add(). */
int popfib_apply(popfib_table *table, const struct popfib_change *changes, size_t n);

/* Reclaims memory that was replaced and that no reader can see any more. Changes do this by themselves; call it after
 * the last of many changes.
 * [writer] -EBUSY. */
int popfib_reclaim(popfib_table *table);

/* The next hop of exactly this prefix; `next_hop` may be NULL. O(key width / 6); in an image O(log routes).
 * [table] -ENOENT: there is no such route. -ENODATA: an image without routes. */
int popfib_get(const popfib_table *table, const uint8_t *prefix, uint8_t length, uint32_t *next_hop);

/* The next hop of the longest prefix that contains the address; 0 if there is none, or if an argument is NULL.
 * [table] */
uint32_t popfib_lookup(const popfib_table *table, const uint8_t *address);

/* Looks up an array of `n` addresses (4 or 16 bytes each, network byte order, without gaps) and writes their next hops
 * to `next_hops`, an array of `n` elements; 0 is no route. From 64 addresses on this is much faster than single lookups.
 * The arrays must not overlap. For n = 0 they may be NULL.
 * [table] */
int popfib_lookup_bulk(const popfib_table *table, const void *addresses, uint32_t *next_hops, size_t n);

/* Like popfib_lookup_bulk(), for addresses that are integers in host byte order: uint32_t for IPv4, unsigned __int128
 * (aligned to 16 bytes) for IPv6. Saves the conversion.
 * [table] */
int popfib_lookup_bulk_host(const popfib_table *table, const void *addresses, uint32_t *next_hops, size_t n);

/* The longest prefix that contains the address (as many bytes as an address), its length, and its next hop; each of the
 * three may be NULL. O(key width / 6): it walks the RIB, unless popfib_compile_prefixes() or POPFIB_KEEP_PREFIXES
 * avoids that.
 * [table] -ENOENT: there is none. -ENODATA: an image without routes. */
int popfib_longest_match(const popfib_table *table, const uint8_t *address, uint8_t *prefix,
                         uint8_t *length, uint32_t *next_hop);

/* Like popfib_longest_match(), for an array of `n` addresses (as in popfib_lookup_bulk()): writes the length and the
 * next hop of each to `lengths` and `next_hops`; both are 0 for no route. The prefix is the address truncated to the
 * length. No two arrays may overlap; for n = 0 they may be NULL.
 * [table] -ENODATA: an image without routes. */
int popfib_longest_match_bulk(const popfib_table *table, const void *addresses, uint8_t *lengths,
                              uint32_t *next_hops, size_t n);

/* Compiles a second table, of prefixes: it makes popfib_longest_match() about five times as fast and
 * popfib_longest_match_bulk() more than twenty times. It is for tables whose routes stay the same: the next change
 * frees it, and longest matches walk the RIB again. It takes twice the time of compiling a table and about as much
 * memory as one, and while it compiles as much memory as the routes. Other lookups are as fast as before. An image and
 * a table with POPFIB_KEEP_PREFIXES do not need it.
 * [writer] -ERANGE: a next hop is above 65,075,261 (IPv4) or 16,647,159 (IPv6), which leaves no room for a length.
 * -ENOMEM. -ENOSPC: the table would be too large. -EBUSY: called from a callback of a walk. -ENODATA: an image
 * without routes. */
int popfib_compile_prefixes(popfib_table *table);

/* POPFIB_IPV4 or POPFIB_IPV6; 0 for NULL. [any] */
uint32_t popfib_family(const popfib_table *table);

/* The number of routes; 0 for NULL. [table] */
size_t popfib_count(const popfib_table *table);

/* Bytes of memory: routes and compiled table, or the whole image. 0 for NULL. [table] */
size_t popfib_bytes(const popfib_table *table);

/* ---------------------------------------------------------------- walks */

/* Called for each route; `user` is the argument of the walk. The prefix (as many bytes as an address) is valid until
 * the function returns. Return 0 to continue; any other value ends the walk, which returns it. Positive values cannot
 * be confused with errors. The callback may look up in the table, but not change it (-EBUSY), and it must not free it
 * (undefined). `user` may be NULL. */
typedef int (*popfib_walk_fn)(void *user, const uint8_t *prefix, uint8_t length, uint32_t next_hop);

/* All routes in order of address, a covering prefix before those it covers. O(routes), without allocation.
 * [table] Returns 0, or what ended it. -ENODATA: an image without routes. */
int popfib_walk(const popfib_table *table, popfib_walk_fn callback, void *user);

/* The routes that cover the prefix, including the prefix itself, shortest first. O(key width / 6); in an image
 * O(length * log routes).
 * [table] As popfib_walk(). */
int popfib_walk_covering(const popfib_table *table, const uint8_t *prefix, uint8_t length,
                         popfib_walk_fn callback, void *user);

/* The routes inside the prefix, including the prefix itself, in the order of popfib_walk().
 * [table] As popfib_walk(). */
int popfib_walk_covered(const popfib_table *table, const uint8_t *prefix, uint8_t length,
                        popfib_walk_fn callback, void *user);

/* ---------------------------------------------------------------- readers
 *
 * A new reader is offline: each of its lookups is a read-side section of its own, which costs about a nanosecond, and
 * the thread may do anything between lookups. A data-plane thread goes online and calls popfib_reader_quiescent() after
 * each burst, which costs even less:
 *
 *     popfib_reader_online(reader);
 *     while ((n = receive(packets)) > 0) {
 *         popfib_reader_lookup_bulk(reader, addresses, next_hops, n);
 *         forward(packets, next_hops, n);
 *         popfib_reader_quiescent(reader);
 *     }
 *     popfib_reader_offline(reader);
 *
 * An online reader that does neither, for example because its thread sleeps, still gets right answers, but replaced
 * memory cannot be reclaimed meanwhile and grows with the number of changes.
 *
 * A lookup during a change gives the answer from before or after the change, never a mixture. A lookup that begins
 * after popfib_add() or popfib_delete() has returned sees the change. */

/* Makes a reader. Free it by popfib_reader_free(). The table may belong to an image, so the same code looks up in both.
 * [any] But not while the table is freed. -ENOMEM. */
int popfib_reader_create(const popfib_table *table, popfib_reader **reader);

/* Frees a reader, online or not; does nothing for NULL. The last reader of a freed table frees what is left of it.
 * [reader] */
void popfib_reader_free(popfib_reader *reader);

/* As popfib_lookup(). [reader] */
uint32_t popfib_reader_lookup(popfib_reader *reader, const uint8_t *address);

/* As popfib_lookup_bulk(). [reader] */
int popfib_reader_lookup_bulk(popfib_reader *reader, const void *addresses, uint32_t *next_hops, size_t n);

/* As popfib_lookup_bulk_host(). [reader] */
int popfib_reader_lookup_bulk_host(popfib_reader *reader, const void *addresses, uint32_t *next_hops, size_t n);

/* As popfib_longest_match(), as fast as a lookup. [reader]
 * -ENOENT: there is none. -ENOTSUP: a table without POPFIB_KEEP_PREFIXES. -ENODATA: an image without routes. */
int popfib_reader_longest_match(popfib_reader *reader, const uint8_t *address, uint8_t *prefix,
                                uint8_t *length, uint32_t *next_hop);

/* As popfib_longest_match_bulk(), nearly as fast as popfib_reader_lookup_bulk(). [reader]
 * -ENOTSUP, -ENODATA: as for popfib_reader_longest_match(). */
int popfib_reader_longest_match_bulk(popfib_reader *reader, const void *addresses, uint8_t *lengths,
                                     uint32_t *next_hops, size_t n);

/* Enters a read-side section that stays open. Does nothing if the reader is online. [reader] Only -EINVAL, for NULL. */
int popfib_reader_online(popfib_reader *reader);

/* Reports a quiescent state: all lookups so far are done. Costs a load and a store. Does nothing if the reader is
 * offline. [reader] Only -EINVAL, for NULL. */
int popfib_reader_quiescent(popfib_reader *reader);

/* Leaves the read-side section, for example before the thread sleeps. Does nothing if the reader is offline. [reader]
 * Only -EINVAL, for NULL. */
int popfib_reader_offline(popfib_reader *reader);

/* ---------------------------------------------------------------- next-hop groups
 *
 * Groups are for many routes that share next hops which fail and return. The next hop of such a route is the id of a
 * group, and a group has members with weights. Removing a member is one change, however many routes use the group:
 *
 *     popfib_reader_lookup_bulk(reader, addresses, ids, n);
 *     popfib_group_reader_select_bulk(groups, ids, hashes, members, n);
 *
 * The hash of a flow, a number with well mixed upper bits, selects its member. Flows of the remaining members move only
 * as far as the weights require; shares are accurate to one part in sixteen times the number of members. Members are
 * numbers from 1 on.
 * The rules on threads and errors are those of tables: [writer] changes groups, [reader] belongs to one thread, and
 * readers may outlive the groups. Memory comes from malloc(). */

/* Makes an empty set of groups. Free it by popfib_groups_free(). [any] -ENOMEM. */
int popfib_groups_create(popfib_groups **groups);

/* Frees groups; does nothing for NULL. Their readers keep the last state. [writer] */
void popfib_groups_free(popfib_groups *groups);

/* Sets the `n` members of a group, new or not, and their `n` weights; if `weights` is NULL, all are 1. A member whose
 * weight is 0 gets no flows. Readers see the change as a whole.
 * [writer] -EINVAL: also a member of 0, no member with a weight, or more than 4,096. -ENOMEM, -ENOSPC. */
int popfib_groups_set(popfib_groups *groups, uint32_t id, const uint32_t *members, const uint32_t *weights, size_t n);

/* Removes a group; routes that use it have no member from then on. [writer] -ENOENT: there is none. -ENOMEM,
 * -ENOSPC. */
int popfib_groups_remove(popfib_groups *groups, uint32_t id);

/* Makes a reader. Free it by popfib_group_reader_free(). [any] But not while the groups are freed. -ENOMEM. */
int popfib_group_reader_create(const popfib_groups *groups, popfib_group_reader **reader);

/* Frees a reader; does nothing for NULL. [reader] */
void popfib_group_reader_free(popfib_group_reader *reader);

/* The member of a group that a flow with this hash goes to; 0 if there is no such group, or if `reader` is NULL.
 * [reader] */
uint32_t popfib_group_reader_select(popfib_group_reader *reader, uint32_t id, uint64_t hash);

/* Like popfib_group_reader_select(), for `n` flows: reads their groups and hashes and writes their members. `members`
 * must not overlap the other arrays. For n = 0 they may be NULL. [reader] */
int popfib_group_reader_select_bulk(popfib_group_reader *reader, const uint32_t *ids, const uint64_t *hashes,
                                    uint32_t *members, size_t n);

/* ---------------------------------------------------------------- images
 *
 * An image is a file with the compiled tables of one or both families, their routes and the names of their next hops.
 * It can be used as soon as it is mapped. The command `popfib compile` also makes images. */

/* What an image contains besides the tables. */
struct popfib_image_config {
    size_t size;              /* sizeof(struct popfib_image_config) */
    uint64_t created;         /* seconds since 1970, or 0 */
    const char *source;       /* source of the routes, UTF-8, or NULL */
    const char *const *names; /* names of the next hops 1, 2, ..., UTF-8, none of them NULL; or NULL for no names */
    uint32_t name_count;      /* number of names; if not 0, every next hop of the tables needs one */
    uint32_t flags;           /* POPFIB_IMAGE_NO_ROUTES or 0 */
    const popfib_record_builder *records; /* what the next hops are numbers of, in place of names, or NULL. If it is not
                                           * NULL, every next hop of the tables needs a record */
};

#define POPFIB_IMAGE_CONFIG_INIT { sizeof(struct popfib_image_config), 0, NULL, NULL, 0, 0, NULL }

/* Leaves out the routes: the file is much smaller, but serves lookups only. */
#define POPFIB_IMAGE_NO_ROUTES 1u

/* Saves one or two tables as an image; either may be NULL, but not both. If `config` is NULL, the image has routes, but
 * no names and no source. The file is complete or not there at all; processes that have an old file mapped keep it
 * unchanged.
 * [table] -ERANGE: a next hop without a name or record. -EILSEQ: text that is not UTF-8. -ENODATA: a table of an image
 * without routes. -E2BIG: as for popfib_create(). -ENOSPC and other errors of the file system. */
int popfib_image_save(const char *path, const struct popfib_image_config *config,
                      const popfib_table *ipv4, const popfib_table *ipv6);

/* How to open an image. */
#define POPFIB_IMAGE_COPY 0u        /* a copy in memory, on huge pages: fastest lookups */
#define POPFIB_IMAGE_MAP 1u         /* the file itself, shared by all processes. Nobody may write to the file
                                     * (replacing it is fine) until the image and all of its tables and
                                     * records are freed: undefined */
#define POPFIB_IMAGE_MAP_TRUSTED 2u /* as above, without validation. Only for unchanged files that popfib
                                     * has written: undefined for others */

/* Opens an image and validates every byte of it, so that no file can make a lookup read out of bounds. Free it by
 * popfib_image_free(). The command `popfib info FILE` shows where an image is damaged.
 * [any] -EBADMSG: not an image, truncated, or damaged. -ENOTSUP: an image of another major version, or a machine
 * that is big-endian. -ENOENT, -EACCES, -EISDIR and other errors of the file system. */
int popfib_image_open(const char *path, uint32_t mode, popfib_image **image);

/* Like popfib_image_open(), for the `length` bytes at `memory`. Unless the mode is POPFIB_IMAGE_COPY they are used in
 * place, so they may be memory that processes share: `memory` must then be a multiple of 64, stay mapped, and not be
 * written to (undefined) until the image and all of its tables and records are freed.
 * [any] -EINVAL: also a misaligned `memory`. -EBADMSG, -ENOTSUP: as for popfib_image_open(). */
int popfib_image_memory(const void *memory, size_t length, uint32_t mode, popfib_image **image);

/* Frees an image; does nothing for NULL. Its tables and records stay valid.
 * [any] While no other thread is in a function of this image. */
void popfib_image_free(popfib_image *image);

/* The name of a table of an image, from index 0 on: `length` bytes of UTF-8, NOT terminated by 0, valid until the image
 * is freed. Both results may be NULL.
 * [any] -ENOENT: there are not so many. */
int popfib_image_table_name(const popfib_image *image, size_t index, const char **name, size_t *length);

/* Selects, by its name, the table of an image that popfib_image_table() and popfib_image_records() use. Needed only for
 * an image with several tables, such as `popfib compile` makes of several files: until then they return -ENOENT for it.
 * [any] While no other thread is in a function of this image. -ENOENT: there is no table of this name. -EILSEQ: the
 * name is not UTF-8. */
int popfib_image_select(popfib_image *image, const char *name);

/* Makes a table of the image's routes of config->family. It cannot be changed (-EROFS), so any thread may call the
 * other functions at any time. direct_bits must be 0, and allocate and release NULL, because the table is used where
 * the image is. Free it by popfib_free().
 * [any] -ENOENT: the image has none of this family, or several tables and none was selected. -EINVAL, -ENOTSUP,
 * -E2BIG: as for popfib_create(). -ENODATA: an image of prefixes alone (`popfib compile --keep prefixes`), or a size that
 * an image without routes does not have. -ENOMEM: there is no memory for that size. */
int popfib_image_table(const popfib_image *image, const struct popfib_config *config, popfib_table **table);

/* Makes one set of all tables of an image, of the routes of config->family: for lookups each of which is in a table of its
 * own, such as those of a burst of packets of many VRFs. A table has the number by which popfib_image_table_name() knows it;
 * one without routes of this family has no match. The set does not change and needs neither readers nor the image, whose equal
 * parts it has once. direct_bits must be 0, allocate and release NULL, flags 0 or POPFIB_BALANCED. Free it by
 * popfib_table_set_free().
 * [any] While no table of the image is selected. -EINVAL, -ENOTSUP, -E2BIG, -ENOMEM: as for popfib_create(). -ENODATA: an image
 * without routes, of which the tables have no blocks in common. */
int popfib_image_table_set(const popfib_image *image, const struct popfib_config *config, popfib_table_set **set);

/* Frees a set; does nothing for NULL. [any] While no other thread is in a function of this set. */
void popfib_table_set_free(popfib_table_set *set);

/* Looks up `n` addresses, as popfib_lookup_bulk(), each in the table whose number is at the same place of `tables`, and writes
 * the next hops that this table has; 0 if there is no route, or no such table. `tables` must not overlap `next_hops`.
 * [any] As popfib_lookup_bulk(). */
int popfib_lookup_many_bulk(const popfib_table_set *set, const uint32_t *tables, const void *addresses, uint32_t *next_hops, size_t n);

/* ---------------------------------------------------------------- watchers
 *
 * A watcher has the newest image of a file that is published again and again. A thread of its own looks at the file's
 * metadata, and opens it again when it has changed: at once if another takes its place, as rename() does, otherwise when
 * nothing has been written to it for a second. A file that cannot be opened, also one that is gone, leaves the image of
 * before. */

/* Called by the thread of the watcher with what happened to a file. `error` is 0 after a new image has become the newest
 * one, and `text` NULL then; otherwise it is what popfib_image_open() would return, `text` says it with the path, until the
 * function returns, and the same text is not reported again before a success. It must not free the watcher. */
typedef void (*popfib_watch_fn)(void *user, int error, const char *text);

/* Opens an image as popfib_image_open() does, and follows its file. It looks every `interval` milliseconds, 0 for 1000.
 * `tell` may be NULL; it and `user` must stay valid until the watcher is freed. Free it by popfib_watcher_free().
 * [any] As popfib_image_open(). Later errors go to `tell`. */
int popfib_watcher_open(const char *path, uint32_t mode, uint32_t interval, popfib_watch_fn tell, void *user,
                        popfib_watcher **watcher);

/* How often an image has become the newest, from 1 on; 0 for NULL. So a thread that keeps tables and records asks at
 * little cost, one load, whether to make them of a newer image. [any] */
uint64_t popfib_watcher_version(const popfib_watcher *watcher);

/* The newest image, or one that is newer than the version that was asked for before: a handle of the caller's own,
 * without a copy of the content. Free it by popfib_image_free(). It may outlive the watcher.
 * [any] */
int popfib_watcher_image(const popfib_watcher *watcher, popfib_image **image);

/* Opens the file now, whether it has changed or not, without a call of `tell`: when it is known to be new.
 * [any] As popfib_image_open(); the image of before stays. */
int popfib_watcher_reload(const popfib_watcher *watcher);

/* Ends following the file, and waits until `tell` is not called any more; does nothing for NULL. Images stay valid.
 * [any] While no other thread is in a function of this watcher. */
void popfib_watcher_free(popfib_watcher *watcher);

/* ---------------------------------------------------------------- records
 *
 * The next hops of an image's table are the numbers of records, and a record has a value in each of several columns, or
 * none where it is absent. Columns have names, such as `country.iso_code`, and one type each:
 *
 *     popfib_records_column(records, "asn", &asn);                           // once
 *     popfib_lookup_bulk(table, addresses, numbers, n);                      // next hops of 32 bits
 *     popfib_records_int64_bulk(records, asn, numbers, asns, present, n);
 *
 * Both families of a table have the same records. The names that popfib_image_save() was given are records too, of one
 * column of texts called "value". A table of popfib_create() has no records: what its next hops stand for, the program
 * knows. Nor has an image that was saved without names. An image that is saved from the table of another has the names
 * that it is saved with, not the other's records.
 *
 * All functions here are [any]: records never change, and any number of threads may call them at the same time, but
 * nobody while the records are freed. Only popfib_image_records() allocates. A number is one that a lookup in a table
 * of these records returned: number 0, no route, has no values, and numbers above popfib_records_count() are an error. */

/* The type of a column. */
#define POPFIB_TEXT 1u   /* UTF-8, the empty text too */
#define POPFIB_INT64 2u  /* integers of which each fits into an int64_t */
#define POPFIB_UINT64 3u /* integers of which none is negative, and some may not fit */
#define POPFIB_DOUBLE 4u
#define POPFIB_BOOL 5u
#define POPFIB_LIST 16u /* added to another type: lists of such values. A list has a value, or it is absent */

/* The records of the image's table, the only one or that which was selected. Free them by popfib_records_free(); they
 * stay as they are when another table is selected. Names are used where the image is, all other values are copied and
 * validated: O(bytes of records), once.
 * [any] -ENODATA: the image has no records. -ENOENT: it has several tables and none was selected. -EBADMSG: the records
 * are damaged. */
int popfib_image_records(const popfib_image *image, popfib_records **records);

/* Frees records; does nothing for NULL. */
void popfib_records_free(popfib_records *records);

/* The number of records, which is also the highest of their numbers; 0 for NULL. */
uint32_t popfib_records_count(const popfib_records *records);

/* The number of columns, 1 to 4096; 0 for NULL. Columns are numbered from 0 on. */
uint32_t popfib_records_columns(const popfib_records *records);

/* The column of this name, which is UTF-8; for NULL the one that is a record's value if no column is asked for.
 * `column` may be NULL. O(columns).
 * -ENOENT: there is none; popfib_records_column_info() has the names of all. */
int popfib_records_column(const popfib_records *records, const char *name, uint32_t *column);

/* The name of a column: `length` bytes of UTF-8, NOT terminated by 0, valid until the records are freed; and its type.
 * Each of the three may be NULL. O(1).
 * -EINVAL: also a column that is not there, as in all functions below. */
int popfib_records_column_info(const popfib_records *records, uint32_t column, const char **name, size_t *length,
                               uint32_t *type);

/* How many values a record has in a column of any type: the elements of a list, 1 in other columns, 0 if it is absent.
 * `length` may be NULL. O(1). -ERANGE: there is no such record. */
int popfib_records_length(const popfib_records *records, uint32_t column, uint32_t number, size_t *length);

/* A value of a record, by the function for the type of its column. `index` is that of an element in a column of lists,
 * and 0 in other columns. A text has `length` bytes of UTF-8, is NOT terminated by 0, and is valid until the records
 * are freed; a boolean is 0 or 1. Results may be NULL. O(1).
 * -ENOENT: it is absent, or the list has not so many elements. -EDOM: the column has another type. -ERANGE: there is no
 * such record. After an error the results are as they were. */
int popfib_records_text(const popfib_records *records, uint32_t column, uint32_t number, size_t index,
                        const char **text, size_t *length);
int popfib_records_int64(const popfib_records *records, uint32_t column, uint32_t number, size_t index,
                         int64_t *value);
int popfib_records_uint64(const popfib_records *records, uint32_t column, uint32_t number, size_t index,
                          uint64_t *value);
int popfib_records_double(const popfib_records *records, uint32_t column, uint32_t number, size_t index,
                          double *value);
int popfib_records_bool(const popfib_records *records, uint32_t column, uint32_t number, size_t index,
                        uint8_t *value);

/* The values of the `n` records of `numbers` in a column without lists, by the function for its type. `present` is 1
 * for a value that is there, and 0 for one that is absent, whose value is 0. A text that is absent has the pointer NULL
 * and the length 0; the pointer of an empty text is not NULL. No two arrays may overlap; for n = 0 they may be NULL.
 * O(n).
 * -EDOM: the column has another type, or lists. -ERANGE: there is no record of one of the numbers. */
int popfib_records_text_bulk(const popfib_records *records, uint32_t column, const uint32_t *numbers,
                             const char **texts, size_t *lengths, size_t n);
int popfib_records_int64_bulk(const popfib_records *records, uint32_t column, const uint32_t *numbers,
                              int64_t *values, uint8_t *present, size_t n);
int popfib_records_uint64_bulk(const popfib_records *records, uint32_t column, const uint32_t *numbers,
                               uint64_t *values, uint8_t *present, size_t n);
int popfib_records_double_bulk(const popfib_records *records, uint32_t column, const uint32_t *numbers,
                               double *values, uint8_t *present, size_t n);
int popfib_records_bool_bulk(const popfib_records *records, uint32_t column, const uint32_t *numbers,
                             uint8_t *values, uint8_t *present, size_t n);

/* ---------------------------------------------------------------- records of a program's own
 *
 * A record builder collects what an image that is saved has as records: columns, then the values of one record after the
 * other, whose number is the next hop of the routes that lead to it.
 *
 *     popfib_record_builder_column(builder, "asn", &asn);                      // once
 *     popfib_record_builder_set(builder, asn, POPFIB_INT64, &value, 1);        // for each record
 *     popfib_record_builder_finish(builder, &number);
 *     popfib_add(table, prefix, length, number);
 *
 * Its functions are for one thread at a time. Memory comes from malloc(). */

/* The type of a text that gives its column the type that all texts of the column have, as values of a CSV file do: 7 is an
 * integer, 07 is a text. */
#define POPFIB_WRITTEN 6u

/* Makes a builder without columns. Free it by popfib_record_builder_free(). */
int popfib_record_builder_create(popfib_record_builder **builder);

/* Frees a builder; does nothing for NULL. */
void popfib_record_builder_free(popfib_record_builder *builder);

/* The index of the column of this name, which is new if there was none; the first is the value of a record. `column` may be
 * NULL. -EILSEQ: the name is not UTF-8. -ENOSPC: it would be the 4097th. */
int popfib_record_builder_column(popfib_record_builder *builder, const char *name, uint32_t *column);

/* Sets the value of the record at hand in a column: an array of `n` values of the type, texts as `const char *`. `n` is 1, or
 * with POPFIB_LIST the number of elements; with 0, for which `values` may be NULL, nothing is set, and a value that is not
 * set is absent. Elements of lists are texts or integers: a list of others becomes one of texts. A column with values of
 * several types becomes one of texts.
 * -EINVAL: also an unknown type, or a column that is not there. -EILSEQ: a text is not UTF-8. */
int popfib_record_builder_set(popfib_record_builder *builder, uint32_t column, uint32_t type, const void *values, size_t n);

/* Ends the record at hand. `number`, which may be NULL, becomes that of an equal record, or else the next, from 1 on. */
int popfib_record_builder_finish(popfib_record_builder *builder, uint32_t *number);

/* ---------------------------------------------------------------- the library */

/* The names of the kernels that this CPU can run, from index 0 on; NULL after the last. Do not free
 * them. [any] */
const char *popfib_kernel_list(size_t index);

/* The kernel that a table's bulk lookups use; NULL for NULL. [any] */
const char *popfib_kernel(const popfib_table *table);

/* The kernel of a reader, that of its table; NULL for NULL. [reader] */
const char *popfib_reader_kernel(const popfib_reader *reader);

/* The version of the library, "MAJOR.MINOR.PATCH". Do not free it. [any] */
const char *popfib_version(void);

/* A line of text for the last error that a function returned to this thread: with the number, limit or name that it is about
 * where there is one, otherwise as popfib_strerror() has it; empty before the first. Never NULL; it is there until the next
 * error of this thread; do not free it. [any] */
const char *popfib_error(void);

/* A line of text for an error, positive or negative. Never NULL; do not free it. [any] */
const char *popfib_strerror(int error);

#ifdef __cplusplus
}
#endif

#endif
