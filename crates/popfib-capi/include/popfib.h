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
 *   table      The routes of one family, IPv4 or IPv6, and the Poptrie that is compiled from them and
 *              follows every change. Both families use the same functions.
 *   next hop   A number from 1 on that a route leads to; what it stands for is the caller's. In answers
 *              0 is "no route". The highest is 65,535 in a table of 16-bit next hops, else 2^31 - 1.
 *   address    4 bytes (IPv4) or 16 bytes (IPv6) in network order, as they stand in a packet; any
 *              alignment will do. Functions whose names end in _host take them as numbers.
 *   prefix     An address whose bits beyond the length are 0, and the length: 0 to 32, or to 128. Bits that
 *              are set beyond the length are an error (-EINVAL), not cleared.
 *   reader     What a thread needs to look up while another thread changes the table.
 *
 * ERRORS
 *   Functions that return `int` return 0 for success and a negative errno value for failure (walks may
 *   return the callback's value as well); popfib_strerror() has a line of text for each. Nothing has
 *   changed after a failure (but for popfib_apply()), and where a function makes a handle, the handle is NULL.
 *     -EINVAL          an argument that makes no sense: NULL where something must be, a prefix too long or
 *                      with bits beyond its length, a next hop of 0, an array that is misaligned or
 *                      overlaps the other, a field of a structure out of range
 *     -ENOTRECOVERABLE an error in popfib itself, reported on standard error. A table whose change
 *                      failed so answers lookups still, and its readers do; everything else but
 *                      popfib_free() says the same from then on. Any function that returns `int` may
 *                      return this; it is not repeated below.
 *   The others stand with each function. -ENOMEM means that a table or a reader was refused memory, however
 *   little. Only what images need beside the file's content (names, handles, what is compiled while one is
 *   saved), groups, and the list of changes while popfib_apply() sorts it come from malloc() in any case, and there a refusal
 *   may end the program by abort(), as in Rust programs.
 *   Undefined: pointers that are neither NULL nor valid, handles that were freed, arrays shorter than
 *   the count says, breaking the rules on threads, leaving a callback by longjmp() or a C++ exception.
 *
 * THREADS
 *   Different tables never share anything. For one table:
 *     - Functions marked [writer] change it: no other thread may be in any function of the same
 *       table, except popfib_reader_create() and whatever is done with readers.
 *     - Functions marked [table] only look at it: any number of threads at the same time, while
 *       no thread is in a [writer] function.
 *     - Functions marked [any] may be called at any time from any thread, while the handle lives.
 *     - Functions marked [reader] belong to the thread that uses the reader: one thread at a time for each
 *       reader, whatever the others and the writer do. They neither wait nor lock.
 *   So a program whose table never changes needs no readers, and one whose table changes while other threads
 *   look up gives each of them a reader. A handle may be handed from thread to thread.
 *
 * OWNERSHIP
 *   Who calls ..._create, _open or _image_table owns the handle and frees it once, by the function named
 *   there. Readers may outlive their table (they keep answering from its last state), and tables
 *   from an image their image. Nothing that is passed in is kept: prefixes, addresses, names, structures and
 *   strings are the caller's and can go when the function returns.
 */
#ifndef POPFIB_H
#define POPFIB_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header; popfib_version() has that of the library. Programs built with a header
 * of the same major version (while that is 0: of the same minor version) work with the library. */
#define POPFIB_VERSION_MAJOR 0
#define POPFIB_VERSION_MINOR 1
#define POPFIB_VERSION_PATCH 0

typedef struct popfib_table popfib_table;
typedef struct popfib_reader popfib_reader;
typedef struct popfib_image popfib_image;
typedef struct popfib_groups popfib_groups;
typedef struct popfib_group_reader popfib_group_reader;

/* Families. */
#define POPFIB_IPV4 4u
#define POPFIB_IPV6 6u

/* ---------------------------------------------------------------- tables */

