// Tensors and products of tensors (Metal 4), on views of buffers and in registers.

#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
#include <metal_stdlib>
#include <metal_tensor>

using namespace metal;
using namespace mpp::tensor_ops;

struct Sizes {
  int m, n, k;
};

/// Tiles of 32 x 16 of C = A B. Slices end where the tensors end.
kernel void sliced(device half* a [[buffer(0)]], device half* b [[buffer(1)]],
                   device float* c [[buffer(2)]], const device Sizes& size [[buffer(3)]],
                   uint2 group [[threadgroup_position_in_grid]]) {
  auto A = tensor<device half, dextents<int32_t, 2>, tensor_inline>(
      a, dextents<int32_t, 2>(size.k, size.m));
  auto B = tensor(b, dextents<int32_t, 2>(size.n, size.k));
  auto C = tensor(c, dextents<int32_t, 2>(size.n, size.m));
  constexpr auto descriptor = matmul2d_descriptor(32, 16, 0);
  matmul2d<descriptor, execution_simdgroups<2>> product;
  auto tileA = A.slice(0, group.y * 32);
  auto tileB = B.slice(group.x * 16, 0);
  auto tileC = C.slice(group.x * 16, group.y * 32);
  product.run(tileA, tileB, tileC);
}

/// C = A B with both operands transposed in memory, k in steps, and a cooperative tensor that is
/// scaled by its row before it is stored.
kernel void stepped(device float* a [[buffer(0)]], device float* b [[buffer(1)]],
                    device float* c [[buffer(2)]], const device Sizes& size [[buffer(3)]],
                    ushort thread_index [[thread_index_in_threadgroup]]) {
  threadgroup half staged[8 * 16];
  auto A = tensor(a, dextents<int32_t, 2>(size.m, size.k));
  constexpr auto descriptor = matmul2d_descriptor(24, 16, dynamic_length_v<int>, true, true, false,
                                                  matmul2d_descriptor::mode::multiply_accumulate);
  matmul2d<descriptor, execution_simdgroups<4>> product;
  tensor<threadgroup half, dextents<int32_t, 2>, tensor_inline> B(
      staged, dextents<int32_t, 2>(8, 16), array<int, 2>({1, 8}));
  auto part = A.slice(0, 0);
  auto sum = product.get_destination_cooperative_tensor<decltype(part), decltype(B), float>();
  for (int k = 0; k < size.k; k += 8) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int i = thread_index; i < 8 * 16; i += 128) {
      staged[i] = k + i % 8 < size.k && i / 8 < size.n ? half(b[i / 8 * size.k + k + i % 8]) : 0;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    auto rest = tensor(a + k * size.m, dextents<int, 2>(size.m, min(8, size.k - k)));
    product.run(rest, B, sum);
  }
#pragma unroll
  for (ushort i = 0; i < sum.get_capacity(); ++i) {
    if (!sum.is_valid_element(i)) continue;
    const auto index = sum.get_multidimensional_index(i);
    sum[i] *= float(1 + index[1] % 2);
  }
  auto C = tensor(c, dextents<int32_t, 2>(size.n, size.m));
  sum.store(C);
}

/// A product of 16 x 32 x 16 in the registers of a simdgroup, whose threads have the elements of
/// each 16 x 16 fragment that MLX's kernels give them.
template <bool transposes_left, bool transposes_right>
kernel void in_registers(device float* a [[buffer(0)]], device float* b [[buffer(1)]],
                         device float* c [[buffer(2)]], ushort lane [[thread_index_in_simdgroup]]) {
  constexpr auto descriptor =
      matmul2d_descriptor(16, 32, 16, transposes_left, transposes_right, true,
                          matmul2d_descriptor::mode::multiply_accumulate);
  matmul2d<descriptor, execution_simdgroup> product;
  auto A = product.template get_left_input_cooperative_tensor<float, float, float>();
  auto B = product.template get_right_input_cooperative_tensor<float, float, float>();
  auto C = product.template get_destination_cooperative_tensor<decltype(A), decltype(B), float>();
  const int row = (lane >> 4 & 1) * 4 + (lane >> 1 & 3), col = (lane >> 3 & 1) * 8 + (lane & 1) * 4;
  for (int i = 0; i < 8; ++i) {
    const int r = row + i / 4 * 8, s = col + i % 4;
    A[i] = a[r * 16 + s];
    B[i] = transposes_right ? b[r * 16 + s] : b[r * 32 + s];
    B[8 + i] = transposes_right ? b[(16 + r) * 16 + s] : b[r * 32 + 16 + s];
    C[i] = C[8 + i] = 1;
  }
  product.run(A, B, C);
  for (int i = 0; i < 8; ++i) {
    const int r = row + i / 4 * 8, s = col + i % 4;
    c[r * 32 + s] = C[i];
    c[r * 32 + 16 + s] = C[8 + i];
  }
}
template [[host_name(
    "registers_nn")]] [[kernel]] decltype(in_registers<false, false>) in_registers<false, false>;
