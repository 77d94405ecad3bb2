/* job.c — see job.h: the data, the oracle, and what a wrong output shows. */
#include "job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t count_of(const job *j) { return (size_t)j->rows * (size_t)j->cols; }

static void prepare(void *context) {
    job *j = context;
    size_t count = count_of(j);
    j->seed = lab_fresh_seed();
    lab_fill(j->seed, j->host, count);
    LAB_CUDA(cudaMemcpy(j->d_in, j->host, count * sizeof(float), cudaMemcpyHostToDevice));
    memset(j->host, 0, count * sizeof(float));
    lab_poison(j->d_out, count);
    LAB_CUDA(cudaDeviceSynchronize());
    if (!j->counted) return;
    lab_stage("your transpose on %dx%d", j->rows, j->cols);
    lab_count_begin(j->counted);
    j->begin = lab_now();
}

/* The index in A of the element that belongs at k of the output: A[k % rows][k / rows]. */
static size_t right_origin(size_t k, const job *j) {
    size_t rows = (size_t)j->rows, cols = (size_t)j->cols;
    return k % rows * cols + k / rows;
}

/* The oracle. */
static double right_value(size_t k, void *context) {
    const job *j = context;
    return lab_data(j->seed, (uint32_t)right_origin(k, j));
}

/* --- what a wrong output shows ---------------------------------------------------------------- */

#define NOBODY SIZE_MAX

/* Each of these is a mistake: it gives the index in A of the element that lies at k of the output if the program makes
 * it; NOBODY: the mistake says nothing about this place. */
typedef size_t origin(size_t k, const job *j, size_t tile);

static size_t element(size_t row, size_t col, const job *j) {
    return row < (size_t)j->rows && col < (size_t)j->cols ? row * (size_t)j->cols + col : NOBODY;
}

static size_t as_it_was(size_t k, const job *j, size_t tile) { return (void)j, (void)tile, k; }

static size_t tiles_stay(size_t k, const job *j, size_t tile) {
    size_t row = k / (size_t)j->rows, col = k % (size_t)j->rows; /* of the output */
    return element(row / tile * tile + col % tile, col / tile * tile + row % tile, j);
}

static size_t tiles_unturned(size_t k, const job *j, size_t tile) {
    size_t row = k / (size_t)j->rows, col = k % (size_t)j->rows;
    return element(col / tile * tile + row % tile, row / tile * tile + col % tile, j);
}

static size_t out_pitch(size_t k, const job *j, size_t tile) {
    return (void)tile, element(k % (size_t)j->cols, k / (size_t)j->cols, j);
}

static size_t in_pitch(size_t k, const job *j, size_t tile) {
    size_t from = k % (size_t)j->rows * (size_t)j->rows + k / (size_t)j->rows;
    return (void)tile, from < count_of(j) ? from : NOBODY;
}

/* Returns whether nine of ten of the wrong elements lie where this mistake puts them. (Where two elements are stored to
 * one place, only the last of them shows.) */
static bool explains(const job *j, origin *of, size_t tile) {
    size_t wrong = 0, explained = 0;
    for (size_t k = 0; k < count_of(j); k++) {
        size_t from = of(k, j, tile);
        if (from == NOBODY || from == right_origin(k, j) || lab_is_poison(j->host[k])) continue;
        wrong++;
        explained += j->host[k] == lab_data(j->seed, (uint32_t)from);
    }
    return wrong && explained * 10 >= wrong * 9;
}

static enum mistake misplaced(const job *j, char *shows, size_t size) {
    static const size_t tiles[] = {4, 8, 16, 32, 64, 128};
    if (explains(j, as_it_was, 1)) {
        lab_text(shows, size, "each element lies where it lay in A: this is a copy");
        return AS_IT_WAS;
    }
    if (explains(j, out_pitch, 1)) {
        lab_text(shows, size, "the stores count %d floats to a row of the result, and it has %d", j->cols, j->rows);
        return OUT_PITCH;
    }
    if (explains(j, in_pitch, 1)) {
        lab_text(shows, size, "the loads count %d floats to a row of A, and it has %d", j->rows, j->cols);
        return IN_PITCH;
    }
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
        if (explains(j, tiles_stay, tiles[i])) {
            lab_text(shows, size, "each tile of %zux%zu is turned, and lies where it lay in A", tiles[i], tiles[i]);
            return TILES_STAY;
        }
        if (explains(j, tiles_unturned, tiles[i])) {
            lab_text(shows, size, "the tiles of %zux%zu changed places, and the elements within each did not", tiles[i],
                     tiles[i]);
            return TILES_UNTURNED;
        }
    }
    return MISPLACED;
}

