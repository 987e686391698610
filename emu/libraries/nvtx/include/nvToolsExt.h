#pragma once
/* NVTX: names for ranges and moments of a program, for a profiler that listens. None does here, and
 * then NVTX's functions do nothing. */

#include <stdint.h>

#define NVTX_VERSION 3
#define NVTX_INLINE_STATIC static inline

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st* nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st* nvtxStringHandle_t;

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
  const char* ascii;
  const wchar_t* unicode;
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
} nvtxEventAttributes_t;
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))

NVTX_INLINE_STATIC void nvtxInitialize(const void* reserved) { (void)reserved; }
NVTX_INLINE_STATIC void nvtxMarkEx(const nvtxEventAttributes_t* event) { (void)event; }
NVTX_INLINE_STATIC void nvtxMarkA(const char* message) { (void)message; }
NVTX_INLINE_STATIC void nvtxMarkW(const wchar_t* message) { (void)message; }
NVTX_INLINE_STATIC nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t* event) {
  (void)event;
  return 0;
}
NVTX_INLINE_STATIC nvtxRangeId_t nvtxRangeStartA(const char* message) {
  (void)message;
  return 0;
}
NVTX_INLINE_STATIC void nvtxRangeEnd(nvtxRangeId_t range) { (void)range; }
/* As the documentation says, these are negative without a profiler. */
NVTX_INLINE_STATIC int nvtxRangePushEx(const nvtxEventAttributes_t* event) {
  (void)event;
  return -2;
}
NVTX_INLINE_STATIC int nvtxRangePushA(const char* message) {
  (void)message;
  return -2;
}
NVTX_INLINE_STATIC int nvtxRangePop(void) { return -2; }
NVTX_INLINE_STATIC void nvtxNameCategoryA(uint32_t category, const char* name) {
  (void)category;
  (void)name;
}
NVTX_INLINE_STATIC void nvtxNameOsThreadA(uint32_t thread, const char* name) {
  (void)thread;
  (void)name;
}
NVTX_INLINE_STATIC nvtxDomainHandle_t nvtxDomainCreateA(const char* name) {
  (void)name;
  return 0;
}
NVTX_INLINE_STATIC void nvtxDomainDestroy(nvtxDomainHandle_t domain) { (void)domain; }
NVTX_INLINE_STATIC void nvtxDomainMarkEx(nvtxDomainHandle_t domain,
                                         const nvtxEventAttributes_t* event) {
  (void)domain;
  (void)event;
}
NVTX_INLINE_STATIC int nvtxDomainRangePushEx(nvtxDomainHandle_t domain,
                                             const nvtxEventAttributes_t* event) {
  (void)domain;
  (void)event;
  return -2;
}
NVTX_INLINE_STATIC int nvtxDomainRangePop(nvtxDomainHandle_t domain) {
  (void)domain;
  return -2;
}

#define nvtxMark nvtxMarkA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxRangePush nvtxRangePushA
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxDomainCreate nvtxDomainCreateA
