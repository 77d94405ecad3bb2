# The tables of mistakes (tests/labN/mistakes.md, made by `make mistakes`): each has every program, and no luck in it.

load helper

every_table() {
    local n found=0
    for n in $(labs); do
        [ -f "tests/lab$n/mistakes.md" ] || continue
        found=1
        "$1" "$n" "tests/lab$n/mistakes.md" || return 1
    done
    [ "$found" = 1 ]
}

lists_all() {
    diff <(cd "tests/lab$1" && find wrong cheat right -name '*.cu' -o -name '*.patch' 2>/dev/null | sort) \
        <(sed -n 's/^| \([a-z]*\/[^ ]*\) |.*/\1/p' "$2" | sort)
}

# A mistake fails the same rows with every seed; what is right fails none.
no_luck() { ! grep -E 'of [0-9]+ seeds\*\*|^\| (wrong|cheat)/.*\| none \|' "$2" && ! grep '^| right/' "$2" | grep -v '| none |'; }

@test "each lab's table of mistakes has every program of wrong/, cheat/ and right/: make mistakes" {
    every_table lists_all
}

@test "no mistake of the tables earns its points by luck, and nothing right loses any" {
    every_table no_luck
}
