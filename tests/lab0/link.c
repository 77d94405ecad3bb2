/* link.c — tests common/lab/link.c on a machine: link SYSFS BUS_ID prints the rate. Linked with nothing else. */
#include "lab_internal.h"

#include <stdarg.h>

/* The one function of common/lab that link.c needs. */
void lab_text(char *to, size_t size, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(to, size, fmt, ap);
    va_end(ap);
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    printf("%.2f\n", lab_pcie_gbs(argv[2], argv[1]));
    return 0;
}
