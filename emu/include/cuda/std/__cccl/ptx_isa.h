#pragma once
// libcu++ counts clang 19's CUDA as PTX 8.5, whatever the target: its wrappers of Blackwell's instructions need 8.7.

#include_next <cuda/std/__cccl/ptx_isa.h>

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 1000
#undef __cccl_ptx_isa
#define __cccl_ptx_isa 870ULL
#endif
