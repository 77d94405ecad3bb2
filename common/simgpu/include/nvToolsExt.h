/* nvToolsExt.h — NVTX, by which a program names its ranges for a profiler. They go to the trace (TRACE=, simgpu run
 * --trace) and the report. If neither is written, each function returns what NVTX documents for a program without a
 * profiler: no range's number, and NVTX_NO_PUSH_POP_TRACKING. Domains, categories and colours are ignored. */
#ifndef SIMGPU_NVTOOLSEXT_H
#define SIMGPU_NVTOOLSEXT_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#include "simgpu_ranges.h"

#define NVTX_VERSION                           3
#define NVTX_SUCCESS                           0
#define NVTX_NO_PUSH_POP_TRACKING              ((int)-2)
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE          ((uint16_t)sizeof(struct nvtxEventAttributes_v2))
#define NVTX_INITIALIZATION_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(struct nvtxInitializationAttributes_v2))

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st *nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st *nvtxStringHandle_t;
typedef struct nvtxResourceHandle *nvtxResourceHandle_t;

typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;
typedef enum nvtxMessageType_t {
    NVTX_MESSAGE_UNKNOWN = 0,
    NVTX_MESSAGE_TYPE_ASCII = 1,
    NVTX_MESSAGE_TYPE_UNICODE = 2,
    NVTX_MESSAGE_TYPE_REGISTERED = 3
} nvtxMessageType_t;
typedef enum nvtxPayloadType_t {
    NVTX_PAYLOAD_UNKNOWN = 0,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
    NVTX_PAYLOAD_TYPE_INT64 = 2,
    NVTX_PAYLOAD_TYPE_DOUBLE = 3,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
    NVTX_PAYLOAD_TYPE_INT32 = 5,
    NVTX_PAYLOAD_TYPE_FLOAT = 6
} nvtxPayloadType_t;
typedef union nvtxMessageValue_t {
    const char *ascii;
    const wchar_t *unicode;
    nvtxStringHandle_t registered;
} nvtxMessageValue_t;

