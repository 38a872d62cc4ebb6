#include "jvm_agent/engines/allocations.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "jvm_agent/agent_clock.h"
#include "jvm_agent/agent_log.h"
#include "jvm_agent/handler/class_names.h"
#include "jvm_agent/handler/own_stack.h"
#include "jvm_agent/handler/rate_limit.h"
#include "jvm_agent/handler/sampler.h"
#include "jvm_agent/vm/java_vm.h"
#include "jvm_agent/vm/vm_layout.h"
#include "jvm_agent/vm/vm_read.h"

struct live_object {
    jweak reference; /* NULL: free */
    struct agent_sample sample;
};

static uint64_t interval;
static bool follow_live;
static bool tell_outside; /* sample whether it was outside of a thread-local buffer */
static pthread_mutex_t live_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct live_object live_objects[LIVE_OBJECT_LIMIT];
static size_t live_next; /* where to search for a free entry */
static uint64_t live_missed;

bool allocations_prepare(uint64_t interval_bytes, struct error *error)
{
    jvmtiCapabilities wanted;
    memset(&wanted, 0, sizeof(wanted));
    wanted.can_generate_sampled_object_alloc_events = 1;
    if ((*java_vm.tools)->AddCapabilities(java_vm.tools, &wanted) != JVMTI_ERROR_NONE)
        return error_set(error, ERROR_UNSUPPORTED,
                         "this JVM cannot sample allocations: another agent does, or it is older than 11");
    jint bytes = interval_bytes > INT32_MAX ? INT32_MAX : (jint)interval_bytes;
    if ((*java_vm.tools)->SetHeapSamplingInterval(java_vm.tools, bytes) != JVMTI_ERROR_NONE)
        return error_set(error, ERROR_UNSUPPORTED, "this JVM refuses an allocation interval of %d bytes",
                         (int)bytes);
    return true;
}

bool allocations_start(uint64_t interval_bytes, bool live, bool outside, struct error *error)
{
    interval = interval_bytes;
    follow_live = live;
    tell_outside = outside;
    live_missed = 0;
    if (!allocations_prepare(interval_bytes, error))
        return false;
    java_vm_enable(JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, true);
    return true;
}

void allocations_stop(void)
{
    jvmtiCapabilities used;
    memset(&used, 0, sizeof(used));
    used.can_generate_sampled_object_alloc_events = 1;
    java_vm_enable(JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, false);
    (*java_vm.tools)->RelinquishCapabilities(java_vm.tools, &used);
}

static uint32_t class_number(struct class_names *classes, jvmtiEnv *tools, jclass object_class)
{
    char *signature = NULL;
    if ((*tools)->GetClassSignature(tools, object_class, &signature, NULL) != JVMTI_ERROR_NONE)
        return 0;
    uint32_t number = class_names_add(classes, signature);
    (*tools)->Deallocate(tools, (unsigned char *)signature);
    return number;
}

static bool is_dead(JNIEnv *environment, jweak reference)
{
    return (*environment)->IsSameObject(environment, reference, NULL);
}

/* A free entry, or one whose object was collected; only a few tries, since the thread is waiting. */
static struct live_object *find_place(JNIEnv *environment)
{
    for (int tries = 0; tries < 64; tries++) {
        struct live_object *place = &live_objects[live_next];
        live_next = (live_next + 1) % LIVE_OBJECT_LIMIT;
        if (place->reference == NULL)
            return place;
        if (is_dead(environment, place->reference)) {
            (*environment)->DeleteWeakGlobalRef(environment, place->reference);
            place->reference = NULL;
            return place;
        }
    }
    live_missed++;
    return NULL;
}

static void follow(JNIEnv *environment, jobject object, const struct agent_sample *sample)
{
    jweak reference = (*environment)->NewWeakGlobalRef(environment, object);
    if (reference == NULL)
        return;
    pthread_mutex_lock(&live_mutex);
    struct live_object *place = find_place(environment);
    if (place != NULL)
        *place = (struct live_object){reference, *sample};
    pthread_mutex_unlock(&live_mutex);
    if (place == NULL)
        (*environment)->DeleteWeakGlobalRef(environment, reference);
}

/* e to the power of -x, for x from 0 to 32, to six digits; this library does not use libm. */
static double falling_power(double x)
{
    double part = x / 1024, power = 1 - part + part * part / 2 - part * part * part / 6;
    for (int i = 0; i < 10; i++)
        power *= power;
    return power;
}

/* The JVM samples an object with probability 1 - e^(-size/interval): it stands for all bytes of objects of its size. */
static uint64_t bytes_stood_for(uint64_t size)
{
    double x = (double)size / (double)interval;
    if (x > 32)
        return size;
    return x < 1e-6 ? interval : (uint64_t)((double)size / (1 - falling_power(x)));
}

