/* even_loops — keeps a loop with two conditions, or with a step that is no constant, rolled, unrolls one that begins at
 * a variable and ends at a literal, keeps a loop with `#pragma unroll 1` rolled by ptxas, too, and keeps a division by
 * a variable of a loop a division, whatever the compiler's version.
 *
 *   even_loops IN.ll >OUT.ll
 *
 * In `for (int i = first; i < first + share && i < n; i++)` clang 19 and later see that the loop ends at the smaller of
 * the two, and unroll it four times; clang 14 to 16 do not. Four loads at a time instead of one make a kernel faster by
 * far, and a grade would depend on the compiler. The same holds for `for (int k = 0; k < 32; k += blockDim.y)`, where
 * clang 19 knows that blockDim.y lies between 1 and 1024. So this program stands between clang's front end and its
 * optimiser, reads LLVM IR as text, and adds to the description of each such loop that it is not to be unrolled by a
 * number of turns that is known only at run time:
 *
 *   27:                                                     the loop's head
 *     br i1 %32, label %33, label %37                       the first condition; if it holds, the second, in 33
 *   37:
 *     %38 = phi i1 [ false, %27 ], [ %36, %33 ]             && of both
 *   ...
 *     br label %27, !llvm.loop !280                         back to the head
 *
 *   %19 = load i32, i32* %8, align 4                        the head loads a counter for its condition,
 *   ...
 *   %35 = add i32 %34, %33                                  and between it and the way back a step is added
 *   store i32 %35, i32* %8, align 4                         that is no literal
 *
 *   !280 = distinct !{!280, !263, !281, !44}
 *   !280 = distinct !{!280, !263, !281, !44, !{!"llvm.loop.unroll.runtime.disable"}}
 *
 * In `for (int e = threadIdx.x; e < 1024; e += 256)`, a thread's share of a tile, nvcc unrolls four turns, with a loop
 * for the rest in front, and uses nothing that it knows of threadIdx.x: a share of two turns takes them one after
 * another. clang 17 and later know of __launch_bounds__(256) that there are four turns, and clang 14 to 16 take one at
 * a time. Such a loop is described as one of four turns, and what its counter begins at passes through a piece of
 * assembly without an instruction, behind which no compiler sees. So that it does not grow beyond what nvcc unrolls,
 * this is done for innermost loops of up to MOST_LINES lines.
 *
 *   %even.begin.280 = call i32 asm "", "=r,0"(i32 %7) nounwind readnone
 *   store i32 %even.begin.280, i32* %e, align 4
 *   !280 = distinct !{!280, !263, !281, !44, !{!"llvm.loop.unroll.count", i32 4},
 * !{!"llvm.loop.unroll.followup_unrolled", ...}}
 *
 * The last part keeps clang from adding `.pragma "nounroll"` where there may be more than four turns: ptxas may join
 * further ones.
 *
 * In `for (int step = 1; step < blockDim.x; step *= 2) if (t % (2 * step) == 0)` clang 16 and later see that step is a
 * power of two, and take an `and` in place of the division; clang 14 and 15, and nvcc, do not, and such a tree of
 * additions is slower by half. So the divisor passes through such a piece of assembly, too:
 *
 *   %44 = urem i32 %42, %43                                 43: made from a variable that has two stores, and is not
 *                                                           compared with a literal (then the loop may be unrolled)
 *   %even.44 = call i32 asm "", "=r,0"(i32 %43)
 *   %44 = urem i32 %42, %even.44
 *
 * For `#pragma unroll 1` clang 16 and later add `.pragma "nounroll"` to the PTX, which ptxas obeys. Earlier versions
 * keep the loop rolled, but describe it as one that is unrolled once, and say nothing to ptxas:
 *
 *   !44 = !{!"llvm.loop.unroll.count", i32 1}
 *   !44 = !{!"llvm.loop.unroll.disable"}
 *
 * nvcc unrolls a loop whole where its counter is an index into an array of the thread, as far as some 6000
 * instructions: then the array is in registers. clang does so up to 450, and beyond that the array stays in local
 * memory: a thread with a row of 64 floats took twice the time. Such a loop is described as one to be unrolled whole:
 *
 *   %9 = alloca [64 x float], align 4
 *   %20 = load i32, i32* %12, align 4                       the counter, of which the condition says that it ends at a
 *   %21 = sext i32 %20 to i64                               literal; it begins at one, too
 *   %22 = getelementptr inbounds [64 x float], [64 x float]* %9, i64 0, i64 %21
 *
 *   !280 = distinct !{!280, !263, !281, !44, !{!"llvm.loop.unroll.full"}}
 *
 * Other loops of a fixed number of turns are unrolled as ever, and a loop with another `#pragma unroll` is left alone.
 */
