#pragma once
// The virtual driver's calls, with the names and signatures of api.hpp. The CUDA Driver API
// reference documents each call; comments here describe differences.

#include <type_traits>

#include "core/cuda_driver/api.hpp"

namespace rung::vgpu::driver {

using namespace rung::cuda;
using cuda::Module;  // not vgpu::Module

#define RUNG_CUDA_DECLARE(member, symbol, ...) std::type_identity_t<__VA_ARGS__> member;
RUNG_CUDA_DRIVER_FUNCTIONS(RUNG_CUDA_DECLARE)
#undef RUNG_CUDA_DECLARE

}  // namespace rung::vgpu::driver
