#!/usr/bin/env bats
# The virtual clock: the times of an H200, the order of commands, and the causes of idle SMs.
# The programs in tests/clock/ ask; each prints lines `name value`.

load helper

programs=(probe order host pool gaps limits devices grid fills graphs graph_memory caches stages waits batch)

setup_file() {
    build "${programs[@]/#/$B/tests/clock/}"
    export REPORT=$BATS_FILE_TMPDIR/report TRACE_FILE=$BATS_FILE_TMPDIR/trace
    apart "$B/tests/clock/probe" >"$BATS_FILE_TMPDIR/probe"
    apart "$B/tests/clock/order" >"$BATS_FILE_TMPDIR/order" 2>"$BATS_FILE_TMPDIR/order.err"
    apart "$B/tests/clock/host" >"$BATS_FILE_TMPDIR/host"
    apart "$B/tests/clock/pool" >"$BATS_FILE_TMPDIR/pool" 2>"$BATS_FILE_TMPDIR/pool.err"
    SIMGPU_THREADS=2 apart "$B/tests/clock/limits" >"$BATS_FILE_TMPDIR/limits" 2>"$BATS_FILE_TMPDIR/limits.err" || true
    SIMGPU_REPORT=$BATS_FILE_TMPDIR/grid.report apart "$B/tests/clock/grid" >"$BATS_FILE_TMPDIR/grid" 2>"$BATS_FILE_TMPDIR/grid.err"
    SIMGPU_REPORT=$BATS_FILE_TMPDIR/graphs.report apart "$B/tests/clock/graphs" >"$BATS_FILE_TMPDIR/graphs" 2>"$BATS_FILE_TMPDIR/graphs.err"
    SIMGPU_REPORT=$REPORT TRACE=$TRACE_FILE apart "$B/tests/clock/gaps"
    SIMGPU_REPORT=$BATS_FILE_TMPDIR/devices.report apart "$B/tests/clock/devices" >"$BATS_FILE_TMPDIR/devices" 2>"$BATS_FILE_TMPDIR/devices.err"
}

# says PROGRAM <<lines: the program's output has these lines, to the letter.
says() {
    local line bad=0
    while read -r line; do
        grep -qxF "$line" "$BATS_FILE_TMPDIR/$1" || {
            echo "should be '$line', is '$(grep "^${line% *} " "$BATS_FILE_TMPDIR/$1")'"
            bad=1
        }
    done
    return $bad
}

@test "copies of 4 bytes to 64 MB take what an H200 takes, within 6 %" {
    # Microseconds, of the host, with the wait; pinned and pageable, each way.
    within 6 probe <<'END'
h2d_pinned_4 5.92
h2d_pageable_4 5.60
d2h_pinned_4 6.06
d2h_pageable_4 6.42
h2d_pinned_4096 7.29
h2d_pageable_4096 6.95
d2h_pinned_4096 6.24
d2h_pageable_4096 7.01
h2d_pinned_65536 8.60
h2d_pageable_65536 19.43
d2h_pinned_65536 7.32
h2d_pinned_65540 8.37
h2d_pageable_65540 11.54
d2h_pinned_65540 7.33
h2d_pinned_1048576 26.53
h2d_pageable_1048576 70.08
d2h_pinned_1048576 25.62
d2h_pageable_1048576 84.10
h2d_pinned_16777216 309.67
h2d_pageable_16777216 918.77
d2h_pinned_16777216 308.92
d2h_pageable_16777216 993.87
h2d_pinned_67108864 1215.58
h2d_pageable_67108864 3599.58
d2h_pinned_67108864 1219.05
d2h_pageable_67108864 3886.42
END
    # Between the inline limit and one chunk of staging, the model's worst place.
    within 8 probe <<'END'
d2h_pageable_65536 12.53
d2h_pageable_65540 12.63
END
}

@test "an asynchronous copy returns when an H200's does: at once from pinned memory, after the staging from pageable" {
    within 7 probe <<'END'
return_pinned_4 0.96
return_pinned_1048576 1.02
return_pageable_4 0.96
return_pageable_4096 1.92
return_pageable_65536 10.59
return_pageable_65540 4.13
return_pageable_1048576 44.76
return_pageable_16777216 895.29
return_pageable_67108864 3564.23
END
}

@test "two engines: 101.7 GB/s both ways together, 55.5 GB/s in one" {
    # 2 x 64 MiB / 101.7 GB/s, 64 MiB / 55.5 GB/s; and a buffer out and back in k pieces, 2 B/k / 55.5 + (k-1) B/k / 50.85.
    within 2 probe <<'END'
both_ways_67108864 1319.7
one_way_twice_67108864 1209.2
pipeline_1 2418.3
pipeline_2 1869.1
pipeline_4 1594.4
END
    within 5 probe <<'END'
pipeline_8 1457.1
pipeline_16 1388.4
END
}

@test "allocation, pinning and registration cost what they cost on an H200" {
    within 5 probe <<'END'
malloc_256 25.01
free_256 22.40
malloc_2097152 24.96
free_2097152 22.08
malloc_67108864 40.87
free_67108864 43.36
pool_pair_0 0.4687
host_alloc_4096 386.9
host_free_4096 156.0
register_4096 59.3
unregister_4096 28.1
host_alloc_1048576 376.0
host_free_1048576 158.0
register_1048576 86.7
unregister_1048576 41.3
host_alloc_67108864 18125.1
host_free_67108864 4011.1
memcpy_67108864 5313.4
END
    within 10 probe <<'END'
register_67108864 1763.9
unregister_67108864 974.8
END
}

