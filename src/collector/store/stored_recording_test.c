#include "collector/store/stored_recording.h"

#include <stdio.h>

#include "unit_test.h"

TEST(identifiers)
{
    static const char *const good[] = {"a", "application_1_0001", "app-2026.1", "-x", "...a"};
    static const char *const bad[] = {"", ".", "..", "a/b", "a b", "a\n", "\xc3\xa9", "a%"};
    char long_one[RECORDING_ID_BYTES + 2];
    for (size_t i = 0; i < COUNT_OF(good); i++)
        CHECK(recording_id_is_valid(text_of(good[i])));
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        CHECK(!recording_id_is_valid(text_of(bad[i])));
    CHECK(!recording_id_is_valid((struct text_view){"a\0b", 3}));
    memset(long_one, 'a', sizeof(long_one));
    CHECK(recording_id_is_valid((struct text_view){long_one, RECORDING_ID_BYTES}));
    CHECK(!recording_id_is_valid((struct text_view){long_one, RECORDING_ID_BYTES + 1}));
}

TEST(labels)
{
    struct stored_recording recording = {.number = 0};
    struct error error = {0};
    CHECK_OK(error, recording_add_label(&recording, text_of("release=1.2=3"), &error));
    CHECK_OK(error, recording_add_label(&recording, text_of("_a.b=\xc3\xa9"), &error));
    CHECK_TEXT(recording.labels, "release=1.2=3\n_a.b=\xc3\xa9\n");
    CHECK(!recording_add_label(&recording, text_of("release=2"), &error));
    CHECK(!recording_add_label(&recording, text_of("release"), &error));
    CHECK(!recording_add_label(&recording, text_of("b="), &error));
    CHECK(!recording_add_label(&recording, text_of("=b"), &error));
    CHECK(!recording_add_label(&recording, text_of("b=\xc3"), &error));
    CHECK(!recording_add_label(&recording, text_of("b=1\n"), &error));
    CHECK_TEXT(recording.labels, "release=1.2=3\n_a.b=\xc3\xa9\n");
}

TEST(as_many_labels_as_are_allowed_fit)
{
    struct stored_recording recording = {.number = 0};
    char label[RECORDING_LABEL_VALUE_BYTES + 16];
    size_t added = 0;
    for (unsigned i = 0; i < 40; i++) {
        snprintf(label, sizeof(label), "l%u=%0*d", i, 120, 0);
        added += recording_add_label(&recording, text_of(label), NULL);
    }
    CHECK_INT(added, RECORDING_LABELS);
}

TEST(a_description_is_read_as_it_was_written)
{
    struct stored_recording recording = {
        .application = "app", .attempt = "2", .executor = "driver", .kind = "jfr", .sequence = INT64_MAX};
    struct stored_recording found = {.number = 0};
    struct error error = {0};
    struct text_builder meta;
    CHECK_OK(error, recording_add_label(&recording, text_of("a=b=c"), &error));
    CHECK_OK(error, recording_add_label(&recording, text_of("d=e"), &error));
    text_builder_init(&meta, RECORDING_META_BYTES);
    recording_write_meta(&recording, &meta);
    CHECK_OK(error, recording_read_meta(&found, text_builder_view(&meta), &error));
    CHECK(recording_same_key(&found, &recording));
    CHECK_TEXT(found.kind, "jfr");
    CHECK_TEXT(found.labels, recording.labels);
    /* Any line less is an error, but for labels and the attempt. */
    CHECK(!recording_read_meta(&found, TEXT("application=a\nexecutor=1\nkind=jfr\n"), &error));
    CHECK(!recording_read_meta(&found, TEXT("application=a\nsequence=1\nkind=jfr\n"), &error));
    CHECK(!recording_read_meta(&found, TEXT("application=a\nexecutor=1\nsequence=1\n"), &error));
    CHECK(!recording_read_meta(&found, TEXT("executor=1\nsequence=1\nkind=jfr\n"), &error));
    CHECK(recording_read_meta(&found, TEXT("application=a\nexecutor=1\nsequence=1\nkind=jfr\n"), &error));
    CHECK(!recording_read_meta(&found, TEXT("application=a\nexecutor=1\nsequence=1\nkind=jfr\nmore=1\n"),
                               &error));
    text_builder_release(&meta);
}
