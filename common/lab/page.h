/* page.h — text for people: lines that fit, and colour on a terminal. For the lab programs and for bluebar.
 *
 * A page is PAGE_COLUMNS wide. What is longer is wrapped at spaces; the lines that follow are indented one step more.
 */
#ifndef LAB_PAGE_H
#define LAB_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { PAGE_COLUMNS = 100 };

/* What a piece of text is, which decides its colour. */
enum page_style {
    PAGE_PLAIN,
    PAGE_TITLE,
    PAGE_GOOD,
    PAGE_PART,
    PAGE_BAD,
    PAGE_PLACE,
    PAGE_NEXT,
    PAGE_UP,
    PAGE_KERNELS,
    PAGE_DOWN,
    PAGE_STYLES
};

/* Returns whether colour is for this stream: it is a terminal, or a pipe whose reader is `bluebar run` on a terminal
 * (BLUEBAR_COLOUR=1). Never a file, and never with NO_COLOR, CLICOLOR=0 or TERM=dumb. */
bool page_colours(FILE *f);
/* Return the bytes that begin a style and that end any; "" without colour. */
const char *page_on(FILE *f, enum page_style style);
const char *page_off(FILE *f);

/* Returns the columns that a text takes: characters, not bytes. */
int page_width(const char *text);
/* Returns how many bytes of the text's first line go into `room` columns: up to a space, or the first word at least. */
size_t page_fit(const char *text, int room);
/* Prints `text` indented by `indent` columns, in lines of at most PAGE_COLUMNS, and ends the last. Each line break of
 * the text stays. Continued lines get `more` columns besides. A word that is longer than a line is not cut. */
void page_wrap(FILE *f, enum page_style style, int indent, int more, const char *text);
/* The same where `indent` columns of the first line are printed already. */
void page_go_on(FILE *f, enum page_style style, int indent, int more, const char *text);

#endif
