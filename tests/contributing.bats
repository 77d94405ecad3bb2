#!/usr/bin/env bats
# .github/CONTRIBUTING.md names files and commands that are there; make test-quick runs what is tagged, and says what failed.

load helper

text=.github/CONTRIBUTING.md

@test "every path that CONTRIBUTING.md names exists" {
    # In backquotes, with a slash or an ending; N stands for a lab's number.
    paths=$(grep -oE '`[^`]+`' "$text" | tr -d '`"' | tr ' ' '\n' | sed 's/^TESTS=//' | grep -E '^\.?[a-z][A-Za-z0-9_./-]*/[A-Za-z0-9_./-]*$' | grep -v '^that/' | sed 's/labN/lab3/' | sort -u)
    [ "$(wc -l <<<"$paths")" -ge 15 ]
    for path in $paths; do
        echo "$path"
        [ -e "$path" ]
    done
}

@test "every goal of make that CONTRIBUTING.md names exists" {
    goals=$(grep -oE '`make [a-z0-9-]+' "$text" | cut -d ' ' -f 2 | sort -u)
    [ "$(wc -l <<<"$goals")" -ge 10 ]
    for goal in $goals; do
        echo "$goal"
        run make -n "$goal" 3>&- 4>&-
        [ "$status" = 0 ]
        [[ $output != *"lab.sh unknown"* ]]
    done
}

@test "make test-quick runs the tests that are tagged, counts them, and fails where one does" {
    house
    printf '%s\n' '# bats test_tags=quick' '@test "tagged" { true; }' '@test "not tagged" { false; }' >tests/two.bats
    run make -s test-quick TESTS=tests/two.bats 3>&- 4>&-
    echo "$output"
    [ "$status" = 0 ]
    [ "${lines[-1]}" = "1 passed, 0 failed" ]
    sed -i 's/true/false/' tests/two.bats
    run make -s test-quick TESTS=tests/two.bats 3>&- 4>&-
    [ "$status" != 0 ]
    [[ $output == *"0 passed, 1 failed"* ]]
}
