#pragma once
// CUB's operators, with the names that CCCL 3 has removed and older programs have.

#include_next <cub/thread/thread_operators.cuh>

#include <cub/version.cuh>

#if CUB_MAJOR_VERSION >= 3
#include <cuda/functional>
#include <cuda/std/functional>

CUB_NAMESPACE_BEGIN

using Sum = ::cuda::std::plus<>;
using Difference = ::cuda::std::minus<>;
using Division = ::cuda::std::divides<>;
using Max = ::cuda::maximum<>;
using Min = ::cuda::minimum<>;
using Equality = ::cuda::std::equal_to<>;
using Inequality = ::cuda::std::not_equal_to<>;

CUB_NAMESPACE_END
#endif
