// Mode batch_invariant: a row of C has the same bits for any m, position, batch, groups, threads,
// SMs and tile, on the CPU and on the GPU.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "backends/rungs/kernel_name.hpp"
#include "core/dtype.hpp"
#include "core/integers.hpp"
#include "device/cuda/tile/invariant_parts.hpp"
#include "fixture.hpp"
#include "library/cuda/launch.hpp"
#include "select/cuda/select.hpp"

namespace rung {
namespace {

constexpr ComputeMode mode = ComputeMode::batch_invariant;

/// A product of row-major A and C and column-major B.
template <class In, class Out>
struct Problem {
  std::int64_t m, n, k;
  float beta;
  std::vector<In> a, b;
  std::vector<Out> c;

  Problem(std::int64_t rows, std::int64_t cols, std::int64_t steps, float factor)
      : m(rows), n(cols), k(steps), beta(factor) {
    std::mt19937 random(11);
    const auto fill = [&](auto& values, std::int64_t count) {
      using T = typename std::decay_t<decltype(values)>::value_type;
      std::normal_distribution<float> normal;
      for (std::int64_t i = 0; i < count; ++i) values.push_back(T(normal(random)));
    };
    fill(a, m * k);
    fill(b, n * k);
    fill(c, m * n);
  }
};

/// The bits of a range of rows.
template <class T>
std::string rows_of(const std::vector<T>& c, std::int64_t n, std::int64_t first,
                    std::int64_t rows) {
  const auto* const bytes = reinterpret_cast<const char*>(c.data() + first * n);
  return {bytes, static_cast<std::size_t>(rows * n) * sizeof(T)};
}

template <class T>
using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// Computes a range of rows alone, on the CPU.
template <class In, class Out>
std::string on_cpu(const Problem<In, Out>& p, std::int64_t first, std::int64_t rows, int threads,
                   float alpha = 1) {
  std::vector<Out> c = p.c;
  gemm(Sum<Out>{alpha}, row_major<const In>(p.a.data() + first * p.k, rows, p.k),
       col_major<const In>(p.b.data(), p.k, p.n), Sum<Out>{p.beta},
       row_major(c.data() + first * p.n, rows, p.n), {.threads = threads, .compute_mode = mode});
  return rows_of(c, p.n, first, rows);
}

template <class In, class Out>
void expect_invariant_on_cpu(std::int64_t m, std::int64_t n, std::int64_t k, float beta,
                             float alpha) {
  const Problem<In, Out> p(m, n, k, beta);
  const std::string all = on_cpu(p, 0, m, 0, alpha);
  std::mt19937 random(5);
  for (int i = 0; i < 12; ++i) {
    // A third each: up to 4 rows, up to 40, any number.
    const auto most = i % 3 == 0 ? 4 : i % 3 == 1 ? 40 : m;
    const std::int64_t rows =
        1 + static_cast<std::int64_t>(random()) % std::min<std::int64_t>(m, most);
    const std::int64_t first = static_cast<std::int64_t>(random()) % (m - rows + 1);
    const auto bytes = static_cast<std::size_t>(n) * sizeof(Out);
    EXPECT_EQ(
        on_cpu(p, first, rows, 1 + i % 3, alpha),
        all.substr(static_cast<std::size_t>(first) * bytes, static_cast<std::size_t>(rows) * bytes))
        << rows << " rows from " << first << " on, of " << m << " x " << n << " x " << k
        << ", beta " << beta << ", alpha " << alpha;
  }
}

TEST(BatchInvariant, OnCpus) {
  for (const float beta : {0.0f, 1.0f, 0.5f}) {
    for (const float alpha : {1.0f, -0.3f}) {
      expect_invariant_on_cpu<float, float>(150, 70, 1200, beta, alpha);
      expect_invariant_on_cpu<double, double>(60, 33, 700, beta, alpha);
      expect_invariant_on_cpu<bfloat16, float>(150, 70, 1200, beta, alpha);
      expect_invariant_on_cpu<float16, float>(60, 33, 700, beta, alpha);
    }
  }
}

TEST(BatchInvariant, BatchesOnCpus) {
  const Problem<bfloat16, float> p(120, 40, 1100, 0);
  const std::string all = on_cpu(p, 0, p.m, 0);
  std::vector<float> c(p.c.size());
  gemm_batched(1.0f, strided(row_major<const bfloat16>(p.a.data(), 3, p.k), 40, 3 * p.k),
               strided(col_major<const bfloat16>(p.b.data(), p.k, p.n), 40, 0), 0.0f,
               strided(row_major(c.data(), 3, p.n), 40, 3 * p.n), {.compute_mode = mode});
  EXPECT_EQ(rows_of(c, p.n, 0, p.m), all);
}

class CudaBatchInvariant : public CudaLibrary {
 protected:
  template <class In, class Out>
  std::string on_gpu(const Problem<In, Out>& p, std::int64_t first, std::int64_t rows,
                     int multiprocessors, bool b_by_rows = false) {
    Out* const c = on_device(p.c);
    const In* const b = on_device(p.b);
    gemm(Sum<Out>{1}, row_major<const In>(on_device(p.a) + first * p.k, rows, p.k),
         b_by_rows ? row_major(b, p.k, p.n) : col_major(b, p.k, p.n), Sum<Out>{p.beta},
         row_major(c + first * p.n, rows, p.n), default_stream,
         {.multiprocessors = multiprocessors, .compute_mode = mode});
    return rows_of(from_device(c, p.c.size()), p.n, first, rows);
  }

