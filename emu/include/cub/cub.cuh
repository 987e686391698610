#pragma once
// CUB, with the iterators that CCCL 3 has removed and older programs have.

#include_next <cub/cub.cuh>

#include <cub/iterator/constant_input_iterator.cuh>
#include <cub/iterator/counting_input_iterator.cuh>
#include <cub/iterator/discard_output_iterator.cuh>
#include <cub/iterator/transform_input_iterator.cuh>
