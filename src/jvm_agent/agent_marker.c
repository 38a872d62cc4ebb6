#include "jvm_agent/agent_marker.h"

/* Commands recognize a loaded copy of the library by this symbol, whatever its file name. */
__attribute__((visibility("default"))) extern const char sparkflame_agent_marker[];
const char sparkflame_agent_marker[] = "sparkflame " SPARKFLAME_VERSION;

struct sparkflame_agent_state sparkflame_agent_state;
