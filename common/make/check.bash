# shellcheck shell=bash
# What the Bats files that check.sh makes are built from.
#
#   run_program   runs the lab program once (CHECK_PROGRAM, CHECK_SEED), leaves its record in CHECK_RECORD
#   row ID        passes if the record says so; else prints value, want, source line, why and the next step
#
# The program never sees Bats' own descriptors (apart), works in its own temporary folder, and may take two minutes.
# That limit is only a safety net: SimGPU ends runaway kernels itself, by counting instructions.

cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
. common/make/lib.sh

run_program() {
    [ -z "${CHECK_REASON:-}" ] || return 0
    local tmp status=0
    tmp=$(mktemp -d "$BATS_FILE_TMPDIR/run.XXXXXX")
    export TMPDIR=$tmp
    apart timeout -k 5 "${CHECK_TIMEOUT:-120}" "$CHECK_PROGRAM" --record "$tmp/record" --seed "$CHECK_SEED" </dev/null >"$CHECK_LOG" 2>&1 || status=$?
    echo "$status" >"$CHECK_LOG.status"
    if [ -f "$tmp/record" ]; then mv "$tmp/record" "$CHECK_RECORD"; fi
}

# Why there is no finished record.
why_none() {
    local status
    if [ -n "${CHECK_REASON:-}" ]; then
        echo "$CHECK_REASON"
        return
    fi
    status=$(cat "$CHECK_LOG.status" 2>/dev/null || echo '?')
    case $status in
    0) echo "it ended early, without an error and without a score: something called exit()" ;;
    124 | 137) echo "it was still running after ${CHECK_TIMEOUT:-120} seconds" ;;
    129 | 1[3-5]?) echo "it was ended by signal $((status - 128)) ($(kill -l $((status - 128)) 2>/dev/null))" ;;
    *) echo "it ended with exit status $status before the last row" ;;
    esac
    tail -n 12 "$CHECK_LOG" 2>/dev/null | sed 's/^/    /'
}

row() {
    local status
    if ! score "$CHECK_RECORD" >/dev/null; then
        # Rows without a result all lack it for one reason, which the first of them tells.
        if [ ! -f "$BATS_FILE_TMPDIR/told" ]; then
            : >"$BATS_FILE_TMPDIR/told"
            printf 'no result: '
            why_none
        else
            echo "no result, as above"
        fi
        return 1
    fi
    status=$(field "$CHECK_RECORD" "$1" status)
    case $status in
    pass) return 0 ;;
    na) skip "$(field "$CHECK_RECORD" "$1" why)" ;;
    '')
        echo "the record has no row '$1'"
        return 1
        ;;
    esac
    local cell text
    for cell in value want where why; do
        text=$(field "$CHECK_RECORD" "$1" $cell)
        [ -z "$text" ] || printf '  %-7s %s\n' "$cell" "${text#want }"
    done
    printf '  %-7s %s of %s\n' points "$(field "$CHECK_RECORD" "$1" points)" "$(field "$CHECK_RECORD" "$1" max)"
    local n=${CHECK_PROGRAM##*lab}
    printf '  %-7s %s\n' next "make hint$n; the same run again: $CHECK_AGAIN"
    return 1
}
