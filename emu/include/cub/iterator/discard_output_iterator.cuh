#pragma once
// cub::DiscardOutputIterator, which CCCL 3 has removed and older programs have.

#if __has_include_next(<cub/iterator/discard_output_iterator.cuh>)
#include_next <cub/iterator/discard_output_iterator.cuh>
#else
#include <thrust/iterator/discard_iterator.h>
#include <cub/config.cuh>

CUB_NAMESPACE_BEGIN

template <class Offset = ptrdiff_t>
using DiscardOutputIterator = THRUST_NS_QUALIFIER::discard_iterator<>;

CUB_NAMESPACE_END
#endif
