// expect: gate: includes /etc/passwd
// Looks at a file of the grader's machine: the compiler's message would show its first line.
#include <../../etc/passwd>
