/* price.h — the interface of price.c for timeline.c: what a command occupies, and what it takes by a profile. */
#ifndef SIMGPU_TIME_PRICE_H
#define SIMGPU_TIME_PRICE_H

#include "time.h"

/* Returns whether the command takes room of the queue to the device. Events are short, and a graph is one entry. */
bool time_takes_room(const time_command *c);

/* Return whether the SMs run the command, and whether it is a copy over the bus. */
bool time_on_sms(const time_command *c);
bool time_on_bus(const time_command *c);

/* Return the parts of a device's SMs, of which a launch's block occupies one or more, and those that a command
 * occupies. A launch of more blocks than the SMs hold occupies all. */
uint64_t time_all_parts(const time_profile *p);
uint64_t time_parts_of(const time_command *c, const time_profile *p);

/* Returns how often a launch's blocks fill the SMs. */
double time_waves_of(const exec_launch *l, const time_profile *p);

/* Returns a launch's own time on the device, in ns. In a graph the device knows the next kernel before the last one
 * ends. */
double time_launch_ns(const time_command *c, const time_profile *p);

/* Returns the fixed time of a memset or of a copy on the device, in ns. */
double time_fixed_ns(const time_command *c, const time_profile *p);

/* Returns the host's time for the call itself, in ns. */
double time_call_ns(const time_command *c, const time_profile *p);

/* Returns the time from the end of the call to the command's arrival at the device, in ns. */
double time_way_ns(const time_command *c, const time_profile *p);

/* A copy over the bus. */
typedef struct {
    double fixed_ns;   /* before it flows */
    double cap_gbs;    /* its highest rate, in GB/s (bytes per ns) */
    double staging_ns; /* the host's time for copies between pageable memory and the driver's buffer */
    bool stages;       /* through the driver's buffer, during the call */
} time_copy_plan;

/* Returns the plan of a command; of one that is no copy over the bus, without staging. */
time_copy_plan time_plan_copy(const time_command *c, const time_profile *p);

#endif