/* Gives `size` bytes that begin at a multiple of `alignment`, a power of two of which the size is a multiple too,
 * so that aligned_alloc() can serve; NULL for "no". What it gives need not be zero. `user` is the configuration's.
 *
 * Alignments are of 128 bytes at most, but for one: on Linux a compiled table of 1 MiB or more, which is one piece
 * of memory, is first asked for with 2 MiB, and the system advised to use huge pages there; if that is refused,
 * with 64 bytes. Misaligned memory is given back and counts as refused.
 *
 * Is called by functions marked "-ENOMEM", in the thread that calls them. It must not call popfib for the same
 * table. As popfib_reader_create() may be called by any thread at any time, so may this, at the same time as from
 * others if readers are made or freed so. */
typedef void *(*popfib_allocate_fn)(void *user, size_t alignment, size_t size);

/* Takes back what popfib_allocate_fn gave for that alignment and size; never NULL. Is called by functions that change
 * or free a table or a reader, in the thread that calls them, also after popfib_free(): the last reader of a table
 * that is gone frees what is left of it. */
typedef void (*popfib_release_fn)(void *user, void *memory, size_t alignment, size_t size);

/* What a table shall be. Fields of later versions will come after these, with 0 for what there was
 * before; `size` tells which version a program was built with. */
struct popfib_config {
    size_t size;            /* sizeof(struct popfib_config) */
    uint32_t family;        /* POPFIB_IPV4 or POPFIB_IPV6 */
    uint32_t next_hop_bits; /* width of the elements that bulk lookups write: 16 or 32; 0 is 32 */
    uint32_t direct_bits;   /* leading bits that one table resolves, 1 to 24; 0 follows the number of
                             * routes, which is best for almost everybody */
    uint32_t flags;         /* POPFIB_KEEP_PREFIXES or 0 */
    const char *kernel;     /* the code of bulk lookups, by a name of popfib_kernel_list(); NULL for the one
                             * that the environment variable POPFIB_KERNEL names, else this CPU's */
    popfib_allocate_fn allocate; /* where all memory of the table and its readers is from and where it */
    popfib_release_fn release;   /* goes back to, the handles' included: both functions, or NULL and NULL for */
    void *user;                  /* malloc(); what they are called with */
};

/* Readers are asked for longest matches too, and those of the table are as fast, whatever changes: the compiled table
 * has the lengths of prefixes, which makes it some tenth larger. next_hop_bits is 32 or 0, and next hops are at most
 * 65,075,261 (IPv4) or 16,647,159 (IPv6). */
#define POPFIB_KEEP_PREFIXES 1u

#define POPFIB_CONFIG_INIT(family) { sizeof(struct popfib_config), (family), 0, 0, 0, NULL, NULL, NULL, NULL }

/* Makes a table without routes. Free it by popfib_free().
 * [any] -EINVAL: also an unknown name of a kernel, or one of allocate and release without the other. -ENOTSUP: this
 * CPU can't run that kernel. -E2BIG: the structure is longer than this version knows and not 0 there. -ENOMEM. */
int popfib_create(const struct popfib_config *config, popfib_table **table);

/* Frees a table, or does nothing for NULL. Its readers go on with the last state.
 * [writer] Not from a callback of a walk of this table. */
void popfib_free(popfib_table *table);

/* Sets the route of a prefix, in place of the one it had. From now on lookups of all readers see
 * it. O(key width / 6), more if there are routes inside the prefix that inherit from it.
 * [writer] -ERANGE: the next hop is too high for the table. -ENOMEM. -ENOSPC: the table is as large as
 * it can be. -EBUSY: called from a callback of a walk. -EROFS: the table is part of an image. */
int popfib_add(popfib_table *table, const uint8_t *prefix, uint8_t length, uint32_t next_hop);

/* Removes the route of exactly this prefix. As fast as popfib_add().
 * [writer] -ENOENT: there is none. -ENOMEM, -ENOSPC: rarely, as routes that it held together come apart.
 * -EBUSY, -EROFS: as for popfib_add(). */
int popfib_delete(popfib_table *table, const uint8_t *prefix, uint8_t length);

/* A change of a route: next_hop 0 removes it. Of the prefix the first 4 bytes count for IPv4. */
struct popfib_change {
    uint8_t prefix[16];
    uint8_t length;
    uint8_t reserved[3]; /* 0 */
    uint32_t next_hop;
};

