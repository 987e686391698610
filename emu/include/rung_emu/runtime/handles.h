#pragma once
/* Handles and errors. */

typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;
typedef struct CUgraph_st* cudaGraph_t;
typedef struct CUgraphExec_st* cudaGraphExec_t;
typedef struct CUgraphNode_st* cudaGraphNode_t;
typedef struct CUmemPoolHandle_st* cudaMemPool_t;
typedef struct CUfunc_st* cudaFunction_t;
typedef struct CUuserObject_st* cudaUserObject_t;
typedef struct cudaArray* cudaArray_t;
typedef const struct cudaArray* cudaArray_const_t;
typedef struct cudaMipmappedArray* cudaMipmappedArray_t;
typedef const struct cudaMipmappedArray* cudaMipmappedArray_const_t;

typedef void (*cudaHostFn_t)(void* user_data);

enum cudaError {
#define RUNG_EMU_ERROR(name, value, text) name = value,
#include "rung_emu/errors.inc"
#undef RUNG_EMU_ERROR
};
typedef enum cudaError cudaError_t;

typedef void (*cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void* user_data);
