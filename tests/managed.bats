#!/usr/bin/env bats
# Memory that the host and kernels share: managed memory, mapped host memory. The programs in tests/managed/ print lines
# `name value`.

load helper

setup_file() {
    build "$B/tests/managed/basic" "$B/tests/managed/moves" "$B/tests/managed/mapped" "$B/tests/managed/heap" "$B/tests/managed/rest"
    export REPORT=$BATS_FILE_TMPDIR/moves.report
    apart "$B/tests/managed/basic" >"$BATS_FILE_TMPDIR/basic" 2>"$BATS_FILE_TMPDIR/basic.err"
    SIMGPU_REPORT=$REPORT apart "$B/tests/managed/moves" >"$BATS_FILE_TMPDIR/moves" 2>"$BATS_FILE_TMPDIR/moves.err"
    SIMGPU_REPORT=$BATS_FILE_TMPDIR/mapped.report apart "$B/tests/managed/mapped" >"$BATS_FILE_TMPDIR/mapped" 2>"$BATS_FILE_TMPDIR/mapped.err"
    apart "$B/tests/managed/heap" >"$BATS_FILE_TMPDIR/heap" 2>"$BATS_FILE_TMPDIR/heap.err"
    apart "$B/tests/managed/rest" >"$BATS_FILE_TMPDIR/rest" 2>"$BATS_FILE_TMPDIR/rest.err"
}

# says PROGRAM <<lines: the program's output has these lines, to the letter.
says() {
    local line bad=0
    while read -r line; do
        grep -qxF "$line" "$BATS_FILE_TMPDIR/$1" || {
            echo "should be '$line', is '$(grep "^${line%% *} " "$BATS_FILE_TMPDIR/$1")'"
            bad=1
        }
    done
    return $bad
}

@test "managed memory holds zeros at first; host, kernels, copies and fills see each other's values in it" {
    says basic <<'END'
fresh_zeros 1048576
wrong 0
copied 1
copied_behind 1
filled 1
list_sum 500500
END
}

@test "a system call may fill and read managed memory that a kernel has just written" {
    says basic <<'END'
written 4
read_back 1
read 4
value 43
END
}

@test "a forked child has managed memory of its own, and kernels that use it" {
    says basic <<'END'
child 37
parent 100
parent_after 9
END
}

@test "managed memory answers queries and refuses misuse as an H200 does" {
    says basic <<'END'
pointer 3 0 1 1
concurrent 1
accessed -2 -2 -2
attributes cudaSuccess
advised 1 -1 0
size_0 cudaSuccess
flags_0 cudaErrorInvalidValue
too_large cudaErrorMemoryAllocation
prefetch_device_memory cudaErrorInvalidValue
prefetch_host_memory cudaErrorInvalidValue
prefetch_past_end cudaErrorInvalidValue
prefetch_device_7 cudaErrorInvalidDevice
prefetch_13 cudaSuccess
prefetch_v2 cudaSuccess
advise_v2 cudaSuccess
prefetch_12 cudaSuccess
prefetch_12_host cudaSuccess
prefetch_12_stream cudaErrorInvalidResourceHandle
advise_unknown cudaErrorInvalidValue
attach cudaSuccess
attach_part cudaErrorInvalidValue
attach_single_legacy cudaErrorInvalidValue
host_as_device cudaErrorInvalidValue
free_inside cudaErrorInvalidValue
free_host cudaErrorInvalidValue
free cudaSuccess
free_twice cudaErrorInvalidValue
END
    grep -qF 'cudaMemPrefetchAsync: the pointer is not managed memory; allocate it by cudaMallocManaged' "$BATS_FILE_TMPDIR/basic.err"
}

@test "moves of 32 MB of managed memory take what an H200 takes, within a third" {
    # Microseconds, of an H200, less the 45 that its launch with a synchronization took there.
    awk '
        NR == FNR { want[$1] = $2; n++; next }
        $1 in want { n--; if ($2 > want[$1] * 1.34 || $2 * 1.34 < want[$1]) { printf "%s: %s, should be %s\n", $1, $2, want[$1]; bad = 1 } }
        END { if (n) print n " values are missing"; exit bad || n }' - "$BATS_FILE_TMPDIR/moves" <<'END'
device_first 2909
host 6092
device_read 3986
device_byte_each 453
prefetch_to_device 694
prefetch_to_host 2979
read_mostly 4164
over_the_link 693
END
    # What is there does not move again.
    awk '/_again|_prefetched|read_mostly_host/ && $2 > 30 { print; bad = 1 } END { exit bad }' "$BATS_FILE_TMPDIR/moves"
}

