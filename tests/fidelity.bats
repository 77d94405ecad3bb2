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
    tsv '# lane gpu, device NVIDIA H200, 64 batches' 'way\tprogram\tus\tGB/s' 'up\tstarter\t12.5\t1' 'up\treference\tn/a\t1' 'up\tyours\t12.5\t1' >"$BATS_TEST_TMPDIR/card"
    tsv '# lane sim, device virtual H200, 32 batches' 'way\tprogram\tus\tGB/s' 'up\tstarter\t12.5\t1' >"$BATS_TEST_TMPDIR/ours"
    run awk -v lab=lab1 -f "$tools/ladder.awk" "$BATS_TEST_TMPDIR/card"
    [ "$output" = "labs	lab1 up/starter	12.5
# lab1, 64 batches" ]
    run awk -v lab=lab1 -f "$tools/ladder.awk" "$BATS_TEST_TMPDIR/ours"
    [ "${lines[1]}" = "# lab1, 32 batches" ]
    tsv 'ceiling\tvalue\tunit' 'one launch\t2\tus' >"$BATS_TEST_TMPDIR/none"
    run awk -v lab=lab0 -f "$tools/ladder.awk" "$BATS_TEST_TMPDIR/none"
    [ "$output" = "" ]
}

@test "ncu's rows get the names of the list, a row a launch" {
    tsv '==PROF== Profiling 0%@ sort/two launches\t2' '==PROF== done' '"ID","Kernel Name","Grid Size","Block Size","a.sum"' '"","","","","byte"' \
        '"0","f(int, int)","(4, 1, 1)","(32, 1, 1)","1,024"' '"1","g()","(1, 1, 1)","(32, 1, 1)","7"' >"$BATS_TEST_TMPDIR/log"
    run awk -v metrics=a.sum,b.sum -v kind=cold -f "$tools/ncu.awk" "$BATS_TEST_TMPDIR/log"
    [ "$output" = "cold	sort/two launches	1	f(int, int)	(4, 1, 1)	(32, 1, 1)	1024	n/a
cold	sort/two launches	2	g()	(1, 1, 1)	(32, 1, 1)	7	n/a" ]
    # A family's name may have digits, spaces and hyphens.
    sed -i 's,sort/two,fp64 multiply-add/two,' "$BATS_TEST_TMPDIR/log"
    run awk -v metrics=a.sum -v kind=cold -f "$tools/ncu.awk" "$BATS_TEST_TMPDIR/log"
    [ "${lines[1]}" = "cold	fp64 multiply-add/two launches	2	g()	(1, 1, 1)	(32, 1, 1)	7" ]
    sed -i '$d' "$BATS_TEST_TMPDIR/log"
    run awk -v metrics=a.sum -v kind=cold -f "$tools/ncu.awk" "$BATS_TEST_TMPDIR/log"
    [ "$status" = 1 ]
    [[ "$output" == *"ncu.awk: the program named 2 launches, and ncu counted 1"* ]]
}

@test "counters beside ncu's: the first launches of a mark, sums of two metrics, what ncu cannot tell" {
    local ld=l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum st=l1tex__t_requests_pipe_lsu_mem_global_op_red.sum
    local header="caches\tkernel\tlaunch\tsmsp__inst_executed.sum\t$ld\t$st\tdram__bytes_read.sum\tlts__t_sector_hit_rate.pct\tlts__t_sectors_op_read.sum\tlts__t_sectors_op_write.sum"
    # Of a/z, L2 looks up less than 1 MiB: its rate is not compared.
    tsv '# NVIDIA H200' "$header" 'cold\ta/x\t1\t100\t3\t4\t2e6\t50\t30000\t2768' 'warm\ta/y\t1\t100\t0\t0\t500\t50\t40000\t0' \
        'cold\ta/z\t1\t0\t0\t0\t0\t150\t30000\t2767' >"$BATS_TEST_TMPDIR/card"
    tsv "$header" 'virtual\ta/x\t1\t109\t7\t0\t3e6\t57\tn/a\tn/a' 'virtual\ta/y\t1\t80\t0\t0\t0\t40\tn/a\tn/a' 'virtual\ta/y\t2\t1\t9\t0\t0\t0\tn/a\tn/a' \
        'virtual\ta/z\t1\t0\t0\t0\t0\t50\tn/a\tn/a' >"$BATS_TEST_TMPDIR/ours"
    run awk -v who=x -v summary="$BATS_TEST_TMPDIR/summary" -f "$tools/counters.awk" "$BATS_TEST_TMPDIR/card" "$BATS_TEST_TMPDIR/ours"
    grep -Eq '^instructions +1 of 2 +10 % +14.5 % +a/y, -20 %$' <<<"$output"
    grep -Eq '^atomic requests +1 of 1 +same +0.0 %' <<<"$output"
    grep -Eq '^DRAM bytes read +0 of 1 +10 % +50.0 % +a/x, \+50 %$' <<<"$output"
    grep -Eq '^L2 hit rate +1 of 1 +8 points +7.0 points +a/x, \+7 points$' <<<"$output"
    grep -Eq '^L1 hit rate +n/a' <<<"$output"
}

@test "bytes that DRAM writes: of less than ncu itself leaves in L2 nothing is said" {
    local header="caches\tkernel\tlaunch\tdram__bytes_read.sum\tdram__bytes_write.sum"
    tsv "$header" 'cold\ta/x\t1\t1.1e6\t2.3e6' 'cold\ta/y\t1\t0\t8e6' >"$BATS_TEST_TMPDIR/card"
    tsv "$header" 'virtual\ta/x\t1\t1.1e6\t1e6' 'virtual\ta/y\t1\t0\t7.5e6' >"$BATS_TEST_TMPDIR/ours"
    run awk -v who=x -v summary="$BATS_TEST_TMPDIR/summary" -f "$tools/counters.awk" "$BATS_TEST_TMPDIR/card" "$BATS_TEST_TMPDIR/ours"
    echo "$output"
    grep -Eq '^DRAM bytes read +1 of 1 ' <<<"$output"
    grep -Eq '^DRAM bytes written +1 of 1 +10 % +6.2 % +a/y, -6 %$' <<<"$output"
}

@test "shared stores and atomics are one row: ncu counts them apart, SimGPU together" {
    local st=l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum atom=l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum
    local more=l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum twice=l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum
    tsv "caches\tkernel\tlaunch\t$st\t$more\t$atom\t$twice" 'cold\ta/x\t1\t10\t2\t50\t20' >"$BATS_TEST_TMPDIR/card"
    tsv '{"kind":"mark","name":"a/x"}' "{\"kind\":\"launch\",\"name\":\"f\",\"grid\":[1,1,1],\"block\":[1,1,1],\"$st\":60,\"$more\":22}" >"$BATS_TEST_TMPDIR/report"
    { head -1 "$BATS_TEST_TMPDIR/card" | sed 's/launch/launch\tfunction\tgrid\tblock/' &&
        awk -v metrics="$st,$more,$atom,$twice" -f "$tools/report.awk" "$BATS_TEST_TMPDIR/report"; } >"$BATS_TEST_TMPDIR/ours"
    run awk -v who=x -v summary="$BATS_TEST_TMPDIR/summary" -f "$tools/counters.awk" "$BATS_TEST_TMPDIR/card" "$BATS_TEST_TMPDIR/ours"
    echo "$output"
    grep -Eq '^shared stores and atomics, ideal wavefronts +1 of 1 +same +0.0 %' <<<"$output"
}

@test "a recorded kernel on SimGPU: its time, its half and its counters" {
    # Each lane's atomic is a lookup of L2. Of loads of bytes and stores of single bytes, L2 sees fewer than L1 does.
    for only in "reduce/an atomic each" "structs/invert pixels"; do
        run env B= DEVICE=sim COMPILERS="$CLANG" ONLY="$only" make fidelity
        echo "$output"
        [ "$status" = 0 ]
        [ "$(grep -c "$only" "$B/fidelity/kernels.tsv")" = 1 ]
        grep -Eq '^load sectors +1 of 1 +same' <<<"$output"
        grep -Eq '^L2 hit rate +1 of 1 +8 points' <<<"$output"
    done
    # A way that all lanes skip does not hide the loads behind it (20 % too fast, if it does). Few blocks wait for DRAM
    # where each reads in an order of its own (twice the time, if all do).
    for only in "particles/Lennard and Jones, tiles" "trees/boxes without a stack"; do
        run env B= DEVICE=sim COMPILERS="$CLANG" ONLY="$only" make fidelity
        echo "$output"
        [ "$status" = 0 ]
        awk -F'\t' -v only="$only" 'index($3, only) == 1 { n++; if ($6 > 0.25 || $6 < -0.15) exit 1 } END { exit n != 1 }' "$B/fidelity/kernels.tsv"
    done
    run env B= DEVICE=sim COMPILERS="$CLANG" ONLY="no such kernel" make fidelity
    [ "$status" != 0 ]
    [[ "$output" == *"ONLY=no such kernel: no program in tests/fidelity has such a name."* ]]
}

@test "make fidelity asks for gnuplot before it runs anything" {
    path=$(path_without 'gnuplot*')
    PATH=$path run timeout 60 make -s fidelity
    [ "$status" != 0 ]
    [[ ${lines[0]} == "the picture takes gnuplot, which is not here: "* ]]
}

@test "a probe's figures stand in the profile's places, with how they were measured; other keys say whose they are" {
    cd "$BATS_TEST_TMPDIR"
    tsv '# NVIDIA H100' 'host_launch_ns\t3500\t3400\t3700\t100 in a row' 'sm_count\t132\t132\t132\tproperty' >figures
    printf '%s\n' '# The card of old.' '' 'name = H200' '' '# --- the chip' 'sm_count = 108                      # property' 'dram_gbs = 4300   # measured: 1 GB' 'host_launch_ns = 2500 # measured' >base.conf
    awk -v base=h200 -v name=H100 -f "$OLDPWD/common/probe/merge.awk" figures base.conf >made
    diff - made <<'END'

name = H100

# --- the chip
sm_count = 132                      # property
dram_gbs = 4300                     # not measured: as in profiles/h200.conf
host_launch_ns = 3500               # measured: 100 in a row; 3400 to 3700
END
    # A figure for which there is no key.
    tsv 'speed\t1\t1\t1\tproperty' >>figures
    run awk -v base=h200 -f "$OLDPWD/common/probe/merge.awk" figures base.conf
    [ "$status" = 1 ]
    [[ $output == *"merge.awk: the profile has no key speed"* ]]
}

@test "of several runs of a probe each figure is the median, and its spread that of all" {
    cd "$BATS_TEST_TMPDIR"
    tsv '# NVIDIA H100' 'host_launch_ns\t5152\t5030\t5282\t100 in a row' 'sm_count\t132\t132\t132\tproperty' 'copy_ns\t9\t9\t9\t9 us' >one
    tsv 'host_launch_ns\t4100.5\t3990\t4200\t100 in a row' 'sm_count\t132\t132\t132\tproperty' 'copy_ns\t10\t8\t12\t10 us' >two
    tsv 'host_launch_ns\t4090\t4000\t4210\t100 in a row' 'sm_count\t132\t132\t132\tproperty' 'copy_ns\t100\t99\t101\t100 us' >three
    diff <(tsv 'host_launch_ns\t4100.5\t3990\t5282\t100 in a row' 'sm_count\t132\t132\t132\tproperty' 'copy_ns\t10\t8\t101\t10 us') <(awk -f "$OLDPWD/common/probe/median.awk" one two three)
    diff two <(awk -f "$OLDPWD/common/probe/median.awk" two)
}

@test "the record's probe makes a profile that SimGPU reads, and the probe's programs know the profile's keys" {
    local key
    awk -v base=h200 -f common/probe/merge.awk handouts/measured/fidelity-host-probe.tsv common/simgpu/profiles/h200.conf >"$BATS_TEST_TMPDIR/host.conf"
    PROFILE=$BATS_TEST_TMPDIR/host.conf apart "$B/starter/lab3" --lines >/dev/null
    for key in $(grep -ohE '(figure|property)\("[a-z0-9_]+"' common/probe/*.cu | sed 's/.*"\(.*\)"/\1/'); do
        grep -q "^PROFILE($key," common/simgpu/time/profile.def || { echo "$key is no key of a profile" && false; }
    done
}

@test "make probe in the software lane says that it takes a GPU" {
    run make -s probe 3>&- 4>&-
    [ "$status" != 0 ]
    [[ $output == "make probe measures a real GPU, and this is the lane of the software GPU. On a machine with a GPU and nvcc: DEVICE=gpu make probe"* ]]
}

@test "of several stretches of a name the last is compared, and cut out as a trace that begins at its mark" {
    cd "$BATS_TEST_TMPDIR"
    printf '%s\n' '[' '{"ph":"M","name":"process_name","pid":2,"tid":0,"args":{"name":"A card"}},' \
        '{"ph":"i","s":"g","name":"x","pid":1,"tid":0,"ts":10.000},' '{"ph":"X","name":"k","pid":2,"tid":5,"ts":12.000,"dur":5.000},' \
        '{"ph":"i","s":"g","name":"end","pid":1,"tid":0,"ts":20.000},' '{"ph":"i","s":"g","name":"x","pid":1,"tid":0,"ts":100.000},' \
        '{"ph":"X","name":"k","pid":2,"tid":5,"ts":101.500,"dur":3.000},' '{"ph":"i","s":"g","name":"end","pid":1,"tid":0,"ts":107.000},' '{}]' >trace
    [ "$(awk -f "$OLDPWD/common/make/compare.awk" -v longest=1 trace)" = x ]
    awk -f "$OLDPWD/common/make/compare.awk" -v cut=x trace >cut.json
    [ "$(grep -c '"k"' cut.json)" = 1 ]
    grep -qF '"name":"k","pid":2,"tid":5,"ts":1.500,"dur":3.000' cut.json
    run awk -f "$OLDPWD/common/make/compare.awk" -v mark=x trace cut.json
    grep -Eq '^k +1 +3.0 us +1 +3.0 us$' <<<"$output"
    grep -Eq '^the stretch +7.0 us +7.0 us$' <<<"$output"
}

@test "make compare3 sets the virtual times beside the recorded ones of a card, and draws both" {
    rm -f .build/compare/lab3.svg
    run env B= make -s compare3
    echo "$output"
    [ "$status" = 0 ]
    [[ ${lines[0]} == transpose*"NVIDIA H200"*"virtual H200" ]]
    grep -Eq '^transpose_pieces +1 +[0-9.]+ us +1 +[0-9.]+ us$' <<<"$output"
    grep -q '>NVIDIA H200, transpose: ' .build/compare/lab3.svg
    grep -q '>virtual H200, transpose: ' .build/compare/lab3.svg
    [ "$(grep -c '<title>transpose_pieces ' .build/compare/lab3.svg)" = 2 ]
    run make -s compare2 3>&- 4>&-
    [ "$status" != 0 ]
    [[ $output == "compare2: the two lanes of lab 2 have jobs of different sizes"* ]]
}

@test "the records of cards, and what is made of them, are text" {
    run env LC_ALL=C.UTF-8 grep -rLI . handouts/measured handouts/fidelity
    [ -z "$output" ]
}
