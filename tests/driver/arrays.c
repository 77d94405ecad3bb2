/* arrays.c — arrays, copies from and to them, and a texture of one, by the driver API. Prints "fine". */
#include "check.h"

enum { W = 8, H = 4 };

/* look: out[y * 8 + x] = the texel (x, y) of a texture. */
static const char ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry look(.param .u64 out, .param .u64 tex) {\n"
    ".reg .b64 %rd<5>; .reg .b32 %r<4>; .reg .f32 %f<7>;\n"
    "ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [tex]; mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y;\n"
    "cvt.rn.f32.u32 %f1, %r1; cvt.rn.f32.u32 %f2, %r2; tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd2, {%f1, %f2}];\n"
    "mad.lo.u32 %r3, %r2, 8, %r1; mul.wide.u32 %rd3, %r3, 4; add.s64 %rd4, %rd1, %rd3; st.global.f32 [%rd4], %f3; ret; "
    "}\n";

/* levels: out[0] = level 0.5 of a texture in the middle. */
static const char levels_ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry levels(.param .u64 out, .param .u64 tex) {\n"
    ".reg .b64 %rd<3>; .reg .f32 %f<6>;\nld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [tex]; mov.f32 %f1, 0f3F000000;\n"
    "tex.level.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd2, {%f1, %f1}], %f1; st.global.f32 [%rd1], %f2; ret; }\n";

/* A mipmapped array of 2 x 2 bytes and of one. */
static void mipmapped(CUdeviceptr out) {
    CUmipmappedArray mipmap;
    CUarray level;
    CUtexObject texture;
    CUmodule module;
    CUfunction levels;
    CUDA_ARRAY_DESCRIPTOR small;
    float got = 0;
    const unsigned char first[2][2] = {{51, 51}, {51, 51}}, second = 153;
    const CUDA_ARRAY3D_DESCRIPTOR d = {2, 2, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0};
    OK(cuMipmappedArrayCreate(&mipmap, &d, 5));
    OK(cuMipmappedArrayGetLevel(&level, mipmap, 1));
    OK(cuArrayGetDescriptor(&small, level));
    EXPECT(small.Width == 1 && small.Height == 1);
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = &second,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = level,
                          .WidthInBytes = 1,
                          .Height = 1};
    OK(cuMemcpy2D(&copy));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMipmappedArrayGetLevel(&level, mipmap, 2));
    OK(cuMipmappedArrayGetLevel(&level, mipmap, 0));
    copy.srcHost = first, copy.srcPitch = 2, copy.dstArray = level, copy.WidthInBytes = copy.Height = 2;
    OK(cuMemcpy2D(&copy));
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, .res.mipmap.hMipmappedArray = mipmap};
    CUDA_TEXTURE_DESC how = {.flags = CU_TRSF_NORMALIZED_COORDINATES,
                             .mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR,
                             .maxMipmapLevelClamp = 9};
    OK(cuTexObjectCreate(&texture, &resource, &how, NULL));
    OK(cuModuleLoadData(&module, levels_ptx));
    OK(cuModuleGetFunction(&levels, module, "levels"));
    void *params[] = {&out, &texture};
    OK(cuLaunchKernel(levels, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cuMemcpyDtoH(&got, out, sizeof got));
    EXPECT(got > 0.3999f && got < 0.4001f); /* between 0.2 and 0.6 */
    OK(cuTexObjectDestroy(texture));
    OK(cuMipmappedArrayDestroy(mipmap));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuMipmappedArrayDestroy(NULL));
}

int main(void) {
    CUcontext context;
    CUmodule module;
    CUfunction look;
    CUarray array, row;
    CUdeviceptr out;
    CUtexObject texture;
    float in[H][W], got[H][W];
    CUDA_ARRAY_DESCRIPTOR d = {W, H, CU_AD_FORMAT_FLOAT, 1}, again;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) in[y][x] = (float)(10 * y + x);
    OK(cuInit(0));
    OK(cuCtxCreate(&context, 0, 0));
    OK(cuArrayCreate(&array, &d));
    OK(cuArrayGetDescriptor(&again, array));
    EXPECT(again.Width == W && again.Height == H && again.Format == CU_AD_FORMAT_FLOAT && again.NumChannels == 1);
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = in,
                          .srcPitch = sizeof in[0],
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = array,
                          .WidthInBytes = sizeof in[0],
                          .Height = H};
    OK(cuMemcpy2D(&copy));

    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
    CUDA_TEXTURE_DESC how = {.addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP}};
    OK(cuTexObjectCreate(&texture, &resource, &how, NULL));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&look, module, "look"));
    OK(cuMemAlloc(&out, sizeof got));
    void *params[] = {&out, &texture};
    OK(cuLaunchKernel(look, 1, 1, 1, W, H, 1, 0, NULL, params, NULL));
    OK(cuMemcpyDtoH(got, out, sizeof got));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) EXPECT(got[y][x] == in[y][x]);

    /* A part of the array; and rows of bytes. */
    CUDA_MEMCPY2D back = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .srcArray = array,
                          .srcXInBytes = 8,
                          .srcY = 1,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = got,
                          .dstPitch = sizeof got[0],
                          .WidthInBytes = 12,
                          .Height = 2};
    OK(cuMemcpy2D(&back));
    EXPECT(got[0][0] == 12 && got[0][2] == 14 && got[1][0] == 22 && got[1][2] == 24 && got[1][3] == in[1][3]);
    d.Height = 0;
    OK(cuArrayCreate(&row, &d));
    OK(cuMemcpyHtoA(row, 0, in[3], sizeof in[3]));
    OK(cuMemcpyAtoH(got, row, 4, 8));
    EXPECT(got[0][0] == 31 && got[0][1] == 32);
    OK(cuMemcpyAtoD(out, row, 0, 16));
    OK(cuMemcpyDtoH(got, out, 16));
    EXPECT(got[0][0] == 30 && got[0][3] == 33);

    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoA(row, 2, in, 4)); /* the middle of an element */
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoA(row, 28, in, 8));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuArrayCreate(&row, NULL));
    d.NumChannels = 3;
    FAILS(CUDA_ERROR_INVALID_VALUE, cuArrayCreate(&row, &d));
    EXPECT(cuArrayDestroy((CUarray)&d) != CUDA_SUCCESS);
    OK(cuTexObjectDestroy(texture));
    OK(cuArrayDestroy(array));
    mipmapped(out);
    puts("fine");
    return 0;
}
