/*
 * jfr_python_modifiers.c - alone, since the model's kinds of frames have the names of the agent's.
 */
#include "jvm_agent/jfr_python.h"
#include "model/frame_table.h"

/* The kind stands above the JVM's modifiers, plus one, as the reader of JFR expects it; 1: public. */
#define KIND_SHIFT 20

const uint32_t jfr_python_modifiers = ((uint32_t)FRAME_PYTHON + 1) << KIND_SHIFT | 1;
