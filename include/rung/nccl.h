/* C interface of librung_nccl: rung::dist::TensorParallel, documented in rung/nccl.hpp. */
#ifndef RUNG_NCCL_H
#define RUNG_NCCL_H

#include "rung/rung.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rung_tensor_parallel rung_tensor_parallel;

typedef struct rung_tensor_parallel_options {
  size_t struct_size;
  double timeout;        /* seconds */
  int32_t transport;     /* a rung_transport */
  int32_t deterministic; /* 0 or 1 */
} rung_tensor_parallel_options;
#define RUNG_TENSOR_PARALLEL_OPTIONS_INIT {sizeof(rung_tensor_parallel_options), 600, 0, 0}

/* The values of these enums equal those of rung::dist::Transport and Schedule. */
typedef enum rung_transport {
  RUNG_TRANSPORT_AUTOMATIC = 0,
  RUNG_TRANSPORT_NCCL = 1,
  RUNG_TRANSPORT_COPY_ENGINE = 2
} rung_transport;
typedef enum rung_schedule {
  RUNG_SCHEDULE_AUTOMATIC = 0,
  RUNG_SCHEDULE_SEQUENTIAL = 1,
  RUNG_SCHEDULE_OVERLAPPED = 2,
  RUNG_SCHEDULE_EXCHANGED = 3,
  RUNG_SCHEDULE_FUSED = 4
} rung_schedule;

typedef enum rung_collective {
  RUNG_ALL_GATHER_GEMM = 0,     /* a: this rank's rows */
  RUNG_GEMM_REDUCE_SCATTER = 1, /* c: this rank's rows */
  RUNG_GEMM_ALL_REDUCE = 2
} rung_collective;

typedef struct rung_tensor_parallel_call {
  size_t struct_size;
  void* stream;     /* a cudaStream_t; null: the default stream */
  int32_t schedule; /* a rung_schedule */
  int32_t chunks;   /* 0: chosen */
} rung_tensor_parallel_call;
#define RUNG_TENSOR_PARALLEL_CALL_INIT \
  {sizeof(rung_tensor_parallel_call), NULL, RUNG_SCHEDULE_AUTOMATIC, 0}

/* comm is an ncclComm_t. Creation and destruction are collective. options may be null. */
RUNG_C_API rung_status rung_tensor_parallel_create(void* comm,
                                                   const rung_tensor_parallel_options* options,
                                                   rung_tensor_parallel** created);
RUNG_C_API void rung_tensor_parallel_destroy(rung_tensor_parallel* parallel);
RUNG_C_API rung_transport rung_tensor_parallel_transport(const rung_tensor_parallel* parallel);

/* Tensors are on RUNG_DEVICE_CUDA and have 2 dimensions. call may be null. */
RUNG_C_API rung_status rung_tensor_parallel_gemm(rung_tensor_parallel* parallel,
                                                 rung_collective collective, const rung_tensor* a,
                                                 const rung_tensor* b, const rung_tensor* c,
                                                 double alpha, double beta,
                                                 const rung_tensor_parallel_call* call);
/* Waits for the work in the stream. Returns RUNG_UNAVAILABLE if another rank fails meanwhile. */
RUNG_C_API rung_status rung_tensor_parallel_synchronize(rung_tensor_parallel* parallel,
                                                        void* stream);

/* The one-line message of the last of these calls that failed in this thread. */
RUNG_C_API const char* rung_tensor_parallel_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
