#pragma once
// Common parts of the functions of librung_cublas.

#include <cstdint>

#include "core/cublas/values.hpp"

#define CUBLAS_API extern "C" __attribute__((visibility("default")))

namespace rung::cublas {

using Handle = void*;

}  // namespace rung::cublas
