/* trace_file.h — a timeline as Chrome Trace Event JSON, for ui.perfetto.dev and chrome://tracing. trace.c writes the
 * virtual card's with it, common/cupti/trace.c a real card's.
 *
 * One array of events. Rows are threads of two processes: the host (its calls, its host functions) and the GPU (the two
 * copy engines, the SMs, why the SMs were idle, and each stream). Times are microseconds. A row must not hold spans
 * that overlap in part, so kernels that run side by side get rows of their own.
 *
 * One file at a time. Each function returns 0, or -1 with errno set. */
#ifndef SIMGPU_TRACE_FILE_H
#define SIMGPU_TRACE_FILE_H

#include "../include/simgpu_event.h"

int time_trace_file_open(const char *path, const char *gpu); /* gpu: the name of the GPU's process */
/* Of an event: its kind, times, stream, place, and of `is` the names, bytes and directions; other kinds than spans and
 * marks are left out. gap: the text of a SIMGPU_GAP. */
int time_trace_file_put(const struct simgpu_event *e, const char *gap);
int time_trace_file_close(void);

#endif
