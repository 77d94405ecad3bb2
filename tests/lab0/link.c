/* link.c — what common/lab/link.c makes of a machine: link SYSFS BUS_ID prints the rate. */
#include "lab_internal.h"

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    printf("%.2f\n", lab_pcie_gbs(argv[2], argv[1]));
    return 0;
}