@test "small allocations come from chunks of 2 MiB, on the device and page-locked; the pool grows by 32 MiB" {
    within 0.5 host <<'END'
malloc_0 25.015
malloc_1 0.9
malloc_3 0.9
malloc_4 25.015
free_0 1.034
free_2 1.034
free_3 22.48
free_4 22.48
malloc_large_0 25.03
malloc_large_1 25.03
pin_0 380
pin_1 2.5
pin_2 380
unpin_0 2.284
unpin_1 156.384
unpin_2 156.384
pool_0 32.235
pool_1 0.235
pool_2 22.235
pool_trim_0 54.384
END
}

@test "a stream's queue to the device has room for 1022 commands, then a call waits; another stream's is its own" {
    says host <<'END'
room_in_the_queue_0 1
other_stream_0 2.5
full_queue_waits_0 1
END
}

@test "a copy engine takes what its last stream has queued; a stream that turns to another engine takes its time" {
    # Three copies of 4 MiB and the other stream's three, not in turn.
    within 0.5 host <<'END'
copies_of_stream_0 472.05
copies_of_stream_1 236.63
END
    # Eight kernels between, of 1.38 us, and sixteen turns in place of one, of 3.3 us.
    awk '$1 == "turns_1" { one = $2 } $1 == "turns_2" { off = $2 - one - 8 * 1.38 - 15 * 3.3; exit off > 0.5 || off < -0.5 }' "$BATS_FILE_TMPDIR/host"
}

@test "a kernel takes the same between two events, whatever its stream has done long before" {
    awk '$1 ~ /^turned_/ { us[sprintf("%.2f", $2)] = n++ } END { for (x in us) different++; exit !(n == 3 && different == 1) }' "$BATS_FILE_TMPDIR/host"
}

@test "a kernel of higher priority starts when a wave of the blocks before it ends, and delays them" {
    awk '{ us[$1] = $2 }
        END {
            print us["behind_lazy_0"], us["lazy_0"], us["behind_lazy_1"], us["lazy_1"]
            # Of the same priority it waits for all eight waves.
            exit !(us["behind_lazy_0"] < 0.35 * us["lazy_0"] && us["behind_lazy_1"] > 0.95 * us["lazy_1"])
        }' "$BATS_FILE_TMPDIR/host"
}

@test "copies and kernels in 2 to 64 streams take what they take on an H200, within 5 %" {
    # Microseconds. 256 MiB in chunks to the device, kernels of 64 to 4096 turns, and back.
    within 5 host <<'END'
pipeline_64_2 7625.5
pipeline_64_4 6490.3
pipeline_64_8 5959.1
pipeline_64_16 5690.8
pipeline_64_64 5728.8
pipeline_512_2 8094.4
pipeline_512_4 6738.8
pipeline_512_8 6078.7
pipeline_512_16 5749.4
pipeline_512_64 5715.9
pipeline_2048_2 9836.3
pipeline_2048_4 7561.3
pipeline_2048_8 6507.1
pipeline_2048_16 5962.3
pipeline_2048_64 5760.5
pipeline_4096_2 14719.2
pipeline_4096_4 12298.5
pipeline_4096_8 11095.5
pipeline_4096_16 10481.8
pipeline_4096_64 10028.4
END
}

@test "cudaFree waits for a running kernel; cudaMalloc and cudaHostAlloc do not" {
    says probe <<'END'
running_after_free 0
running_after_malloc 1
running_after_host_alloc 1
END
}

@test "launches, synchronization and events cost what they cost on an H200" {
    within 5 probe <<'END'
launch_0 2.483
launch_sync_0 7.54
sync_0 0.384
events_around_empty_0 4.096
events_0 1.248
record_0 0.208
query_0 0.1255
END
}

@test "a host that does not wait reads old bytes and spoils pinned ones in flight, every time" {
    says order <<'END'
read_before_sync -1
read_after_sync 7
pinned_overwritten_in_flight 2
pageable_overwritten_in_flight 1
pageable_read_needs_no_sync 9
END
}

@test "streams: the legacy default stream orders blocking ones, events order any two, nothing else does" {
    says order <<'END'
default_stream_orders_blocking_ones 7
default_stream_ignores_nonblocking 0
two_streams_without_an_event 0
two_streams_with_an_event 7
END
}

@test "kernels run side by side while their blocks fit, to the last SM" {
    # Of 12 blocks each on 132 SMs: the eleventh begins when it arrives, ten launches after the first; a twelfth waits.
    within 5 order <<'END'
eleven_kernels_that_fill_the_sms_us 25
a_twelfth_waits_us 101.2
END
}

@test "host functions and callbacks run in their stream's order, at its time, and may not call the API" {
    # 100 us of work, the thread's start (2.4 us), the way back (1.2 us), the second event (1.248 us).
    within 0.01 order <<<"function_of_100_us_holds_its_stream 104.848"
    says order <<'END'
function_before_sync 0
function_after_sync 1
function_saw_the_copy 7
submitting_a_function_us 1.616
api_in_a_function 800
callback 1
callback_argument 5
callback_status 0
END
    grep -q 'order.cu:[0-9]*: cudaDeviceSynchronize: a host function may not call the CUDA API' "$BATS_FILE_TMPDIR/order.err"
}

@test "a stream or an event that is none: each wrong call is said, with its line, and once" {
    says order <<<"wrong_handles 27"
    diff <(grep -n "// <-- handle$" tests/clock/order.cu | sed "s,^\([0-9]*\):.*\(cuda[A-Za-z]*\)(.*,tests/clock/order.cu:\1: \2,") \
        <(sed -n "s/^simgpu: \(.*\): \(this is not a\|an event\|the event\).*/\1/p" "$BATS_FILE_TMPDIR/order.err")
}

