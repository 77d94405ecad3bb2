/* wide_copies.c — keeps the copy of a vector one access with every version of clang.
 *
 *   wide_copies IN.ll >OUT.ll
 *
 * For `float4 a = p[i]` nvcc loads 16 bytes with one instruction. clang's optimiser splits such a copy into four
 * floats, and its back end merges neighbours again if it recognises them. Behind some additions to a pointer it does
 * not; their number depends on the version. A load that is wide from the beginning is never split. So this program runs
 * between clang's front end and its optimiser. It reads LLVM IR as text and rewrites each copy (llvm.memcpy) of a small
 * struct that is aligned for wide accesses as loads and stores of 16, 8 or 4 bytes:
 *
 *   call void @llvm.memcpy.p0.p0.i64(ptr align 16 %to, ptr align 16 %from, i64 16, i1 false), !dbg !7, !tbaa.struct !8
 *
 *   %wide.0 = load <4 x i32>, ptr %from, align 16, !dbg !7, !tbaa !9
 *   store <4 x i32> %wide.0, ptr %to, align 16, !dbg !7, !tbaa !9
 *
 * For `float4 u = *(float4 *)&tile[x][i]` clang promises 4 bytes only, since it sees that these are floats of an array,
 * and the copy would fall apart. The cast says that a float4 is there, and nvcc relies on it. So a side of the copy is
 * taken to be as aligned as the type of the struct, where the other side tells this type. If the address is none for
 * it, the load is misaligned, here as on a card.
 *
 * All loads come before all stores, as in a memcpy that must not overlap. The program does not change copies that a
 * vector access does not shorten, copies of pointers (which would lose their provenance as integers), large copies, and
 * all other lines. clang 14 writes typed pointers (i8*), later versions `ptr`.
 *
 * It also drops the word `noundef` where a lane talks to its warp, in lines with a function like __shfl_sync:
 * clang takes it for a promise that every argument has a value. CUDA C++ knows no such promise:
 *
 *   int first;
 *   if (lane == 0) first = atomicAdd(counter, 32);
 *   first = __shfl_sync(~0u, first, 0); // 31 lanes pass what they never set
 *
 * With the promise the optimiser concludes that `lane == 0` holds in every lane, and lets each of them add. */
#define TOOL "wide_copies"
#include "module.h"

#include <stdbool.h>

enum { WIDEST = 16, MOST_PIECES = 8 };

/* A pointer argument of the call as text: its type (`ptr`, `i8*`, perhaps with an address space) and its value. */
typedef struct {
    const char *type, *value;
    int type_length, value_length;
    unsigned align;
} argument;

typedef struct {
    argument to, from;
    unsigned bytes;
    const char *rest; /* the text behind the call: `, !dbg !7, !tbaa.struct !8` */
} copy;

/* The description of the copied fields in !tbaa.struct. */
typedef struct {
    unsigned size;   /* of the first field in bytes, 0 if unknown */
    unsigned tag;    /* number of the metadata that all fields share, or 0 */
    bool is_pointer; /* a field is a pointer, or the fields differ */
} fields;

/* Returns the end of the argument at s, a comma or closing parenthesis outside of brackets. */
static const char *end_of_argument(const char *s) {
    int depth = 0;
    for (; *s && *s != '\n'; s++) {
        if (*s == '"') {
            s = strchr(s + 1, '"');
            if (!s) return NULL;
        } else if (strchr("([{<", *s)) {
            depth++;
        } else if (strchr(")]}>", *s)) {
            if (depth-- == 0) return s;
        } else if (*s == ',' && depth == 0) {
            return s;
        }
    }
    return NULL;
}

/* Reads a pointer argument such as `ptr noundef align 16 %to`: the type is before the first attribute, the value behind
 * the last. Returns its end. */
static const char *read_pointer(const char *s, argument *a) {
    static const char *const values[] = {"%", "@", "getelementptr ", "addrspacecast ", "bitcast ", "inttoptr "};
    const char *end = end_of_argument(s), *value = NULL;
    if (!end) return NULL;
    *a = (argument){.type = s, .align = 1};
    for (const char *p = s; p < end && !value; p++) {
        if (p != s && p[-1] != ' ') continue;
        for (size_t k = 0; k < sizeof values / sizeof *values; k++)
            if (strncmp(p, values[k], strlen(values[k])) == 0) value = p;
        if (strncmp(p, "align ", 6) == 0) a->align = (unsigned)strtoul(p + 6, NULL, 10);
        bool in_type = p == s || strncmp(p, "addrspace(", 10) == 0;
        if (in_type) a->type_length = (int)strcspn(p, " ") + (int)(p - s);
    }
    if (!value) return NULL;
    a->value = value;
    a->value_length = (int)(end - value);
    return end;
}

