/* Watchers of an image that is published, broken, removed and published again: a part of the program `api`. */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "api.h"

/* Atomics that C and C++ have in common. */
#define LOAD(place) __atomic_load_n(place, __ATOMIC_SEQ_CST)
#define STORE(place, value) __atomic_store_n(place, value, __ATOMIC_SEQ_CST)

static char path[4096], next[4096];

/* What a watcher has told: how often of a new image and of an error, and the last error with its text. */
static struct {
    int images, errors, error;
    char text[4096];
} told;

static void tell(void *user, int error, const char *text)
{
    CHECK(user == &told && (error == 0) == (text == NULL));
    if (error == 0) {
        STORE(&told.images, told.images + 1);
        return;
    }
    snprintf(told.text, sizeof told.text, "%s", text);
    STORE(&told.error, error);
    STORE(&told.errors, told.errors + 1);
}

static void wait_for(long milliseconds)
{
    const struct timespec time = {0, milliseconds * 1000000};
    nanosleep(&time, NULL);
}

static void until(const int *count, int is)
{
    for (int at = 0; at < 20000 && LOAD(count) < is; at++)
        wait_for(1);
    CHECK(LOAD(count) == is);
}

/* Puts an image in whose every route leads to `next_hop` in the place of what is there. */
static void publish(uint32_t next_hop)
{
    struct popfib_config config = POPFIB_CONFIG_INIT(POPFIB_IPV4);
    const uint8_t net[2][4] = {{0}, {10, 0, 0, 0}};
    popfib_table *table;
    RETURNS(0, popfib_create(&config, &table));
    RETURNS(0, popfib_add(table, net[0], 0, next_hop));
    RETURNS(0, popfib_add(table, net[1], 8, next_hop));
    RETURNS(0, popfib_image_save(path, NULL, table, NULL));
    popfib_free(table);
}

static void publish_text(const char *text)
{
    FILE *file = fopen(next, "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0 && rename(next, path) == 0);
}

/* The next hop that both routes of the newest image lead to. */
static uint32_t newest(const popfib_watcher *watcher)
{
    struct popfib_config config = POPFIB_CONFIG_INIT(POPFIB_IPV4);
    const uint8_t addresses[2][4] = {{9, 1, 2, 3}, {10, 1, 2, 3}};
    uint32_t next_hops[2];
    popfib_image *image;
    popfib_table *table;
    RETURNS(0, popfib_watcher_image(watcher, &image));
    RETURNS(0, popfib_image_table(image, &config, &table));
    popfib_image_free(image);
    RETURNS(0, popfib_lookup_bulk(table, addresses, next_hops, 2));
    CHECK(next_hops[0] == next_hops[1]);
    popfib_free(table);
    return next_hops[0];
}

static int is_over;

static void *read_on(void *watcher)
{
    for (uint32_t before = 0; !LOAD(&is_over);) {
        const uint64_t version = popfib_watcher_version((popfib_watcher *)watcher);
        const uint32_t now = newest((popfib_watcher *)watcher);
        CHECK(now >= before && now >= version);
        before = now;
    }
    return NULL;
}

void test_watchers(const char *dir)
{
    popfib_watcher *watcher;
    popfib_image *image;
    pthread_t readers[3];
    snprintf(path, sizeof path, "%s/watched.fib", dir);
    snprintf(next, sizeof next, "%s/watched.next", dir);
    RETURNS(-ENOENT, popfib_watcher_open(path, POPFIB_IMAGE_COPY, 1, tell, &told, &watcher));
    CHECK(watcher == NULL);
    publish(1);
    RETURNS(-EINVAL, popfib_watcher_open(NULL, POPFIB_IMAGE_COPY, 1, tell, &told, &watcher));
    RETURNS(-EINVAL, popfib_watcher_open(path, 3, 1, tell, &told, &watcher));
    RETURNS(-EINVAL, popfib_watcher_open(path, POPFIB_IMAGE_COPY, 1, tell, &told, NULL));
    RETURNS(-EINVAL, popfib_watcher_image(NULL, &image));
    RETURNS(-EINVAL, popfib_watcher_reload(NULL));
    CHECK(popfib_watcher_version(NULL) == 0);
    popfib_watcher_free(NULL);

    RETURNS(0, popfib_watcher_open(path, POPFIB_IMAGE_MAP, 1, tell, &told, &watcher));
    RETURNS(-EINVAL, popfib_watcher_image(watcher, NULL));
    CHECK(popfib_watcher_version(watcher) == 1 && newest(watcher) == 1);
    CHECK(unlink(path) == 0);
    until(&told.errors, 1);
    CHECK(LOAD(&told.error) == -ENOENT && strstr(told.text, path) != NULL);
    publish_text("10.0.0.0/8 x\n");
    until(&told.errors, 2);
    CHECK(LOAD(&told.error) == -EBADMSG && strstr(told.text, path) != NULL);
    publish_text("10.0.0.0/8 y\n");
    wait_for(50);
    RETURNS(-EBADMSG, popfib_watcher_reload(watcher));
    CHECK(LOAD(&told.errors) == 2 && LOAD(&told.images) == 0);
    CHECK(popfib_watcher_version(watcher) == 1 && newest(watcher) == 1);

    for (int at = 0; at < 3; at++)
        CHECK(pthread_create(&readers[at], NULL, read_on, watcher) == 0);
    for (uint32_t at = 1; at <= 20; at++) {
        publish(at + 1);
        until(&told.images, (int)at);
        CHECK(popfib_watcher_version(watcher) == at + 1 && newest(watcher) == at + 1);
    }
    STORE(&is_over, 1);
    for (int at = 0; at < 3; at++)
        CHECK(pthread_join(readers[at], NULL) == 0);
    RETURNS(0, popfib_watcher_reload(watcher));
    CHECK(popfib_watcher_version(watcher) == 22 && LOAD(&told.images) == 20);
    RETURNS(0, popfib_watcher_image(watcher, &image));
    popfib_watcher_free(watcher);
    popfib_image_free(image);

    /* Nobody is told. */
    RETURNS(0, popfib_watcher_open(path, POPFIB_IMAGE_COPY, 0, NULL, NULL, &watcher));
    popfib_watcher_free(watcher);
}