  template <class In, class Out>
  void expect_invariant(std::int64_t m, std::int64_t n, std::int64_t k, float beta,
                        bool b_by_rows = false) {
    const Problem<In, Out> p(m, n, k, beta);
    const std::string all = on_gpu(p, 0, m, 0, b_by_rows);
    std::mt19937 random(5);
    for (int i = 0; i < 4; ++i) {
      const std::int64_t rows = 1 + static_cast<std::int64_t>(random()) % (i % 2 == 0 ? 3 : m);
      const std::int64_t first = static_cast<std::int64_t>(random()) % (m - rows + 1);
      const auto bytes = static_cast<std::size_t>(n) * sizeof(Out);
      EXPECT_EQ(on_gpu(p, first, rows, i, b_by_rows),
                all.substr(static_cast<std::size_t>(first) * bytes,
                           static_cast<std::size_t>(rows) * bytes))
          << rows << " rows from " << first << " on, beta " << beta;
    }
  }

  /// Expects that two groups with the same matrix have the bits of one product of all rows.
  template <class In, class Out>
  void expect_same_in_groups(std::int32_t m, std::int64_t k = 300) {
    const Problem<In, Out> p(m, 64, k, 0);
    std::vector<In> twice = p.b;
    twice.insert(twice.end(), p.b.begin(), p.b.end());
    Out* const c = on_device(p.c);
    gemm_grouped(1.0f, row_major<const In>(on_device(p.a), p.m, p.k),
                 strided(col_major<const In>(on_device(twice), p.k, p.n), 2, p.k * p.n), 0.0f,
                 row_major(c, p.m, p.n), on_device(std::vector<std::int32_t>{0, 7, m}),
                 default_stream, {.gemm = {.compute_mode = mode}});
    EXPECT_EQ(rows_of(from_device(c, p.c.size()), p.n, 0, p.m), on_gpu(p, 0, p.m, 0));
  }