template [[host_name(
    "registers_nt")]] [[kernel]] decltype(in_registers<false, true>) in_registers<false, true>;
template [[host_name(
    "registers_tn")]] [[kernel]] decltype(in_registers<true, false>) in_registers<true, false>;
template [[host_name(
    "registers_tt")]] [[kernel]] decltype(in_registers<true, true>) in_registers<true, true>;

/// Each row of A B without its largest element, and the sums of the columns of A B.
kernel void reduced(device char* a [[buffer(0)]], device char* b [[buffer(1)]],
                    device int* c [[buffer(2)]], device int* sums [[buffer(3)]]) {
  auto A = tensor(a, dextents<int, 2>(16, 16)).slice<16, 16>(0, 0);
  auto B = tensor(b, dextents<int, 2>(32, 16)).slice<32, 16>(0, 0);
  matmul2d<matmul2d_descriptor(16, 32, 16), execution_simdgroup> product;
  auto C = product.get_destination_cooperative_tensor<decltype(A), decltype(B), int>();
  product.run(A, B, C);
  auto cols =
      product.get_column_reduction_destination_cooperative_tensor<decltype(A), decltype(B), int>();
  reduce_columns(C, cols);
  for (ushort i = 0; i < cols.get_capacity(); ++i) {
    if (cols.is_valid_element(i)) sums[cols.get_multidimensional_index(i)[0]] = cols[i];
  }
  auto rows =
      product.get_row_reduction_destination_cooperative_tensor<decltype(A), decltype(B), int>();
  reduce_rows(C, rows, reduction_operation::max, numeric_limits<int>::lowest());
  if (is_iterator_compatible(C, rows)) {
    for (auto it = C.begin(); it != C.end(); it++) {
      auto most = rows.map_iterator(it);
      *it -= *most;
    }
  }
  auto to = tensor(c, dextents<int, 2>(32, 16));
  C.store(to);
}

/// A product by one thread, and the elements of tensors.
kernel void by_thread(device float* a [[buffer(0)]], device float* c [[buffer(1)]]) {
  auto A = tensor(a, extents<int, 3, 2>());
  thread float copy[6];
  tensor<thread float, extents<int, 2, 3>, tensor_inline> B(copy, extents<int, 2, 3>());
  for (int i = 0; i < 6; ++i) copy[i] = a[i];
  auto C = tensor(c, dextents<int, 2>(2, 2));
  matmul2d<matmul2d_descriptor(2, 2, 3), execution_thread> product;
  product.run(A, B, C);
  c[4] = A[2, 1] + A.load(5, 5) + C.load(7, 0) + float(A.get_extent(0)) + float(A.get_stride(1));
  C.store(9.0f, 2, 0);
}

/// Reads a static slice past the end of the buffer.
kernel void beyond(device float* a [[buffer(0)]], device float* c [[buffer(1)]]) {
  auto A = tensor(a, dextents<int, 2>(8, 8)).slice<8, 8>(0, 4);
  auto C = tensor(c, dextents<int, 2>(8, 8));
  matmul2d<matmul2d_descriptor(8, 8, 8), execution_simdgroup> product;
  product.run(A, A, C);
}

/// Reads a product in threadgroup memory without the barrier that section 7.2 demands.
kernel void without_barrier(device float* a [[buffer(0)]], device float* c [[buffer(1)]],
                            ushort lane [[thread_index_in_simdgroup]]) {
  threadgroup float tile[64];
  auto A = tensor(a, dextents<int, 2>(8, 8));
  auto T = tensor(tile, dextents<int, 2>(8, 8));
  matmul2d<matmul2d_descriptor(8, 8, 8), execution_simdgroup> product;
  product.run(A, A, T);
  c[lane] = tile[lane];
}