#define TOOL "even_loops"
#include "module.h"

#include <stdbool.h>

/* Returns the first line of the block that is called `name` (of `length` letters), in the function that begins at
 * `function`; NULL if it has no such block. */
static const char *block(const char *function, const char *name, size_t length) {
    for (const char *line = function; *line && *line != '}'; line = next_line(line))
        if (!strncmp(line, name, length) && line[length] == ':') return next_line(line);
    return NULL;
}

/* Returns true if the block that begins at `line` ends in a branch whose other way begins with the && of two
 * conditions: a phi that is false when it is reached from this block, `head`. */
static bool has_two_conditions(const char *function, const char *line, const char *head, size_t length) {
    while (*line && *line != '\n' && *line != '}' && strncmp(line, "  br ", 5) != 0) line = next_line(line);
    int at = 0;
    scan(line, "  br i1 %*[^,], label %%%*[^,], label %%%n", &at);
    if (!at) return false;
    const char *other = block(function, line + at, strcspn(line + at, ",\n"));
    if (!other || !find(other, " = phi i1 ")) return false;
    char from_head[64];
    if (length > sizeof from_head - 16) return false;
    snprintf(from_head, sizeof from_head, "[ false, %%%.*s ]", (int)length, head);
    return find(other, from_head);
}

/* Returns true if the value that the instruction before `store`, between it and `line`, gave to `value` is a sum or a
 * difference, neither side of which is a literal. */
static bool is_varying(const char *line, const char *store, const char *value) {
    char begin[80];
    int length = snprintf(begin, sizeof begin, "  %s = ", value);
    for (; line < store; line = next_line(line)) {
        const char *what = line + length, *end = next_line(line);
        if (strncmp(line, begin, (size_t)length) != 0) continue;
        if (strncmp(what, "add ", 4) != 0 && strncmp(what, "sub ", 4) != 0) return false;
        const char *left = strchr(what, '%'), *comma = strchr(what, ',');
        return left && left < end && comma && left < comma && comma + 2 < end && comma[2] == '%';
    }
    return false;
}

/* Returns true if the loop between the lines `head` and `back` changes an integer that its condition loads by a step
 * that is no literal. The condition stands in the block that begins at `condition`. */
static bool has_varying_step(const char *head, const char *back, const char *condition) {
    char counter[64], value[64], into[64];
    for (const char *at = condition; *at == ' '; at = next_line(at)) {
        if (scan(at, "  %%%*s = load i%*d, %*s %63[^, \n]", counter) != 1) continue;
        for (const char *store = head; store < back; store = next_line(store))
            if (scan(store, "  store i%*d %63[^, \n], %*s %63[^, \n]", value, into) == 2 && !strcmp(into, counter) &&
                *value == '%' && is_varying(head, store, value))
                return true;
    }
    return false;
}

/* The instructions of clang's front end, which loads each variable that it uses: some 40 of a machine. */
enum { MOST_LINES = 120, SHARE_TURNS = 4 };

/* Returns the number of lines that are instructions of the function called on this line, MOST_LINES and more if it has
 * a loop; 0 if none is called, or an intrinsic. */
