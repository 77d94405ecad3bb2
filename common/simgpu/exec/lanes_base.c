/* lanes_base.c — the arithmetic handlers for any host. */
#pragma clang diagnostic ignored "-Wpass-failed" /* divisions have no vector form */
#define LANES_TABLE exec_lanes_base
#include "lanes.h"