/* Makes `n` changes that belong together. Of several for one prefix the last counts: a route that is removed and added
 * again is never seen as gone. Lookups see, prefix by prefix, what was before or what is after; to remove a route that
 * is not there changes nothing. Where the changes are a good part of the routes, they are made beside the table in use,
 * which is compiled once at the end: this is how to load a table. O(n log n).
 * [writer] -ERANGE: a next hop is too high for the table; nothing has changed. -ENOMEM, -ENOSPC: some of the changes may
 * have been made, each wholly; what lookups do not see of them yet they see after the next change that succeeds.
 * -EBUSY, -EROFS: as for popfib_add(). */
int popfib_apply(popfib_table *table, const struct popfib_change *changes, size_t n);

/* Frees what was replaced and no reader can see any more. That happens by itself in the course of changes;
 * this does it now, after the last of many.
 * [writer] -EBUSY. */
int popfib_reclaim(popfib_table *table);

/* The next hop of exactly this prefix; `next_hop` may be NULL. O(key width / 6); in an image O(log routes).
 * [table] -ENOENT: there is no such route. -ENODATA: an image without routes. */
int popfib_get(const popfib_table *table, const uint8_t *prefix, uint8_t length, uint32_t *next_hop);

/* The next hop of the longest prefix that holds the address; 0 if there is none, or an argument is NULL.
 * [table] */
uint32_t popfib_lookup(const popfib_table *table, const uint8_t *address);

/* Looks up `n` addresses, which follow each other without gaps (4 or 16 bytes each, network order), into the
 * same places of `next_hops`: an array of `n` uint16_t or uint32_t, as next_hop_bits says, 0 for no
 * route. Much faster than one by one from 64 on. The arrays must not overlap. For n = 0 they may be NULL.
 * [table] */
int popfib_lookup_bulk(const popfib_table *table, const void *addresses, void *next_hops, size_t n);

/* As popfib_lookup_bulk(), of addresses that are numbers in the order of this machine: uint32_t for IPv4,
 * unsigned __int128 (aligned as such, to 16 bytes) for IPv6. Saves the time of turning them.
 * [table] */
int popfib_lookup_bulk_host(const popfib_table *table, const void *addresses, void *next_hops, size_t n);

/* The longest prefix that holds the address (as many bytes as an address), its length, and its next hop;
 * each of the three may be NULL. O(key width / 6), a walk of the routes; see popfib_compile_prefixes() and
 * POPFIB_KEEP_PREFIXES.
 * [table] -ENOENT: there is none. -ENODATA: an image without routes. */
int popfib_longest_match(const popfib_table *table, const uint8_t *address, uint8_t *prefix,
                         uint8_t *length, uint32_t *next_hop);

/* As popfib_longest_match(), of `n` addresses, which follow each other without gaps in network order: the length and the
 * next hop of each into the same places of `lengths` and `next_hops` (which is as popfib_lookup_bulk() says); both are 0
 * for no route. The prefix is the address cut to the length. No two arrays may overlap; for n = 0 they may be NULL.
 * [table] -ENODATA: an image without routes. */
int popfib_longest_match_bulk(const popfib_table *table, const void *addresses, uint8_t *lengths,
                              void *next_hops, size_t n);

/* Compiles a table of prefixes beside that of next hops: popfib_longest_match() is some five times as fast then, and
 * popfib_longest_match_bulk() more than twenty times. For tables that are asked for prefixes while routes stay: it serves
 * until the next change, which gives it back; then, and without it, the routes are walked. Takes the time of compiling a table
 * twice, about as much memory as one, and meanwhile as much as the routes. Other lookups are as fast as before. An image
 * and a table of POPFIB_KEEP_PREFIXES have it already.
 * [writer] -ERANGE: a next hop is above 65,075,261 (IPv4) or 16,647,159 (IPv6), so that there is no room for a length
 * beside it. -ENOMEM. -ENOSPC: it would be too large. -EBUSY: called from a callback of a walk. -ENODATA: an image
 * without routes. */
int popfib_compile_prefixes(popfib_table *table);

