/*
 * fuzz_spark_rest.c - gives libFuzzer's input to what reads the answers of Spark's REST interface.
 */
#include <stdlib.h>

#include "processes/spark_rest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text)
{
    if (text != NULL && strlen(text) == SIZE_MAX)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text_view json = {(const char *)data, size};
    struct spark_rest rest;
    struct error error = {0};
    spark_rest_init(&rest);
    if (!spark_rest_add_applications(&rest, json, &error) && error.message[0] == '\0')
        abort();
    error.message[0] = '\0';
    if (!spark_rest_add_executors(&rest, "app-1", json, &error) && error.message[0] == '\0')
        abort();
    for (size_t i = 0; i < rest.application_count; i++) {
        check_text(rest.applications[i].id);
        check_text(rest.applications[i].name);
        check_text(rest.applications[i].user);
    }
    for (size_t i = 0; i < rest.executor_count; i++) {
        check_text(rest.executors[i].id);
        check_text(rest.executors[i].host);
    }
    spark_rest_release(&rest);
    return 0;
}
