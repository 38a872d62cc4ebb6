/*
 * process_ports.h - whether a process listens on a TCP port, from /proc alone.
 */
#ifndef PROCESSES_PROCESS_PORTS_H
#define PROCESSES_PROCESS_PORTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/text_view.h"

/* The port of "spark://CoarseGrainedScheduler@host:12345"; 0 for none. */
uint16_t port_of_address(struct text_view address);
/* folder is "/proc". False also when its files may not be read. */
bool process_listens(const char *folder, pid_t pid, uint16_t port);

#endif
