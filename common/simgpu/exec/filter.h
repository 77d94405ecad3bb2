/* filter.h — the value of a texture at a place: addressing, filtering, formats. Functions of their arguments only.
 *
 * A texture's coordinate x lies between texels i and i + 1, i = floor(x - 0.5), and linear filtering weighs them with
 * the fraction of x - 0.5 in 8 bits. Source: CUDA Programming Guide, "Texture Fetching"; what the guide leaves open is
 * as measured on an H200 (../README.md, "Textures"). */
#ifndef SIMGPU_FILTER_H
#define SIMGPU_FILTER_H

#include "device.h"

/* The texels that a read has touched: column, row, plane, level. */
typedef struct {
    uint32_t n, level;
    struct filter_texel {
        uint32_t x, y, plane, level;
    } at[16];
} filter_reads;

/* A place in a texture: floating-point coordinates, or whole ones (of texels, which are never filtered). */
typedef struct {
    enum ptx_geometry geometry;
    bool whole;
    float at[3];
    int32_t texel[3];
    uint32_t layer;
    enum { FILTER_FIRST_LEVEL, FILTER_LEVEL, FILTER_GRADIENT } how; /* to choose the level */
    float level, gradient[2][3];
} filter_place;

/* Reads the four channels of a place, 32 bits each: a float, or an integer that is not read as a fraction. texels: the
 * first texel in the host's memory. */
void exec_filter_read(const exec_texture *t, const uint8_t *texels, const filter_place *p, uint32_t out[4],
                      filter_reads *reads);

/* Reads one channel of the four texels that linear filtering of a 2D place would use, in the order of tld4: (i, j + 1),
 * (i + 1, j + 1), (i + 1, j), (i, j). */
void exec_filter_gather(const exec_texture *t, const uint8_t *texels, const filter_place *p, uint32_t channel,
                        uint32_t out[4], filter_reads *reads);

#endif
