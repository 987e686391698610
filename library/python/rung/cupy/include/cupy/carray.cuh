#pragma once
// Arrays with a shape for kernels of ElementwiseKernel and ReductionKernel, with the names of CuPy's header. Arrays are
// contiguous here.

#include <cuda_fp16.h>
#include <math_constants.h>

#include <cstddef>

#include <cupy/complex.cuh>

typedef __half float16;

/// The extents of an array.
template <int N>
struct CIndexer {
  const long long* extents;
  ptrdiff_t index = 0;
  ptrdiff_t at[N == 0 ? 1 : N] = {};

  __device__ explicit CIndexer(const long long* of) : extents(of) {}
  __device__ void set(ptrdiff_t flat) {
    index = flat;
    for (int axis = N - 1; axis >= 0; --axis) {
      at[axis] = flat % extents[axis];
      flat /= extents[axis];
    }
  }
  __device__ const ptrdiff_t* get() const { return at; }
  __device__ ptrdiff_t size() const {
    ptrdiff_t size = 1;
    for (int axis = 0; axis < N; ++axis) size *= extents[axis];
    return size;
  }
};

template <class T, int N>
struct CArray {
  static constexpr int ndim = N;
  T* data;
  const long long* extents;

  __device__ CArray(T* first, const long long* of) : data(first), extents(of) {}
  __device__ ptrdiff_t size() const { return CIndexer<N>(extents).size(); }
  __device__ const long long* shape() const { return extents; }
  /// The element of a number in C order, or of indices by axis.
  template <class I>
  __device__ T& operator[](const I& index) const {
    return data[place(index)];
  }
  __device__ T* begin() const { return data; }

 private:
  template <class I>
  __device__ ptrdiff_t place(const I& index) const {
    return static_cast<ptrdiff_t>(index);
  }
  template <class I>
  __device__ ptrdiff_t along(const I* index) const {
    ptrdiff_t flat = 0;
    for (int axis = 0; axis < N; ++axis) flat = flat * extents[axis] + index[axis];
    return flat;
  }
  template <class I, int M>
  __device__ ptrdiff_t place(const I (&index)[M]) const {
    return along(index);
  }
  template <class I>
  __device__ ptrdiff_t place(I* const& index) const {
    return along(index);
  }
};

/// A number of elements, as _in_ind and _out_ind of a reduction.
struct CSize {
  long long count;
  __device__ long long size() const { return count; }
};
