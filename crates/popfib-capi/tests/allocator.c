/*
 * The allocator of a configuration: everything comes from it and goes back to it, with the alignment and size it was
 * asked for; and each of its refusals is -ENOMEM and changes nothing.
 *
 *     allocator CHANGES
 */
#include "check.h"

/* An allocator that keeps book of its pieces, and refuses on demand. */
struct book {
    struct piece {
        void *memory;
        size_t alignment, size;
    } pieces[256];
    size_t count, most;      /* pieces that are out, and the most that were at a time */
    size_t asked, asked_large;
    size_t refuse_at;        /* the number of the request to refuse from now on, beginning with 1; 0 for none */
    size_t highest_alignment; /* beyond which it refuses; 0 for none */
    size_t shift;            /* bytes by which the memory that it gives is misaligned */
};

static void *allocate(void *user, size_t alignment, size_t size)
{
    struct book *book = (struct book *)user;
    CHECK(alignment > 0 && (alignment & (alignment - 1)) == 0 && size > 0 && size % alignment == 0);
    book->asked++;
    book->asked_large += alignment > 4096;
    if (book->refuse_at > 0 && --book->refuse_at == 0)
        return NULL;
    if (book->highest_alignment > 0 && alignment > book->highest_alignment)
        return NULL;
    const size_t least = alignment < sizeof(void *) ? sizeof(void *) : alignment;
    char *memory = (char *)aligned_alloc(least, (size + least - 1) / least * least + (book->shift ? least : 0));
    CHECK(memory != NULL && book->count < sizeof book->pieces / sizeof book->pieces[0]);
    memory += book->shift;
    /* Not zero, so that code which relies on zeros is found out. */
    memset(memory, 0xa5, size);
    const struct piece piece = {memory, alignment, size};
    book->pieces[book->count++] = piece;
    book->most = book->count > book->most ? book->count : book->most;
    return memory;
}

static void release(void *user, void *memory, size_t alignment, size_t size)
{
    struct book *book = (struct book *)user;
    size_t at = 0;
    while (at < book->count && book->pieces[at].memory != memory)
        at++;
    CHECK(at < book->count && book->pieces[at].alignment == alignment && book->pieces[at].size == size);
    book->pieces[at] = book->pieces[--book->count];
    memset(memory, 0x5a, size);
    free((char *)memory - book->shift);
}

static struct popfib_config with(struct book *book, uint32_t family)
{
    struct popfib_config config = POPFIB_CONFIG_INIT(family);
    config.allocate = allocate;
    config.release = release;
    config.user = book;
    return config;
}

/* ---------------------------------------------------------------- a table beside it that is a list */

struct route {
    uint8_t prefix[16];
    uint8_t length;
    uint32_t next_hop;
};
static struct route routes[4096];
static size_t route_count;

static uint32_t random_number(uint32_t below)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32) % below;
}

static int covers(const struct route *route, const uint8_t *address)
{
    for (unsigned bit = 0; bit < route->length; bit++)
        if ((route->prefix[bit / 8] ^ address[bit / 8]) >> (7 - bit % 8) & 1)
            return 0;
    return 1;
}

static uint32_t answer(const uint8_t *address)
{
    const struct route *best = NULL;
    for (size_t at = 0; at < route_count; at++)
        if (covers(&routes[at], address) && (best == NULL || routes[at].length >= best->length))
            best = &routes[at];
    return best == NULL ? 0 : best->next_hop;
}

static size_t find(const struct route *route)
{
    size_t at = 0;
    while (at < route_count && (routes[at].length != route->length || memcmp(routes[at].prefix, route->prefix, 16) != 0))
        at++;
    return at;
}

static int on_route(void *user, const uint8_t *prefix, uint8_t length, uint32_t next_hop)
{
    struct route route = {{0}, length, next_hop};
    const popfib_table *table = *(const popfib_table **)user;
    memcpy(route.prefix, prefix, popfib_family(table) == POPFIB_IPV4 ? 4 : 16);
    const size_t at = find(&route);
    CHECK(at < route_count && routes[at].next_hop == next_hop);
    CHECK(popfib_lookup(table, prefix) == answer(route.prefix));
    return 0;
}

