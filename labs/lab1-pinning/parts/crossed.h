/* crossed.h — which bytes have crossed the link. A batch is processed only after each byte of d_in was copied there
 * from host memory, and taken only after each byte of its result was copied home. Right words
 * prove neither, since a host can compute them without using the link.
 *
 * Addresses are numbers. A copy counts from the call that queues it on; ear.h checks whether it is over when the bytes
 * are used. The notes lie in hidden memory.
 */
#ifndef LAB1_CROSSED_H
#define LAB1_CROSSED_H

#include <stdbool.h>
#include <stdint.h>

enum { MOST_BATCHES = 128 };

void crossed_reset(void);
void crossed_up(uint64_t to, uint64_t bytes);     /* a copy from the host into this device memory */
void crossed_down(uint64_t from, uint64_t bytes); /* a copy of this device memory to the host */

/* Returns how many of these bytes of device memory came from the host. */
uint64_t crossed_came(uint64_t to, uint64_t bytes);
/* The batch is about to be processed. Returns how many bytes of d_in came from the host since a batch was last
 * processed there, and begins to count the bytes of d_out that go home. */
uint64_t crossed_process(int batch, uint64_t d_in, uint64_t in_bytes, uint64_t d_out, uint64_t out_bytes);
/* Returns how many bytes of the result of a processed batch were copied to the host before the next batch took its
 * place. */
uint64_t crossed_home(int batch);

/* A batch is loaded into this host memory. Has one been loaded there, or does the program carry batches on itself? */
void crossed_load(uint64_t to, uint64_t bytes);
bool crossed_is_load(uint64_t from);

#endif
