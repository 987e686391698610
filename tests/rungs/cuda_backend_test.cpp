// Parts of the CUDA backend itself: the code chosen for a device, copies of operands, failed
// launches.

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "backends/backend.hpp"
#include "backends/cuda/device_matrix.hpp"
#include "backends/cuda/gemm_call.hpp"
#include "backends/cuda/select_image.hpp"
#include "backends/cuda/virtual_gpu.hpp"
#include "core/case.hpp"
#include "core/cuda_driver/real_driver.hpp"
#include "core/kernel_error.hpp"
#include "core/rung.hpp"
#include "vgpu/model/device.hpp"

namespace rung::cuda {
namespace {

constexpr std::string_view naive = "gemm/cuda/00_naive";

VirtualGpu& gpu() {
  static const vgpu::DeviceDescription h200 = vgpu::parse_device("h200");
  static VirtualGpu gpu(open_virtual_driver(h200), std::nullopt, true,
                        [](const vgpu::LaunchReport&, const vgpu::Kernel&) {});
  gpu.make_current();
  return gpu;
}

TEST(Images, EveryRungHasPtxByClang) {
  std::set<std::string_view> ids;
  for (const Image& image : images()) {
    if (image.code != Code::clang_ptx) continue;
    ids.insert(image.id);
    const std::string op(image.id.substr(0, image.id.find('/')));
    for (const Unit& unit : image.units) {
      const std::string_view text = unpacked(unit);
      EXPECT_NE(text.find(".visible .entry " + op + "_cuda_"), std::string_view::npos) << image.id;
      EXPECT_EQ(text.data()[text.size()], '\0');
    }
  }
  for (const RungInfo* rung : select({"gemm/cuda", "dot/cuda", "sum/cuda"})) {
    EXPECT_TRUE(ids.contains(rung->id)) << rung->id;
  }
}

TEST(Images, ADeviceTakesWhatSuitsIt) {
  const bool with_nvcc = !nvcc_version().empty();
  const auto code_for = [](Target target) { return select_image(naive, target)->code; };
  EXPECT_EQ(code_for({.arch = 90, .driver_version = 13000}),
            with_nvcc ? Code::cubin : Code::clang_ptx);
  EXPECT_EQ(code_for({.arch = 100, .driver_version = 99000}),
            with_nvcc ? Code::nvcc_ptx : Code::clang_ptx);
  EXPECT_EQ(code_for({.arch = 100, .driver_version = 11080}), Code::clang_ptx);
  EXPECT_EQ(code_for({.arch = 90, .takes_cubin = false}),
            with_nvcc ? Code::nvcc_ptx : Code::clang_ptx);
  EXPECT_EQ(code_for({.arch = 90, .wanted = Code::clang_ptx}), Code::clang_ptx);
  EXPECT_EQ(select_image(naive, {.arch = 60}), nullptr);
  EXPECT_EQ(select_image(naive, {.arch = 90, .takes_cubin = false, .wanted = Code::cubin}),
            nullptr);
  EXPECT_EQ(select_image("gemm/cuda/99_none", {.arch = 90}), nullptr);
}

TEST(Images, CodesAreNamed) {
  EXPECT_EQ(parse_code("clang"), Code::clang_ptx);
  EXPECT_EQ(parse_code("nvcc"), Code::nvcc_ptx);
  EXPECT_EQ(parse_code("cubin"), Code::cubin);
  EXPECT_THROW(parse_code("ptx"), std::invalid_argument);
}

TEST(DeviceMatrix, ComesAndGoesWithItsAlignment) {
  for (const int offset : {0, 1, 3}) {
    rung::Operand operand(Dtype::f32, 5, 7, 9, offset);
    operand.fill(Values::reals, 1);
    const std::uint64_t before = operand.fingerprint();
    const DeviceMatrix copy(gpu(), operand.storage(), operand.data());
    EXPECT_EQ(copy.data() % 512, reinterpret_cast<std::uintptr_t>(operand.data()) % 512);
    operand.poison();
    copy.download();
    EXPECT_EQ(operand.fingerprint(), before);
    EXPECT_EQ(operand.broken_guard(), std::nullopt);
  }
}

TEST(DeviceMatrix, BringsBackBrokenGuards) {
#ifdef RUNG_SANITIZED  // AddressSanitizer owns the guards
  GTEST_SKIP() << "a sanitized build";
#endif
  rung::Operand operand(Dtype::f32, 2, 3, 3, 0);
  operand.fill(Values::reals, 1);
  const DeviceMatrix copy(gpu(), operand.storage(), operand.data());
  const float value = 1;
  ASSERT_EQ(gpu().api().cuMemcpyHtoD(copy.data() + 6 * sizeof value, &value, sizeof value),
            Result::success);
  copy.download();
  EXPECT_EQ(operand.broken_guard(), "1 past the end of row 1");
}

TEST(DeviceMatrix, LinesFarApartArePieces) {
  constexpr std::int64_t ld = 1 << 20;
  const AnyMatrix<void*> rows = {nullptr, ld, 1};
  const Storage by_rows = storage_of(rows, 3, 5, 4);
  EXPECT_EQ(by_rows.rows, 3);
  EXPECT_EQ(by_rows.row_bytes, 20);
  EXPECT_EQ(by_rows.pitch, 4 * ld);
  const Storage by_columns = storage_of(AnyMatrix<void*>{nullptr, 1, ld}, 3, 5, 4);
  EXPECT_EQ(by_columns.rows, 5);
  EXPECT_EQ(by_columns.row_bytes, 12);
  const Storage dense = storage_of(AnyMatrix<void*>{nullptr, 6, 1}, 3, 5, 4);
  EXPECT_EQ(dense.rows, 1);
  EXPECT_EQ(dense.row_bytes, (2 * 6 + 5) * 4);
  EXPECT_EQ(storage_of(rows, 0, 5, 4).rows, 0);
}

GemmRung broken(GemmLaunch<float, float> launch) {
  return {"gemm_cuda_00_naive", {launch, nullptr, nullptr, nullptr, nullptr}, {}};
}

/// The kernel of rung 00, with this rung's configuration.
ConfiguredGemm configured(const GemmRung& rung) { return {0, naive, &rung}; }

TEST(Launches, ThatAreRefusedSayWhy) {
  const GemmCase problem({.m = 3, .n = 4, .k = 5});
  const GemmRung rung =
      broken([](const Gemm<float>&, const GemmConfig&) -> Launch { return {{1}, {2048}}; });
  GemmCallOnGpu call(gpu(), configured(rung), problem.call(), 1);
  try {
    call.enqueue(1);
    FAIL() << "a block of 2048 threads was launched";
  } catch (const KernelError& error) {
    EXPECT_EQ(std::string(error.what()).find("gemm_cuda_00_naive_f32: CUDA_ERROR_INVALID_VALUE"),
              0u)
        << error.what();
  }
  // The operands were destroyed with the context.
  EXPECT_THROW(call.enqueue(1), KernelError);
}

TEST(Launches, OfAGridThatIsTooLargeAreNotTried) {
  const GemmCase problem({.m = 3, .n = 4, .k = 5});
  const GemmRung rung =
      broken([](const Gemm<float>&, const GemmConfig&) -> Launch { return {{1, 65536}, {32}}; });
  EXPECT_EQ(why_not_grid(configured(rung), problem.call()),
            "a grid of 1x65536x1 blocks; at most 2147483647x65535x65535 are possible");
}

TEST(Launches, OfABatchHaveBlocksForAllTilesOfAllProducts) {
  GemmCall call = GemmCase({.m = 3, .n = 33, .k = 5}).call();
  const ConfiguredGemm small = configured_gemm("gemm/cuda/small_matrices", {.tile = 1});
  const int products = launch_of(small, call).products_per_block;
  ASSERT_GT(products, 1);
  EXPECT_EQ(launch_of(small, call).grid.x, 3);  // tiles of 16 x 16
  call.batch = 2 * products + 1;
  EXPECT_EQ(launch_of(small, call).grid.x, 3 * 3);
}

TEST(Launches, OfPersistentBlocksHaveAWorkspaceForEachSm) {
  const ConfiguredGemm gemm = configured_gemm("gemm/cuda/wgmma_tiles", {.tile = 0, .splits = 4});
  const TileShape& tile = tiles_of(*gemm.rung, Dtype::bf16).front();
  const auto launch = [&](std::int64_t size, int multiprocessors) {
    const GemmCase problem({.dtype = Dtype::bf16, .m = size, .n = size, .k = 512});
    return fitted(launch_of(gemm, problem.call()), multiprocessors);
  };
  const auto bytes = [&](std::int64_t blocks) {
    return semaphores_bytes + blocks * tile.BM * tile.BN * std::int64_t{sizeof(float)};
  };
  for (const int multiprocessors : {8, 132, 188}) {
    const Launch full = launch(2000, multiprocessors);
    EXPECT_EQ(full.grid.x, multiprocessors);
    EXPECT_EQ(full.workspace_bytes, bytes(multiprocessors));
    EXPECT_EQ(fitted(full, multiprocessors).workspace_bytes, full.workspace_bytes);
  }
  const Launch small = launch(tile.BM, 132);
  EXPECT_EQ(small.grid.x, 4);
  EXPECT_EQ(small.workspace_bytes, bytes(4));
}

TEST(Launches, AreGivenTheWorkspaceThatTheyAskFor) {
  const GemmCase problem({.m = 3, .n = 4, .k = 5});
  const auto memory = [] {
    std::size_t free = 0, total = 0;
    EXPECT_EQ(gpu().api().cuMemGetInfo(&free, &total), Result::success);
    return free;
  };
  const GemmRung rung = broken([](const Gemm<float>&, const GemmConfig&) -> Launch {
    return {.grid = {1}, .block = {32, 32}, .workspace_bytes = 1 << 20};
  });
  const std::size_t before = memory();
  const GemmCallOnGpu call(gpu(), configured(rung), problem.call(), 1);
  EXPECT_LE(memory(), before - (1 << 20));
}

TEST(Launches, OfNothingAreNone) {
  const GemmCase problem({.m = 0, .n = 4, .k = 5});
  const GemmRung rung =
      broken([](const Gemm<float>&, const GemmConfig&) -> Launch { return {{0}, {2048}}; });
  GemmCallOnGpu call(gpu(), configured(rung), problem.call(), 1);
  EXPECT_NO_THROW(call.enqueue(3));
  EXPECT_NO_THROW(call.wait());
}

TEST(Backends, RefuseBatchesAndOtherComputeModes) {
  GemmCall call = GemmCase({.m = 3, .n = 4, .k = 5}).call();
  GemmCall batch = call;
  batch.batch = 2;
  GemmCall other_mode = call;
  other_mode.compute_mode = static_cast<ComputeMode>(77);
  const std::pair<const char*, const char*> rungs[] = {{"cpu", "gemm/cpu/00"},
                                                       {"virtual", "gemm/cuda/00"}};
  for (const auto& [device, selector] : rungs) {
    const RungInfo& rung = *select({selector}).front();
    const Backend& backend = *find_backend(device);
    EXPECT_EQ(backend.why_not(rung, call), std::nullopt);
    EXPECT_EQ(backend.why_not(rung, batch), "computes one product, not a batch of 2");
    EXPECT_EQ(backend.why_not(rung, other_mode), "computes in mode standard, not in unknown");
  }
}

TEST(RealDriver, IsThereOrSaysWhyNot) {
  const RealDriver driver = real_driver();
  EXPECT_EQ(driver.api == nullptr, !driver.why_not.empty());
}

TEST(VirtualDriver, IsOneDeviceForTheProcess) {
  gpu();
  EXPECT_THROW(open_virtual_driver(vgpu::parse_device("t4")), std::invalid_argument);
}

}  // namespace
}  // namespace rung::cuda