static void check_table(const popfib_table *table, const uint8_t *address)
{
    CHECK(popfib_count(table) == route_count);
    RETURNS(0, popfib_walk(table, on_route, &table));
    CHECK(popfib_lookup(table, address) == answer(address));
}

/* ---------------------------------------------------------------- every refusal */

/* Repeats `call`, with its first request refused, then its second, and so on until it makes no more. Each time it must return
 * -ENOMEM, but the last; `check` follows each refusal. A call may succeed all the same, with less memory: then `content` takes
 * its result back, so that the next request can be refused, or breaks. */
#define REFUSING(book, refused, call, check, content)          \
    do {                                                       \
        for (size_t nth_ = 1;; nth_++) {                       \
            (book)->refuse_at = nth_;                          \
            const int error_ = (call);                         \
            const int was_refused_ = (book)->refuse_at == 0;   \
            (book)->refuse_at = 0;                             \
            if (error_ == 0 && !was_refused_)                  \
                break;                                         \
            (refused)++;                                       \
            if (error_ == 0) {                                 \
                content;                                       \
                continue;                                      \
            }                                                  \
            RETURNS(-ENOMEM, error_);                          \
            check;                                             \
        }                                                      \
    } while (0)

static size_t test_refusals(uint32_t family, size_t changes)
{
    struct book book;
    memset(&book, 0, sizeof book);
    struct popfib_config config = with(&book, family);
    const uint32_t width = family == POPFIB_IPV4 ? 32 : 128;
    popfib_table *table;
    popfib_reader *first, *last;
    size_t refused = 0;

    REFUSING(&book, refused, popfib_create(&config, &table), CHECK(table == NULL && book.count == 0),
             popfib_free(table));
    const size_t made = refused;
    CHECK(made >= 6);
    const size_t before = book.count;
    REFUSING(&book, refused, popfib_reader_create(table, &first), CHECK(first == NULL && book.count >= before),
             popfib_reader_free(first));
    CHECK(refused >= made + 2);
    RETURNS(0, popfib_reader_online(first));
    route_count = 0;
    for (size_t change = 0; change < changes; change++) {
        /* Growing, then shrinking; lengths near each other, so that routes lie below routes. */
        const int is_growing = change < changes / 2;
        struct route route = {{0}, (uint8_t)random_number(width / 2 + 1), 1 + random_number(is_growing ? 300 : 40000)};
        if (route_count > 0 && (!is_growing || random_number(4) == 0)) {
            memcpy(route.prefix, routes[random_number((uint32_t)route_count)].prefix, 16);
            if (random_number(2) == 0)
                route.length = routes[random_number((uint32_t)route_count)].length;
        } else {
            route.prefix[0] = (uint8_t)(10 + random_number(3));
            route.prefix[1] = (uint8_t)random_number(8);
            route.prefix[2] = (uint8_t)random_number(256);
        }
        for (unsigned bit = route.length; bit < 128; bit++)
            route.prefix[bit / 8] &= (uint8_t)~(0x80 >> bit % 8);
        size_t at = find(&route);
        if (!is_growing && random_number(4) != 0 && route_count > 0) {
            if (at == route_count)
                route = routes[at = random_number((uint32_t)route_count)];
            REFUSING(&book, refused, popfib_delete(table, route.prefix, route.length),
                     check_table(table, route.prefix), break);
            routes[at] = routes[--route_count];
        } else {
            REFUSING(&book, refused, popfib_add(table, route.prefix, route.length, route.next_hop),
                     check_table(table, route.prefix), break);
            CHECK(at < sizeof routes / sizeof routes[0]);
            route_count += at == route_count;
            routes[at] = route;
        }
        if (change % 32 == 0)
            REFUSING(&book, refused, popfib_compile_prefixes(table), check_table(table, route.prefix), break);
        uint32_t next_hop = 0;
        RETURNS(answer(route.prefix) == 0 ? -ENOENT : 0,
                popfib_longest_match(table, route.prefix, NULL, NULL, &next_hop));
        CHECK(next_hop == answer(route.prefix));
        CHECK(popfib_lookup(table, route.prefix) == answer(route.prefix));
        CHECK(popfib_reader_lookup(first, route.prefix) == answer(route.prefix));
        RETURNS(0, popfib_reader_quiescent(first));
    }
    check_table(table, routes[0].prefix);
    RETURNS(0, popfib_reclaim(table));
    REFUSING(&book, refused, popfib_reader_create(table, &last), CHECK(last == NULL),
             popfib_reader_free(last));

    /* Readers keep what they need, and the last gives it back. */
    popfib_free(table);
    popfib_reader_free(first);
    CHECK(book.count > 0);
    CHECK(popfib_reader_lookup(last, routes[0].prefix) == answer(routes[0].prefix));
    popfib_reader_free(last);
    CHECK(book.count == 0 && book.most > 6);
    return refused;
}

