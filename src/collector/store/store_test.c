#include "collector/store/store.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/store/rollup_cover.h"
#include "collector/store/segment.h"
#include "collector/libraries/sqlite_library.h"
#include "collector/store/store_reader.h"

#include "unit_test.h"

#define DAY_MS ((int64_t)24 * 3600 * 1000)
#define START_MS (20000 * DAY_MS)

static char folder[64];
static char log_text[8192];

static unsigned segment_syncs;

/* The C library's, counted for segments. */
int fdatasync(int descriptor) /* NOLINT(readability-inconsistent-declaration-parameter-name) */
{
    char link[64];
    char name[256];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
    ssize_t size = readlink(link, name, sizeof(name));
    segment_syncs += size > 0 && text_ends_with((struct text_view){name, (size_t)size}, TEXT(".segment"));
    return (int)syscall(SYS_fdatasync, descriptor);
}

static void log_line(void *context, const char *text)
{
    size_t used = strlen(log_text);
    snprintf(log_text + used, sizeof(log_text) - used, "%s\n", text);
}

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    CHECK_INT(system(command), 0); /* NOLINT(cert-env33-c): a name of mkdtemp() */
}

static struct store_options make_options(void)
{
    struct error error = {0};
    if (folder[0] == '\0') {
        /* In memory, where thousands of syncs take no time. */
        snprintf(folder, sizeof(folder), "%s/store_test_XXXXXX",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        CHECK(mkdtemp(folder) != NULL);
        CHECK_OK(error, sqlite_library_load(&error));
    }
    return (struct store_options){
        .folder = folder, .segment_bytes = 1 << 20, .segment_age_ms = DAY_MS / 4, .log = log_line};
}

static struct store *open_store(const struct store_options *options)
{
    struct error error = {0};
    struct store *store = store_open(options, &error);
    CHECK_TEXT(error.message, "");
    CHECK(store != NULL);
    return store;
}

/* The recording's number. */
static uint64_t add(struct store *store, const char *group, uint64_t sequence, const char *body,
                    int64_t now_ms, enum store_result expected)
{
    struct error error = {0};
    struct stored_recording recording = {
        .application = "app", .executor = "1", .kind = "folded", .sequence = sequence};
    struct store_item item = {&recording, text_of(body), STORE_FAILED};
    snprintf(recording.group, sizeof(recording.group), "%s", group);
    store_add(store, &item, 1, now_ms, &error);
    CHECK_TEXT(error.message, "");
    CHECK_INT(item.result, expected);
    return recording.number;
}

struct sequences {
    char text[512];
};

static bool note(void *context, const struct stored_recording *recording)
{
    struct sequences *sequences = context;
    size_t used = strlen(sequences->text);
    snprintf(sequences->text + used, sizeof(sequences->text) - used, "%s%llu ", recording->group,
             (unsigned long long)recording->sequence);
    return true;
}

/* "a0 a1 b0 ": what the index has, by number. */
static const char *list(void)
{
    static struct sequences sequences;
    const struct recording_query all = {.from_ms = INT64_MIN, .to_ms = INT64_MAX, .limit = 1000};
    struct error error = {0};
    sequences.text[0] = '\0';
    struct store_reader *reader = store_reader_open(folder, &error);
    CHECK(reader != NULL);
    CHECK_OK(error, recording_index_each(store_reader_lock(reader), &all, note, &sequences, &error));
    store_reader_unlock(reader);
    store_reader_close(reader);
    return sequences.text;
}

TEST(a_batch_is_stored_and_found_again)
{
    struct store_options options = make_options();
    struct store *store = open_store(&options);
    CHECK_INT(add(store, "a", 0, "one", START_MS, STORE_NEW), 1);
    CHECK_INT(add(store, "a", 0, "one", START_MS, STORE_KNOWN), 1);
    add(store, "a", 0, "two", START_MS, STORE_CONFLICT);
    CHECK_INT(add(store, "b", 0, "two", START_MS, STORE_NEW), 2);
    store_close(store);
    store = open_store(&options);
    CHECK_TEXT(list(), "a0 b0 ");
    CHECK_INT(add(store, "a", 1, "three", START_MS, STORE_NEW), 3);
    store_close(store);
    CHECK_TEXT(log_text, "");
    remove_folder();
}

TEST(a_batch_of_many_groups)
{
    enum { GROUPS = 100 };
    struct store_options options = make_options();
    struct store *store = open_store(&options);
    struct error error = {0};
    struct stored_recording recordings[GROUPS];
    struct store_item items[GROUPS];
    for (unsigned i = 0; i < GROUPS; i++) {
        recordings[i] = (struct stored_recording){.application = "app", .executor = "1", .kind = "folded"};
        snprintf(recordings[i].group, sizeof(recordings[i].group), "group%u", i);
        items[i] = (struct store_item){&recordings[i], TEXT("x"), STORE_FAILED};
    }
    store_add(store, items, GROUPS, START_MS, &error);
    CHECK_TEXT(error.message, "");
    for (unsigned i = 0; i < GROUPS; i++)
        CHECK_INT(items[i].result, STORE_NEW);
    store_close(store);
    remove_folder();
}

/* A process that was killed may have written them without a sync. */
TEST(what_comes_into_the_index_is_synced)
{
    struct store_options options = make_options();
    struct store_check check;
    struct error error = {0};
    char index[128];
    snprintf(index, sizeof(index), "%s/" STORE_INDEX_NAME, folder);
    struct store *store = open_store(&options);
    add(store, "a", 0, "x", START_MS, STORE_NEW);
    store_close(store);
    recording_index_remove(index);
    segment_syncs = 0;
    store_close(open_store(&options));
    CHECK_INT(segment_syncs, 1);
    recording_index_remove(index);
    segment_syncs = 0;
    CHECK_OK(error, store_verify(&options, &check, &error));
    CHECK(check.index_differed);
    CHECK_INT(segment_syncs, 1);
    remove_folder();
}

TEST(one_key_twice_in_a_batch_is_stored_once)
{
    struct store_options options = make_options();
    struct store *store = open_store(&options);
    struct error error = {0};
    struct stored_recording recordings[3];
    struct store_item items[3];
    for (size_t i = 0; i < 3; i++) {
        recordings[i] = (struct stored_recording){
            .group = "a", .application = "app", .executor = "1", .kind = "folded", .sequence = 7};
        items[i] = (struct store_item){&recordings[i], text_of(i < 2 ? "one" : "two"), STORE_FAILED};
    }
    store_add(store, items, 3, START_MS, &error);
    CHECK_INT(items[0].result, STORE_NEW);
    CHECK_INT(items[1].result, STORE_KNOWN);
    CHECK_INT(items[2].result, STORE_CONFLICT);
    CHECK_TEXT(list(), "a7 ");
    store_close(store);
    remove_folder();
}

static void copy_prefix(const char *from, const char *to, size_t size)
{
    char bytes[4096];
    int source = open(from, O_RDONLY | O_CLOEXEC);
    int target = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ssize_t got = read(source, bytes, size);
    CHECK(got == (ssize_t)size);
    CHECK(write(target, bytes, size) == (ssize_t)size);
    close(source);
    close(target);
}

TEST(a_segment_that_is_cut_anywhere_keeps_its_whole_records)
{
    struct store_options options = make_options();
    struct store *store = open_store(&options);
    struct error error = {0};
    char path[128];
    char index[128];
    char saved[128];
    struct stat status;
    snprintf(path, sizeof(path), "%s/segments/0000000001.segment", folder);
    snprintf(index, sizeof(index), "%s/" STORE_INDEX_NAME, folder);
    snprintf(saved, sizeof(saved), "%s/saved", folder);
    add(store, "a", 0, "first body", START_MS, STORE_NEW);
    CHECK_INT(stat(path, &status), 0);
    size_t first_end = (size_t)status.st_size;
    add(store, "a", 1, "second body", START_MS, STORE_NEW);
    store_close(store);
    CHECK_INT(stat(path, &status), 0);
    size_t end = (size_t)status.st_size;
    copy_prefix(path, saved, end);
    for (size_t cut = 0; cut <= end; cut++) {
        struct store_check check;
        copy_prefix(saved, path, cut);
        recording_index_remove(index);
        store = open_store(&options);
        CHECK_TEXT(list(), cut == end ? "a0 a1 " : cut >= first_end ? "a0 " : "");
        store_close(store);
        CHECK_OK(error, store_verify(&options, &check, &error));
        CHECK(!check.index_differed);
        CHECK_INT(check.missing, 0);
        CHECK_INT(check.damaged, 0);
    }
    remove_folder();
}

TEST(old_segments_are_deleted)
{
    struct store_options options = make_options();
    struct error error = {0};
    options.max_age_ms = 2 * DAY_MS;
    struct store *store = open_store(&options);
    add(store, "a", 0, "x", START_MS, STORE_NEW);
    add(store, "b", 0, "x", START_MS, STORE_NEW);
    add(store, "a", 1, "x", START_MS + DAY_MS, STORE_NEW);
    add(store, "a", 2, "x", START_MS + 2 * DAY_MS, STORE_NEW);
    CHECK_OK(error, store_expire(store, START_MS + 2 * DAY_MS, true, &error));
    CHECK_TEXT(list(), "a0 b0 a1 a2 ");
    CHECK_OK(error, store_expire(store, START_MS + 2 * DAY_MS + 1, true, &error));
    CHECK_TEXT(list(), "a1 a2 ");
    CHECK_OK(error, store_expire(store, START_MS + 9 * DAY_MS, true, &error));
    CHECK_TEXT(list(), "");
    /* The segment that was written to is gone too; the next one is another. */
    add(store, "a", 3, "x", START_MS + 9 * DAY_MS, STORE_NEW);
    CHECK_TEXT(list(), "a3 ");
    store_close(store);
    store = open_store(&options);
    CHECK_TEXT(list(), "a3 ");
    store_close(store);
    remove_folder();
}

TEST(a_clock_that_is_set_back_loses_nothing)
{
    struct store_options options = make_options();
    struct error error = {0};
    options.max_age_ms = 2 * DAY_MS;
    struct store *store = open_store(&options);
    add(store, "a", 0, "x", START_MS, STORE_NEW);
    add(store, "a", 1, "x", START_MS - 300 * DAY_MS, STORE_NEW);
    CHECK_OK(error, store_expire(store, START_MS - 300 * DAY_MS, true, &error));
    store_close(store);
    store = open_store(&options);
    add(store, "a", 2, "x", START_MS, STORE_NEW);
    CHECK_OK(error, store_expire(store, START_MS, true, &error));
    CHECK_TEXT(list(), "a0 a1 a2 ");
    store_close(store);
    remove_folder();
}

TEST(a_clock_that_was_behind_makes_nothing_old)
{
    struct store_options options = make_options();
    struct error error = {0};
    options.max_age_ms = 2 * DAY_MS;
    struct store *store = open_store(&options);
    add(store, "a", 0, "x", START_MS, STORE_NEW);
    store_close(store);
    store = open_store(&options);
    add(store, "b", 0, "x", START_MS - 300 * DAY_MS, STORE_NEW);
    CHECK_OK(error, store_expire(store, START_MS + DAY_MS, true, &error));
    CHECK_TEXT(list(), "a0 b0 ");
    CHECK_TEXT(log_text, "");
    CHECK_OK(error, store_expire(store, START_MS + 9 * DAY_MS, false, &error));
    CHECK_TEXT(list(), "a0 b0 ");
    CHECK(strstr(log_text, "the newest recording is 9 days old") != NULL);
    store_close(store);
    remove_folder();
}

TEST(the_oldest_segments_of_a_large_group_are_deleted)
{
    struct store_options options = make_options();
    struct error error = {0};
    options.segment_bytes = 200; /* each recording has a segment of its own */
    options.group_bytes = 1000;
    struct store *store = open_store(&options);
    for (uint64_t i = 0; i < 8; i++)
        add(store, "a", i, "0123456789", START_MS, STORE_NEW);
    add(store, "b", 0, "x", START_MS, STORE_NEW);
    CHECK_OK(error, store_expire(store, START_MS, true, &error));
    CHECK_TEXT(list(), "a5 a6 a7 b0 ");
    store_close(store);
    remove_folder();
}

static void find_limits(void *context, const char *group, uint64_t *group_bytes, int64_t *max_age_ms)
{
    if (strcmp(group, "small") == 0)
        *group_bytes = *(const uint64_t *)context;
    if (strcmp(group, "short") == 0)
        *max_age_ms = DAY_MS;
}

TEST(each_group_has_limits_of_its_own)
{
    struct store_options options = make_options();
    struct error error = {0};
    uint64_t small_bytes = 1000;
    options.max_age_ms = 3 * DAY_MS;
    options.limits = find_limits;
    options.limits_context = &small_bytes;
    struct store *store = open_store(&options);
    for (uint64_t i = 0; i < 8; i++)
        add(store, "small", i, "0123456789", START_MS, STORE_NEW);
    for (uint64_t i = 0; i < 8; i++)
        add(store, "large", i, "0123456789", START_MS, STORE_NEW);
    add(store, "short", 0, "x", START_MS, STORE_NEW);
    CHECK_OK(error, store_expire(store, START_MS, true, &error));
    CHECK_TEXT(list(),
               "small5 small6 small7 large0 large1 large2 large3 large4 large5 large6 large7 short0 ");
    small_bytes = 0; /* no limit any more */
    add(store, "small", 8, "0123456789", START_MS + 2 * DAY_MS, STORE_NEW);
    CHECK_OK(error, store_expire(store, START_MS + 2 * DAY_MS, true, &error));
    CHECK_TEXT(list(),
               "small5 small6 small7 large0 large1 large2 large3 large4 large5 large6 large7 small8 ");
    store_close(store);
    remove_folder();
}

TEST(many_groups_in_turn)
{
    struct store_options options = make_options();
    struct store *store = open_store(&options);
    char group[32];
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < 300; i++) { /* more than stay open */
            snprintf(group, sizeof(group), "group%u", i);
            add(store, group, round, "x", START_MS, STORE_NEW);
        }
    }
    store_close(store);
    remove_folder();
}