/* Reads a line with a non-volatile copy of constant size. Returns false for any other line. */
static bool read_copy(const char *line, copy *c) {
    const char *s = line + strspn(line, " ");
    if (strncmp(s, "tail ", 5) == 0) s += 5;
    if (strncmp(s, "call void @llvm.memcpy.", 23) != 0) return false;
    s += strcspn(s, "(\n");
    if (*s++ != '(') return false;
    s = read_pointer(s, &c->to);
    if (!s || strncmp(s, ", ", 2) != 0) return false;
    s = read_pointer(s + 2, &c->from);
    if (!s || strncmp(s, ", i64 ", 6) != 0) return false;
    char *end;
    unsigned long bytes = strtoul(s + 6, &end, 10);
    if (end == s + 6 || strncmp(end, ", i1 false)", 11) != 0 || bytes > WIDEST * MOST_PIECES) return false;
    c->bytes = (unsigned)bytes;
    c->rest = end + 11;
    return true;
}

/* Returns whether the tag is of a pointer: !9 = !{!10, !10, i64 0}, !10 = !{!"any pointer", ...}; clang 20 and later
 * write !"p1 float". */
static bool is_pointer(unsigned tag) {
    unsigned type;
    if (scan(metadata(tag), "!{!%u", &type) != 1) return false;
    const char *name = metadata(type);
    return strncmp(name, "!{!\"any p", 9) == 0 || (strncmp(name, "!{!\"p", 5) == 0 && name[5] >= '0' && name[5] <= '9');
}

/* Reads !8 = !{i64 0, i64 4, !9, i64 4, i64 4, !9, ...}: offset, size and tag of each field. */
static fields read_fields(const copy *c) {
    fields f = {0};
    const char *at = find(c->rest, "!tbaa.struct !");
    if (!at) return f;
    const char *s = metadata((unsigned)strtoul(at + 14, NULL, 10));
    unsigned size, tag;
    int length;
    for (s += strspn(s, "!{"); scan(s, "i64 %*u, i64 %u, !%u%n", &size, &tag, &length) == 2; s += strspn(s, ", ")) {
        if (!f.size) f.size = size, f.tag = tag;
        if (tag != f.tag || is_pointer(tag)) f.is_pointer = true;
        s += length;
    }
    return f;
}

/* --- what a struct's type promises ----------------------------------------------------------------- */

/* Returns the line of the function around `line` that defines the value, behind the ` = `; for a parameter the
 * function's own line; or NULL. */
static const char *definition(const char *line, const char *value, int length) {
    for (const char *at = line; at > text;) {
        at--;
        while (at > text && at[-1] != '\n') at--;
        if (strncmp(at, "define ", 7) == 0) return at;
        if (strncmp(at, "  ", 2) == 0 && strncmp(at + 2, value, (size_t)length) == 0 &&
            strncmp(at + 2 + length, " = ", 3) == 0)
            return at + 2 + length + 3;
    }
    return NULL;
}

/* Returns the element's type of `[2 x [4 x %struct.float4]]`. */
static const char *innermost(const char *type) {
    while (*type == '[') type += strcspn(type, "x\n") + 2;
    return type;
}

/* Returns the length of a struct's name, `%struct.float4` or `%"struct.a::b"`; 0 if s begins with none. */
static size_t struct_name(const char *s) {
    static const char *const kinds[] = {"%struct.", "%class.", "%\"struct.", "%\"class."};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (strncmp(s, kinds[k], strlen(kinds[k])) == 0)
            return s[1] == '"' ? strcspn(s + 2, "\"") + 3 : strcspn(s, " ,)*]\n");
    return 0;
}

/* Returns the alignment of CUDA's own vectors of two and four, %struct.float4; 0 of other names. */
static unsigned alignment_of_vector(const char *name, size_t length) {
    static const struct {
        const char *element;
        unsigned bytes;
    } elements[] = {{"char", 1}, {"uchar", 1}, {"short", 2},    {"ushort", 2},    {"int", 4},   {"uint", 4},
                    {"long", 8}, {"ulong", 8}, {"longlong", 8}, {"ulonglong", 8}, {"float", 4}, {"double", 8}};
    static const char opening[] = "%struct.";
    const size_t before = strlen(opening);
    if (length <= before || strncmp(name, opening, before) != 0) return 0;
    for (size_t k = 0; k < sizeof elements / sizeof *elements; k++) {
        const size_t n = strlen(elements[k].element);
        const char *count = name + before + n;
        if (length < before + n + 1 || strncmp(name + before, elements[k].element, n) != 0) continue;
        if (*count != '2' && *count != '4') continue;
        const unsigned bytes = elements[k].bytes * (unsigned)(*count - '0');
        if (length == before + n + 1) return bytes < 16 ? bytes : 16;
        if (length == before + n + 5 && strncmp(count + 1, "_16a", 4) == 0) return 16;
        if (length == before + n + 5 && strncmp(count + 1, "_32a", 4) == 0) return 32;
    }
    return 0;
}