  /// Expects the same bits from every tile of a rung.
  template <class In, class Out>
  void expect_same_in_all_tiles(const char* id) {
    constexpr Dtype dtype = dtype_of<In, Out>();
    const Problem<In, Out> p(70, 72, 200, 0);
    const std::string expected = on_gpu(p, 0, p.m, 0);
    const auto tiles = cuda::tiles_of(*cuda::find_gemm_rung(id), dtype).size();
    for (int tile = 0; tile < static_cast<int>(tiles); ++tile) {
      Out* const c = on_device(p.c);
      const GemmCall call = {.dtype = dtype,
                             .m = p.m,
                             .n = p.n,
                             .k = p.k,
                             .alpha = 1,
                             .a = {on_device(p.a), p.k, 1},
                             .b = {on_device(p.b), 1, p.k},
                             .beta = 0,
                             .c = {c, p.n, 1}};
      const cuda::WorkspaceSource workspace{cuda::current_context(), nullptr, nullptr, 0};
      cuda::launch_gemm(workspace, cuda::configured_gemm(id, {.tile = tile}), call, 4);
      EXPECT_EQ(rows_of(from_device(c, p.c.size()), p.n, 0, p.m), expected)
          << id << " " << name(dtype) << ", tile " << tile;
    }
  }
};

TEST_F(CudaBatchInvariant, OnGpus) {
  for (const float beta : {0.0f, 0.5f}) {
    expect_invariant<bfloat16, float>(130, 72, 500, beta);
    expect_invariant<bfloat16, bfloat16>(130, 72, 200, beta);
    expect_invariant<float, float>(100, 36, 300, beta);
  }
  // Three splits of k: blocks share them, or one block has all.
  expect_invariant<bfloat16, bfloat16>(80, 40, 4240, 0);
  expect_invariant<float16, float>(70, 40, 4160, 0, true);
  // Five splits, which wgmma_tiles would not add in order.
  expect_invariant<float16, float16>(66, 8, 8200, 0.5f);
  // A k with one split, which standard mode would split for a few rows.
  expect_invariant<bfloat16, bfloat16>(66, 40, 2104, 0);
  expect_invariant<float16, float>(130, 33, 328, 0.5f);
  expect_invariant<float8_e4m3, float>(66, 48, 1040, 0);
  expect_invariant<double, double>(70, 20, 100, 0.5f);
}

TEST_F(CudaBatchInvariant, NoTileShowsInTheBits) {
  expect_same_in_all_tiles<bfloat16, bfloat16>("gemm/cuda/wgmma_tiles");
  expect_same_in_all_tiles<float, float>("gemm/cuda/fma_tiles");
  expect_same_in_all_tiles<float8_e4m3, float>("gemm/cuda/wgmma_tiles");
  expect_same_in_all_tiles<double, double>("gemm/cuda/mma_f64_warp_specialized");
}

TEST_F(CudaBatchInvariant, BatchesAndGroupsHaveTheBitsOfOneProduct) {
  const Problem<bfloat16, bfloat16> p(96, 64, 300, 0);
  const std::string all = on_gpu(p, 0, p.m, 0);
  const bfloat16* const a = on_device(p.a);
  const auto b = col_major<const bfloat16>(on_device(p.b), p.k, p.n);
  bfloat16* const c = on_device(p.c);
  gemm_batched(1.0f, strided(row_major(a, 3, p.k), 32, 3 * p.k), strided(b, 32, 0), 0.0f,
               strided(row_major(c, 3, p.n), 32, 3 * p.n), default_stream,
               {.gemm = {.compute_mode = mode}});
  EXPECT_EQ(rows_of(from_device(c, p.c.size()), p.n, 0, p.m), all);

  expect_same_in_groups<bfloat16, bfloat16>(p.m);
  expect_same_in_groups<bfloat16, bfloat16>(70, 4112);  // three splits of k
  // batched_tiles, and small_matrices for groups of few rows.
  expect_same_in_groups<float, float>(96);
  expect_same_in_groups<float, float>(40);
  expect_same_in_groups<tfloat32, float>(96);
}

TEST_F(CudaBatchInvariant, KIsCutByKAlone) {
  for (const std::int64_t k : {1, 64, 4096, 4097, 4160, 7168, 8192, 8193, 16390, 100000}) {
    const int parts = cuda::invariant_parts(k);
    EXPECT_EQ(parts, k <= 4096 ? 1 : ceil_div(k, 2048));
    EXPECT_EQ(cuda::begin_of_invariant_part(k, 0), 0);
    for (int part = 0; part < parts; ++part) {
      const std::int64_t begin = cuda::begin_of_invariant_part(k, part);
      const std::int64_t steps = cuda::begin_of_invariant_part(k, part + 1) - begin;
      EXPECT_EQ(begin % 64, 0);
      EXPECT_GT(steps, 0) << k;
      EXPECT_LE(steps, parts == 1 ? 4096 : 2048) << k;
    }
    EXPECT_EQ(cuda::begin_of_invariant_part(k, parts), round_up(k, 64));
  }
}

TEST_F(CudaBatchInvariant, BlocksShareThePartsOfFewTiles) {
  const auto blocks = [](std::int64_t n, std::int64_t k) {
    return cuda::few_rows_config(n, k, true, 132).splits;
  };
  EXPECT_EQ(blocks(2112, 7168), 2);
  EXPECT_EQ(blocks(512, 16384), 8);
  EXPECT_EQ(blocks(512, 4096), 1);    // one split
  EXPECT_EQ(blocks(8448, 8192), 1);   // every SM has a tile
  EXPECT_EQ(blocks(64, 1 << 20), 1);  // more splits than a cluster has blocks
  EXPECT_EQ(cuda::few_rows_config(4096, 4096, true, 132).tile, 0);
  EXPECT_EQ(cuda::few_rows_config(5112, 9328, true, 132).tile, 1);  // one wave of wider tiles
  EXPECT_EQ(cuda::few_rows_config(512, 16384, false, 132).tile, 2);
}

TEST_F(CudaBatchInvariant, OtherTypesAreNotCut) {
  const auto config_of = [](const char* id, Dtype dtype, std::int64_t workspace_bytes) {
    constexpr std::int64_t n = 512, k = 16384;
    const GemmCall call = {.dtype = dtype,
                           .m = 64,
                           .n = n,
                           .k = k,
                           .alpha = 1,
                           .a = {nullptr, k, 1},
                           .b = {nullptr, 1, k},
                           .beta = 0,
                           .c = {nullptr, n, 1}};
    cuda::Limits limits = cuda::current_context().limits();
    limits.workspace_bytes = workspace_bytes;
    return cuda::current_context().configured(cuda::configured_gemm(id), call, limits).config;
  };
  const auto expect_uncut = [&](const char* id, Dtype dtype) {
    EXPECT_GT(config_of(id, dtype, cuda::default_workspace_bytes).splits, 1) << id;
    EXPECT_EQ(config_of(id, dtype, -1).splits, 1) << id;
  };
  expect_uncut("gemm/cuda/wgmma_tiles", Dtype::bf16);  // up to one part
  expect_uncut("gemm/cuda/fma_tiles", Dtype::f32);
  expect_uncut("gemm/cuda/mma_f64_warp_specialized", Dtype::f64);
}

TEST_F(CudaBatchInvariant, ASmallWorkspaceDoesNotShow) {
  const Problem<bfloat16, bfloat16> p(140, 24, 4104, 0);
  bfloat16* const c = on_device(p.c);
  gemm(1.0f, row_major<const bfloat16>(on_device(p.a), p.m, p.k),
       col_major<const bfloat16>(on_device(p.b), p.k, p.n), 0.0f, row_major(c, p.m, p.n),
       default_stream,
       {.workspace = on_device(std::vector<unsigned char>(256)),
        .workspace_bytes = 256,  // too small for sharing splits
        .compute_mode = mode});
  EXPECT_EQ(rows_of(from_device(c, p.c.size()), p.n, 0, p.m), on_gpu(p, 0, p.m, 0));
}

// k = 100 in rows of 104 elements: aligned rows, whose k ends inside a 16-byte vector.
TEST_F(CudaBatchInvariant, RowsMayBeLongerThanK) {
  const Problem<bfloat16, float> p(80, 40, 104, 0);
  const auto first_rows = [&](std::int64_t m) {
    constexpr std::int64_t k = 100;
    float* const c = on_device(p.c);
    gemm(1.0f, row_major<const bfloat16>(on_device(p.a), m, k, p.k),
         col_major<const bfloat16>(on_device(p.b), k, p.n, p.k), 0.0f, row_major(c, m, p.n),
         default_stream, {.compute_mode = mode});
    return rows_of(from_device(c, p.c.size()), p.n, 0, 20);
  };
  EXPECT_EQ(first_rows(20), first_rows(80));
}

TEST_F(CudaBatchInvariant, WhatCannotBePromisedIsRefused) {
  const auto one = on_device(std::vector<float>(16)), result = on_device(std::vector<float>(16));
  const auto like = row_major<const float>(nullptr, 4, 4);
  EXPECT_EQ(refusal([&] {
              gemm_batched(1.0f, at_pointers(on_device(std::vector<const float*>{one}), 1, like),
                           strided(row_major<const float>(one, 4, 4), 1, 0), 0.0f,
                           strided(row_major(result, 4, 4), 1, 16), default_stream,
                           {.gemm = {.compute_mode = mode}});
            }),
            std::pair(Status::unavailable,
                      std::string("rung: gemm_batched: no kernel for arrays of pointers to f32 in "
                                  "mode batch_invariant on GPUs; batches at a stride have one")));
  CudaGemmShape shape = {.dtype = Dtype::bf16,
                         .m = 8,
                         .n = 8,
                         .k = 8,
                         .a = Order::row_major,
                         .b = Order::row_major,
                         .alignment = 16,
                         .arch = 80,
                         .compute_mode = mode};
  EXPECT_EQ(refusal([&] { choose_cuda_gemm(shape); }).second,
            "rung: gemm: no kernel for bf16 in mode batch_invariant on this GPU, sm_80; it needs "
            "sm_90");
  shape.dtype = Dtype::f32;
  EXPECT_EQ(choose_cuda_gemm(shape).id, "gemm/cuda/fma_tiles");
  shape.dtype = Dtype::i32;
  EXPECT_EQ(refusal([&] { choose_cuda_gemm(shape); }).first, Status::ok);
}

}  // namespace
}  // namespace rung
