# said.awk: what a compiler said of a copy of a program's file, as if of the file: the program's own line, column and text in
# place of those of a respelt line. `copied` names a file with a line "FILE<tab>COPY" for each. Both lines are walked side by
# side: where they differ, by the fewest characters that let four of each agree again.
function read_lines(file, into,    n, text) { while ((getline text < file) > 0) into[file, ++n] = text; close(file) }
function column_of(old, new, column,    o, n, skip, k) {
    o = n = 1
    while (n < column) {
        if (substr(old, o, 1) == substr(new, n, 1)) { o++; n++; continue }
        for (skip = 1; skip <= length(old) + length(new); skip++) {
            for (k = 0; k <= skip && substr(old, o + k, 4) != substr(new, n + skip - k, 4); k++);
            if (k <= skip) break
        }
        o += k; n += skip - k
    }
    return o
}
function expanded(text,    out, k, c) {
    for (k = 1; k <= length(text); k++) {
        c = substr(text, k, 1)
        if (c != "\t") out = out c
        else do out = out " "; while (length(out) % 8)
    }
    return out
}
BEGIN { while ((getline line < copied) > 0) { split(line, part, "\t"); copy[part[1]] = part[2]; read_lines(part[1], lines); read_lines(part[2], lines) } }
{
    plain = $0
    gsub(/\033\[[0-9;]*[mK]/, "", plain)
    if (plain ~ /^[^:]+:[0-9]+:[0-9]+: /) {
        split(plain, part, ":")
        changed = (part[1] in copy) && lines[part[1], part[2]] != lines[copy[part[1]], part[2]]
        if (changed) {
            old = lines[part[1], part[2]]; column = column_of(old, lines[copy[part[1]], part[2]], part[3])
            sub(":" part[2] ":" part[3] ":", ":" part[2] ":" column ":")
        }
    } else if (changed) {
        margin = match(plain, /^ *[0-9]* \| /) ? substr(plain, 1, RLENGTH) : ""
        text = substr(plain, length(margin) + 1)
        if (text ~ /^[ ~]*\^[ ~]*$/) {
            $0 = sprintf("%s%" length(expanded(substr(old, 1, column - 1))) "s^", margin, "")
            changed = 0
        } else if (text == expanded(lines[copy[part[1]], part[2]])) {
            $0 = margin expanded(old)
        }
    }
    print
}