/* POPFIB_IPV4 or POPFIB_IPV6; 0 for NULL. [any] */
uint32_t popfib_family(const popfib_table *table);

/* 16 or 32; 0 for NULL. [any] */
uint32_t popfib_next_hop_bits(const popfib_table *table);

/* The number of routes; 0 for NULL. [table] */
size_t popfib_count(const popfib_table *table);

/* Bytes of memory: routes and compiled table, or the whole image. 0 for NULL. [table] */
size_t popfib_bytes(const popfib_table *table);

/* ---------------------------------------------------------------- walks */

/* Called for each route, with what was given to the walk as `user`. The prefix (as many bytes as an address)
 * is there until the function returns. 0 goes on; anything else ends the walk, which then returns it:
 * positive values can't be taken for errors. It may ask the table, but not change it (-EBUSY) nor free it. */
typedef int (*popfib_walk_fn)(void *user, const uint8_t *prefix, uint8_t length, uint32_t next_hop);

/* All routes, by address, a covering prefix before what it covers. O(routes), allocates nothing.
 * [table] Returns 0, or what ended it. -ENODATA: an image without routes. */
int popfib_walk(const popfib_table *table, popfib_walk_fn callback, void *user);

/* The routes that cover the prefix, itself included, the shortest first. O(key width / 6); in an image
 * O(length * log routes).
 * [table] As popfib_walk(). */
int popfib_walk_covering(const popfib_table *table, const uint8_t *prefix, uint8_t length,
                         popfib_walk_fn callback, void *user);

/* The routes inside of the prefix, itself included, in the order of popfib_walk().
 * [table] As popfib_walk(). */
int popfib_walk_covered(const popfib_table *table, const uint8_t *prefix, uint8_t length,
                        popfib_walk_fn callback, void *user);

/* ---------------------------------------------------------------- readers
 *
 * A new reader is offline: each of its lookups is a read-side section of its own, which costs about a
 * nanosecond, and the thread may do what it likes in between. A thread of a data plane goes online and says
 * popfib_reader_quiescent() after each burst, which is cheaper still:
 *
 *     popfib_reader_online(reader);
 *     while ((n = receive(packets)) > 0) {
 *         popfib_reader_lookup_bulk(reader, addresses, next_hops, n);
 *         forward(packets, next_hops, n);
 *         popfib_reader_quiescent(reader);
 *     }
 *     popfib_reader_offline(reader);
 *
 * A reader that is online and neither says so nor goes offline before it sleeps never sees anything wrong,
 * but keeps memory that was replaced from being used again, which then grows with the changes.
 *
 * A lookup beside a change gives the answer from before or after it, never a mixture; a lookup that
 * begins when popfib_add() or popfib_delete() has returned sees the change. */

/* Makes a reader. Free it by popfib_reader_free(). The table may be of an image: code that looks up is then
 * the same.
 * [any] But not while the table is freed. -ENOMEM. */
int popfib_reader_create(const popfib_table *table, popfib_reader **reader);

/* Frees a reader, online or not, or does nothing for NULL. The last of them frees what is left of a
 * table that is gone. [reader] */
void popfib_reader_free(popfib_reader *reader);

/* As popfib_lookup(). [reader] */
uint32_t popfib_reader_lookup(popfib_reader *reader, const uint8_t *address);

/* As popfib_lookup_bulk(). [reader] */
int popfib_reader_lookup_bulk(popfib_reader *reader, const void *addresses, void *next_hops, size_t n);

/* As popfib_lookup_bulk_host(). [reader] */
int popfib_reader_lookup_bulk_host(popfib_reader *reader, const void *addresses, void *next_hops, size_t n);

/* As popfib_longest_match(), as fast as a lookup. [reader]
 * -ENOENT: there is none. -ENOTSUP: a table without POPFIB_KEEP_PREFIXES. -ENODATA: an image without routes. */
int popfib_reader_longest_match(popfib_reader *reader, const uint8_t *address, uint8_t *prefix,
                                uint8_t *length, uint32_t *next_hop);

/* As popfib_longest_match_bulk(), nearly as fast as popfib_reader_lookup_bulk(). [reader]
 * -ENOTSUP, -ENODATA: as for popfib_reader_longest_match(). */
