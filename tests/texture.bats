#!/usr/bin/env bats
# Memory of two and three dimensions, arrays, textures and surfaces. The programs in tests/texture/ ask; each prints
# lines `name value`.

load helper

programs=(boxes)

setup_file() {
    build "${programs[@]/#/$B/tests/texture/}"
    local p
    for p in "${programs[@]}"; do
        SIMGPU_CHECK=${CHECKED:-1} apart "$B/tests/texture/$p" >"$BATS_FILE_TMPDIR/$p" 2>"$BATS_FILE_TMPDIR/$p.err"
    done
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

# tells PROGRAM <<messages: its stderr is made of these, in this order; each line of the table begins the message behind
# the place.
tells() {
    diff <(sed -n 's/ at 0x[0-9a-f]*//; s/^simgpu: [^ ]*:[0-9]*: //p' "$BATS_FILE_TMPDIR/$1.err") -
}

@test "pitched and 3D memory, arrays, and copies of boxes between all of them" {
    says boxes <<'END'
malloc_3d 0
pitch 512
xsize 80
ysize 6
up 0
across 0
down 0
wrong 0
fill 0
filled 40
no_depth 0
array_2d 0
array_1d 0
array_3d 0
array_layered 0
info 0
info_depth 200005
info_flags 1
info_bits 3200
to_array 0
array_to_array 0
from_array 0
array_wrong 0
run_to 0
run_from 0
run_wrong 0
volume_up 0
volume_down 0
volume_wrong 0
free 0
free_null 0
lost_bytes 0
async 0
END
}

@test "a box that does not fit is refused, and the message says what does not" {
    says boxes <<'END'
too_deep 1
small_ysize 1
no_end 1
too_wide 1
too_high 1
not_an_element 1
run_too_long 1
wrong_kind 1
three_channels 20
no_width 1
cube 1
too_large 1
free_twice 400
use_freed 400
END
    tells boxes <<'END'
cudaMemcpy3D: the source of 18000 bytes does not lie in one allocation: its last byte is 2127 bytes into the 17920-byte allocation
cudaMemcpy3D: the source's ysize, the rows of a plane, is 5, less than the height of 6
cudaMemcpy3D: each end of a 3D copy needs either an array or a pointer; set all other fields to 0
cudaMemcpy2DToArray: the box of 84 bytes x 1 x 1 at (0, 0, 0) does not fit into the array of 80 bytes x 6 x 1
cudaMemcpy2DToArray: the box of 80 bytes x 2 x 1 at (0, 5, 0) does not fit into the array of 80 bytes x 6 x 1
cudaMemcpy2DToArray: the box begins at byte 2 of the row and is 8 bytes wide; elements of the array have 4 bytes, and both must be multiples of that
cudaMemcpyToArray: 80 bytes from byte 4 of row 5 do not fit into the array of 80 bytes x 6
cudaMemcpy2DToArray: the destination is a device pointer, but the direction requires host memory; check the order of the arguments and the cudaMemcpyKind
cudaMallocArray: there is no array of elements with 32, 32, 32, 0 bits; an element has 1, 2 or 4 channels of 8, 16 or 32 bits each, floats of 16 or 32
cudaMallocArray: an array of 0 x 6 x 0 elements: the width is 0
cudaMalloc3DArray: an array of 4 x 5 x 6 elements: a cubemap has six square faces: width equal to height, depth 6 (times the layers)
cudaMallocArray: an array of 262144 x 1 x 0 elements: a dimension is larger than the device allows
cudaFreeArray: this is not an array; create it by cudaMallocArray, and do not use it after cudaFreeArray
cudaMemcpy2DToArray: this is not an array; create it by cudaMallocArray, and do not use it after cudaFreeArray
END
}

@test "the host may use the bytes between the planes of a 3D copy while it is on its way" {
    ! grep -q 'in flight\|before the copy' "$BATS_FILE_TMPDIR/boxes.err"
}
