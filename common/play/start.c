/* start.c — linked into a program that `make play` runs: calls play.so before main, and before the program's own
 * constructors. Not a constructor of play.so itself: those run before the C library has registered its end of all
 * shared objects, and handlers that they register run after it, too late for SimGPU's last events. */
#include "play.h"

__attribute__((constructor(101))) static void start(void) { bluebar_play(); }
