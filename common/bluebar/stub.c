#include "bluebar.h"
int bb_cmd_docs(int c, char **v) {
    (void)c;
    (void)v;
    return 0;
}
int bb_cmd_metrics(int c, char **v) {
    (void)c;
    (void)v;
    return 0;
}
int bb_cmd_counters(int c, char **v) {
    (void)c;
    (void)v;
    return 0;
}