typedef struct nvtxEventAttributes_v2 {
    uint16_t version, size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType, reserved0;
    union payload_t {
        uint64_t ullValue;
        int64_t llValue;
        double dValue;
        uint32_t uiValue;
        int32_t iValue;
        float fValue;
    } payload;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxEventAttributes_v2;
typedef struct nvtxEventAttributes_v2 nvtxEventAttributes_t;

typedef struct nvtxInitializationAttributes_v2 {
    uint16_t version, size;
    uint32_t initMode;
} nvtxInitializationAttributes_t;

/* On the device, and without SimGPU in the program, a function returns `otherwise`. */
#if defined(__CUDA__)
#define SIMGPU_NVTX_HEAD static inline __attribute__((host, device, unused))
#else
#define SIMGPU_NVTX_HEAD static inline __attribute__((unused))
#endif
#define SIMGPU_NVTX(T, name, value, ...)                                                                               \
    SIMGPU_NVTX_HEAD T name(__VA_ARGS__) { return value; }
#if defined(__CUDA_ARCH__)
#define SIMGPU_NVTX_CALL(T, name, function, argument, otherwise, ...) SIMGPU_NVTX(T, name, otherwise, __VA_ARGS__)
#else
#define SIMGPU_NVTX_CALL(T, name, function, argument, otherwise, ...)                                                  \
    SIMGPU_NVTX_HEAD T name(__VA_ARGS__) { return function ? function(argument) : otherwise; }
#endif
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Waddress"

/* A wide text as plain one: characters beyond ASCII become '?'. The texts of a thread share one place. */
SIMGPU_NVTX_HEAD const char *simgpu_nvtx_narrow(const wchar_t *text) {
#if defined(__CUDA_ARCH__)
    return "";
#else
    static __thread char narrow[256];
    unsigned k = 0;
    for (; text && text[k] && k + 1 < sizeof narrow; k++)
        narrow[k] = (char)(text[k] > 0 && text[k] < 128 ? text[k] : '?');
    narrow[k] = 0;
    return narrow;
#endif
}

/* The text of an event; a registered string is its text. */
SIMGPU_NVTX_HEAD const char *simgpu_nvtx_text(const nvtxEventAttributes_t *e) {
    if (!e || e->messageType == NVTX_MESSAGE_UNKNOWN) return "";
    if (e->messageType == NVTX_MESSAGE_TYPE_UNICODE) return simgpu_nvtx_narrow(e->message.unicode);
    return e->message.ascii;
}

SIMGPU_NVTX(void, nvtxInitialize, (void)0, const void *none)
SIMGPU_NVTX_CALL(void, nvtxMarkEx, simgpuRangePoint, simgpu_nvtx_text(e), (void)0, const nvtxEventAttributes_t *e)
SIMGPU_NVTX_CALL(void, nvtxMarkA, simgpuRangePoint, text, (void)0, const char *text)
SIMGPU_NVTX_CALL(void, nvtxMarkW, simgpuRangePoint, simgpu_nvtx_narrow(text), (void)0, const wchar_t *text)
SIMGPU_NVTX_CALL(nvtxRangeId_t, nvtxRangeStartEx, simgpuRangeStart, simgpu_nvtx_text(e), 0,
                 const nvtxEventAttributes_t *e)
SIMGPU_NVTX_CALL(nvtxRangeId_t, nvtxRangeStartA, simgpuRangeStart, text, 0, const char *text)
SIMGPU_NVTX_CALL(nvtxRangeId_t, nvtxRangeStartW, simgpuRangeStart, simgpu_nvtx_narrow(text), 0, const wchar_t *text)
SIMGPU_NVTX_CALL(void, nvtxRangeEnd, simgpuRangeEnd, id, (void)0, nvtxRangeId_t id)
SIMGPU_NVTX_CALL(int, nvtxRangePushEx, simgpuRangePush, simgpu_nvtx_text(e), NVTX_NO_PUSH_POP_TRACKING,
                 const nvtxEventAttributes_t *e)
SIMGPU_NVTX_CALL(int, nvtxRangePushA, simgpuRangePush, text, NVTX_NO_PUSH_POP_TRACKING, const char *text)
SIMGPU_NVTX_CALL(int, nvtxRangePushW, simgpuRangePush, simgpu_nvtx_narrow(text), NVTX_NO_PUSH_POP_TRACKING,
                 const wchar_t *text)
SIMGPU_NVTX_CALL(int, nvtxRangePop, simgpuRangePop, , NVTX_NO_PUSH_POP_TRACKING, void)
SIMGPU_NVTX(void, nvtxNameCategoryA, (void)0, uint32_t category, const char *text)
SIMGPU_NVTX(void, nvtxNameCategoryW, (void)0, uint32_t category, const wchar_t *text)
SIMGPU_NVTX(void, nvtxNameOsThreadA, (void)0, uint32_t thread, const char *text)
SIMGPU_NVTX(void, nvtxNameOsThreadW, (void)0, uint32_t thread, const wchar_t *text)
SIMGPU_NVTX(nvtxDomainHandle_t, nvtxDomainCreateA, NULL, const char *text)
SIMGPU_NVTX(nvtxDomainHandle_t, nvtxDomainCreateW, NULL, const wchar_t *text)
SIMGPU_NVTX(void, nvtxDomainDestroy, (void)0, nvtxDomainHandle_t d)
SIMGPU_NVTX_CALL(void, nvtxDomainMarkEx, simgpuRangePoint, simgpu_nvtx_text(e), (void)0, nvtxDomainHandle_t d,
                 const nvtxEventAttributes_t *e)
SIMGPU_NVTX_CALL(nvtxRangeId_t, nvtxDomainRangeStartEx, simgpuRangeStart, simgpu_nvtx_text(e), 0, nvtxDomainHandle_t d,
                 const nvtxEventAttributes_t *e)
SIMGPU_NVTX_CALL(void, nvtxDomainRangeEnd, simgpuRangeEnd, id, (void)0, nvtxDomainHandle_t d, nvtxRangeId_t id)
SIMGPU_NVTX_CALL(int, nvtxDomainRangePushEx, simgpuRangePush, simgpu_nvtx_text(e), NVTX_NO_PUSH_POP_TRACKING,
                 nvtxDomainHandle_t d, const nvtxEventAttributes_t *e)
SIMGPU_NVTX_CALL(int, nvtxDomainRangePop, simgpuRangePop, , NVTX_NO_PUSH_POP_TRACKING, nvtxDomainHandle_t d)
SIMGPU_NVTX(nvtxStringHandle_t, nvtxDomainRegisterStringA, (nvtxStringHandle_t)(uintptr_t)text, nvtxDomainHandle_t d,
            const char *text)
SIMGPU_NVTX(nvtxStringHandle_t, nvtxDomainRegisterStringW, NULL, nvtxDomainHandle_t d, const wchar_t *text)
SIMGPU_NVTX(void, nvtxDomainNameCategoryA, (void)0, nvtxDomainHandle_t d, uint32_t category, const char *text)
SIMGPU_NVTX(void, nvtxDomainNameCategoryW, (void)0, nvtxDomainHandle_t d, uint32_t category, const wchar_t *text)
/* Names for CUDA's own objects (nvToolsExtCuda.h, nvToolsExtCudaRt.h); every handle is a pointer. */
SIMGPU_NVTX(void, nvtxNameCudaDeviceA, (void)0, int device, const char *text)
SIMGPU_NVTX(void, nvtxNameCudaStreamA, (void)0, void *stream, const char *text)
SIMGPU_NVTX(void, nvtxNameCudaEventA, (void)0, void *event, const char *text)
SIMGPU_NVTX(void, nvtxNameCuDeviceA, (void)0, int device, const char *text)
SIMGPU_NVTX(void, nvtxNameCuContextA, (void)0, void *context, const char *text)
SIMGPU_NVTX(void, nvtxNameCuStreamA, (void)0, void *stream, const char *text)
SIMGPU_NVTX(void, nvtxNameCuEventA, (void)0, void *event, const char *text)
#pragma GCC diagnostic pop
#undef SIMGPU_NVTX
#undef SIMGPU_NVTX_CALL
#undef SIMGPU_NVTX_HEAD

/* NVTX's names without a letter: of char, unless the program asks for wchar_t. */
#if defined(UNICODE)
#define SIMGPU_NVTX_FORM(name) name##W
#else
#define SIMGPU_NVTX_FORM(name) name##A
#endif
#define nvtxMark                 SIMGPU_NVTX_FORM(nvtxMark)
#define nvtxRangeStart           SIMGPU_NVTX_FORM(nvtxRangeStart)
#define nvtxRangePush            SIMGPU_NVTX_FORM(nvtxRangePush)
#define nvtxNameCategory         SIMGPU_NVTX_FORM(nvtxNameCategory)
#define nvtxNameOsThread         SIMGPU_NVTX_FORM(nvtxNameOsThread)
#define nvtxDomainCreate         SIMGPU_NVTX_FORM(nvtxDomainCreate)
#define nvtxDomainRegisterString SIMGPU_NVTX_FORM(nvtxDomainRegisterString)
#define nvtxDomainNameCategory   SIMGPU_NVTX_FORM(nvtxDomainNameCategory)

#endif
