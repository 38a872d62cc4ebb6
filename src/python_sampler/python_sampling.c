#include <stdlib.h>

#include "python_sampler/python_process.h"

bool python_sampling_init(struct python_sampling *sampling)
{
    *sampling = (struct python_sampling){.frames = NULL};
    sampling->frames = malloc((PYTHON_MOST_FRAMES + NATIVE_MOST_FRAMES) * sizeof(*sampling->frames));
    if (sampling->frames != NULL && python_functions_init(&sampling->functions) &&
        python_stack_buffer_init(&sampling->buffer) && memory_batch_init(&sampling->batch) &&
        memory_batch_init(&sampling->rest))
        return true;
    python_sampling_release(sampling);
    return false;
}

bool python_sampling_add_native(struct python_sampling *sampling)
{
    sampling->merging = malloc(PYTHON_MOST_FRAMES * sizeof(*sampling->merging));
    sampling->wants_native = true;
    return sampling->merging != NULL && native_copy_init(&sampling->native);
}

void python_sampling_release(struct python_sampling *sampling)
{
    free(sampling->frames);
    free(sampling->merging);
    native_copy_release(&sampling->native);
    python_functions_release(&sampling->functions);
    python_stack_buffer_release(&sampling->buffer);
    memory_batch_release(&sampling->batch);
    memory_batch_release(&sampling->rest);
    *sampling = (struct python_sampling){.frames = NULL};
}
