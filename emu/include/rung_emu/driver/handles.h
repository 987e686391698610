#pragma once
/* Handles. */

#include <stddef.h>
#include <stdint.h>

#include "rung_emu/uuid.h"

#ifndef RUNG_EMU_API
#define RUNG_EMU_API __attribute__((visibility("default")))
#endif

typedef int CUdevice;
typedef int CUdevice_v1;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st* CUcontext;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
typedef struct CUstream_st* CUstream;
typedef struct CUevent_st* CUevent;
typedef struct CUmemPoolHandle_st* CUmemoryPool;
typedef struct CUarray_st* CUarray;
typedef unsigned long long CUtexObject;
typedef unsigned long long CUsurfObject;
typedef unsigned int cuuint32_t;
typedef uint64_t cuuint64_t;
typedef void (*CUhostFn)(void* user_data);
typedef size_t (*CUoccupancyB2DSize)(int block_size);
typedef struct CUctxCreateParams_st {
  void* execAffinityParams;
  int numExecAffinityParams;
  void* cigParams;
} CUctxCreateParams;
