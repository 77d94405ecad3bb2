#!/usr/bin/env bats
# Memory of two and three dimensions, arrays, textures and surfaces. The programs in tests/texture/ ask; each prints
# lines `name value`.

load helper

programs=(boxes objects silicon count references mipmap)

setup_file() {
    build "${programs[@]/#/$B/tests/texture/}"
    local p
    for p in "${programs[@]}"; do
        SIMGPU_CHECK=1 SIMGPU_REPORT=$BATS_FILE_TMPDIR/$p.report apart "$B/tests/texture/$p" >"$BATS_FILE_TMPDIR/$p" 2>"$BATS_FILE_TMPDIR/$p.err"
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

@test "symbols, pitched and 3D memory, arrays, and copies of boxes between all of them" {
    says boxes <<'END'
to_symbol 0
to_symbol_part 0
from_symbol 0
doubled 182008
address 0
size 64
device_to_symbol 0
symbol_to_device 0
through_address 10
past_symbol 1
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
run_too_long 1
wrong_kind 21
three_channels 20
no_width 1
cube 1
too_large 1
free_twice 400
use_freed 400
END
    tells boxes <<'END'
cudaMemcpyToSymbol: 8 bytes at offset 60 do not fit into the 64 bytes of table
cudaMemcpy3D: the source of 18000 bytes does not lie in one allocation: its last byte is 1615 bytes into the 17920-byte allocation
cudaMemcpy3D: the source's ysize, the rows of a plane, is 5, less than the height of 6
cudaMemcpy3D: each end of a 3D copy needs either an array or a pointer; set all other fields to 0
cudaMemcpy2DToArray: the box of 84 bytes x 1 x 1 at (0, 0, 0) does not fit into the array of 80 bytes x 6 x 1
cudaMemcpy2DToArray: the box of 80 bytes x 2 x 1 at (0, 5, 0) does not fit into the array of 80 bytes x 6 x 1
cudaMemcpyToArray: 80 bytes from byte 4 of row 5 do not fit into the array of 80 bytes x 6
cudaMemcpy2DToArray: the array is device memory, so a copy to it is none of this cudaMemcpyKind
cudaMallocArray: there is no array of elements with 32, 32, 32, 0 bits; an element has 1, 2 or 4 channels of 8, 16 or 32 bits each, floats of 16 or 32
cudaMallocArray: an array of 0 x 6 x 0 elements: the width is 0
cudaMalloc3DArray: an array of 4 x 5 x 6 elements: a cubemap has six square faces: width equal to height, depth 6 (times the layers)
cudaMallocArray: an array of 262144 x 1 x 0 elements: a dimension is larger than the device allows
cudaFreeArray: this is not an array; create it by cudaMallocArray, and do not use it after cudaFreeArray
cudaMemcpy2DToArray: this is not an array; create it by cudaMallocArray, and do not use it after cudaFreeArray
END
}

@test "the host may use the bytes between the planes of a 3D copy while it is on its way" {
    run grep 'in flight' "$BATS_FILE_TMPDIR/boxes.err"
    [ "$status" = 1 ]
}

@test "textures and surfaces read as on an H200, bit for bit: addressing, filters, formats, layers, cubes, gathers" {
    grep -v '^#' tests/texture/h200.txt >"$BATS_TEST_TMPDIR/want"
    sed 's/: .*//' "$BATS_TEST_TMPDIR/want" | sort -u >"$BATS_TEST_TMPDIR/names"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/want")" -gt 300 ]
    awk -F: 'NR == FNR { known[$1] = 1; next } $1 in known' "$BATS_TEST_TMPDIR/names" "$BATS_FILE_TMPDIR/silicon" | diff - "$BATS_TEST_TMPDIR/want"
    [ ! -s "$BATS_FILE_TMPDIR/silicon.err" ]
}

# Requests, sectors, sectors from L2; Nsight Compute on an H200.
@test "texture and surface requests, their sectors and those that miss L1 are what an H200 counts" {
    sed -n '/"kind":"launch"/s/.*"name":"\([^"]*\)".*xbar2l1tex_read_sectors.sum":\([0-9]*\).*requests_pipe_tex.sum":\([0-9]*\),"l1tex__t_sectors_pipe_tex.sum":\([0-9]*\).*/\1 \3 \4 \2/p' \
        "$BATS_FILE_TMPDIR/count.report" >"$BATS_TEST_TMPDIR/counted"
    diff "$BATS_TEST_TMPDIR/counted" - <<'END'
tex_row 65536 65536 65536
tex_block 65536 65536 32768
tex_column 65536 131072 131072
tex_linear 65536 195585 98943
tex_fetch 32768 32768 32768
tex_fetch4 65536 131072 131072
surf_row 32768 65536 0
surf_rd 32768 65536 65536
END
}

@test "objects: what they are made of, what they say of themselves, what ends them" {
    says objects <<'END'
limit_1d 131072
limit_gather 32768
limit_surface_layers 2048
limit_last 2046
limit_pitch 2097120
limit_depth 16384
create 0
read 2
second 0
linear 2.5
resource 10
description 10
change 0
changed 4
destroy 0
late_read 4
destroy_twice 0
destroy_none 0
ask_destroyed 1
pitched 0
mirrored 21
type_0 5008
type_1 1
type_2 2
type_3 4
type_4 1
surface 0
painted_wrong 0
destroy_surface 0
volume 7
volume_outside 0
END
}

