#include "jvm_agent/labels/inherited_tags.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/attributes.h"
#include "jvm_agent/labels/tags.h"

#define TAG_LIMIT_BYTES 4096

static pthread_mutex_t class_mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool is_known; /* then the other two no longer change */
static jclass agent_class;
static jmethodID inherited_tag;

void inherited_tags_learn(JNIEnv *environment, jclass agent)
{
    if (is_known)
        return;
    pthread_mutex_lock(&class_mutex);
    if (agent_class == NULL) {
        inherited_tag =
            (*environment)->GetStaticMethodID(environment, agent, "inheritedTag", "()Ljava/lang/String;");
        if (inherited_tag == NULL)
            (*environment)->ExceptionClear(environment);
        agent_class = (*environment)->NewGlobalRef(environment, agent);
        is_known = inherited_tag != NULL && agent_class != NULL;
    }
    pthread_mutex_unlock(&class_mutex);
}

/* Other threads may outlive the task that started them. */
static bool works_for_one_task(const char *name)
{
    static const char *const prefixes[] = {"stdout writer for ", "stdin writer for ", "stderr reader for ",
                                           "Thread-ScriptTransformation-"};
    for (size_t i = 0; i < COUNT_OF(prefixes); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

void inherited_tags_apply(JNIEnv *environment, const char *name)
{
    char text[TAG_LIMIT_BYTES];
    if (!is_known || !works_for_one_task(name))
        return;
    jstring tag = (*environment)->CallStaticObjectMethod(environment, agent_class, inherited_tag);
    if ((*environment)->ExceptionCheck(environment))
        (*environment)->ExceptionClear(environment);
    jsize bytes = tag == NULL ? TAG_LIMIT_BYTES : (*environment)->GetStringUTFLength(environment, tag);
    if (bytes < TAG_LIMIT_BYTES) {
        (*environment)
            ->GetStringUTFRegion(environment, tag, 0, (*environment)->GetStringLength(environment, tag),
                                 text);
        tags_set((struct text_view){text, (size_t)bytes});
    }
    (*environment)->DeleteLocalRef(environment, tag);
}