static unsigned lines_called(const char *line) {
    char name[256], begin[272];
    const char *at = find(line, " call ") ? find(line, " @") : NULL;
    unsigned lines = 0;
    if (!at || scan(at, " @%255[^( \n]", name) != 1 || !strncmp(name, "llvm.", 5)) return 0;
    snprintf(begin, sizeof begin, " @%s(", name);
    for (const char *f = text; (f = strstr(f, "\ndefine ")); f++) {
        const char *definition = f + 1;
        if (!find(definition, begin)) continue;
        for (line = next_line(definition); *line && *line != '}'; line = next_line(line))
            lines += find(line, "!llvm.loop !") ? MOST_LINES + 1 : *line == ' ';
        return lines;
    }
    return 0;
}

/* Returns true if the lines from `head` to `back` have no loop among them and few instructions, those of called
 * functions included. */
static bool is_short(const char *head, const char *back) {
    unsigned lines = 0;
    for (const char *line = head; line < back; line = next_line(line)) {
        if (find(line, "!llvm.loop !")) return false;
        lines += *line == ' ' && !find(line, "@llvm.dbg.") && !find(line, "@llvm.lifetime.");
        lines += lines_called(line);
        if (lines > MOST_LINES) return false;
    }
    return true;
}

/* Returns the literal that the instruction before `end`, from `line` on, adds to `counter` to make `sum`; 0 for
 * another. */
static long step_of(const char *line, const char *end, const char *counter, const char *sum) {
    char name[64], left[64], from[64], loaded[64] = "";
    long step = 0;
    for (; line < end; line = next_line(line)) {
        if (scan(line, "  %63s = load i%*d, %*s %63[^, \n]", name, from) == 2 && !strcmp(from, counter))
            strcpy(loaded, name);
        if (scan(line, "  %63s = add%*[nuws ]i%*d %63[^, \n], %ld", name, left, &step) == 3 && !strcmp(name, sum))
            return !strcmp(left, loaded) ? step : 0;
    }
    return 0;
}

/* Returns whether the counter of a loop begins at a variable, grows by a literal of at least 2 and ends at a literal.
 * Then *begin becomes the line that stores what it begins at, and *all whether four turns are all that there can be. */
static bool is_share(const char *function, const char *head, const char *back, const char **begin, bool *all) {
    char loaded[64], counter[64] = "", compared[64] = "", value[64], into[64], sum[64], how[8];
    long end = 0;
    unsigned within = 0;
    int bits;
    for (const char *at = head; *at == ' '; at = next_line(at)) {
        if (scan(at, "  %63s = load i%*d, %*s %63[^, \n]", value, into) == 2)
            strcpy(loaded, value), strcpy(counter, into);
        if (scan(at, "  %%%*s = icmp %7s i%*d %63[^, \n], %ld", how, compared, &end) == 3) {
            if (strcmp(how + 1, "lt") != 0 && strcmp(how + 1, "le") != 0) return false;
            end += how[2] == 'e';
        }
    }
    if (!*counter || end <= 0 || strcmp(loaded, compared) != 0) return false;
    for (const char *at = function; at < back; at = next_line(at)) {
        if (at < head && find(at, "!llvm.loop !")) *begin = NULL; /* what another loop has stored is a step of it */
        if (scan(at, "  store i%*d %63[^, \n], %*s %63[^, \n]", value, into) != 2 || strcmp(into, counter) != 0)
            continue;
        if (at < head)
            *begin = *value == '%' ? at : NULL;
        else
            within++, strcpy(sum, value);
    }
    const long step = within == 1 ? step_of(head, back, counter, sum) : 0;
    *all = step >= 2 && (end - 1) / SHARE_TURNS < step;
    return *begin && step >= 2 && scan(*begin, "  store i%d", &bits) == 1 && (bits == 32 || bits == 64);
}

/* Does the source say how the loop is to be unrolled? One of the nodes that its description names then does. */
static bool has_pragma(const char *description) {
    const char *end = next_line(description);
    for (const char *s = strchr(description, '!'); s && s < end; s = strchr(s + 1, '!')) {
        const char *node = metadata(strtoul(s + 1, NULL, 10));
        if (strncmp(node, "!{!\"llvm.loop.unroll.", 21) == 0) return true;
    }
    return false;
}

