/*
 * fuzz_attach_reply.c - gives libFuzzer's input to what understands a JVM's answers to attach commands, which static
 * functions of attach.c do.
 */
#include "jvm_attach/attach.c" // NOLINT(bugprone-suspicious-include)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text_view input = {(const char *)data, size};
    struct text_builder answer;
    struct error error = {0};
    text_builder_init(&answer, ATTACH_ANSWER_LIMIT_BYTES);
    text_builder_add(&answer, input);
    if (check_status(1, &answer, &error)) {
        if (!check_loaded(text_builder_view(&answer), &error) && error.message[0] == '\0')
            abort();
    } else if (error.message[0] == '\0') {
        abort();
    }
    text_builder_release(&answer);
    return 0;
}
