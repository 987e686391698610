#pragma once
/* NVTX: names for objects of the runtime API. */

#include "cuda_runtime_api.h"
#include "nvToolsExt.h"

NVTX_INLINE_STATIC void nvtxNameCudaDeviceA(int device, const char* name) {
  (void)device;
  (void)name;
}
NVTX_INLINE_STATIC void nvtxNameCudaStreamA(cudaStream_t stream, const char* name) {
  (void)stream;
  (void)name;
}
NVTX_INLINE_STATIC void nvtxNameCudaEventA(cudaEvent_t event, const char* name) {
  (void)event;
  (void)name;
}
#define nvtxNameCudaDevice nvtxNameCudaDeviceA
#define nvtxNameCudaStream nvtxNameCudaStreamA
#define nvtxNameCudaEvent nvtxNameCudaEventA