@test "polling makes time pass: a poll costs 126 ns, and the loop ends when the work does" {
    within 5 order <<'END'
event_polls 811
stream_polls 811
event_polled_us 102.2
stream_polled_us 102.2
END
}

@test "the host's declared work and its memcpy and memset take time" {
    # 1 MiB / 12.63 GB/s
    within 0.01 order <<'END'
host_work_ns 12345
host_task_ns 1000
memcpy_us 83.022
memset_us 83.022
END
    says order <<<'memset_did 1'
}

@test "a pool block is used again in stream order, and goes back to the device above the threshold" {
    says pool <<'END'
reserved 1048576
used 1048576
device 1048576
used_after_free 0
reserved_before_sync 1048576
reserved_after_sync 0
device_after_sync 0
reserved_under_threshold 1048576
reserved_after_trim 0
same_stream_while_in_use 1
same_stream_us 0.235
other_stream_while_in_use 0
other_stream_when_done 1
free_gives_to_the_pool 0
no_block_much_too_large 1
freed_twice 1
malloc_block_while_in_use 1048576
malloc_block_when_done 0
END
}

@test "a full device says so, and counts what the pool holds" {
    says pool <<'END'
total 4194304
free 4194304
too_much 2
last_error 2
null 1
after_release 0
malloc_beside_the_pool 2
malloc_after_trim 0
END
    grep -q 'no room for 2097152 bytes: 1048576 of 4194304 are free, 3145728' "$BATS_FILE_TMPDIR/pool.err"
}

@test "a size that no memory has is refused with its place, whatever it is in 64 bits" {
    says limits <<'END'
memset_beyond_addresses 1
copy_beyond_addresses 1
copy_of_all_addresses 1
pitch_beyond_addresses 1
pinned_beyond_addresses 2
shared_beyond_addresses 1
registers_beyond_an_sm 701
register_beyond_addresses 1
END
    grep -q "cudaLaunchKernel: wide: [0-9]* registers a thread and 1024 threads a block are more" "$BATS_FILE_TMPDIR/limits.err"
    grep -q "limits.cu:[0-9]*: cudaMemset2D: the destination ends beyond the last address: width 1, height 2147483649, pitch 8589934592" "$BATS_FILE_TMPDIR/limits.err"
}

@test "host memory is registered once: inside, around, across an end; neighbours are free to be" {
    says limits <<'END'
register 0
register_inside 712
register_around 712
register_across_the_end 712
register_before 0
register_behind 0
END
}

@test "allocations begin as on a card: large ones at a boundary, small ones one after another" {
    says limits <<'END'
large_beyond_64_KiB 0
behind_1500_bytes_beyond_1_KiB 512
behind_1024_bytes_beyond_1_KiB 0
END
}

@test "unwritten device memory costs the host nothing, yet is 0xCD, also after it was freed" {
    says limits <<'END'
host_takes_less_than_64_mb 1
bytes_that_are_not_fresh 0
END
}

@test "a kernel sees as many SMs as the card has, on each card" {
    says limits <<'END'
multi_processor_count 132
nsmid 132
last_smid 131
END
    PROFILE=a100-pcie apart "$B/tests/clock/limits" device >"$BATS_FILE_TMPDIR/a100"
    says a100 <<'END'
multi_processor_count 108
nsmid 108
last_smid 107
END
}

@test "a program may fork after a launch that ran on several host threads: child and parent go on" {
    says limits <<'END'
child 7
parent_after_it 0
END
}

# gap STRETCH CAUSE: nanoseconds of it in the stretch, and the host line.
gap() {
    awk -v stretch="$1" -v cause="$2" '
        function text(key) { return match($0, "\"" key "\":\"[^\"]*\"") ? substr($0, RSTART + length(key) + 4, RLENGTH - length(key) - 5) : "" }
        function number(key) { return match($0, "\"" key "\":[0-9]+") ? substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) : 0 }
        /"kind":"mark"/ { inside = text("name") == stretch }
        inside && /"kind":"gap"/ && text("cause") == cause { sum += number("duration_ns"); line = number("host_line") }
        END { print sum + 0, line + 0 }' "$REPORT"
}

line_of() { grep -n "$1" tests/clock/gaps.cu | sed -n "${2:-1}s/:.*//p"; }

@test "gaps: each part of the SMs' idle time has its cause and its host line" {
    [ "$(gap 'back to back' 'kernel starting')" = "3600 $(line_of 'i < 3')" ]
    # The turn to the copy engine (3.3 us), a copy of 1 MiB from the device (20.9 us) and the wake-up (2.84 us).
    [ "$(gap 'blocked in memcpy' 'host blocked in cudaMemcpy')" = "27033 $(line_of DeviceToHost)" ]
    # 400 us of work, of which a kernel of 101.1 us covers the beginning.
    # (Another clang's kernel takes some ns more.)
    [[ $(gap 'host works' 'host working') =~ ^2985[0-9][0-9]" $(line_of 'load batch')"$ ]]
    [ "$(gap 'waiting for copy' 'waiting for copy')" = "21793 $(line_of 'MIB, cudaMemcpyHostToDevice')" ]
    [ "$(gap 'waiting for copy' 'host working')" = "0 0" ]
    [ "$(gap 'host function' 'waiting for a host function')" = "71200 $(line_of cudaLaunchHostFunc)" ]
    [ "$(gap overlap 'waiting for copy')" = "0 0" ]
}

@test "gaps and busy time add up to the stretch" {
    awk '
        function number(key) { return match($0, "\"" key "\":[0-9]+") ? substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) : 0 }
        /"kind":"gap"/ { idle += number("duration_ns") }
        /"kind":"totals"/ { off = number("duration_ns") - number("working_ns") - idle; n++; idle = 0
            if (off > 20 || off < -20) { print "off by", off, "ns:", $0; bad = 1 } }
        END { exit bad || n < 9 }' "$REPORT"
}

