/* Walks, and changes that their callbacks try: a part of the program `api`. */
#include "api.h"

struct walk {
    popfib_table *table;
    size_t width;
    int met, first, stop_at;
};

static int on_route(void *user, const uint8_t *prefix, uint8_t length, uint32_t next_hop)
{
    struct walk *walk = (struct walk *)user;
    const struct route *route = &ROUTES[walk->first + walk->met];
    CHECK(memcmp(prefix, route->prefix, walk->width) == 0);
    CHECK(length == route->length && next_hop == route->next_hop);
    /* Asking is fine, changing is not. */
    RETURNS(0, popfib_get(walk->table, prefix, length, NULL));
    RETURNS(-EBUSY, popfib_add(walk->table, prefix, length, 1));
    walk->met++;
    return walk->met == walk->stop_at ? 42 : 0;
}

int refuse(void *user, const uint8_t *prefix, uint8_t length, uint32_t next_hop)
{
    (void)user, (void)prefix, (void)length, (void)next_hop;
    return -1;
}

void test_walks(popfib_table *table)
{
    const size_t width = popfib_family(table) == POPFIB_IPV4 ? 4 : 16;
    struct walk walk = {table, width, 0, 0, 0};
    RETURNS(0, popfib_walk(table, on_route, &walk));
    CHECK(walk.met == COUNT);
    walk.met = 0, walk.stop_at = 3;
    RETURNS(42, popfib_walk(table, on_route, &walk));
    CHECK(walk.met == 3);
    RETURNS(-1, popfib_walk(table, refuse, NULL));

    walk.met = 0, walk.stop_at = 0;
    RETURNS(0, popfib_walk_covering(table, HOST, 32, on_route, &walk));
    CHECK(walk.met == 5);
    walk.met = 0, walk.stop_at = 2;
    RETURNS(42, popfib_walk_covering(table, HOST, 32, on_route, &walk));
    CHECK(walk.met == 2);
    walk.met = 0, walk.stop_at = 0;
    RETURNS(0, popfib_walk_covering(table, ELSEWHERE, (uint8_t)(8 * width), on_route, &walk));
    CHECK(walk.met == 1);

    walk.met = 0, walk.first = 1;
    RETURNS(0, popfib_walk_covered(table, ROUTES[1].prefix, 8, on_route, &walk));
    CHECK(walk.met == 5);
    walk.met = 0, walk.stop_at = 4;
    RETURNS(42, popfib_walk_covered(table, ROUTES[1].prefix, 8, on_route, &walk));
    walk.met = 0, walk.first = 0, walk.stop_at = 0;
    RETURNS(0, popfib_walk_covered(table, ROUTES[0].prefix, 0, on_route, &walk));
    CHECK(walk.met == COUNT);
    walk.met = 0;
    RETURNS(0, popfib_walk_covered(table, ELSEWHERE, 16, on_route, &walk));
    CHECK(walk.met == 0);

    RETURNS(-EINVAL, popfib_walk(NULL, on_route, &walk));
    RETURNS(-EINVAL, popfib_walk(table, NULL, &walk));
    RETURNS(-EINVAL, popfib_walk_covering(NULL, HOST, 32, on_route, &walk));
    RETURNS(-EINVAL, popfib_walk_covering(table, NULL, 32, on_route, &walk));
    RETURNS(-EINVAL, popfib_walk_covering(table, HOST, 8, on_route, &walk));
    RETURNS(-EINVAL, popfib_walk_covering(table, HOST, 32, NULL, &walk));
    RETURNS(-EINVAL, popfib_walk_covered(NULL, HOST, 32, on_route, &walk));
    RETURNS(-EINVAL, popfib_walk_covered(table, NULL, 32, on_route, &walk));
    RETURNS(-EINVAL, popfib_walk_covered(table, HOST, 129, on_route, &walk));
    RETURNS(-EINVAL, popfib_walk_covered(table, HOST, 32, NULL, &walk));
}

/* A callback that changes the table is refused, whether it walks one or two deep. */
static int change(void *user, const uint8_t *prefix, uint8_t length, uint32_t next_hop)
{
    popfib_table *table = (popfib_table *)user;
    RETURNS(-EBUSY, popfib_add(table, prefix, length, next_hop + 1));
    RETURNS(-EBUSY, popfib_delete(table, prefix, length));
    RETURNS(-EBUSY, popfib_reclaim(table));
    RETURNS(-1, popfib_walk(table, refuse, NULL));
    RETURNS(-EBUSY, popfib_delete(table, prefix, length));
    return 0;
}

void test_changes_in_walks(void)
{
    popfib_table *table = filled(POPFIB_IPV4, 0);
    RETURNS(0, popfib_walk(table, change, table));
    RETURNS(0, popfib_delete(table, HOST, 32));
    popfib_free(table);
}
