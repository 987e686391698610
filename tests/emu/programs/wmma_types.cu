// Every shape and type of warp matrix functions, in each layout of A and B.
#include <mma.h>

#include <cuda_bf16.hpp>
#include <cuda_fp16.hpp>
#include <cuda_fp8.hpp>

#include <cstdio>
#include <vector>

using namespace nvcuda::wmma;

template <class T>
struct Stored {
  using type = T;
};
template <>
struct Stored<precision::tf32> {
  using type = float;
};

template <int M, int N, int K, class T, class Sum, class LayoutA, class LayoutB>
__global__ void multiply(const typename Stored<T>::type* a, const typename Stored<T>::type* b,
                         Sum* c, bool a_column, bool b_column) {
  fragment<matrix_a, M, N, K, T, LayoutA> a_frag;
  fragment<matrix_b, M, N, K, T, LayoutB> b_frag;
  fragment<accumulator, M, N, K, Sum> sums;
  load_matrix_sync(a_frag, a, a_column ? M : K);
  load_matrix_sync(b_frag, b, b_column ? K : N);
  load_matrix_sync(sums, c, N, mem_row_major);
  mma_sync(sums, a_frag, b_frag, sums);
  __syncwarp();  // C is read by rows and written by columns
  store_matrix_sync(c, sums, M, mem_col_major);
}

template <int M, int N, int K, class T, class Sum, class LayoutA, class LayoutB>
int wrong(bool a_column, bool b_column) {
  using In = typename Stored<T>::type;
  In *a, *b;
  Sum* c;
  cudaMallocManaged(&a, M * K * sizeof(In));
  cudaMallocManaged(&b, K * N * sizeof(In));
  cudaMallocManaged(&c, M * N * sizeof(Sum));
  for (int i = 0; i < M * K; ++i) a[i] = In(i * 7 % 5);
  for (int i = 0; i < K * N; ++i) b[i] = In(i * 11 % 7);
  for (int i = 0; i < M * N; ++i) c[i] = Sum(i % 9);
  multiply<M, N, K, T, Sum, LayoutA, LayoutB><<<1, 32>>>(a, b, c, a_column, b_column);
  cudaDeviceSynchronize();
  int count = 0;
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < N; ++j) {
      double sum = (i * N + j) % 9;
      for (int k = 0; k < K; ++k) {
        sum += double(a[a_column ? k * M + i : i * K + k]) *
               double(b[b_column ? j * K + k : k * N + j]);
      }
      count += double(c[j * M + i]) != sum;
    }
  }
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
  return count;
}

template <int M, int N, int K, class T, class Sum>
void test(const char* name) {
  printf("%s %dx%dx%d: %d wrong\n", name, M, N, K,
         wrong<M, N, K, T, Sum, row_major, col_major>(false, true) +
             wrong<M, N, K, T, Sum, row_major, row_major>(false, false) +
             wrong<M, N, K, T, Sum, col_major, row_major>(true, false) +
             wrong<M, N, K, T, Sum, col_major, col_major>(true, true));
}

// Products of single bits compile. The engine would refuse the launch.
__global__ void bits(const unsigned* a, const unsigned* b, int* sums) {
  fragment<matrix_a, 8, 8, 128, experimental::precision::b1, row_major> of_a;
  fragment<matrix_b, 8, 8, 128, experimental::precision::b1, col_major> of_b;
  fragment<accumulator, 8, 8, 128, int> of_sums;
  load_matrix_sync(of_a, a, 128);
  load_matrix_sync(of_b, b, 128);
  fill_fragment(of_sums, 0);
  bmma_sync(of_sums, of_a, of_b, of_sums, experimental::bmmaBitOpAND);
  bmma_sync(of_sums, of_a, of_b, of_sums);
  store_matrix_sync(sums, of_sums, 8, mem_row_major);
}

template <int M, int N>
void test_shape() {
  test<M, N, 16, half, float>("half");
  test<M, N, 16, half, half>("half to half");
  test<M, N, 16, __nv_bfloat16, float>("bfloat16");
  test<M, N, 16, signed char, int>("s8");
  test<M, N, 16, unsigned char, int>("u8");
}

int main() {
  test_shape<16, 16>();
  test_shape<32, 8>();
  test_shape<8, 32>();
  test<16, 16, 8, precision::tf32, float>("tf32");
  test<8, 8, 4, double, double>("double");
}