@test "a description that no texture has is refused with CUDA's error, and a wrong use of an object stops the kernel" {
    says objects <<'END'
unaligned 1
bad_pitch 1
too_long 1
filtered_integers 26
fractions_of_integers 27
no_mode 1
mipmapped 400
no_description 1
surface_of_memory 1
fault_0 700
fault_1 700
fault_2 700
fault_3 716
fault_4 700
END
    tells objects <<'END'
cudaDestroyTextureObject: this is not a live texture object
cudaCreateTextureObject: a texture's memory must begin at a multiple of 512 bytes, and its pitch be a multiple of 32: the pointer is 32 bytes behind such a multiple, the pitch 512 bytes; use cudaMalloc or cudaMallocPitch
cudaCreateTextureObject: a texture's memory must begin at a multiple of 512 bytes, and its pitch be a multiple of 32: the pointer is 0 bytes behind such a multiple, the pitch 24 bytes; use cudaMalloc or cudaMallocPitch
cudaCreateTextureObject: 1048576 bytes from the pointer on do not lie in one allocation of device memory
cudaCreateTextureObject: linear filtering gives floats, and the texture is read as integers of 32 bits; use cudaReadModeNormalizedFloat (8 and 16 bits), cudaFilterModePoint, or floats
cudaCreateTextureObject: cudaReadModeNormalizedFloat is for integers of 8 and 16 bits; use cudaReadModeElementType
cudaCreateTextureObject: addressMode[1] is 9, which is not a cudaTextureAddressMode; begin with a cudaTextureDesc of zeros
cudaCreateTextureObject: this is not a mipmapped array; create it by cudaMallocMipmappedArray, and do not use it after cudaFreeMipmappedArray
cudaCreateSurfaceObject: a surface object needs an array (cudaResourceTypeArray)
END
    grep '^objects.cu' "$BATS_FILE_TMPDIR/objects.err" | sed 's/ at 0x[0-9a-f]*//; s/0x[0-9a-f]*/HANDLE/; s/^[^ ]* //' | diff - <(cat <<'END'
illegal address: the texture object was destroyed before this launch; call cudaDestroyTextureObject behind the last one that uses it
illegal address: the memory of the texture object was freed: 0 bytes into a 512-byte allocation that was freed; free it behind the last launch that uses the object
illegal address: a texture is read or written through a surface object; make one by cudaCreateTextureObject
misaligned address: store of 4 bytes at byte 1 of a row of a surface: a surface's x counts bytes, so multiply it by sizeof of the element
illegal address: HANDLE is no texture object; pass the kernel what cudaCreateTextureObject stored, and check that the call succeeded
END
    )
}

@test "texture references: arrays, rows, memory; a launch reads what was bound when it was submitted" {
    says references <<'END'
clamps_first 1
to_array 0
array 81 961
to_rows 0
rows 0 380.5
bound_anew 189 -63
behind_a_boundary 20 15
fractions 0.2 1
no_memory cudaErrorInvalidValue
by_pointers 0
as_by_reference 15
canvas 0
painted 46.5 47.5 0
space 0
deep 7
pyramid 0
apex 9
unbound cudaErrorIllegalAddress
END
    grep -q 'references.cu:[0-9]*: cudaBindTexture: ' "$BATS_FILE_TMPDIR/references.err"
    # simcc knows them without a header, and says what took their place.
    printf 'texture<float, 2> old;\n__global__ void k(float *out) { *out = tex2D(old, 0, 0); }\nint main() { cudaUnbindTexture(old); }\n' >"$BATS_TEST_TMPDIR/old.cu"
    build kit
    run "$B/bin/simcc" "$BATS_TEST_TMPDIR/old.cu" -o "$BATS_TEST_TMPDIR/old"
    echo "$output"
    [ "$status" = 0 ]
    printf 'surface<void, 2> old;\n__global__ void k() { surf2Dwrite(1.0f, old, 0, 0); }\nint main() { return cudaBindSurfaceToArray(old, nullptr) != cudaErrorInvalidResourceHandle; }\n' >"$BATS_TEST_TMPDIR/surface.cu"
    "$B/bin/simcc" -w "$BATS_TEST_TMPDIR/surface.cu" -o "$BATS_TEST_TMPDIR/surface"
    apart "$BATS_TEST_TMPDIR/surface"
    [[ $output == *"old.cu:3:14: warning: 'cudaUnbindTexture<"*"' is deprecated: CUDA 12 dropped texture references; today's are objects: cudaCreateTextureObject makes one"* ]]
}

@test "mipmapped arrays: levels, filters between them, gradients, bias and clamps, every shape; surfaces of a level" {
    says mipmap <<<fine
    grep -qF 'cudaFreeArray: the array is a level of a mipmapped array, and ends with it; call cudaFreeMipmappedArray' "$BATS_FILE_TMPDIR/mipmap.err"
}