@test "the totals of a stretch: allocations, peaks, staged bytes, calls that synchronize" {
    local totals
    totals=$(sed -n '/"name":"memory"/,/"name":"end"/p' "$REPORT" | grep '"kind":"totals"')
    for want in '"device_allocs":3,' '"device_frees":3,' '"device_live_bytes":1048576,' '"device_peak_bytes":3145728,' \
        '"pinned_allocs":1,' '"pinned_peak_bytes":2097152' '"staged_bytes":1048576,' '"sync_calls":6,'; do
        grep -qF "$want" <<<"$totals" || { echo "$want not in $totals"; return 1; }
    done
}

@test "the report and the trace are the same for every number of host threads" {
    for n in 1 2 3; do
        SIMGPU_THREADS=$n SIMGPU_REPORT=$BATS_TEST_TMPDIR/report TRACE=$BATS_TEST_TMPDIR/trace apart "$B/tests/clock/gaps"
        cmp "$REPORT" "$BATS_TEST_TMPDIR/report"
        cmp "$TRACE_FILE" "$BATS_TEST_TMPDIR/trace"
    done
}

@test "a trace is one array of events, one a line, with rows for the host, the engines, the SMs and the streams" {
    [ "$(head -n 1 "$TRACE_FILE")" = "[" ]
    [ "$(tail -n 1 "$TRACE_FILE")" = "{}]" ]
    [ "$(sed '1d;$d' "$TRACE_FILE" | grep -cvE '^\{"ph":"[MXi]",.*\},$')" = 0 ]
    for row in 'host thread' 'host functions' H2D D2H 'SMs idle because' SMs 'stream 0' 'stream 2'; do
        grep -qF "\"args\":{\"name\":\"$row\"}" "$TRACE_FILE"
    done
    grep -q '"name":"slow","pid":2,.*"from":"tests/clock/gaps.cu:28"' "$TRACE_FILE"
}

@test "a file that SimGPU cannot write ends the program with one message, and no harness blames it on the student" {
    local said
    build "$B/starter/lab3"
    while read -r setting said; do
        echo "$setting"
        said_is "$said" env "$setting" "$B/tests/clock/order"
        said_is "$said" env "$setting" "$B/starter/lab3"
    done <<'END'
TRACE=/nonexistent/trace TRACE: cannot write /nonexistent/trace: No such file or directory
SIMGPU_REPORT=/nonexistent/report SIMGPU_REPORT: cannot write /nonexistent/report: No such file or directory
TRACE=/dev/full the trace cannot be written: No space left on device
SIMGPU_REPORT=/dev/full the report cannot be written: No space left on device
END
}

# said_is TEXT COMMAND...: it ends with 2, and this is all that it says on stderr.
said_is() {
    local text=$1 status=0
    shift
    "$@" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- 4>&- || status=$?
    cat "$BATS_TEST_TMPDIR/err"
    [ "$status" = 2 ]
    [ "$(cat "$BATS_TEST_TMPDIR/err")" = "simgpu: $text" ]
}

# part MARK: the report's lines behind that mark, up to the next.
part() { awk -v name="$1" '/"kind":"mark"/ { on = index($0, "\"name\":\"" name "\"") > 0; next } on' "$BATS_FILE_TMPDIR/devices.report"; }

@test "cards: earlier work on another card changes no number, no byte of the report" {
    says devices <<'END'
same 1
same_after_a_dead_one 1
runs 101
END
    part first >"$BATS_TEST_TMPDIR/first"
    [ "$(grep -c '"kind":"launch"' "$BATS_TEST_TMPDIR/first")" = 7 ]
    for other in second third; do
        part "$other" >"$BATS_TEST_TMPDIR/other"
        diff "$BATS_TEST_TMPDIR/first" "$BATS_TEST_TMPDIR/other"
    done
}

@test "work queued behind a fault does not happen, and is not in the report" {
    part dead >"$BATS_TEST_TMPDIR/dead"
    [ "$(grep -c '"kind":"launch"' "$BATS_TEST_TMPDIR/dead")" = 1 ]
    grep '"kind":"launch".*"name":"beyond".*"fault":"illegal address"' "$BATS_TEST_TMPDIR/dead"
    [ "$(grep -cE '"kind":"(copy|memset)"' "$BATS_TEST_TMPDIR/dead")" = 0 ]
}

@test "cards: one that was left stays as it is, errors and all" {
    says devices <<'END'
second_card 2
third_card 3
dead cudaErrorIllegalAddress
was 3
still_dead cudaErrorIllegalAddress
first_as_left 4096 cudaErrorMemoryAllocation
first_runs 106
no_such_card -1
from_a_host_function -1
END
    grep -F 'simgpu: simgpuUseDevice: there is no card 17; pass a number that simgpuNewDevice returned' "$BATS_FILE_TMPDIR/devices.err"
}

@test "cards: streams, events, pools and memory of one are refused by another" {
    says devices <<'END'
foreign_stream cudaErrorInvalidResourceHandle
foreign_event cudaErrorInvalidResourceHandle
foreign_pool cudaErrorInvalidValue
foreign_memory cudaErrorInvalidValue
last_here cudaErrorInvalidValue
END
}

@test "cudaDeviceReset: memory, streams, events, limits and errors are gone, modules load again, time goes on" {
    says devices <<'END'
reset cudaSuccess
time_goes_on 1
freed 1 limit 1024
last cudaSuccess
stale_memory cudaErrorInvalidValue
stale_free cudaErrorInvalidValue
stale_stream cudaErrorInvalidResourceHandle
stale_event cudaErrorInvalidResourceHandle
module_again 100
stays_dead cudaErrorIllegalAddress
reset_dead cudaSuccess
lives cudaSuccess
counts 101 cudaSuccess
reset_says_it_late cudaErrorIllegalAddress
and_lives cudaSuccess
END
}

