#pragma once
// cub::TransformInputIterator, which CCCL 3 has removed and older programs have.

#if __has_include_next(<cub/iterator/transform_input_iterator.cuh>)
#include_next <cub/iterator/transform_input_iterator.cuh>
#else
#include <thrust/iterator/transform_iterator.h>
#include <cub/config.cuh>

CUB_NAMESPACE_BEGIN

/// Its constructor takes the iterator first.
template <class Value, class Conversion, class Input, class Offset = ptrdiff_t>
struct TransformInputIterator
    : THRUST_NS_QUALIFIER::transform_iterator<Conversion, Input, Value, Value> {
  using Base = THRUST_NS_QUALIFIER::transform_iterator<Conversion, Input, Value, Value>;
  _CCCL_HOST_DEVICE TransformInputIterator(Input input, Conversion conversion)
      : Base(input, conversion) {}
  _CCCL_HOST_DEVICE TransformInputIterator(const Base& base) : Base(base) {}
};

CUB_NAMESPACE_END
#endif