/* Only where object addresses are plain: some collectors use colored pointers. */
static bool is_outside_buffer(const struct thread_record *record, jobject object)
{
    uintptr_t thread = atomic_load(&record->java_thread);
    if (thread == 0 || vm.thread_buffer < 0 || vm.buffer_start < 0 || vm.buffer_end < 0)
        return false;
    uintptr_t buffer = field_of(thread, vm.thread_buffer), address = *(const uintptr_t *)object;
    uintptr_t start = load_word(field_of(buffer, vm.buffer_start));
    return start != 0 && (address < start || address >= load_word(field_of(buffer, vm.buffer_end)));
}

static void take_sample(struct recording_tables *tables, JNIEnv *environment, struct thread_record *record,
                        jobject object, jclass object_class, uint64_t size)
{
    struct agent_sample sample = {.time_ns = agent_now_ns(), .weight = 1, .detail = size};
    sample.kind =
        tell_outside && is_outside_buffer(record, object) ? SAMPLE_ALLOCATION_OUTSIDE : SAMPLE_ALLOCATION;
    sample.value = bytes_stood_for(size);
    sample.class_number = class_number(&tables->classes, java_vm.tools, object_class);
    sample.tid = atomic_load(&record->tid);
    sample.tag = atomic_load(&record->tag);
    sample.trace = own_stack_take(tables, record);
    if (sample.trace == 0 || !sampler_hand_over(&sample))
        return;
    atomic_fetch_add(&sampler.samples, 1);
    if (follow_live)
        follow(environment, object, &sample);
}

void JNICALL allocations_on_sample(jvmtiEnv *tools, JNIEnv *environment, jthread thread, jobject object,
                                   jclass object_class, jlong size)
{
    struct thread_record *record = thread_table_add(thread_own_id());
    struct recording_tables *tables = sampler_enter();
    if (record != NULL && atomic_load(&sampler.running) && !atomic_load(&record->own) &&
        rate_limit_allows(SAMPLE_ALLOCATION, agent_now_ns()))
        take_sample(tables, environment, record, object, object_class, (uint64_t)size);
    sampler_leave(tables);
}

/* Moves the stacks of followed objects to the new tables, until half of these is used. */
void allocations_renew(struct recording_tables *fresh, struct recording_tables *old)
{
    JNIEnv *environment = java_vm_environment();
    pthread_mutex_lock(&live_mutex);
    for (size_t i = 0; i < LIVE_OBJECT_LIMIT; i++) {
        struct agent_sample *sample = &live_objects[i].sample;
        if (live_objects[i].reference == NULL || !recording_tables_have(old, sample->trace))
            continue;
        if (environment != NULL && is_dead(environment, live_objects[i].reference)) {
            (*environment)->DeleteWeakGlobalRef(environment, live_objects[i].reference);
            live_objects[i].reference = NULL;
            continue;
        }
        bool has_room = atomic_load(&fresh->arena.mapped_bytes) < fresh->arena.limit_bytes / 2;
        sample->trace = has_room ? recording_tables_copy_trace(fresh, old, sample->trace) : 0;
        if (sample->class_number != 0)
            sample->class_number =
                class_names_add_name(&fresh->classes, class_names_text(&old->classes, sample->class_number));
        live_missed += sample->trace == 0;
    }
    pthread_mutex_unlock(&live_mutex);
}

/* More samples than the ring holds: waits for the writer, but not forever. */
static void put_patiently(const struct agent_sample *sample)
{
    struct timespec pause = {0, 1000000};
    for (int tries = 0; tries < 1000 && !sampler_hand_over(sample) && !sampler.counts_directly; tries++)
        nanosleep(&pause, NULL);
}

void allocations_report_live(void)
{
    JNIEnv *environment = java_vm_environment();
    if (environment == NULL)
        return;
    pthread_mutex_lock(&live_mutex);
    for (size_t i = 0; i < LIVE_OBJECT_LIMIT; i++) {
        struct live_object *object = &live_objects[i];
        if (object->reference == NULL)
            continue;
        if (object->sample.trace != 0 && !is_dead(environment, object->reference)) {
            object->sample.kind = SAMPLE_LIVE_OBJECT;
            object->sample.detail = object->sample.time_ns;
            object->sample.time_ns = agent_now_ns();
            put_patiently(&object->sample);
        }
        (*environment)->DeleteWeakGlobalRef(environment, object->reference);
        object->reference = NULL;
    }
    if (live_missed > 0)
        agent_log(
            LOG_WARN,
            "%llu sampled objects were not followed: more than %d are alive, or their stacks did not fit",
            (unsigned long long)live_missed, LIVE_OBJECT_LIMIT);
    pthread_mutex_unlock(&live_mutex);
}