/* Is what arrived the first rows and columns of A, and nothing else? */
static enum mistake unwritten(const job *j, const lab_diff *d, char *shows, size_t size) {
    int rows = 0, cols = 0;
    if (d->poison == count_of(j)) return NOTHING_WRITTEN;
    for (size_t k = 0; k < count_of(j); k++) {
        if (lab_is_poison(j->host[k])) continue;
        int row = (int)(k % (size_t)j->rows), col = (int)(k / (size_t)j->rows); /* of A */
        if (row >= rows) rows = row + 1;
        if (col >= cols) cols = col + 1;
    }
    if (d->poison != count_of(j) - (size_t)rows * (size_t)cols) return UNWRITTEN;
    if (rows < j->rows && cols < j->cols)
        lab_text(shows, size, "only the first %d of %d rows and %d of %d columns of A arrived", rows, j->rows, cols,
                 j->cols);
    else
        lab_text(shows, size, "only the first %d of %d %s of A arrived", rows < j->rows ? rows : cols,
                 rows < j->rows ? j->rows : j->cols, rows < j->rows ? "rows" : "columns");
    const bool last_row = rows == j->rows || (j->rows - rows < 4 && rows % 8), /* not the end of a tile */
        last_col = cols == j->cols || (j->cols - cols < 4 && cols % 8);
    return last_row && last_col ? LAST : EDGE;
}

/* Fills in the mistake and its words: "61x67: out[0][1] holds A[0][1], wants A[1][0] (4032 of 4096 are wrong)". */
static void describe(job *j, const lab_diff *d) {
    const float got = d->got[0];
    const int64_t at = (int64_t)d->first[0], from = lab_data_index(j->seed, got, count_of(j));
    const int r = (int)(at / j->rows), c = (int)(at % j->rows);
    char holds[64] = "holds a value that is nowhere in A", shows[160] = "";
    if (lab_is_poison(got)) {
        LAB_SAY(holds, "was never written");
        j->mistake = unwritten(j, d, shows, sizeof shows);
    } else if (from >= 0) {
        LAB_SAY(holds, "holds A[%d][%d]", (int)(from / j->cols), (int)(from % j->cols));
        j->mistake = misplaced(j, shows, sizeof shows);
    } else if (j->before[1] && lab_data_index(j->before[0], got, j->before[1]) >= 0) {
        LAB_SAY(shows, "it is an element of the matrix of the call before");
        j->mistake = STALE;
    } else if (lab_lane() == LAB_SIM && lab_is_fresh(got)) {
        LAB_SAY(shows, "read before it was written? Fresh shared memory holds 0xCD bytes here, as this value does");
        j->mistake = FRESH;
    } else {
        j->mistake = NOWHERE;
    }
    LAB_SAY(j->failure, "%dx%d: out[%d][%d] %s, wants A[%d][%d] (%zu of %zu are wrong)%s%s", j->rows, j->cols, r, c,
            holds, c, r, d->wrong, count_of(j), shows[0] ? "\n" : "", shows);
}

static void find_changed_input(job *j) {
    LAB_CUDA(cudaMemcpy(j->host, j->d_in, count_of(j) * sizeof(float), cudaMemcpyDeviceToHost));
    for (size_t k = 0; k < count_of(j) && !j->failure[0]; k++) {
        if (j->host[k] == lab_data(j->seed, (uint32_t)k)) continue;
        j->mistake = INPUT_CHANGED;
        LAB_SAY(j->failure, "%dx%d: the input was changed at A[%zu][%zu]; it is const", j->rows, j->cols,
                k / (size_t)j->cols, k % (size_t)j->cols);
    }
}

static void verify(void *context) {
    job *j = context;
    lab_diff d;
    if (!j->counted) return;
    j->end = lab_now();
    lab_count_end();
    lab_stage("the harness, after your transpose");
    if (j->failure[0]) return;
    LAB_CUDA(cudaMemcpy(j->host, j->d_out, count_of(j) * sizeof(float), cudaMemcpyDeviceToHost));
    if (!lab_compare(j->host, count_of(j), right_value, j, 0, &d)) return describe(j, &d);
    find_changed_input(j);
    int side = j->failure[0] ? 0 : lab_guards_broken(j->d_out, count_of(j));
    if (!side) return;
    j->mistake = OUT_OF_BOUNDS;
    LAB_SAY(j->failure, "%dx%d: memory %s the output was written", j->rows, j->cols, side < 0 ? "before" : "behind");
}

/* --- a job ------------------------------------------------------------------------------------ */

job *job_new(lab_program *program, const char *counted, int rows, int cols) {
    size_t count = (size_t)rows * (size_t)cols;
    job *j = lab_hide(sizeof *j);
    lab_use(program);
    *j = (job){.program = program, .counted = counted, .rows = rows, .cols = cols};
    j->d_in = lab_alloc(count);
    j->d_out = lab_alloc(count);
    j->host = malloc(count * sizeof *j->host);
    if (!j->host) lab_die("out of memory");
    j->message = (struct lab3_message){
        .what = LAB3_TRANSPOSE, .d_in = (uint64_t)j->d_in, .d_out = (uint64_t)j->d_out, .rows = rows, .cols = cols};
    j->work = (lab_work){program, prepare, verify, j, &j->message, sizeof j->message, NULL, 0, NULL};
    return j;
}

void job_free(job *j) {
    lab_use(j->program);
    lab_free(j->d_in);
    lab_free(j->d_out);
    free(j->host);
}