TEST(what_is_numbered_by_its_content_may_be_compressed_in_another_way)
{
    struct error error = {0};
    struct store_options options = make_options();
    struct store *store = open_store(&options);
    add(store, "a", 7, "compressed", START_MS, STORE_NEW);
    add(store, "a", 7, "compressed by another release", START_MS, STORE_CONFLICT);
    struct stored_recording recording = {.group = "a",
                                         .application = "app",
                                         .executor = "1",
                                         .kind = "folded",
                                         .sequence = 7,
                                         .is_numbered_by_content = true};
    struct store_item item = {&recording, TEXT("compressed by another release"), STORE_FAILED};
    store_add(store, &item, 1, START_MS, &error);
    CHECK_INT(item.result, STORE_KNOWN);
    store_close(store);
    CHECK_TEXT(list(), "a7 ");
    remove_folder();
}

/* ---- roll-ups ---- */

static struct recording_index *open_index_to_write(void)
{
    char path[128];
    bool is_damaged;
    struct error error = {0};
    snprintf(path, sizeof(path), "%s/%s", folder, STORE_INDEX_NAME);
    struct recording_index *index = recording_index_open(path, &is_damaged, &error);
    CHECK_TEXT(error.message, "");
    return index;
}

TEST(times_become_numbers)
{
    struct error error = {0};
    struct store_options options = make_options();
    struct store *store = open_store(&options);
    for (uint64_t i = 0; i < 20; i++)
        add(store, i % 3 == 0 ? "a" : "b", i, "x", START_MS + (int64_t)(i / 2) * 100, STORE_NEW);
    store_close(store);
    struct recording_index *index = open_index_to_write();
    uint64_t number;
    struct recording_span range;
    CHECK_OK(error, recording_index_first_since(index, START_MS - 5, &number, &error));
    CHECK_INT(number, 1);
    for (uint64_t i = 0; i < 10; i++) {
        CHECK_OK(error, recording_index_first_since(index, START_MS + (int64_t)i * 100, &number, &error));
        CHECK_INT(number, 2 * i + 1);
        CHECK_OK(error, recording_index_first_since(index, START_MS + (int64_t)i * 100 + 1, &number, &error));
        CHECK_INT(number, 2 * i + 3);
    }
    CHECK_OK(error, recording_index_range(index, "a", 1, 100, 100, &range, &error));
    CHECK(range.recordings == 7 && range.first == 1 && range.last == 19 && range.first_ms == START_MS);
    CHECK_OK(error, recording_index_range(index, "a", 2, 100, 3, &range, &error));
    CHECK(range.recordings == 3 && range.first == 4 && range.last == 10);
    CHECK_OK(error, recording_index_range(index, "c", 1, 100, 100, &range, &error));
    CHECK(range.recordings == 0 && range.first == 0 && range.last == 0);
    recording_index_close(index);
    remove_folder();
}

