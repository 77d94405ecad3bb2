/* hint.c — `make hint3`: the next hint for a row of a record: the first of the card that is not full, or ROW=id, of a
 * row or of a hint.
 *
 * From the top, because a card is in the order in which a lab is best worked through. A row without a next step of its
 * own comes after those that were measured. Each row has three hints in the lab's hints.md, under
 * "## ID": a question, a place, a technique; the file SEEN-ID remembers how many were shown.
 */
#define _GNU_SOURCE
#include "bluebar.h"
#include "page.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool lacks(const struct bb_row *r) { return r->status == BB_FAIL || r->status == BB_PART; }

static const struct bb_row *first_lacking(const bb_record *r) {
    for (int waits = 0; waits < 2; waits++)
        for (int i = 0; i < r->nrows; i++)
            if (lacks(&r->row[i]) && (waits || *r->row[i].cell[LAB_CELL_next])) return &r->row[i];
    return NULL;
}

static const struct bb_row *of_hint(const bb_lab *lab, const char *id);

static const struct bb_row *asked_for(const bb_record *r, const bb_lab *known, const char *id) {
    const struct bb_row *row = bb_record_row(r, id);
    const char *lab = known->number;
    if (!row) row = of_hint(known, id);
    if (row) return row;
    bb_text rows = {0};
    for (int i = 0; i < r->nrows; i++)
        bb_addf(&rows, "\n  ROW=%-15s %s", r->row[i].cell[LAB_CELL_id], r->row[i].cell[LAB_CELL_sentence]);
    bb_text shown = {0};
    bb_add_visible(&shown, id, strlen(id));
    bb_die("Lab %s has no row '%s'. Its rows:%s", lab, shown.at, rows.at);
}

/* Returns a row that stands for a hint which belongs to no row of its own: that of a mistake, as a card names it. */
static const struct bb_row *of_hint(const bb_lab *lab, const char *id) {
    static struct bb_row row;
    char *hints = bb_format("%s/hints.md", lab->folder), *text = bb_read(hints, 1 << 20, NULL), *rest = text;
    bool found = false;
    for (char *line; !found && rest && (line = bb_line(&rest));)
        found = bb_begins(line, "## ") && bb_same(line + 3, id);
    free(hints);
    free(text);
    if (!found) return NULL;
    for (int k = 0; k < LAB_CELLS; k++) row.cell[k] = "";
    row.cell[LAB_CELL_id] = row.cell[LAB_CELL_hint] = id;
    row.cell[LAB_CELL_sentence] = "a mistake that a card names";
    row.status = BB_FAIL;
    return &row;
}

/* Prints step `step` ("2. ...") of the section "## id", up to an empty line, as one paragraph. Returns false when it is
 * not there. */
static bool print_step(char *text, const char *id, int step) {
    bool inside = false, shown = false;
    bb_text step_text = {0};
    for (char *line; (line = bb_line(&text));) {
        if (bb_begins(line, "## ")) {
            inside = bb_same(line + 3, id);
            shown = false;
            continue;
        }
        if (!inside) continue;
        char *from = line + strspn(line, " \t");
        size_t digits = strspn(line, "0123456789");
        if (!*from) shown = false;
        if (digits && line[digits] == '.' && line[digits + 1] == ' ') {
            shown = atoi(line) == step;
            from = line + digits + 2;
        }
        if (!shown) continue;
        bb_addf(&step_text, "%s%s", step_text.size ? " " : "", from);
    }
    const bool any = step_text.size;
    if (any) page_wrap(stdout, PAGE_PLAIN, 2, 0, step_text.at);
    free(step_text.at);
    return any;
}

/* Lists the other rows that are not full, each as the card calls it and by the id that ROW takes. */
static void print_others(const bb_record *r, const struct bb_row *row) {
    bb_text t = {0};
    for (int i = 0; i < r->nrows; i++) {
        if (&r->row[i] == row || !lacks(&r->row[i])) continue;
        bb_addf(&t, "%s%s (ROW=%s)", t.size ? "; " : "Also not full: ", r->row[i].cell[LAB_CELL_label],
                r->row[i].cell[LAB_CELL_id]);
    }
    if (t.size) page_wrap(stdout, PAGE_PLAIN, 0, 2, t.at);
    free(t.at);
}

static void print_hint(const bb_lab *lab, const bb_record *r, const struct bb_row *row, const char *seen) {
    static const char *const kind[] = {"", "question", "place", "technique"};
    const char *hint = row->cell[LAB_CELL_hint];
    char *path = bb_format("%s-%s", seen, hint), *kept = bb_read(path, 100, NULL);
    int step = (kept ? atoi(kept) : 0) + 1;
    if (step < 1 || step > 3) step = 3;
    char *hints = bb_format("%s/hints.md", lab->folder), *text = bb_read(hints, 1 << 20, NULL);
    char *head = bb_format("lab %s, hint %d of 3 (%s) for: %s (ROW=%s)", lab->number, step, kind[step],
                           row->cell[LAB_CELL_sentence], row->cell[LAB_CELL_id]);
    page_wrap(stdout, PAGE_PLAIN, 0, 2, head);
    free(head);
    if (!text || !print_step(text, hint, step)) bb_die("%s: no hint %d under '## %s'.", hints, step, hint);
    print_others(r, row);
    if (step == 3)
        printf("That was the last one for this row. Measure again: make lab%s\n", lab->number);
    else
        printf("More: make hint%s%s%s\n", lab->number, *bb_env("ROW", "") ? " ROW=" : "", bb_env("ROW", ""));
    bb_make_folders(path);
    bb_write(path, (char[]){(char)('0' + step), '\n'}, 2);
    free(path);
    free(kept);
    free(hints);
    free(text);
}

int bb_cmd_hint(int argc, char **argv) {
    bb_record r;
    if (argc != 4) bb_die("bluebar hint: N RECORD SEEN");
    bb_lab lab = bb_lab_named(argv[1]);
    const char *asked = bb_env("ROW", ""), *bad = bb_record_read(&r, argv[2], NULL, NULL);
    if (bad)
        bb_die("lab %s does not run to its end yet, so there is no row to give a hint for. Its message: make lab%s",
               argv[1], argv[1]);
    const struct bb_row *row = *asked ? asked_for(&r, &lab, asked) : first_lacking(&r);
    if (*asked && row->status == BB_PASS)
        printf("Row '%s' of lab %s is full. No hint needed.\n", asked, argv[1]);
    else if (!row)
        printf("Every row of lab %s is full. No hint needed: read solutions/%s and the handout's ungraded question.\n",
               argv[1], lab.name);
    else
        print_hint(&lab, &r, row, argv[3]);
    bb_record_free(&r);
    return 0;
}
