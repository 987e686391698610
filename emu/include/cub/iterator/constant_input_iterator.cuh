#pragma once
// cub::ConstantInputIterator, which CCCL 3 has removed and older programs have.

#if __has_include_next(<cub/iterator/constant_input_iterator.cuh>)
#include_next <cub/iterator/constant_input_iterator.cuh>
#else
#include <thrust/iterator/constant_iterator.h>
#include <cub/config.cuh>

CUB_NAMESPACE_BEGIN

template <class Value, class Offset = ptrdiff_t>
using ConstantInputIterator = THRUST_NS_QUALIFIER::constant_iterator<Value, Offset>;

CUB_NAMESPACE_END
#endif
