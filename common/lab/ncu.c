/* ncu.c — counters of a real GPU, through Nsight Compute.
 *
 * A card's counters are not for every user, and not every machine has ncu; then the rows that need them say n/a and
 * why, and their points leave the maximum. The program runs itself again under ncu with --counted, which does the work
 * once and exits. The CSV has one line a launch; names come from its first line, so the order of columns does not
 * matter.
 */
#define _GNU_SOURCE
#include "lab_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What ncu is asked for, and where it goes. A reduction is an atomic here. */
#define OF(field) offsetof(struct simgpu_counters, field)
static const struct {
    const char *name;
    size_t at;
} metrics[] = {{"smsp__inst_executed.sum", OF(inst)},
               {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", OF(ld_requests)},
               {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", OF(st_requests)},
               {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", OF(ld_sectors)},
               {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", OF(st_sectors)},
               {"smsp__sass_data_bytes_mem_global_op_ld.sum", OF(ld_bytes)},
               {"l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", OF(atom_sectors)},
               {"l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", OF(atom_sectors)},
               {"smsp__sass_data_bytes_mem_global_op_st.sum", OF(st_bytes)},
               {"smsp__inst_executed_op_shared_ld.sum", OF(shared_ld)},
               {"smsp__inst_executed_op_shared_st.sum", OF(shared_st)},
               {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", OF(shared_ld_wavefronts)},
               {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", OF(shared_st_wavefronts)},
               {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", OF(shared_ld_conflicts)},
               {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", OF(shared_st_conflicts)},
               {"smsp__sass_branch_targets.sum", OF(branches)},
               {"smsp__sass_branch_targets_threads_uniform.sum", OF(uniform_branches)}};
enum { METRICS = sizeof metrics / sizeof *metrics, MAX_COLUMNS = 512 };

/* Splits a CSV line in place; quotes around a field are removed, a doubled quote inside becomes one. */
static int split(char *line, char **field, int max) {
    int n = 0;
    for (char *p = line; n < max;) {
        char *to = p;
        field[n++] = p;
        if (*p == '"') {
            for (p++; *p && (*p != '"' || p[1] == '"'); *to++ = *p++) p += *p == '"';
            p += *p == '"';
        } else {
            while (*p && *p != ',' && *p != '\n') *to++ = *p++;
        }
        bool more = *p == ',';
        p += more;
        *to = 0;
        if (!more) break;
    }
    return n;
}

/* "1,234" -> 1234 */
static double plain_number(const char *text) {
    char digits[64];
    size_t n = 0;
    for (; *text && n + 1 < sizeof digits; text++)
        if (*text != ',') digits[n++] = *text;
    digits[n] = 0;
    return strtod(digits, NULL);
}

int lab_read_ncu(FILE *f, lab_usage *u, char *why, size_t why_size) {
    char *line = NULL, *field[MAX_COLUMNS];
    size_t room = 0;
    int column[METRICS], columns = 0;
    while (getline(&line, &room, f) > 0) {
        if (strstr(line, "ERR_NVGPUCTRPERM"))
            lab_text(why, why_size, "this user may not read the GPU's counters (ERR_NVGPUCTRPERM)");
        if (line[0] != '"') continue; /* ncu's own messages, and the program's output */
        int n = split(line, field, MAX_COLUMNS);
        if (!columns) {
            columns = n;
            for (int k = 0; k < METRICS; k++) {
                column[k] = -1;
                for (int i = 0; i < n; i++)
                    if (!strcmp(field[i], metrics[k].name)) column[k] = i;
            }
        } else if (n == columns && field[0][0]) { /* the line of units has an empty first field */
            struct simgpu_event e = {.kind = SIMGPU_LAUNCH};
            for (int k = 0; k < METRICS; k++)
                if (column[k] >= 0)
                    *(uint64_t *)((char *)&e.is.launch.total + metrics[k].at) +=
                        (uint64_t)(plain_number(field[column[k]]) + 0.5);
            lab_take(u, &e);
        }
    }
    free(line);
    return u->launches ? 0 : -1;
}

/* ncu's words go to a file of its own, so that nothing the program prints is taken for a counter. */
int lab_count_ncu(lab_usage *u, char *why, size_t why_size) {
    char command[8192], asked[2048] = "", log[] = "/tmp/bluebar-ncu-XXXXXX";
    memset(u, 0, sizeof *u);
    why[0] = 0;
    if (system("command -v ncu >/dev/null 2>&1") != 0)
        return lab_text(why, why_size, "no ncu on this machine; it comes with the CUDA toolkit (nsight-compute)"), -1;
    if (strchr(lab.program, '\'')) return lab_text(why, why_size, "the program's path has a quote in it"), -1;
    int fd = mkstemp(log);
    if (fd < 0) return lab_text(why, why_size, "ncu needs a temporary file in /tmp"), -1;
    close(fd);
    for (int k = 0; k < METRICS; k++) {
        size_t n = strlen(asked);
        lab_text(asked + n, sizeof asked - n, "%s%s", n ? "," : "", metrics[k].name);
    }
    lab_text(command, sizeof command,
             "ncu --clock-control none --csv --page raw --log-file %s --metrics %s '%s' --counted --seed %llu "
             ">/dev/null 2>&1",
             log, asked, lab.program, (unsigned long long)lab.seed);
    fprintf(stderr, "%s: counting with ncu ...\n", lab.spec->lab);
    int status = system(command), rc = -1;
    FILE *f = fopen(log, "re");
    if (f) {
        rc = lab_read_ncu(f, u, why, why_size);
        fclose(f);
    }
    unlink(log);
    if (rc == 0 && status != 0) return lab_text(why, why_size, "the run under ncu ended with an error"), -2;
    if (rc && !why[0])
        lab_text(why, why_size, "ncu gave no counters; run `ncu --csv %s --counted` to see why", lab.program);
    return rc;
}