/* The loops of which something is to be said, by the number of their metadata. */
enum handling { ROLLED, SHARE, WHOLE }; /* to be kept rolled; unrolled SHARE_TURNS times; unrolled whole */
typedef struct {
    unsigned long number;
    enum handling how;
    bool all;          /* a share that has no more turns than that */
    const char *begin; /* of a share: the line that stores what the counter begins at */
} loop;
static struct {
    loop *at;
    size_t count;
} loops;

static const loop *listed(unsigned long number) {
    for (size_t k = 0; k < loops.count; k++)
        if (loops.at[k].number == number) return &loops.at[k];
    return NULL;
}

static void add_loop(loop one) {
    loops.at = realloc(loops.at, (loops.count + 1) * sizeof *loops.at);
    if (!loops.at) refuse("out of memory", "the list of loops");
    loops.at[loops.count++] = one;
}

/* A loop is a branch back to a head that stands before it: `br label %head`, or `br i1 %again, label %head, ...` where
 * the condition is at the end (do while). */
static void find_loops(void) {
    const char *function = text, *block_begin = text;
    for (const char *line = text; *line; line = next_line(line)) {
        if (!strncmp(line, "define ", 7)) function = block_begin = next_line(line);
        if (*line != ' ' && *line != '\n') block_begin = next_line(line); /* a label */
        int at = 0;
        if (scan(line, "  br i1 %*[^,], label %%%n", &at), !at) scan(line, "  br label %%%n", &at);
        const char *head = line + at, *description = find(line, "!llvm.loop !"), *first;
        size_t length = strcspn(head, ",\n");
        if (!at || !description || !(first = block(function, head, length))) continue;
        unsigned long number = strtoul(description + 12, NULL, 10);
        bool at_end = !strncmp(line, "  br i1 ", 8);
        bool differs = (!at_end && has_two_conditions(function, first, head, length)) ||
                       has_varying_step(first, line, at_end ? block_begin : first);
        loop one = {.number = number, .how = ROLLED};
        if (!differs && !at_end && is_short(first, line) && is_share(function, first, line, &one.begin, &one.all))
            one.how = SHARE;
        if ((differs || one.how == SHARE) && !has_pragma(metadata(number))) add_loop(one);
    }
}

/* --- divisions by a variable of a loop ----------------------------------------------------------------------- */

/* Copies the name of the value (%5, %step) at `from`, up to a comma, a blank or the end of the line. Returns false if
 * there is none. */
static bool value_name(const char *from, char name[64]) {
    size_t length = strcspn(from, ", \n)");
    if (*from != '%' || length >= 64) return false;
    memcpy(name, from, length);
    name[length] = '\0';
    return true;
}

/* Returns the text behind "NAME = " in the function that begins at `function`; NULL for a parameter. */
static const char *definition(const char *function, const char *name) {
    char begin[80];
    int length = snprintf(begin, sizeof begin, "  %s = ", name);
    for (const char *line = function; *line && *line != '}'; line = next_line(line))
        if (!strncmp(line, begin, (size_t)length)) return line + length;
    return NULL;
}

/* Returns how many stores into the variable the function has; *literal: the last of them stores a literal. */
static int stores(const char *function, const char *variable, bool *literal) {
    char value[64], into[64];
    int count = 0;
    for (const char *line = function; *line && *line != '}'; line = next_line(line))
        if (scan(line, "  store i%*d %63[^, \n], %*s %63[^, \n]", value, into) == 2 && !strcmp(into, variable))
            count++, *literal = *value != '%';
    return count;
}

/* Returns the variable that the value is loaded from, at once or through a widening; false if it is anything else. */
static bool loaded_from(const char *function, const char *name, char variable[64]) {
    const char *d = definition(function, name);
    char inner[64];
    if (d && scan(d, "load i%*d, %*s %63[^, \n]", variable) == 1) return *variable == '%';
    return d && scan(d, "%*[sz]ext i%*d %63[^, \n]", inner) == 1 && *inner == '%' &&
           loaded_from(function, inner, variable);
}