@test "each move of managed memory is in the report, with its cause, its bytes and its place; kernels name their bound" {
    at() { grep -nF "$1" tests/managed/moves.cu | head -n 1 | cut -d : -f 1; } # the line of a source text
    stretch() { sed -n "/\"mark\",\"name\":\"$1\"/,/\"mark\",\"name\":\"$2\"/p" "$REPORT" | grep '"kind":"migration"'; }
    diff - <(stretch faults prefetch | sed -E 's/"(start|duration)_ns":[0-9]+,?//g; s/,?}$/}/') <<END
{"kind":"migration","direction":"h2d","cause":"kernel","kernel":"_Z10touch_readPKfmPf","bytes":33554432,"faults":16,"stream":0,"host_file":"tests/managed/moves.cu","host_line":$(at 'end("device_read")')}
{"kind":"migration","direction":"d2h","cause":"host","bytes":33554432,"faults":96}
{"kind":"migration","direction":"h2d","cause":"kernel","kernel":"_Z12touch_stridePcmm","bytes":65536,"faults":1,"stream":0,"host_file":"tests/managed/moves.cu","host_line":$(at 'end("device_byte")')}
{"kind":"migration","direction":"d2h","cause":"host","bytes":65536,"faults":1}
{"kind":"migration","direction":"h2d","cause":"kernel","kernel":"_Z12touch_stridePcmm","bytes":1048576,"faults":16,"stream":0,"host_file":"tests/managed/moves.cu","host_line":$(at 'end("device_byte_each")')}
END
    grep '"name":"touch_read"' "$REPORT" | head -n 1 | grep -qF '"why":"page faults: 33.6 MB of managed memory come to the GPU while the kernel waits; cudaMemPrefetchAsync before the launch moves them sooner"'
    grep -q '"cause":"host blocked in page faults of managed memory"' "$REPORT"
    SIMGPU_THREADS=1 SIMGPU_REPORT=$BATS_TEST_TMPDIR/again "$B/tests/managed/moves" >/dev/null
    cmp "$REPORT" "$BATS_TEST_TMPDIR/again"
}

@test "__managed__ variables have their first values, one address, and everybody's stores; a reset gives the first values back" {
    says mapped <<'END'
first 7003
counter 10
step 103
table 1
pair 1
from_symbol 253
variable 3 1
prefetch_variable cudaSuccess
after_reset 7 3
after_reset_used 10
END
}

@test "kernels use page-locked memory, allocated or registered, beside their own; plain memory of the host is no device memory" {
    says mapped <<'END'
mapped_wrong 0
flags_wc 6
flags_registered 2
pinned 1 0 1 1
pointer_of_stack cudaErrorInvalidValue
pointer_flags cudaErrorInvalidValue
unregister_pinned cudaErrorInvalidValue
memset_pinned cudaSuccess
filled 1
copy_pinned_as_device cudaSuccess
mixed 32 1 1 2
unregister cudaSuccess
freed cudaErrorIllegalAddress
END
    grep -q 'illegal address: load of 4 bytes at 0x.*: not a device address; a host pointer' "$BATS_FILE_TMPDIR/mapped.err"
}

@test "zero copy takes what an H200 takes, within 10 %, and names the link" {
    awk '
        NR == FNR { want[$1] = $2; n++; next }
        $1 in want { n--; if ($2 > want[$1] * 1.1 || $2 * 1.1 < want[$1]) { printf "%s: %s, should be %s\n", $1, $2, want[$1]; bad = 1 } }
        END { if (n) print n " values are missing"; exit bad || n }' - "$BATS_FILE_TMPDIR/mapped" <<'END'
read_us 1327
write_us 1293
chase_us 1199
END
    grep -qF '"bound":"link","why":"link: 67.1 MB of memory outside of the GPU move over the link"' "$BATS_FILE_TMPDIR/mapped.report"
    grep -qF '"why":"link: a warp waits for 1000 loads in a row from memory outside of the GPU' "$BATS_FILE_TMPDIR/mapped.report"
    SIMGPU_CHECK=1 "$B/tests/managed/mapped" 2>/dev/null | cmp - "$BATS_FILE_TMPDIR/mapped"
}

@test "kernels: malloc, free, new, delete within the heap's limit; virtual functions, pointers to functions, recursion" {
    diff "$BATS_FILE_TMPDIR/heap" - <<'END'
areas 4 27 243
pointers 7 15
fib 55 89
lists 53760
big 6
heap 8388608 cudaErrorInvalidValue
limit cudaSuccess 9043968
bad 0 cudaErrorIllegalAddress
bad 1 cudaErrorIllegalAddress
bad 2 cudaErrorIllegalAddress
bad 3 cudaErrorIllegalAddress
END
    grep -q "illegal address: free() of 0x.*, where no live block of a kernel's malloc() begins: 0 bytes into the 64-byte allocation" "$BATS_FILE_TMPDIR/heap.err"
    grep -q "illegal address: free() of 0x.*: 0 bytes into a 40-byte allocation at 0x.* that was freed" "$BATS_FILE_TMPDIR/heap.err"
    grep -q "illegal address: store of 4 bytes at 0x.*: 0 bytes past the end of the 40-byte allocation" "$BATS_FILE_TMPDIR/heap.err"
    grep -q "illegal address: store of 4 bytes at 0x.*: 0 bytes into a 40-byte allocation at 0x.* that was freed" "$BATS_FILE_TMPDIR/heap.err"
}

@test "priorities, pools of the program, default streams of threads, attributes of streams, and queries answer as an H200 does" {
    diff "$BATS_FILE_TMPDIR/rest" - <<'END'
range 0 -5
clamped -5
high_first 1
ids 1 0
window cudaSuccess
window_bytes 4096
reset_l2 cudaSuccess
create cudaSuccess
from_pool cudaSuccess
used 1024 0
in_use 1 2048
access cudaSuccess
flags 3
destroy cudaSuccess
free cudaSuccess
free_other cudaSuccess
gone cudaErrorInvalidValue
destroy_default cudaErrorInvalidValue
create_elsewhere cudaErrorInvalidValue
choose cudaSuccess
valid cudaSuccess
init cudaSuccess
init_1 cudaErrorInvalidDevice
cache 2
by_bus cudaSuccess
sync_depth cudaErrorUnsupportedLimit
entry cudaSuccess
entry_found 1 0
own_stream 1 1
by_name 1
by_flag 1
legacy 1
END
}
