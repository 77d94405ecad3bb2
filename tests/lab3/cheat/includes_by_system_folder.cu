// expect: run: includes solutions/lab3-transpose/transpose.cu|file not found
// Hands in the reference through a folder of the system's headers, whose files compilers do not list by default.
#include <../../proc/self/cwd/solutions/lab3-transpose/transpose.cu>