/* ---------------------------------------------------------------- alignment */

static void test_alignment(void)
{
    const uint8_t net[4] = {10};
    struct book book;
    memset(&book, 0, sizeof book);
    struct popfib_config config = with(&book, POPFIB_IPV4);
    popfib_table *table;
    /* 2^18 entries of 4 bytes are 1 MiB. */
    config.direct_bits = 18;
    for (int is_short = 0; is_short < 2; is_short++) {
        book.highest_alignment = is_short ? 128 : 0;
        book.asked_large = 0;
        RETURNS(0, popfib_create(&config, &table));
        RETURNS(0, popfib_add(table, net, 8, 7));
        CHECK(popfib_lookup(table, net) == 7);
        popfib_free(table);
        CHECK(book.count == 0 && book.asked_large > 0);
    }
    book.shift = 1;
    RETURNS(-ENOMEM, popfib_create(&config, &table));
    CHECK(table == NULL && book.count == 0);
}

/* All that comes from malloc() without an allocator comes from the allocator if there is one, and no more. */
static void test_same_table(void)
{
    struct book book;
    memset(&book, 0, sizeof book);
    struct popfib_config config = with(&book, POPFIB_IPV6), plain = POPFIB_CONFIG_INIT(POPFIB_IPV6);
    popfib_table *own, *heap;
    RETURNS(0, popfib_create(&config, &own));
    RETURNS(0, popfib_create(&plain, &heap));
    const size_t asked = book.asked;
    for (uint32_t at = 0; at < 1000; at++) {
        const uint8_t prefix[16] = {0x20, (uint8_t)(at >> 8), (uint8_t)at};
        RETURNS(0, popfib_add(heap, prefix, 24, 1 + at % 9));
    }
    CHECK(book.asked == asked);
    for (uint32_t at = 0; at < 1000; at++) {
        const uint8_t prefix[16] = {0x20, (uint8_t)(at >> 8), (uint8_t)at};
        RETURNS(0, popfib_add(own, prefix, 24, 1 + at % 9));
    }
    CHECK(book.asked > asked && popfib_bytes(own) == popfib_bytes(heap));
    size_t bytes = 0;
    for (size_t at = 0; at < book.count; at++)
        bytes += book.pieces[at].size;
    /* As many bytes as popfib_bytes() says, and some for handles and lists. */
    CHECK(bytes >= popfib_bytes(own) && bytes < 2 * popfib_bytes(own));
    popfib_free(heap);
    popfib_free(own);
    CHECK(book.count == 0);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    size_t refused = 0;
    for (uint32_t family = POPFIB_IPV4; family <= POPFIB_IPV6; family += 2)
        refused += test_refusals(family, strtoul(argv[1], NULL, 10));
    test_alignment();
    test_same_table();
    printf("allocator: %zu requests refused, everything given back\n", refused);
    return 0;
}
