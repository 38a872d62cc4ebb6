/*
 * fuzz_collector_segment.c - gives libFuzzer's input to what reads the collector's segments.
 *
 * The input is what follows the head of a segment; the checksums of its first record are made right, so that what is
 * behind them is reached.
 */
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collector/store/segment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD_BYTES = 40, META_AT = 24, BODY_AT = 28, DATA_CRC_AT = 32, CRC_AT = 36 };

static void mend(char *record, size_t size)
{
    uint32_t meta, body, crc;
    if (size < HEAD_BYTES)
        return;
    memset(record, 0, sizeof(uint64_t)); /* the marker of the segment below */
    memcpy(&meta, record + META_AT, sizeof(meta));
    memcpy(&body, record + BODY_AT, sizeof(body));
    size_t room = size - HEAD_BYTES;
    meta = room == 0 ? 0 : meta % (uint32_t)(room + 1);
    body = body % (uint32_t)(room - meta + 1);
    memcpy(record + META_AT, &meta, sizeof(meta));
    memcpy(record + BODY_AT, &body, sizeof(body));
    crc = libdeflate_crc32(0, record + HEAD_BYTES, meta + body);
    memcpy(record + DATA_CRC_AT, &crc, sizeof(crc));
    crc = libdeflate_crc32(0, record, CRC_AT);
    memcpy(record + CRC_AT, &crc, sizeof(crc));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stored_recording recording;
    struct error error = {0};
    struct text_builder bytes;
    char *copy = malloc(size + 1);
    struct segment segment = {.number = 1, .size = segment_first_offset + size, .group = "group"};
    segment.descriptor = memfd_create("segment", MFD_CLOEXEC);
    if (copy == NULL || segment.descriptor < 0)
        abort();
    memcpy(copy, data, size);
    mend(copy, size);
    if (pwrite(segment.descriptor, copy, size, (off_t)segment_first_offset) != (ssize_t)size)
        abort();
    text_builder_init(&bytes, RECORD_DATA_LIMIT_BYTES);
    uint64_t at = segment_first_offset;
    for (;;) {
        uint64_t before = at;
        enum segment_step step = segment_next(&segment, &at, &recording, &bytes, &error);
        if (step != SEGMENT_RECORD && step != SEGMENT_DAMAGED)
            break;
        if (at <= before || at > segment.size || strlen(recording.labels) > RECORDING_LABELS_BYTES)
            abort();
        if (step == SEGMENT_RECORD && !segment_read_body(&segment, &recording, &bytes, &error))
            abort();
    }
    text_builder_release(&bytes);
    segment_close(&segment);
    free(copy);
    return 0;
}
