#pragma once
// Tensor parallelism: matrix products on several NVIDIA GPUs that each hold part of the
// operands, with communication overlapped with the products. librung_nccl needs neither MPI nor
// CUDA to build; it opens NCCL (2.18 or later) and the driver at run time.

#include "rung/cuda.hpp"
#include "rung/dist.hpp"
#include "rung/epilogue.hpp"
#include "rung/error.hpp"
#include "rung/export.hpp"
#include "rung/tensor_parallel.hpp"