int popfib_reader_longest_match_bulk(popfib_reader *reader, const void *addresses, uint8_t *lengths,
                                     void *next_hops, size_t n);

/* Enters a read-side section that stays open. Does nothing if it is online. [reader] Only -EINVAL, for NULL. */
int popfib_reader_online(popfib_reader *reader);

/* A quiescent state: the lookups so far are done. A load and a store. Does nothing offline. [reader] Only -EINVAL. */
int popfib_reader_quiescent(popfib_reader *reader);

/* Leaves the read-side section, as before the thread sleeps. Does nothing if it is offline. [reader] Only -EINVAL, for NULL. */
int popfib_reader_offline(popfib_reader *reader);

/* ---------------------------------------------------------------- next-hop groups
 *
 * Where many routes share next hops that fail and come back, the next hop of a route is the id of a group, and groups
 * have members with weights. A member that leaves is one change then, however many routes lead to the group:
 *
 *     popfib_reader_lookup_bulk(reader, addresses, ids, n);
 *     popfib_group_reader_select_bulk(groups, ids, hashes, members, n);
 *
 * A flow finds its member by its hash, a number whose upper bits are well mixed. Flows of members that stay move only as
 * far as weights ask for; shares are right to one in sixteen times the number of members. Members are numbers from 1 on.
 * Threads and errors are as for tables: [writer] changes groups, [reader] is of one thread, and readers may outlive the
 * groups. Memory is from malloc(). */

/* Makes an empty set of groups. Free it by popfib_groups_free(). [any] -ENOMEM. */
int popfib_groups_create(popfib_groups **groups);

/* Frees groups, or does nothing for NULL. Their readers go on with the last state. [writer] */
void popfib_groups_free(popfib_groups *groups);

/* Sets the `n` members of a group, new or not, and their weights, all 1 for NULL; a member whose weight is 0 gets no
 * flows. Readers see all of it or nothing of it.
 * [writer] -EINVAL: also a member of 0, no member with a weight, or more than 4,096. -ENOMEM, -ENOSPC. */
int popfib_groups_set(popfib_groups *groups, uint32_t id, const uint32_t *members, const uint32_t *weights, size_t n);

/* Removes a group; routes that lead to it have no member then. [writer] -ENOENT: there is none. -ENOMEM, -ENOSPC. */
int popfib_groups_remove(popfib_groups *groups, uint32_t id);

/* Makes a reader. Free it by popfib_group_reader_free(). [any] But not while the groups are freed. -ENOMEM. */
int popfib_group_reader_create(const popfib_groups *groups, popfib_group_reader **reader);

/* Frees a reader, or does nothing for NULL. [reader] */
void popfib_group_reader_free(popfib_group_reader *reader);

/* The member of a group that a flow with this hash goes to; 0 if there is no such group. [reader] */
uint32_t popfib_group_reader_select(popfib_group_reader *reader, uint32_t id, uint64_t hash);

/* As popfib_group_reader_select(), of `n` flows: their groups and hashes, into the same places of `members`, which must not
 * overlap the others. For n = 0 they may be NULL. [reader] */
int popfib_group_reader_select_bulk(popfib_group_reader *reader, const uint32_t *ids, const uint64_t *hashes,
                                    uint32_t *members, size_t n);

/* ---------------------------------------------------------------- images
 *
 * An image is a file of compiled tables, of either family or both, with their routes and the names of
 * their next hops, that is there as soon as it is mapped. The command `popfib compile` makes images too. */

/* What an image shall hold beside the tables. */
struct popfib_image_config {
    size_t size;              /* sizeof(struct popfib_image_config) */
    uint64_t created;         /* seconds since 1970; 0 if it does not matter */
    const char *source;       /* where the routes come from, UTF-8; NULL for nothing */
    const char *const *names; /* names of the next hops 1, 2, ..., UTF-8; NULL for none */
    uint32_t name_count;      /* how many; all next hops of the tables need one then */
    uint32_t flags;           /* POPFIB_IMAGE_NO_ROUTES or 0 */
};

