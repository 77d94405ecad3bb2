#!/usr/bin/env bats
# Several devices in one process (SIMGPU_DEVICES). The program prints lines `name values`.

load helper

setup_file() {
    build "$B/tests/devices/several"
    export REPORT=$BATS_FILE_TMPDIR/report
    SIMGPU_DEVICES=4 SIMGPU_REPORT=$REPORT apart "$B/tests/devices/several" >"$BATS_FILE_TMPDIR/several" 2>"$BATS_FILE_TMPDIR/several.err"
}

# says <<lines: the program's output has these lines, to the letter.
says() {
    local line bad=0
    while read -r line; do
        grep -qxF "$line" "$BATS_FILE_TMPDIR/several" || {
            echo "should be '$line', is '$(grep "^${line%% *} " "$BATS_FILE_TMPDIR/several")'"
            bad=1
        }
    done
    return $bad
}

@test "each host thread has a device, each device its variables; streams, events and memory belong to one" {
    says <<'END'
count 4 now 0
set_9 cudaErrorInvalidDevice
thread 0
still 2
own 0 5
own 1 15
own 2 25
own 3 35
attributes 2 0
stream_of 0
foreign_stream cudaErrorInvalidResourceHandle
foreign_event cudaErrorInvalidResourceHandle
record cudaSuccess
wait cudaSuccess
synchronize cudaSuccess
stream_synchronize cudaSuccess
elapsed cudaErrorInvalidResourceHandle
free_foreign cudaSuccess
free cudaSuccess
END
    grep -qF 'the stream belongs to device 0, but device 1 is in use; call cudaSetDevice(0) before the launch' "$BATS_FILE_TMPDIR/several.err"
}

@test "work of one device waits for an event of another, and copies between them have the way's rate" {
    says <<'END'
ordered 7 7
copy_wrong_device cudaErrorInvalidValue
box_up cudaSuccess
box cudaSuccess
box_async cudaSuccess
box_has 1 3 5 15
box_wrong_device cudaErrorInvalidValue
box_null cudaErrorInvalidValue
box_async_to_host cudaSuccess
box_has_later 0
box_to_host cudaSuccess
box_has_at_once 1 15
update_here cudaSuccess
update_there cudaErrorGraphExecUpdateFailure
update_reason 7 1
END
    # 64 MiB: through the host at 50.85 GB/s, directly at 450 GB/s, and a few microseconds.
    awk '$1 == "staged_us" && $2 > 1320 && $2 < 1340 { n++ } $1 == "direct_us" && $2 > 149 && $2 < 165 { n++ } END { exit n != 2 }' "$BATS_FILE_TMPDIR/several"
}

@test "peer access: CUDA's errors; kernels use the other device's memory only with it; a fault kills one device only" {
    says <<'END'
can 1 0
enable cudaSuccess
enable_again cudaErrorPeerAccessAlreadyEnabled
enable_self cudaErrorPeerAccessUnsupported
disable_2 cudaErrorPeerAccessNotEnabled
peer_value 7
overlap 1
shared 41 41
no_access cudaErrorIllegalAddress
dead cudaErrorIllegalAddress
others_live cudaSuccess
reset cudaSuccess
revived cudaSuccess
END
    grep -q 'illegal address: load of 4 bytes at 0x.*: 0 bytes into the 67108864-byte allocation at 0x.*, memory of another device; cudaDeviceEnablePeerAccess lets kernels of this one use it' "$BATS_FILE_TMPDIR/several.err"
}

@test "pools of memory of another device: made, used with access, freed; what was allowed ends with the pool" {
    says <<'END'
pool_of_other cudaErrorInvalidValue
pool_of_own cudaSuccess
pool_of_none cudaErrorInvalidValue
pool cudaSuccess
pool_on 1 0
pool_access cudaSuccess
pool_value 42 3 4096
pool_free cudaSuccess
pool_used 0
pool_queued cudaSuccess
pool_taken cudaSuccess
pool_reset 0
pool_own_none cudaErrorInvalidValue
pool_destroy cudaSuccess
pool_gone cudaErrorIllegalAddress
END
}

@test "the report names the device of each launch and copy, and a kernel's bound is the link to its peer" {
    awk -F'"device":' '/"kind":"launch"/ { split($2, d, ","); seen[d[1]]++ } END { for (k = 0; k < 4; k++) if (!seen[k]) exit 1 }' "$REPORT"
    grep '"name":"copy"' "$REPORT" | grep -qF '"bound":"link","why":"link: 67.1 MB of memory outside of the GPU move over the link"'
}

@test "one device is the default, and its report names none; another number than 1 to 16 is refused" {
    SIMGPU_REPORT=$BATS_TEST_TMPDIR/one "$B/tests/devices/several" >"$BATS_TEST_TMPDIR/out" 2>/dev/null || true
    grep -qx 'count 1 now 0' "$BATS_TEST_TMPDIR/out"
    [ -s "$BATS_TEST_TMPDIR/one" ]
    [ "$(grep -c '"device":' "$BATS_TEST_TMPDIR/one")" -eq 0 ]
    run env SIMGPU_DEVICES=17 "$B/tests/devices/several"
    [ "$status" -ne 0 ]
    grep -qF 'SIMGPU_DEVICES=17: a machine has 1 to 16 devices' <<<"$output"
}