/* Is the variable compared with what is known when the program is compiled: a literal, or a variable that never changes
 * from one? */
static bool has_known_end(const char *function, const char *variable) {
    char left[64], right[64], loaded[64];
    for (const char *line = function; *line && *line != '}'; line = next_line(line)) {
        const char *compare = find(line, " = icmp ");
        if (!compare) continue;
        if (scan(compare, " = icmp %*s i%*d %63[^, \n], %63[^, \n]", left, right) != 2) continue;
        for (int side = 0; side < 2; side++) {
            const char *one = side ? right : left, *other = side ? left : right;
            bool literal = false;
            if (*one != '%' || !loaded_from(function, one, loaded) || strcmp(loaded, variable) != 0) continue;
            if (*other != '%') return true;
            if (loaded_from(function, other, loaded) && stores(function, loaded, &literal) == 1 && literal) return true;
        }
    }
    return false;
}

/* Returns true if the value is made, in at most `depth` steps, from a variable that a loop with an unknown end changes.
 */
static bool is_of_a_loop(const char *function, const char *name, int depth) {
    char variable[64], inner[64];
    bool literal;
    if (loaded_from(function, name, variable))
        return stores(function, variable, &literal) > 1 && !has_known_end(function, variable);
    const char *d = depth ? definition(function, name) : NULL;
    if (!d || (strncmp(d, "mul ", 4) != 0 && strncmp(d, "shl ", 4) != 0)) return false;
    for (const char *end = next_line(d), *at = strchr(d, '%'); at && at < end; at = strchr(at + 1, '%'))
        if (value_name(at, inner) && is_of_a_loop(function, inner, depth - 1)) return true;
    return false;
}

/* Writes a division whose divisor is to be hidden, and returns true; else writes nothing. */
static bool write_division(const char *function, const char *line) {
    char result[64], left[64], divisor[64];
    int bits, at = 0, end = 0;
    scan(line, "  %%%63[^ \n] = %*[us]%*[rd]%*[ei]%*[mv] %n", result, &at);
    if (!at || scan(line + at, "i%d %63[^, \n], %63[^, \n]%n", &bits, left, divisor, &end) != 3) return false;
    if (*divisor != '%' || (bits != 32 && bits != 64) || !is_of_a_loop(function, divisor, 3)) return false;
    printf("  %%even.%s = call i%d asm \"\", \"=%c,0\"(i%d %s)\n", result, bits, bits == 32 ? 'r' : 'l', bits, divisor);
    printf("%.*si%d %s, %%even.%s", at, line, bits, left, result);
    line += at + end;
    fwrite(line, 1, (size_t)(next_line(line) - line), stdout);
    return true;
}

/* --- loops over arrays of a thread --------------------------------------------------------------------------- */

/* A `for` of the function at hand: from the first line of its head to its branch back. counter: its variable if it goes
 * from a literal to a literal by literal steps, in so many turns. */
typedef struct {
    const char *head, *back;
    unsigned long number;
    char counter[64];
    unsigned long turns;
} counted;

/* nvcc's limit, in lines of clang's front end, of which three make an instruction; the turns of a loop that it unrolls
 * whole. Source: code by nvcc 13, rows of 16 to 256 floats, matrices of 4 x 4 to 16 x 16. */
enum { MOST_WHOLE = 3 * 6000, MOST_WHOLE_TURNS = 128, MOST_COUNTED = 256 };

