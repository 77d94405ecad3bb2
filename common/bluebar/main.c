/* main.c — `bluebar COMMAND ...`: finds the command and calls it. */
#include "bluebar.h"

static const struct command {
    const char *name, *arguments, *what;
    int (*run)(int argc, char **argv);
} commands[] = {
#define ENTRY(name, arguments, what) {#name, arguments, what, bb_cmd_##name},
    BB_COMMANDS(ENTRY)
#undef ENTRY
};
enum { COMMANDS = sizeof commands / sizeof *commands };

int main(int argc, char **argv) {
    for (int i = 0; argc > 1 && i < COMMANDS; i++)
        if (bb_same(argv[1], commands[i].name)) return commands[i].run(argc - 1, argv + 1);
    FILE *to = argc > 1 ? stderr : stdout;
    if (argc > 1) fprintf(to, "bluebar %s: no such command. There are:\n", argv[1]);
    for (int i = 0; i < COMMANDS; i++)
        fprintf(to, "  bluebar %s %s\n      %s\n", commands[i].name, commands[i].arguments, commands[i].what);
    return argc > 1;
}
