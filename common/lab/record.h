/* record.h — the form of a lab's record and of its table of rows, for the program that writes them (card.c, rows.c) and
 * for the one that reads them (common/bluebar/record.c). Columns are named here and nowhere else.
 *
 * Both are TSV. Inside a field, tab, newline, carriage return and backslash are escaped as \t, \n, \r and \\. A record:
 *
 *     bluebar-record  1  <lab>  <lane>  <device>
 *     seed     <N>
 *     columns  id  status ...                    the names below
 *     row      <id>  pass|part|fail|na ...       one line a row of the table, in the table's order
 *     note     <name>  <text>
 *     figure   <name>  <value>  <unit>           a measured number; a row's own has the row's id
 *     score    <points>  <max>  done             the last line, or the record counts for nothing
 *
 * A table (--rows) is a line of names and a line a row.
 */
#ifndef LAB_RECORD_H
#define LAB_RECORD_H

#define LAB_RECORD_MAGIC   "bluebar-record"
#define LAB_RECORD_VERSION "1"

/* points: what the row earned; max: what it can; where, why, next: "" when there is nothing to say. */
#define LAB_RECORD_COLUMNS(X)                                                                                          \
    X(id) X(status) X(points) X(max) X(sentence) X(value) X(want) X(where) X(why) X(hint) X(next) X(label)
#define LAB_TABLE_COLUMNS(X) X(id) X(label) X(sentence) X(unit) X(full) X(zero) X(points) X(hint) X(next)

#define LAB_ENUM_RECORD(name) LAB_CELL_##name,
#define LAB_ENUM_TABLE(name)  LAB_HEAD_##name,
enum { LAB_RECORD_COLUMNS(LAB_ENUM_RECORD) LAB_CELLS };
enum { LAB_TABLE_COLUMNS(LAB_ENUM_TABLE) LAB_HEADS };

/* The names with a tab before each, as the line that gives them has them: "\tid\tstatus...". */
#define LAB_TABBED(name) "\t" #name

#endif
