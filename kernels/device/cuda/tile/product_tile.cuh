#pragma once
// Assigns a product of a batch and a tile of its C to a group of threads.

#include <cstdint>

#include "device/cuda/entry/launch.hpp"
#include "device/cuda/keywords.cuh"
#include "device/cuda/tile/tile_coord.cuh"

namespace rung::cuda {

/// Moves the matrix of the first product to that of another one. Returns false if its pointer is
/// null.
template <class T>
__device__ __forceinline__ bool move_to(Matrix<T>& matrix, const BatchOperand& operand,
                                        std::int64_t product) {
  if (operand.pointers == nullptr) {
    matrix.data += product * operand.stride;
    return true;
  }
  matrix.data = static_cast<T*>(const_cast<void*>(operand.pointers[product]));
  return matrix.data != nullptr;
}

/// A product of the batch. It has no rows and columns, but the same k, if `product` is past the
/// last one or one of its pointers is null.
template <class In, class Out>
__device__ __forceinline__ Gemm<In, Out> product_of(const Gemm<In, Out>& first,
                                                    const Products& products,
                                                    std::int64_t product) {
  Gemm<In, Out> g = first;
  const bool exists = product < products.count;
  const bool complete = exists && move_to(g.a, products.a, product) &&
                        move_to(g.b, products.b, product) && move_to(g.c, products.c, product);
  if (exists && !complete && products.status != nullptr) *products.status = 1;
  if (!complete) g.m = g.n = 0;
  return g;
}

/// The work of a group of threads: a product and a tile of its C.
template <class In, class Out>
struct ProductTile {
  Gemm<In, Out> product;
  TileCoord tile;
};

/// The work if each group of threads has its own product, and all groups of a block have the same
/// tile. The grid has one block per tile of C and Group::COUNT products.
template <int BM, int BN, class Group, class In, class Out>
__device__ __forceinline__ ProductTile<In, Out> tile_of_product(const Gemm<In, Out>& first,
                                                                const Products& products) {
  const auto cols = static_cast<unsigned>(ceil_div(first.n, BN));
  const unsigned tiles = static_cast<unsigned>(ceil_div(first.m, BM)) * cols;
  const unsigned tile = blockIdx.x % tiles;
  const std::int64_t product = std::int64_t{blockIdx.x / tiles} * Group::COUNT + Group::index();
  return {product_of(first, products, product),
          {std::int64_t{tile / cols} * BM, std::int64_t{tile % cols} * BN}};
}

}  // namespace rung::cuda
