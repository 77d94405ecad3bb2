#!/usr/bin/env bats
# How near the clock and the counters are to a card's: the arithmetic of `make fidelity`, on records small enough to work
# out by hand; and the way from a recorded kernel to its line.

load helper

tools=tests/fidelity

tsv() { printf '%b\n' "$@"; }

@test "a kernel's half is the parity of its name's FNV-1a hash" {
    # Hashes by the published algorithm, 32 bits: of "" 811c9dc5, of "a" e40c292c, of "foobar" bf9cf968.
    run awk -f "$tools/split.awk" -f <(echo 'BEGIN { print half(""), half("a"), half("foobar") }')
    [ "$output" = "report tuning tuning" ]
}

@test "errors, shares and order of two halves, each apart" {
    cd "$BATS_TEST_TMPDIR"
    # By their names' hashes: sort/a, sort/c and sort/e are for tuning or for the report together, as are sort/b and sort/d.
    tsv 'set\tname\tus' 'kernels\tsort/a\t100' 'kernels\tsort/c\t50' 'kernels\tsort/e\t10' 'kernels\tsort/b\t40' 'kernels\tsort/d\t41' 'host\tcopy/x\t7' >card
    tsv 'kernels\tsort/a\t120' 'kernels\tsort/c\t100' 'kernels\tsort/e\t101' 'kernels\tsort/b\t30' 'kernels\tsort/d\t20' >ours
    run awk -f "$OLDPWD/$tools/split.awk" -f "$OLDPWD/$tools/score.awk" -v table=table -v summary=summary -v card=H200 who=card card who=clang ours
    [ "$status" = 0 ]
    # |0.2|, |1.0|, |9.1|: 343 % in the mean; one of three within 25 %; of three pairs one is in the wrong order.
    grep -Eq '^clang +kernels +[a-z]+ +3 +343 % +343 % +1 of 3 +0.33 +0 of 1 +sort/e, 910 %$' <<<"$output"
    # -25 % is within; 40 and 41 us cannot be told apart, so there is no order.
    grep -Eq '^clang +kernels +[a-z]+ +2 +38 % +-38 % +1 of 2 +- +- +sort/d, -51 %$' <<<"$output"
    [ "$(grep -c host <<<"$output")" = 0 ]
    [ "$(wc -l <table)" = 6 ]
    grep -q "^kernels	[a-z]*	sort/c	50	100	+1.000$" table
}

@test "a lab's table becomes rungs, and says what was measured" {
    tsv '# NVIDIA H200, driver 1, CUDA 13' '# lane gpu, device NVIDIA H200, 64 batches' 'way\tprogram\tus\tGB/s' 'up\tstarter\t12.5\t1' 'up\treference\tn/a\t1' >"$BATS_TEST_TMPDIR/record"
    tsv '# lane sim, device virtual H200, 32 batches' 'way\tprogram\tus\tGB/s' 'up\tstarter\t12.5\t1' >"$BATS_TEST_TMPDIR/ours"
    run awk -v lab=lab1 -f "$tools/ladder.awk" "$BATS_TEST_TMPDIR/record"
    [ "$output" = "labs	lab1 up/starter	12.5
=	lab1, 64 batches" ]
    run awk -v lab=lab1 -f "$tools/ladder.awk" "$BATS_TEST_TMPDIR/ours"
    [ "${lines[1]}" = "=	lab1, 32 batches" ]
}

@test "ncu's rows get the names of the list, a row a launch" {
    tsv '==PROF== Profiling 0%@ sort/two launches\t2' '==PROF== done' '"ID","Kernel Name","Grid Size","Block Size","a.sum"' '"","","","","byte"' \
        '"0","f(int, int)","(4, 1, 1)","(32, 1, 1)","1,024"' '"1","g()","(1, 1, 1)","(32, 1, 1)","7"' >"$BATS_TEST_TMPDIR/log"
    run awk -v metrics=a.sum,b.sum -v kind=cold -f "$tools/ncu.awk" "$BATS_TEST_TMPDIR/log"
    [ "$output" = "cold	sort/two launches	1	f(int, int)	(4, 1, 1)	(32, 1, 1)	1024	n/a
cold	sort/two launches	2	g()	(1, 1, 1)	(32, 1, 1)	7	n/a" ]
    sed -i '$d' "$BATS_TEST_TMPDIR/log"
    run awk -v metrics=a.sum -v kind=cold -f "$tools/ncu.awk" "$BATS_TEST_TMPDIR/log"
    [ "$status" = 1 ]
    [[ "$output" == *"ncu.awk: the program named 2 launches, and ncu counted 1"* ]]
}

@test "counters beside ncu's: the first launches of a mark, sums of two metrics, what ncu cannot tell" {
    local ld=l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum st=l1tex__t_requests_pipe_lsu_mem_global_op_red.sum
    local header="caches\tkernel\tlaunch\tsmsp__inst_executed.sum\t$ld\t$st\tdram__bytes_read.sum\tlts__t_sector_hit_rate.pct"
    tsv '# NVIDIA H200' "$header" 'cold\ta/x\t1\t100\t3\t4\t2e6\t50' 'warm\ta/y\t1\t100\t0\t0\t500\t50' >"$BATS_TEST_TMPDIR/card"
    tsv "$header" 'virtual\ta/x\t1\t109\t7\t0\t3e6\t57' 'virtual\ta/y\t1\t80\t0\t0\t0\t40' 'virtual\ta/y\t2\t1\t9\t0\t0\t0' >"$BATS_TEST_TMPDIR/ours"
    run awk -v who=x -v summary="$BATS_TEST_TMPDIR/summary" -f "$tools/counters.awk" "$BATS_TEST_TMPDIR/card" "$BATS_TEST_TMPDIR/ours"
    grep -Eq '^instructions +1 of 2 +10 % +14.5 % +a/y, -20 %$' <<<"$output"
    grep -Eq '^atomic requests +1 of 1 +same +0.0 %' <<<"$output"
    grep -Eq '^DRAM bytes read +0 of 1 +10 % +50.0 % +a/x, \+50 %$' <<<"$output"
    grep -Eq '^L2 hit rate +1 of 1 +8 points +7.0 points +a/x, \+7 points$' <<<"$output"
    grep -Eq '^L1 hit rate +n/a' <<<"$output"
}

@test "a recorded kernel on SimGPU: its time, its half and its counters" {
    run env B= DEVICE=sim COMPILERS="$CLANG" ONLY="histogram/65536 bins" make fidelity
    echo "$output"
    [ "$status" = 0 ]
    [ "$(grep -c "histogram/65536 bins" "$B/fidelity/kernels.tsv")" = 1 ]
    grep -Eq '^load sectors +1 of 1 +same' <<<"$output"
    run env B= DEVICE=sim COMPILERS="$CLANG" ONLY="no such kernel" make fidelity
    [ "$status" != 0 ]
    [[ "$output" == *"ONLY=no such kernel: no program in tests/fidelity has such a name."* ]]
}
