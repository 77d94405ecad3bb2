// expect: run: includes solutions/lab10-half/half.cu|file not found
// Hands in the reference solution without a line of its own.
#include "../../../solutions/lab10-half/half.cu"
