/* peer.c — several devices (SIMGPU_DEVICES=2 ... 16): copies between them, and kernels that use each other's memory.
 *
 * The devices of a machine have addresses of their own, one host and one clock. Each host thread chooses its device
 * (cudaSetDevice); a stream, an event and memory belong to the device in use when they were made. */
#include "array.h"
#include "rt.h"

#include <stdlib.h>
#include <string.h>

static bool is_peer(int device, int peer) {
    return device >= 0 && peer >= 0 && device != peer && (uint32_t)device < rt_cards() && (uint32_t)peer < rt_cards();
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    RT_BEGIN;
    if (!can) return rt_end(cudaErrorInvalidValue);
    cudaError_t e = rt_check_device(device);
    if (e == cudaSuccess) e = rt_check_device(peer);
    if (e == cudaSuccess) *can = is_peer(device, peer);
    return rt_end(e);
}

void rt_renew_access(struct device *d, const struct device *home) {
    exec_mem_peer(d->exec, home->ordinal,
                  (d->peers | d->mapped) >> home->ordinal & 1 || rt_pool_reached(home, d->ordinal));
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
    RT_BEGIN;
    cudaError_t e = rt_check_device(peer);
    if (e != cudaSuccess) return rt_end(e);
    if (flags) return rt_end(cudaErrorInvalidValue);
    if ((uint32_t)peer == rt_device->ordinal) return rt_end(cudaErrorPeerAccessUnsupported);
    if (rt_device->peers >> peer & 1) return rt_end(cudaErrorPeerAccessAlreadyEnabled);
    rt_device->peers |= 1u << peer;
    rt_renew_access(rt_device, rt_device->machine[peer]);
    return rt_end(cudaSuccess);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
    RT_BEGIN;
    cudaError_t e = rt_check_device(peer);
    if (e != cudaSuccess) return rt_end(e);
    if (!(rt_device->peers >> peer & 1)) return rt_end(cudaErrorPeerAccessNotEnabled);
    time_wait_all(); /* kernels that were launched may still use the memory */
    rt_device->peers &= ~(1u << peer);
    rt_renew_access(rt_device, rt_device->machine[peer]);
    return rt_end(cudaSuccess);
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int device, int peer) {
    RT_BEGIN;
    if (!value || !is_peer(device, peer)) return rt_end(value ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    switch (attribute) {
    case cudaDevP2PAttrPerformanceRank: *value = 0; return rt_end(cudaSuccess);
    case cudaDevP2PAttrAccessSupported:
    case cudaDevP2PAttrNativeAtomicSupported:
    case cudaDevP2PAttrCudaArrayAccessSupported: *value = 1; return rt_end(cudaSuccess);
    default: return rt_end(cudaErrorInvalidValue);
    }
}

/* Between devices without access to each other, the driver copies through the host. */
double rt_peer_gbs(uint64_t to, uint64_t from) {
    const struct device *a = rt_owner(to), *b = rt_owner(from);
    const time_profile *p = time_profile_get();
    if (a == b) return 0;
    bool direct = a->peers >> b->ordinal & 1 || b->peers >> a->ordinal & 1 || rt_pool_reached(a, b->ordinal) ||
                  rt_pool_reached(b, a->ordinal);
    return direct ? p->peer_gbs : p->pinned_duplex_gbs;
}

static cudaError_t check_ends(const void *to, int to_device, const void *from, int from_device) {
    const struct {
        const char *name;
        const void *p;
        int device;
    } ends[2] = {{"destination", to, to_device}, {"source", from, from_device}};
    for (int k = 0; k < 2; k++) {
        cudaError_t e = rt_check_device(ends[k].device);
        if (e != cudaSuccess) return e;
        uint32_t owner = rt_owner((uint64_t)(uintptr_t)ends[k].p)->ordinal;
        if (!exec_mem_in_window(ends[k].p) || exec_managed(ends[k].p) || owner == (uint32_t)ends[k].device) continue;
        rt_say("the %s is memory of device %u, not of device %d", ends[k].name, owner, ends[k].device);
        return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

static cudaError_t copy_row(void *to, const void *from, size_t bytes, cudaStream_t stream) {
    time_copy c = {.to = {.address = (uint64_t)(uintptr_t)to, .pitch = bytes},
                   .from = {.address = (uint64_t)(uintptr_t)from, .pitch = bytes},
                   .width = bytes,
                   .height = 1};
    return rt_copy(c, cudaMemcpyDefault, stream, false);
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes) {
    RT_BEGIN;
    cudaError_t e = check_ends(to, to_device, from, from_device);
    return rt_end(e == cudaSuccess ? copy_row(to, from, bytes, NULL) : e);
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                                cudaStream_t stream) {
    RT_BEGIN;
    cudaError_t e = check_ends(to, to_device, from, from_device);
    return rt_end(e == cudaSuccess ? copy_row(to, from, bytes, stream) : e);
}

/* waits: the form without Async, which waits for memory of the host, as cudaMemcpy3D does. */
static cudaError_t copy_peer_box(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream, bool waits) {
    if (!p) return cudaErrorInvalidValue;
    const struct cudaMemcpy3DParms box = {.srcArray = p->srcArray,
                                          .srcPos = p->srcPos,
                                          .srcPtr = p->srcPtr,
                                          .dstArray = p->dstArray,
                                          .dstPos = p->dstPos,
                                          .dstPtr = p->dstPtr,
                                          .extent = p->extent,
                                          .kind = cudaMemcpyDefault};
    time_copy c;
    cudaError_t e = rt_box(&box, &c);
    if (e != cudaSuccess) return e;
    if (c.width && c.height) /* an array's first texel says where it is */
        e = check_ends((void *)(uintptr_t)c.to.address, p->dstDevice, (void *)(uintptr_t)c.from.address, p->srcDevice);
    return e == cudaSuccess ? rt_copy(c, cudaMemcpyDefault, stream, waits) : e;
}

cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p) {
    RT_BEGIN;
    return rt_end(copy_peer_box(p, NULL, true));
}
cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream) {
    RT_BEGIN;
    return rt_end(copy_peer_box(p, stream, false));
}