/* Returns the alignment that a struct's type asks for, if the text tells: of CUDA's vectors, and of types that are
 * passed by value somewhere. A variable does not tell, since it may have been given more. */
static unsigned alignment_of(const char *name, size_t length) {
    static const char opening[] = " byval(";
    static const char *known;
    static unsigned alignment;
    if (known && strncmp(known, name, length + 1) == 0) return alignment; /* one struct is copied again and again */
    known = name, alignment = alignment_of_vector(name, length);
    for (const char *at = text; !alignment && (at = strstr(at, opening)); at++) {
        const char *type = at + strlen(opening), *align = find(type, " align ");
        if (strncmp(type, name, length) == 0 && strchr(")*", type[length]) && align)
            alignment = (unsigned)strtoul(align + 7, NULL, 10);
    }
    return alignment;
}

/* A parameter passed by value: `ptr noundef byval(%struct.float4) align 16 %v`. */
static unsigned alignment_of_parameter(const char *function, const char *value, int length) {
    for (const char *p = function; (p = find(p, " byval(")); p++) {
        const char *end = end_of_argument(p), *align = find(p, " align ");
        if (end && align && align < end && end[-length - 1] == ' ' && strncmp(end - length, value, (size_t)length) == 0)
            return (unsigned)strtoul(align + 7, NULL, 10);
    }
    return 0;
}

/* Finds the pointer that a line derives its own from: `getelementptr inbounds float, ptr %p, i64 %i`, or a cast.
 * Returns false for a field of a struct, which may be better aligned than its type asks for, and for other lines. */
static bool read_base(const char *is, const char **value, int *length) {
    const char *begin = is, *end = NULL;
    if (strncmp(is, "getelementptr ", 14) == 0) {
        const char *index;
        begin = end_of_argument(is);
        end = begin && *begin ? end_of_argument(begin + 1) : NULL;
        index = end ? find(end, ", i32 ") : NULL;
        if (index) return false;
    } else if (strncmp(is, "bitcast ", 8) == 0 || strncmp(is, "addrspacecast ", 14) == 0) {
        end = find(is, " to ");
    }
    if (!end) return false;
    *value = end;
    while (*value > begin && (*value)[-1] != ' ') (*value)--;
    *length = (int)(end - *value);
    return **value == '%';
}

/* Returns the alignment that the type of the copied struct asks for, or 0 if the better aligned side of the copy does
 * not tell: it does as a variable of the type, as an element of an array of it, and where it is what a pointer names.
 */
static unsigned promised(const char *line, const argument *a) {
    enum { FARTHEST = 8 };
    const char *value = a->value;
    int length = a->value_length;
    if (*value != '%') return 0;
    for (int steps = 0; steps < FARTHEST; steps++) {
        const char *is = definition(line, value, length);
        if (!is) return 0;
        if (strncmp(is, "define ", 7) == 0) return alignment_of_parameter(is, value, length);
        if (strncmp(is, "load ", 5) == 0 || strncmp(is, "call ", 5) == 0) return a->align;
        if (strncmp(is, "alloca ", 7) == 0) {
            const char *type = innermost(is + 7);
            const size_t name = struct_name(type);
            return name ? alignment_of(type, name) : 0;
        }
        if (!read_base(is, &value, &length)) return 0;
    }
    return 0;
}

/* Gives the less aligned side of a copy what the struct's type promises. Of an element of an array clang knows that it
 * is an element, and no more; the type asks for more, and nvcc takes the program at its word. A memcpy that the program
 * itself calls (it has no !tbaa.struct) promises nothing. */
static void believe_type(const char *line, copy *c) {
    argument *better = c->to.align > c->from.align ? &c->to : &c->from;
    argument *other = better == &c->to ? &c->from : &c->to;
    if (better->align == other->align || !find(c->rest, "!tbaa.struct !")) return;
    const unsigned type = promised(line, better);
    if (type > other->align && type <= better->align) other->align = type;
}

