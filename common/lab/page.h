/* page.h — text for people: lines that fit, and colour on a terminal. For the lab programs and for bluebar.
 *
 * A page is PAGE_COLUMNS wide. What is longer is wrapped at spaces; the lines that follow are indented one step more.
 */
#ifndef LAB_PAGE_H
#define LAB_PAGE_H

#include <stdbool.h>
#include <stdio.h>

enum { PAGE_COLUMNS = 100 };

/* Returns the columns that a text takes: characters, not bytes. */
int page_width(const char *text);
/* Prints `text` indented by `indent` columns, in lines of at most PAGE_COLUMNS, and ends the last. Each line break of
 * the text stays. Continued lines get `more` columns besides. A word that is longer than a line is not cut. */
void page_wrap(FILE *f, int indent, int more, const char *text);

#endif