@test "cooperative launches: all blocks meet in grid.sync(); a grid that does not fit is refused, with the number that does" {
    says grid <<'END'
has_cooperative_launch 1
resident_on_an_sm 2
ring_of_1 1
ring_of_2 1
ring_of_132 1
ring_of_264 1
too_large 720
last_error 720
ring_by_attribute 1
sync 0
END
    grep -F "grid.cu:$(grep -n '"too_large"' tests/clock/grid.cu | cut -d: -f1): cudaLaunchCooperativeKernel: ring: a cooperative grid of 265 blocks; at most 264 of this size are resident at once, 2 on each of 132 SMs; launch so many," "$BATS_FILE_TMPDIR/grid.err"
}

@test "a large cudaMemset writes its bytes and no others, and costs the host no pages" {
    run apart "$B/tests/clock/fills"
    echo "$output"
    [ "$output" = "ends 0
mib_of_512_below_128 1
wrong 0
wrong_managed 0" ]
}

@test "a resident warp takes as much of the host's memory as its kernel asks for, on few pages" {
    says grid <<'END'
kib_a_warp_below_64 1
END
}

@test "barriers, flags and locks between blocks: as long as the blocks are resident they get on" {
    says grid <<'END'
ring_by_hand 1
meet_by_atomics 0
chain 300
patient 10000
lock 4096
END
}

@test "blocks that wait for ever are a deadlock, with the line, the cause and the remedy" {
    says grid <<'END'
one_misses 702
not_resident 702
one_too_many 702
not_cooperative 719
after_a_reset 0
END
    for says in 'deadlock: 7 of 8 blocks wait in grid.sync(); 1 ended without it; every thread of every block must reach each grid.sync() of the kernel' \
        "deadlock: 264 blocks fill the GPU and wait for the others of the grid's 265, which start only when one of them ends; launch at most 264 blocks, or use cudaLaunchCooperativeKernel and grid.sync()," \
        'deadlock: 8 of 8 blocks wait for a value that no block changes any more; let every block arrive, count them all, and reset the counter before the launch' \
        'trap: grid.sync() in an ordinary launch, whose blocks need not be resident together; launch the kernel with cudaLaunchCooperativeKernel'; do
        grep -F "$says" "$BATS_FILE_TMPDIR/grid.err"
    done
}

@test "grid.sync() takes what it takes on an H200: 0.97 us with 264 blocks of 256 threads, 1.22 with 528" {
    local us
    for n in 264:0.98 528:1.22; do
        us=$(awk -v n="\"grid\":[${n%:*}," 'index($0, n) && /"name":"meet_often"/ { match($0, /"duration_ns":[0-9]*/); print (substr($0, RSTART + 14, RLENGTH - 14) - 2400) / 100 / 1000 }' "$BATS_FILE_TMPDIR/grid.report")
        echo "$n $us"
        awk -v us="$us" -v want="${n#*:}" 'BEGIN { exit !(us > 0.93 * want && us < 1.07 * want) }'
    done
}

@test "what follows each other adds up: warps that work in turn between barriers, a loop behind a loop, atomics behind a wave's loads" {
    apart "$B/tests/clock/stages" | tee "$BATS_TEST_TMPDIR/stages"
    # The same loop, as compilers write it: ptxas makes one turn of several, unless the counter is a half of a register.
    awk '{ us[$1] = $2 }
        END { launch = 2.2
              exit !(us["each_warp"] == us["same_warp"] && us["reads_and_adds"] > us["adds"] + 0.4 * (us["reads"] - launch) &&
                     us["moved"] == us["counter"] && us["wide"] < 1.001 * us["rolled"] && us["rolled"] < 1.001 * us["wide"] &&
                     us["wide"] > 5 * us["counter"] && us["load_if"] < 1.1 * us["load_always"] && us["store_if"] > 3 * us["load_if"] &&
                     us["wide"] - launch < 25 * (us["counter"] - launch) && # sixteen turns are one round, and no less
                     # As many turns in all; an H200 takes 35.6 us for the tables.
                     us["some_long"] > 1.3 * us["alike"] && us["own_table"] > 26 && us["own_table"] < 45 &&
                     us["wraps"] < 0.5 * us["rolled"]) }' "$BATS_TEST_TMPDIR/stages"
    # Two loops of a wave follow each other; one loop that does both hides one behind the other.
    awk '{ us[$1] = $2 }
        END { sum = us["reads_cold"] + us["computes"] - 3.7 # two events and a launch
              exit !(us["reads_then_computes"] > 0.9 * sum && us["reads_then_computes"] < 1.1 * sum && us["reads_and_computes"] < 0.8 * sum &&
                     # A loop around them that turns once hides nothing, one of 16 turns does; a call changes nothing.
                     us["in_one_turn"] > 0.95 * us["reads_then_computes"] && us["in_16_turns"] < 0.9 * us["in_one_turn"] &&
                     us["with_a_call"] > 0.97 * us["reads_then_computes"] && us["with_a_call"] < 1.03 * us["reads_then_computes"] &&
                     # Conflicts make their warp wait, whatever else it loads.
                     us["both_loads"] - us["no_conflicts"] > 0.9 * (us["conflicts"] - 3.7) && us["conflicts"] > 40 &&
                     # The first atomics are through when the last loads come.
                     us["reads_and_adds"] < us["adds"] + 0.6 * (us["reads"] - 2.2)) }' \
        "$BATS_TEST_TMPDIR/stages"
}

@test "warps wait as on an H200: divisions of 0, data that others have fetched, registers for loads, neighbouring words" {
    apart "$B/tests/clock/waits" >"$BATS_TEST_TMPDIR/waits"
    BATS_FILE_TMPDIR=$BATS_TEST_TMPDIR within 20 waits <<'END'
quotients_of_1 10.78
quotients_of_0 40.67
roots_of_1 10.62
roots_of_0 24.77
quotients_of_1_double 19.26
quotients_of_0_double 58.02
roots_of_0_double 36.26
bodies_1_block 594.34
bodies_32_blocks 413.34
bodies_shared 104.22
apart 13.98
END
    # Neighbours of a wave wait for each other: an H200 takes 26.1 us. What ptxas predicates is unrolled, `||` too.
    awk '{ us[$1] = $2 }
        END { exit !(us["neighbours"] > 1.6 * us["apart"] && us["neighbours"] < 40 && us["either"] < 1.1 * us["no_branch"]) }' "$BATS_TEST_TMPDIR/waits"
}

@test "groups of threads: ranks, shuffles, votes, reductions and scans in tiles and among the lanes that are here" {
    says grid <<'END'
thread_13_0 31
thread_13_1 14
thread_13_2 496
thread_13_3 15
thread_13_4 9
thread_13_5 13
thread_13_6 43
thread_13_7 1104
thread_13_8 4
thread_13_9 176
thread_13_10 5
thread_13_11 1984
thread_13_12 1606
thread_13_13 805
thread_13_14 13
thread_37_0 1011
thread_37_2 1520
thread_37_9 475
thread_37_11 1023
END
}

@test "occupancy: an H200 answers the same" {
    says grid <<'END'
largest cudaSuccess 264 1024
with_40000_bytes cudaSuccess 264 1024
up_to_200 cudaSuccess 2112 128
with_100_a_thread cudaSuccess 1056 256
with_500_a_thread cudaSuccess 924 64
left_for_1_of_1024 cudaSuccess 49152
left_for_4_of_1024 cudaErrorInvalidValue 0
left_for_7_of_256 cudaSuccess 33280
left_for_8_of_32 cudaSuccess 29184
left_for_16_of_32 cudaSuccess 14592
left_for_16_of_256 cudaErrorInvalidValue 0
left_for_32_of_32 cudaSuccess 7296
left_for_33_of_32 cudaErrorInvalidValue 0
left_beside_4000 29280
of_0_threads 1
of_2000_threads cudaSuccess 0 0
with_100000_bytes cudaSuccess 0 0
allow_232448 0
allow_232449 1
allow_beside_4000 1
with_100000_allowed cudaSuccess 2 0
END
    # PTX for sm_70, compiled by the driver for the card.
    says grid <<<'attributes 70 90 1024 45152 4000'
}

@test "launches whose blocks wait for each other are the same for any number of host threads, with and without checks" {
    SIMGPU_THREADS=1 SIMGPU_REPORT=$BATS_TEST_TMPDIR/one "$B/tests/clock/grid" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err"
    cmp "$BATS_FILE_TMPDIR/grid.report" "$BATS_TEST_TMPDIR/one"
    SIMGPU_CHECK=1 "$B/tests/clock/grid" >"$BATS_TEST_TMPDIR/checked" 2>"$BATS_TEST_TMPDIR/checked.err"
    cmp "$BATS_FILE_TMPDIR/grid" "$BATS_TEST_TMPDIR/checked"
    cmp "$BATS_FILE_TMPDIR/grid.err" "$BATS_TEST_TMPDIR/checked.err"
}

@test "graphs: what is captured runs when the graph is launched, each time, and children, clones and updates do what they say" {
    says graphs <<'END'
nothing_ran 0
nodes 4
three_launches 42
host_function 3
host_copy 42
exec_destroyed cudaErrorInvalidValue
join cudaSuccess
forked_edges 4 1
forked 1002
behind 15
asked 13
by_hand 61
set_params cudaSuccess
with_four 8
update cudaSuccess
with_three_again 6
type_of_child 4
node_memset cudaSuccess
node_kernel cudaSuccess
node_child cudaSuccess
node_copy cudaSuccess
node_host cudaSuccess
node_event cudaSuccess
node_empty cudaSuccess
by_params 81
END
}

@test "graphs: a refused update says why, in which node, and from which node an edge goes" {
    # 1000 if it is refused, 100 times the reason, the node (1 or 2) and ten times that of the edge
    says graphs <<'END'
reason_none 0
reason_edges 1202
reason_direction 1502
reason_rows 1501
reason_value_of_rows 0
reason_rows_too 1501
reason_address_of_rows 0
reason_no_graph 11
reason_no_exec 11
reason_memory_of_itself 0
reason_memory 1601
reason_priority 1801
reason_priority_unused 0
reason_count 1200
reason_kind 1301
reason_kernel 0
reason_cooperative 1800
END
}

@test "graphs: CUDA's errors for what cannot be a graph, a node or an update" {
    says graphs <<'END'
update_refused cudaErrorGraphExecUpdateFailure
update_result 2
set_2000_threads cudaErrorInvalidValue
add_2000_threads cudaErrorInvalidValue
add_without_params cudaErrorInvalidValue
set_of_empty cudaErrorInvalidValue
twice_behind cudaErrorInvalidValue
edge_twice cudaErrorInvalidValue
edge_to_itself cudaErrorInvalidValue
circle cudaSuccess
instantiate_circle cudaErrorInvalidValue
edge_removed cudaSuccess
node_again cudaErrorInvalidValue
graph_again cudaErrorInvalidValue
node_allocates_nothing cudaErrorInvalidValue
node_unknown cudaErrorInvalidValue
node_nothing cudaErrorInvalidValue
end_without_begin cudaErrorIllegalState
begin_on_default cudaErrorStreamCaptureUnsupported
END
}

@test "batches of copies, pools of a place, a kernel's parameters, copies from array to array" {
    run apart "$B/tests/clock/batch"
    echo "$output"
    [ "$status" = 0 ]
    [ "$(grep -v '^simgpu: ' <<<"$output")" = fine ]
    [[ $output == *"clock/batch.cu:"*": cudaMemcpyBatchAsync: a batch of copies needs a stream that the program created, not the legacy default stream"* ]]
}

@test "graphs: nodes that allocate and free, by hand and captured; what outlives a launch, and a graph" {
    apart "$B/tests/clock/graph_memory" >"$BATS_TEST_TMPDIR/said" 2>"$BATS_TEST_TMPDIR/err" || true
    cat "$BATS_TEST_TMPDIR"/{said,err}
    [ "$(cat "$BATS_TEST_TMPDIR/said")" = fine ]
    grep -q "the last launch of the graph has allocated 512 bytes that are not freed; free them before, let a node free them, or instantiate with cudaGraphInstantiateFlagAutoFreeOnLaunch" "$BATS_TEST_TMPDIR/err"
    grep -q "conditional nodes are not supported" "$BATS_TEST_TMPDIR/err"
}

@test "captures: each call breaks them, or does not, as on an H200, in each mode, with its error code" {
    # Call, its error, the capture's state behind it, the error of its end, nodes; `cudaError` left out. Where modes
    # differ, the relaxed one has a line of its own.
    ! grep broken "$BATS_FILE_TMPDIR/graphs" || return 1
    sed -n 's/cudaErrorStreamCapture//g; s/cudaError//g; s/cudaSuccess/ok/g; s/^\(global\|thread\|relaxed\)_//p' "$BATS_FILE_TMPDIR/graphs" | uniq | diff - <(
        cat <<'END'
wait_for_it Unsupported 2 Invalidated 0
wait_for_another Unsupported 2 Invalidated 0
wait_for_another ok 1 ok 0
wait_for_default Implicit 2 Invalidated 0
query_it Unsupported 2 Invalidated 0
query_another Unsupported 2 Invalidated 0
query_another ok 1 ok 0
wait_for_device Unsupported 2 Invalidated 0
malloc Unsupported 2 Invalidated 0
malloc ok 1 ok 0
free Unsupported 2 Invalidated 0
free ok 1 ok 0
pin Unsupported 2 Invalidated 0
pin ok 1 ok 0
memcpy Implicit 2 Invalidated 0
memset Implicit 2 Invalidated 0
copy_async ok 1 ok 1
copy_pageable ok 1 ok 1
launch_on_default Implicit 2 Invalidated 0
launch_on_another ok 1 ok 0
launch_2000_threads InvalidValue 2 Invalidated 0
query_its_event CapturedEvent 2 Invalidated 0
wait_for_its_event CapturedEvent 2 Invalidated 0
time_of_its_event CapturedEvent 1 ok 0
query_earlier_event Unsupported 2 Invalidated 0
query_earlier_event ok 1 ok 0
behind_earlier_event Isolation 2 Invalidated 0
fork ok 1 ok 0
fork_and_work ok 1 Unjoined 0
end_on_fork Unmatched 2 Invalidated 0
default_behind_it Implicit 2 Invalidated 0
begin_again IllegalState 1 ok 0
merge Merge 2 Invalidated 0
host_function ok 1 ok 1
callback Unsupported 2 Invalidated 0
ask_default Implicit 1 ok 0
END
    )
    grep -F "graphs.cu:$(grep -n '"malloc"' tests/clock/graphs.cu | sed 's/:.*//' | xargs -I{} expr {} + 3): cudaMalloc: this call may wait or allocate, which is not allowed while a stream is captured; move it in front of cudaStreamBeginCapture, or capture with cudaStreamCaptureModeRelaxed; the capture is invalid now" "$BATS_FILE_TMPDIR/graphs.err"
}

@test "graphs take what they take on an H200, within 8 %: the call, the wait, the device for each of several in a row" {
    within 8 graphs <<'END'
empty_10_sync 10.74
empty_10_device 6.36
empty_100_call 1.34
empty_100_sync 55.74
empty_100_device 51.42
empty_100_upload 98
empty_1000_call 2.65
empty_1000_sync 505.95
empty_1000_device 500.58
empty_1000_upload 935
store_50_call 1.39
store_50_sync 47.73
store_50_device 43.35
copy_100_sync 82.13
copy_100_device 77.61
memset_100_call 60.36
fan_of_16_device 6.19
END
    # A load that finds in L2 what another SM has just stored takes longer on the card.
    within 20 graphs <<'END'
jacobi_50_device 64.55
END
    # Instantiation varies most from one time to the next.
    within 25 graphs <<'END'
empty_10_instantiate 40
empty_1000_instantiate 2150
memset_100_device 149.2
memset_100_sync 156.14
END
}

@test "graphs in the report: each node a line with the place of its capture, one call for all" {
    local line
    line=$(grep -n 'empty<<<1, 32, 0, s>>>' tests/clock/graphs.cu | cut -d: -f1)
    sed -n '/"mark".*"costs"/,$p' "$BATS_FILE_TMPDIR/graphs.report" >"$BATS_TEST_TMPDIR/costs"
    # 1 + 5 launches of graphs of 10, 100 and 1000.
    [ "$(grep -c "\"kind\":\"launch\".*\"graph\":true.*\"host_line\":$line," "$BATS_TEST_TMPDIR/costs")" = 6660 ]
    # Two branches run side by side, in one stream.
    sed -n '/"mark".*"forked"/,/"mark".*"by hand"/p' "$BATS_FILE_TMPDIR/graphs.report" | grep '"graph":true' >"$BATS_TEST_TMPDIR/forked"
    [ "$(grep -c '"name":"add".*"stream":2,"graph":true' "$BATS_TEST_TMPDIR/forked")" = 3 ]
    SIMGPU_CHECK=1 "$B/tests/clock/graphs" 2>&1 >/dev/null | { ! grep 'race\|no event, wait'; }
}

@test "the clock's programs are clean under AddressSanitizer and UndefinedBehaviorSanitizer" {
    programs+=(short)
    SAN=1 B=.build/san build "${programs[@]/#/.build/san/tests/clock/}"
    # Each program takes the same ways through SimGPU; some take them less often.
    for p in "${programs[@]}"; do
        run env SIMGPU_REPORT="$BATS_TEST_TMPDIR/report" TRACE="$BATS_TEST_TMPDIR/trace" .build/san/tests/clock/"$p" brief
        echo "${output:0:4000}"
        [ "$status" = 0 ]
        [[ $output != *Sanitizer* && $output != *"runtime error"* ]]
    done
}

@test "kernels take what they take on an H200: make bench-clock holds 90 kernels to the recorded times" {
    run make bench-clock
    echo "$output"
    [ "$status" = 0 ]
    # The list of those that the model gets wrong stands, with the reasons, in common/simgpu/README.md.
    awk '
        NF >= 4 && $NF ~ /^[0-9.]+$/ && $1 != "kernel" { n++; near += $NF > 0.8 && $NF < 1.25; if ($NF < 0.3 || $NF > 2) { print "far off:", $0; bad = 1 } }
        END { print near, "of", n; exit bad || n < 85 || near < 0.85 * n }' <<<"$output"
    # Nothing here is n/a: every kernel has a recorded time.
    [[ $output != *n/a* ]]
}

@test "L2 lives as long as the card: hits, misses, write-back, parts of sectors, copies, for any number of threads" {
    # Name, sectors that loads asked L2 for, that it had, and sectors that DRAM read and wrote.
    # (An H200 asks for 67584 where 8448 blocks of 256 threads read a random word of 16 KiB each, and for 1839002 with 512 KiB.)
    SIMGPU_THREADS=1 apart "$B/tests/clock/caches" >"$BATS_TEST_TMPDIR/one"
    diff "$BATS_TEST_TMPDIR/one" - <<'END'
fresh_card 131072 0 131072 0
again 131072 131072 0 0
stores 0 0 0 0
what_was_stored 131072 131072 0 0
flushed 131072 0 131072 14656
too_large 3145728 0 3145728 902656
too_large_again 3145728 0 3145728 0
stores_too_much 0 0 0 2228352
after_memset 131072 131072 0 0
after_a_copy_to_the_device 131072 0 131072 0
after_a_copy_over_what_l2_had 131072 131072 0 0
source_of_a_copy 131072 131072 0 0
target_of_a_copy 131072 131072 0 0
after_a_copy_to_the_host 131072 0 131072 0
first_words 0 0 0 0
last_words 0 0 0 0
whole_sectors_leave 3145728 0 3145728 32768
words_alone 0 0 0 0
parts_of_sectors_leave 3145728 0 3178496 32768
words_again 0 0 0 0
parts_of_sectors_are_read 32768 0 32768 0
one_word_of_64_bytes 4096 0 8192 128
its_other_sector 4096 4096 0 0
in_place 32768 0 32768 0
atomics 0 0 4096 0
table_of_16_kib 67518 67518 0 0
table_of_512_kib 1927302 1927302 0 0
shared_by_warps 128 128 0 0
passes_l1_by 16 16 0 0
after_reset 131072 0 131072 0
new_card 131072 0 131072 0
END
    SIMGPU_THREADS=2 "$B/tests/clock/caches" | cmp - "$BATS_TEST_TMPDIR/one"
    SIMGPU_THREADS=7 "$B/tests/clock/caches" | cmp - "$BATS_TEST_TMPDIR/one"
}

@test "timeline_svg draws a stretch of a report, names the causes, and says what it cannot draw" {
    local svg=$BATS_TEST_TMPDIR/timeline.svg
    build SAN=1 .build/san/timeline_svg
    .build/san/timeline_svg "$REPORT" 'blocked in memcpy' >"$svg"
    grep -q '>blocked in memcpy, virtual time: 237.7 us, the SMs work for 83 % of it<' "$svg"
    grep -q ">11.4 %  host blocked in cudaMemcpy, gaps.cu:$(line_of DeviceToHost)<" "$svg"
    [ "$(tail -n 1 "$svg")" = "</svg>" ]
    # The two kernels, with their numbers, also written on them; the copy between them; each with its place.
    for step in 0 1; do
        grep -q "fill=\"#2a62c9\"><title>slow $step 99.2 us, gaps.cu" "$svg"
        grep -q ">slow $step</text>" "$svg"
    done
    grep -q "<title>copy d2h, 1048576 bytes 20.9 us, gaps.cu:$(line_of DeviceToHost)</title>" "$svg"
    # A part of it, the whole, and no such stretch.
    .build/san/timeline_svg "$REPORT" 'blocked in memcpy' 100 130 | grep -q 'virtual time: 30.0 us'
    .build/san/timeline_svg "$REPORT" | grep -q '>virtual time: 2437.8 us'
    run .build/san/timeline_svg "$REPORT" nothing
    [ "$status" = 1 ]
    [[ $output == "timeline_svg: nothing: the report has no such mark" ]]
}