/* Sets the counter and the turns of a loop, if it has them. */
static void count_turns(const char *function, counted *l) {
    char value[64], into[64], loaded[64] = "", compared[64], sum[64] = "", how[8];
    long begin = 0, end = 0, step = 0;
    unsigned before = 0, within = 0;
    bool compares = false;
    for (const char *at = l->head; *at == ' '; at = next_line(at)) {
        if (scan(at, "  %63s = load i%*d, %*s %63[^, \n]", value, into) == 2)
            strcpy(loaded, value), strcpy(l->counter, into);
        if (scan(at, "  %%%*s = icmp %7s i%*d %63[^, \n], %ld", how, compared, &end) != 3) continue;
        compares = (!strcmp(how + 1, "lt") || !strcmp(how + 1, "le")) && !strcmp(compared, loaded);
        end += how[2] == 'e';
    }
    for (const char *at = function; compares && at < l->back; at = next_line(at)) {
        if (scan(at, "  store i%*d %63[^, \n], %*s %63[^, \n]", value, into) != 2 || strcmp(into, l->counter) != 0)
            continue;
        if (at >= l->head)
            within++, strcpy(sum, value);
        else if (before++, scan(value, "%ld", &begin) != 1)
            return;
    }
    if (within == 1 && before) step = step_of(l->head, l->back, l->counter, sum);
    if (step > 0 && end > begin) l->turns = (unsigned long)((end - begin + step - 1) / step);
}

/* Returns how many lines the loop `k` of n has when it and those in it are unrolled whole, as far as that is known. */
static unsigned long lines_of_whole(const counted *all, size_t n, size_t k) {
    unsigned long lines = 0;
    for (const char *line = all[k].head; line < all[k].back; line = next_line(line)) {
        size_t inner = n;
        for (size_t i = 0; i < n; i++)
            if (i != k && all[i].head == line && all[i].back < all[k].back &&
                (inner == n || all[i].back > all[inner].back))
                inner = i;
        if (inner < n) {
            lines += lines_of_whole(all, n, inner);
            line = all[inner].back;
            continue;
        }
        lines += *line == ' ' && !find(line, "@llvm.dbg.") && !find(line, "@llvm.lifetime.");
        lines += lines_called(line);
        if (lines > MOST_WHOLE) break;
    }
    return lines * (all[k].turns ? all[k].turns : 1);
}

/* Returns whether the value is computed, in at most `depth` steps, from what the variable holds. */
static bool is_made_of(const char *function, const char *name, const char *variable, int depth) {
    char inner[64], from[64];
    const char *d = depth ? definition(function, name) : NULL;
    if (!d) return false;
    if (scan(d, "load i%*d, %*s %63[^, \n]", from) == 1) return !strcmp(from, variable);
    for (const char *end = next_line(d), *at = strchr(d, '%'); at && at < end; at = strchr(at + 1, '%'))
        if (value_name(at, inner) && is_made_of(function, inner, variable, depth - 1)) return true;
    return false;
}

/* Returns whether the address is in an array of the thread. */
static bool is_of_thread(const char *function, const char *name) {
    char inner[64];
    const char *d = definition(function, name);
    if (!d) return false;
    if (!strncmp(d, "alloca [", 8)) return true;
    const char *base = strncmp(d, "getelementptr ", 14) ? NULL : strchr(d, '%');
    return base && base < next_line(d) && !find(d, "@") && value_name(base, inner) && is_of_thread(function, inner);
}

/* Returns whether the loop's counter is an index into an array of the thread. */
static bool indexes_array(const char *function, const counted *l) {
    char base[64], index[64];
    for (const char *line = l->head; line < l->back; line = next_line(line)) {
        const char *array = find(line, " = getelementptr inbounds ["), *at = array ? strchr(array, '%') : NULL;
        if (!at || at >= next_line(line) || find(line, "@") || !value_name(at, base)) continue;
        const char *last = NULL;
        for (at = strchr(at + 1, '%'); at && at < next_line(line); at = strchr(at + 1, '%')) last = at;
        if (!last || !value_name(last, index) || !is_of_thread(function, base)) continue;
        if (is_made_of(function, index, l->counter, 4)) return true;
    }
    return false;
}

/* Lists the function's loops that are to be unrolled whole. */
static void find_whole(const char *function, const counted *all, size_t n) {
    for (size_t k = 0; k < n; k++)
        if (all[k].turns > 1 && all[k].turns <= MOST_WHOLE_TURNS && !listed(all[k].number) &&
            !has_pragma(metadata(all[k].number)) && lines_of_whole(all, n, k) <= MOST_WHOLE &&
            indexes_array(function, &all[k]))
            add_loop((loop){.number = all[k].number, .how = WHOLE});
}