/* "5-9 R2, 10-19": what a cover takes. */
static const char *cover_of(struct recording_index *index, uint64_t from, uint64_t before)
{
    static char text[512];
    size_t used = 0;
    struct error error = {0};
    struct rollup_cover cover;
    CHECK_OK(error, rollup_cover_make(&cover, index, "a", from, before, true, &error));
    text[0] = '\0';
    for (size_t i = 0; i < cover.count; i++) {
        const struct rollup_span *span = &cover.spans[i];
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%llu-%llu", i == 0 ? "" : ", ",
                                 (unsigned long long)span->from, (unsigned long long)span->before - 1);
        if (span->rollup != 0)
            used += (size_t)snprintf(text + used, sizeof(text) - used, " R%llu",
                                     (unsigned long long)span->rollup);
    }
    rollup_cover_release(&cover);
    return text;
}

TEST(roll_ups_that_are_taken_do_not_overlap)
{
    static const struct stored_rollup rollups[] = {
        {"a", ROLLUP_1_MIN, 1, 10, 19},  {"a", ROLLUP_1_MIN, 2, 20, 29}, {"a", ROLLUP_5_MIN, 3, 10, 39},
        {"a", ROLLUP_1_MIN, 4, 50, 59},  {"a", ROLLUP_1_MIN, 5, 55, 70}, {"b", ROLLUP_1_DAY, 6, 1, 100},
        {"a", ROLLUP_1_HOUR, 7, 90, 99},
    };
    struct error error = {0};
    struct store_options options = make_options();
    store_close(open_store(&options));
    struct recording_index *index = open_index_to_write();
    for (size_t i = 0; i < COUNT_OF(rollups); i++)
        CHECK_OK(error, recording_index_add_rollup(index, &rollups[i], &error));
    CHECK_TEXT(cover_of(index, 1, 100), "1-9, 10-39 R3, 40-49, 50-59 R4, 60-89, 90-99 R7");
    CHECK_TEXT(cover_of(index, 10, 40), "10-39 R3");
    CHECK_TEXT(cover_of(index, 10, 39), "10-19 R1, 20-29 R2, 30-38");
    CHECK_TEXT(cover_of(index, 11, 60), "11-19, 20-29 R2, 30-49, 50-59 R4");
    CHECK_TEXT(cover_of(index, 55, 71), "55-70 R5");
    CHECK_TEXT(cover_of(index, 5, 5), "");
    recording_index_close(index);
    remove_folder();
}