#define POPFIB_IMAGE_CONFIG_INIT { sizeof(struct popfib_image_config), 0, NULL, NULL, 0, 0 }

/* Leaves out the routes: a fraction of the size, good for lookups only. */
#define POPFIB_IMAGE_NO_ROUTES 1u

/* Saves one or two tables, either of which may be NULL, as an image; without a config (NULL) with routes and
 * nothing else. The file appears as a whole or not at all; one that is mapped meanwhile stays as it was for
 * those who have it.
 * [table] -ERANGE: a next hop without a name. -EILSEQ: text that is not UTF-8. -ENODATA: a table of an image
 * without routes. -E2BIG: as for popfib_create(). -ENOSPC and whatever else the system has against the file. */
int popfib_image_save(const char *path, const struct popfib_image_config *config,
                      const popfib_table *ipv4, const popfib_table *ipv6);

/* How to open an image. */
#define POPFIB_IMAGE_COPY 0u        /* a copy in memory, on huge pages: the fastest lookups */
#define POPFIB_IMAGE_MAP 1u         /* the file itself, shared by all processes. Nobody may write to the file
                                     * (replacing it is fine): undefined */
#define POPFIB_IMAGE_MAP_TRUSTED 2u /* as above and not validated, so at once. For files that popfib has
                                     * written, unchanged: undefined for others */

/* Opens an image and validates every byte of it, so that no file makes a lookup read what it should not. Free it
 * by popfib_image_free(). The command `popfib info --fib FILE` tells where a damaged image is damaged.
 * [any] -EBADMSG: no image, cut off, or damaged. -ENOTSUP: an image of another major version, or a machine
 * that is big-endian. -ENOENT, -EACCES, -EISDIR and whatever else the system has against the file. */
int popfib_image_open(const char *path, uint32_t mode, popfib_image **image);

/* As popfib_image_open(), of the `length` bytes at `memory`. But for POPFIB_IMAGE_COPY they are used where they are, as
 * memory that processes share: `memory` is a multiple of 64 then, and until the image and all of its tables are freed nobody
 * writes there (undefined) and it stays mapped.
 * [any] -EINVAL: also a `memory` that is no such multiple. -EBADMSG, -ENOTSUP: as for popfib_image_open(). */
int popfib_image_memory(const void *memory, size_t length, uint32_t mode, popfib_image **image);

/* Frees an image, or does nothing for NULL. Its tables stay.
 * [any] While no other thread is in a function of this image. */
void popfib_image_free(popfib_image *image);

/* Makes a table of the image's routes of config->family. It can't be changed (-EROFS), so that all that is left
 * can be called by any thread at any time. direct_bits must be 0, and allocate and release NULL: the table is what the
 * image has, and where the image is. Free it by popfib_free().
 * [any] -ENOENT: the image has none of this family. -ERANGE: next hops of 16 bits are too narrow. -EINVAL,
 * -ENOTSUP, -E2BIG: as for popfib_create(). */
int popfib_image_table(const popfib_image *image, const struct popfib_config *config, popfib_table **table);

/* The name of a next hop: `length` bytes of UTF-8, NOT terminated by 0, that stay until the image and all of
 * its tables are freed. Both results may be NULL.
 * [any] -ENOENT: the next hop has no name. -ENODATA: the image has no names. */
int popfib_image_name(const popfib_image *image, uint32_t next_hop, const char **name, size_t *length);

/* ---------------------------------------------------------------- the library */

/* The names of the kernels that this CPU can run, from 0 on; NULL after the last. Never
 * free them. [any] */
const char *popfib_kernel_list(size_t index);

/* The kernel that a table's bulk lookups use; NULL for NULL. [any] */
const char *popfib_kernel(const popfib_table *table);

/* The kernel of a reader, which is that of its table; NULL for NULL. [reader] */
const char *popfib_reader_kernel(const popfib_reader *reader);

/* The version of the library, "MAJOR.MINOR.PATCH". Never free it. [any] */
const char *popfib_version(void);

/* A line of text for an error, whether negative or not; never NULL, never to be freed. [any] */
const char *popfib_strerror(int error);

#ifdef __cplusplus
}
#endif

#endif