/* Prints the copy as a memcpy still, with the alignments that are known by now. */
static void print_copy(const char *line, const copy *c) {
    const argument *const sides[] = {&c->to, &c->from};
    const char *end = next_line(line);
    for (int k = 0; k < 2; k++) {
        const char *align = find(sides[k]->type, "align ");
        if (!align || align > sides[k]->value) continue;
        printf("%.*salign %u", (int)(align - line), line, sides[k]->align);
        line = align + 6 + strspn(align + 6, "0123456789");
    }
    fwrite(line, 1, (size_t)(end - line), stdout);
}

/* Returns the bytes of an element in an access of `piece` bytes: the size of the fields, but at most 4 elements. */
static unsigned element_of(unsigned piece, const fields *f) {
    unsigned size = f->size ? f->size : 4;
    while (piece / size > 4) size *= 2;
    return size;
}

/* Prints `, !dbg !7` and the tag, without other metadata. */
static void print_metadata(const copy *c, const fields *f) {
    const char *dbg = find(c->rest, ", !dbg !");
    if (dbg) printf(", !dbg !%lu", strtoul(dbg + 8, NULL, 10));
    if (f->tag) printf(", !tbaa !%u", f->tag);
    putchar('\n');
}

/* Prints the address of a piece; `role` distinguishes the names of both sides. Typed pointers are cast to the access's
 * type. */
static void print_address(const argument *a, const char *role, unsigned number, unsigned offset, unsigned count,
                          unsigned element) {
    bool typed = a->type[a->type_length - 1] == '*';
    int t = a->type_length, pointee = typed ? t - 1 : 0;
    printf("  %%wide.%s.%u.%u = getelementptr inbounds i8, %.*s %.*s, i64 %u\n", role, number, offset, t, a->type,
           a->value_length, a->value, offset);
    if (!typed) return;
    /* "i8 addrspace(3)*" becomes "<4 x i32> addrspace(3)*" */
    printf("  %%wide.%s.%u.%u.typed = bitcast %.*s %%wide.%s.%u.%u to <%u x i%u>%.*s*\n", role, number, offset, t,
           a->type, role, number, offset, count, 8 * element, pointee - 2, a->type + 2);
}

static void print_access(const copy *c, const argument *a, const char *role, unsigned number, unsigned offset,
                         unsigned piece, const fields *f) {
    bool typed = a->type[a->type_length - 1] == '*', load = a == &c->from;
    unsigned element = element_of(piece, f), count = piece / element;
    print_address(a, role, number, offset, count, element);
    if (load)
        printf("  %%wide.%u.%u = load <%u x i%u>, ", number, offset, count, 8 * element);
    else
        printf("  store <%u x i%u> %%wide.%u.%u, ", count, 8 * element, number, offset);
    if (typed)
        printf("<%u x i%u>%.*s*", count, 8 * element, a->type_length - 3, a->type + 2);
    else
        printf("%.*s", a->type_length, a->type);
    printf(" %%wide.%s.%u.%u%s, align %u", role, number, offset, typed ? ".typed" : "", piece);
    print_metadata(c, f);
}

/* Prints the copy as wide accesses. Returns false if it should stay unchanged. */
static bool widen(const copy *c, unsigned number) {
    fields f = read_fields(c);
    unsigned align = c->to.align < c->from.align ? c->to.align : c->from.align;
    unsigned piece = align < WIDEST ? align : WIDEST;
    if (!c->bytes || piece < 4 || c->bytes % piece || c->bytes / piece > MOST_PIECES || f.is_pointer) return false;
    if (element_of(piece, &f) >= piece) return false;
    for (unsigned at = 0; at < c->bytes; at += piece) print_access(c, &c->from, "from", number, at, piece, &f);
    for (unsigned at = 0; at < c->bytes; at += piece) print_access(c, &c->to, "to", number, at, piece, &f);
    return true;
}

/* Writes spaces over the word. */
static void drop_noundef(void) {
    static const char word[] = " noundef ";
    for (char *line = text, *end; *line; line = end) {
        end = line + (next_line(line) - line);
        bool talks = find(line, "_sync") || find(line, "shfl"); /* the latter: of a cooperative group */
        if (*line == '@' || !talks) continue;
        for (char *at = line; (at = strstr(at, word)) && at < end; at += sizeof word - 2)
            memset(at, ' ', sizeof word - 1);
    }
}

int main(int argc, char **argv) {
    read_module(argc, argv);
    drop_noundef();
    unsigned number = 0;
    for (const char *line = text, *next; *line; line = next) {
        next = next_line(line);
        copy c;
        if (!read_copy(line, &c)) {
            fwrite(line, 1, (size_t)(next - line), stdout);
            continue;
        }
        believe_type(line, &c);
        if (!widen(&c, number++)) print_copy(line, &c);
    }
    return end_module();
}
