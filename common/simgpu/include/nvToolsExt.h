/* nvToolsExt.h — NVTX, by which a program names its ranges for a profiler. No profiler listens here, so each function
 * returns what NVTX documents for that case: no handle, no range's number, and NVTX_NO_PUSH_POP_TRACKING. */
#ifndef SIMGPU_NVTOOLSEXT_H
#define SIMGPU_NVTOOLSEXT_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

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

#if defined(__CUDA__)
#define SIMGPU_NVTX(T, name, value, ...)                                                                               \
    static inline __attribute__((host, device, unused)) T name(__VA_ARGS__) { return value; }
#else
#define SIMGPU_NVTX(T, name, value, ...)                                                                               \
    static inline __attribute__((unused)) T name(__VA_ARGS__) { return value; }
#endif
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

SIMGPU_NVTX(void, nvtxInitialize, (void)0, const void *none)
SIMGPU_NVTX(void, nvtxMarkEx, (void)0, const nvtxEventAttributes_t *e)
SIMGPU_NVTX(void, nvtxMarkA, (void)0, const char *text)
SIMGPU_NVTX(void, nvtxMarkW, (void)0, const wchar_t *text)
SIMGPU_NVTX(nvtxRangeId_t, nvtxRangeStartEx, 0, const nvtxEventAttributes_t *e)
SIMGPU_NVTX(nvtxRangeId_t, nvtxRangeStartA, 0, const char *text)
SIMGPU_NVTX(nvtxRangeId_t, nvtxRangeStartW, 0, const wchar_t *text)
SIMGPU_NVTX(void, nvtxRangeEnd, (void)0, nvtxRangeId_t id)
SIMGPU_NVTX(int, nvtxRangePushEx, NVTX_NO_PUSH_POP_TRACKING, const nvtxEventAttributes_t *e)
SIMGPU_NVTX(int, nvtxRangePushA, NVTX_NO_PUSH_POP_TRACKING, const char *text)
SIMGPU_NVTX(int, nvtxRangePushW, NVTX_NO_PUSH_POP_TRACKING, const wchar_t *text)
SIMGPU_NVTX(int, nvtxRangePop, NVTX_NO_PUSH_POP_TRACKING, void)
SIMGPU_NVTX(void, nvtxNameCategoryA, (void)0, uint32_t category, const char *text)
SIMGPU_NVTX(void, nvtxNameCategoryW, (void)0, uint32_t category, const wchar_t *text)
SIMGPU_NVTX(void, nvtxNameOsThreadA, (void)0, uint32_t thread, const char *text)
SIMGPU_NVTX(void, nvtxNameOsThreadW, (void)0, uint32_t thread, const wchar_t *text)
SIMGPU_NVTX(nvtxDomainHandle_t, nvtxDomainCreateA, NULL, const char *text)
SIMGPU_NVTX(nvtxDomainHandle_t, nvtxDomainCreateW, NULL, const wchar_t *text)
SIMGPU_NVTX(void, nvtxDomainDestroy, (void)0, nvtxDomainHandle_t d)
SIMGPU_NVTX(void, nvtxDomainMarkEx, (void)0, nvtxDomainHandle_t d, const nvtxEventAttributes_t *e)
SIMGPU_NVTX(nvtxRangeId_t, nvtxDomainRangeStartEx, 0, nvtxDomainHandle_t d, const nvtxEventAttributes_t *e)
SIMGPU_NVTX(void, nvtxDomainRangeEnd, (void)0, nvtxDomainHandle_t d, nvtxRangeId_t id)
SIMGPU_NVTX(int, nvtxDomainRangePushEx, NVTX_NO_PUSH_POP_TRACKING, nvtxDomainHandle_t d, const nvtxEventAttributes_t *e)
SIMGPU_NVTX(int, nvtxDomainRangePop, NVTX_NO_PUSH_POP_TRACKING, nvtxDomainHandle_t d)
SIMGPU_NVTX(nvtxStringHandle_t, nvtxDomainRegisterStringA, NULL, nvtxDomainHandle_t d, const char *text)
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
