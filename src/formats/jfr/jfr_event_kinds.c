/*
 * jfr_event_kinds.c - the event types that we know, and what they are in a profile.
 *
 * Types that are not listed are read too when they have a stack trace: under their own name, with their duration.
 * So do Datadog's, whose samples come beside the JDK's in one recording.
 * Types of ours ("sparkflame.sample_NAME") become the event NAME; see write_jfr.c.
 */
#include "formats/jfr/jfr_schema.h"

const struct jfr_event_kind jfr_event_kinds[] = {
    {"jdk.ExecutionSample", "cpu", NULL, NULL, NULL, UNIT_COUNT, JFR_ROLE_CPU_OR_WALL},
    {"jdk.CPUTimeSample", "cpu", NULL, NULL, NULL, UNIT_COUNT, JFR_ROLE_SAMPLE},
    {"jdk.NativeMethodSample", "native", NULL, NULL, NULL, UNIT_COUNT, JFR_ROLE_SAMPLE},
    {"sparkflame.PythonSample", "cpu", NULL, NULL, NULL, UNIT_COUNT, JFR_ROLE_SAMPLE},
    {"sparkflame.PythonWallSample", "wall", NULL, NULL, NULL, UNIT_COUNT, JFR_ROLE_SAMPLE},
    {"profiler.WallClockSample", "wall", NULL, NULL, NULL, UNIT_COUNT, JFR_ROLE_SAMPLE},
    {"jdk.ObjectAllocationInNewTLAB", "alloc", "tlabSize", "objectClass", "in new TLAB", UNIT_BYTES,
     JFR_ROLE_SAMPLE},
    {"jdk.ObjectAllocationOutsideTLAB", "alloc", "allocationSize", "objectClass", "outside TLAB", UNIT_BYTES,
     JFR_ROLE_SAMPLE},
    {"jdk.ObjectAllocationSample", "alloc", "weight", "objectClass", "sampled", UNIT_BYTES,
     JFR_ROLE_ALLOCATION_SAMPLE},
    {"profiler.LiveObject", "live", "allocationSize", "objectClass", NULL, UNIT_BYTES, JFR_ROLE_SAMPLE},
    {"jdk.OldObjectSample", "live", "objectSize", "object", NULL, UNIT_BYTES, JFR_ROLE_OLD_OBJECT},
    {"jdk.JavaMonitorEnter", "lock", "duration", "monitorClass", NULL, UNIT_NANOSECONDS, JFR_ROLE_SAMPLE},
    {"jdk.ThreadPark", "park", "duration", "parkedClass", NULL, UNIT_NANOSECONDS, JFR_ROLE_SAMPLE},
    {"jdk.JavaMonitorWait", "wait", "duration", "monitorClass", NULL, UNIT_NANOSECONDS, JFR_ROLE_SAMPLE},
    {"jdk.ThreadSleep", "sleep", "duration", NULL, NULL, UNIT_NANOSECONDS, JFR_ROLE_SAMPLE},
    {"profiler.NativeLock", "nativelock", "duration", NULL, NULL, UNIT_NANOSECONDS, JFR_ROLE_SAMPLE},
    {"jdk.MethodTrace", "trace", "duration", NULL, NULL, UNIT_NANOSECONDS, JFR_ROLE_SAMPLE},
    {"profiler.Malloc", "nativemem", "size", NULL, NULL, UNIT_BYTES, JFR_ROLE_SAMPLE},
    {"profiler.Free", "free", NULL, NULL, NULL, UNIT_COUNT, JFR_ROLE_SAMPLE},
    {"jdk.JavaExceptionThrow", "exception", NULL, "thrownClass", NULL, UNIT_COUNT, JFR_ROLE_SAMPLE},
    {"jdk.JavaErrorThrow", "error", NULL, "thrownClass", NULL, UNIT_COUNT, JFR_ROLE_SAMPLE},
    {"jdk.FileRead", "file-read", "duration", NULL, NULL, UNIT_NANOSECONDS, JFR_ROLE_SAMPLE},
    {"jdk.FileWrite", "file-write", "duration", NULL, NULL, UNIT_NANOSECONDS, JFR_ROLE_SAMPLE},
    {"jdk.FileForce", "file-force", "duration", NULL, NULL, UNIT_NANOSECONDS, JFR_ROLE_SAMPLE},
    {"jdk.SocketRead", "socket-read", "duration", NULL, NULL, UNIT_NANOSECONDS, JFR_ROLE_SAMPLE},
    {"jdk.SocketWrite", "socket-write", "duration", NULL, NULL, UNIT_NANOSECONDS, JFR_ROLE_SAMPLE},
    {"jdk.ClassLoad", "class-load", "duration", "loadedClass", NULL, UNIT_NANOSECONDS, JFR_ROLE_SAMPLE},
    {"jdk.ClassDefine", "class-define", NULL, "definedClass", NULL, UNIT_COUNT, JFR_ROLE_SAMPLE},
    {"jdk.VirtualThreadPinned", "pinned", "duration", NULL, NULL, UNIT_NANOSECONDS, JFR_ROLE_SAMPLE},
    {"jdk.ActiveSetting", "", "value", NULL, NULL, UNIT_COUNT, JFR_ROLE_SETTING},
    {"profiler.Span", "", NULL, NULL, NULL, UNIT_COUNT, JFR_ROLE_SPAN},
    {"sparkflame.Labels", "", NULL, NULL, NULL, UNIT_COUNT, JFR_ROLE_LABELS},
    {"sparkflame.RecordingLabels", "", NULL, NULL, NULL, UNIT_COUNT, JFR_ROLE_RECORDING_LABELS},
    {"sparkflame.LabelDetails", "", "label", NULL, NULL, UNIT_COUNT, JFR_ROLE_DETAILS},
    {.type = NULL},
};