/* Looks at the loops of each function that has an array of the thread. */
static void find_arrays(void) {
    static counted all[MOST_COUNTED];
    const char *function = NULL;
    bool arrays = false;
    size_t n = 0;
    for (const char *line = text; *line; line = next_line(line)) {
        if (!strncmp(line, "define ", 7)) function = next_line(line), arrays = false, n = 0;
        if (*line == '}' && function) find_whole(function, all, n), function = NULL;
        if (!function) continue;
        arrays |= find(line, " = alloca [") != NULL;
        int at = 0;
        scan(line, "  br label %%%n", &at);
        const char *description = at && arrays && n < MOST_COUNTED ? find(line, "!llvm.loop !") : NULL;
        const char *head = description ? block(function, line + at, strcspn(line + at, ",\n")) : NULL;
        if (!head) continue;
        all[n] = (counted){.head = head, .back = line, .number = strtoul(description + 12, NULL, 10)};
        count_turns(function, &all[n++]);
    }
}

static const char may_go_on[] = ", !{!\"llvm.loop.unroll.followup_unrolled\", !{!\"llvm.loop.mustprogress\"}}";

/* Writes the description of a loop that is unrolled once as one that is not to be unrolled, and returns true; else
 * writes nothing. */
static bool write_rolled(const char *line) {
    int name = 0, all = 0;
    scan(line, "!%*u = %n!{!\"llvm.loop.unroll.count\", i32 1}%n", &name, &all);
    if (!all) return false;
    printf("%.*s!{!\"llvm.loop.unroll.disable\"}\n", name, line);
    return true;
}

/* Writes the store of what a share's counter begins at, of which no compiler is to know the range, and returns true;
 * else writes nothing. */
static bool write_begin(const char *line) {
    char value[64];
    int bits, at = 0;
    for (size_t k = 0; !strncmp(line, "  store i", 9) && k < loops.count; k++) {
        if (loops.at[k].begin != line || scan(line, "  store i%d %63[^, \n]%n", &bits, value, &at) != 2) continue;
        const char constraint = bits == 64 ? 'l' : 'r';
        printf("  %%even.begin.%lu = call i%d asm \"\", \"=%c,0\"(i%d %s) nounwind readnone\n", loops.at[k].number,
               bits, constraint, bits, value);
        printf("  store i%d %%even.begin.%lu", bits, loops.at[k].number);
        fwrite(line + at, 1, (size_t)(next_line(line) - line - at), stdout);
        return true;
    }
    return false;
}

int main(int argc, char **argv) {
    read_module(argc, argv);
    find_loops();
    find_arrays();
    const char *function = text;
    for (const char *line = text, *next; *line; line = next) {
        next = next_line(line);
        if (!strncmp(line, "define ", 7)) function = next;
        if (write_division(function, line) || write_rolled(line) || write_begin(line)) continue;
        size_t length = (size_t)(next - line), body = length - (next[-1] == '\n');
        bool distinct = *line == '!' && find(line, " = distinct !{") && body && line[body - 1] == '}';
        const loop *known = distinct ? listed(strtoul(line + 1, NULL, 10)) : NULL;
        if (known && known->how == WHOLE)
            printf("%.*s, !{!\"llvm.loop.unroll.full\"}}\n", (int)body - 1, line);
        else if (known && known->how == SHARE)
            printf("%.*s, !{!\"llvm.loop.unroll.count\", i32 %d}%s}\n", (int)body - 1, line, SHARE_TURNS,
                   known->all ? "" : may_go_on);
        else if (known)
            printf("%.*s, !{!\"llvm.loop.unroll.runtime.disable\"}}\n", (int)body - 1, line);
        else
            fwrite(line, 1, length, stdout);
    }
    free(loops.at);
    return end_module();
}
