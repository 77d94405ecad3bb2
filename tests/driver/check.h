/* check.h — what the driver API's test programs share. EXPECT ends the program with the line at fault. */
#ifndef DRIVER_CHECK_H
#define DRIVER_CHECK_H

#include <cuda.h>

#include <stdio.h>
#include <stdlib.h>

#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition), exit(1);             \
    } while (0)
#define OK(call)           EXPECT((call) == CUDA_SUCCESS)
#define FAILS(error, call) EXPECT((call) == (error))

#endif
