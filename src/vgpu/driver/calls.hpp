#pragma once
// The virtual driver's calls, under the names and with the signatures of api.hpp. Each is
// documented by the CUDA Driver API reference; comments here say where the virtual one differs.

#include <type_traits>

#include "cuda_driver/api.hpp"

namespace rung::vgpu::driver {

using namespace rung::cuda;
using cuda::Module;  // not vgpu::Module

#define RUNG_CUDA_DECLARE(member, symbol, ...) std::type_identity_t<__VA_ARGS__> member;
RUNG_CUDA_DRIVER_FUNCTIONS(RUNG_CUDA_DECLARE)
#undef RUNG_CUDA_DECLARE

}  // namespace rung::vgpu::driver
