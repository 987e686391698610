#pragma once
// cub::CountingInputIterator, which CCCL 3 has removed and older programs have.

#if __has_include_next(<cub/iterator/counting_input_iterator.cuh>)
#include_next <cub/iterator/counting_input_iterator.cuh>
#else
#include <thrust/iterator/counting_iterator.h>
#include <cub/config.cuh>

CUB_NAMESPACE_BEGIN

template <class Value, class Offset = ptrdiff_t>
using CountingInputIterator =
    THRUST_NS_QUALIFIER::counting_iterator<Value, THRUST_NS_QUALIFIER::use_default,
                                           THRUST_NS_QUALIFIER::use_default, Offset>;

CUB_NAMESPACE_END
#endif
