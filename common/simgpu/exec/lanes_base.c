/* The arithmetic handlers for any host. */
#pragma clang diagnostic ignored "-Wpass-failed" /* divisions have no vector form; that is no fault */
#define LANES_TABLE exec_lanes_base
#include "lanes.h"
