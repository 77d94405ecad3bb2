# shellcheck shell=bash
# expected FILE: grades FILE and holds it against its `// expect:` line (see wrong-programs.sh).

expected() {
    local line what regex lab_number=${1#tests/lab}
    lab_number=${lab_number%%/*}
    line=$(sed -n '/^\/\/ expect: /{ s///p; q; }' "$1")
    what=${line%%:*}
    regex=${line#*: }
    if [ "$line" != full ] && { [ -z "$line" ] || [ "$what" = "$line" ]; }; then
        echo "$1 does not open with '// expect: ROW|gate|run: REGEX' or '// expect: full'"
        return 1
    fi
    grade "$1"
    if [ "$line" = full ]; then
        echo "expected a full grade"
        return "$status"
    fi
    if [ "$status" = 0 ]; then
        echo "$1 passes: a hole in the grader"
        return 1
    fi
    echo "expected $what: $regex"
    case $what in
    gate) echo "$output" | grep '^gate: ' | grep -Eq -- "$regex" ;;
    run) ! score "$record" >/dev/null && echo "$output" | grep -Eq -- "$regex" ;;
    *)
        [ "$(field "$record" "$what" status)" != pass ] &&
            awk -F '\t' -v id="$what" '$1 == "row" && $2 == id' "$record" | grep -Eq -- "$regex"
        ;;
    esac
}
