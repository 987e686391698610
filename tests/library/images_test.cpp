// The CUDA code in librung: the rungs that selection can choose, and no others.

#include "backends/cuda/images.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>

#include "backends/rungs/cuda.hpp"
#include "backends/rungs/kernel_name.hpp"
#include "select/cuda/tables.hpp"

namespace rung::cuda {
namespace {

using Ids = std::set<std::string_view>;

/// The rungs named by the rules.
Ids selected_gemm() {
  Ids ids;
  for (const CudaGemmRule& rule : tuned::cuda_gemm_rules) {
    ids.insert(gemm_rungs.at(static_cast<std::size_t>(rule.use)).id);
  }
  for (const CudaRival& rival : tuned::cuda_rivals) {
    ids.insert(gemm_rungs.at(static_cast<std::size_t>(rival.use)).id);
  }
  for (const CudaBatchRule& rule : tuned::cuda_batch_rules) {
    ids.insert(gemm_rungs.at(static_cast<std::size_t>(rule.use)).id);
  }
  for (const CudaGroupRule& rule : tuned::cuda_group_rules) {
    ids.insert(gemm_rungs.at(static_cast<std::size_t>(rule.use)).id);
  }
  for (const CudaBatchRule& rule : tuned::cuda_block_scale_rules) {
    ids.insert(gemm_rungs.at(static_cast<std::size_t>(rule.use)).id);
  }
  for (const CudaBatchRule& rule : tuned::cuda_mixed_rules) {
    ids.insert(gemm_rungs.at(static_cast<std::size_t>(rule.use)).id);
  }
  for (const CudaGemmRule& rule : tuned::cuda_weight_only_rules) {
    ids.insert(gemm_rungs.at(static_cast<std::size_t>(rule.use)).id);
  }
  return ids;
}
Ids selected_dot() {
  Ids ids;
  for (const CudaDotRule& rule : tuned::cuda_dot_rules) {
    ids.insert(dot_rungs.at(static_cast<std::size_t>(rule.use)).id);
  }
  return ids;
}

/// Expects that every text of a rung, from one compiler or two, has the kernels of a type.
void expect_kernel(std::string_view id, Dtype dtype, const std::string& entry) {
  int texts = 0;
  for (const Image& image : images()) {
    if (image.id != id || image.code == Code::cubin) continue;
    ++texts;
    EXPECT_NE(unpacked(image.unit(dtype)).find(".entry " + entry + "("), std::string_view::npos)
        << entry;
  }
  EXPECT_GE(texts, 1) << id;
}

TEST(LibraryImages, HaveEveryKernelOfTheGemmRungsThatSelectionNames) {
  for (const std::string_view id : selected_gemm()) {
    const GemmRung& rung = *find_gemm_rung(id);
    for (const Dtype dtype : all_dtypes) {
      if (!has(rung, dtype)) continue;
      const int tiles = std::max(1, static_cast<int>(tiles_of(rung, dtype).size()));
      for (int i = 0; i < tiles; ++i) {
        expect_kernel(id, dtype, kernel_of(configured_gemm(id, {.tile = i}), dtype).text());
      }
    }
  }
}

TEST(LibraryImages, HaveEveryKernelOfTheDotRungsThatSelectionNames) {
  for (const std::string_view id : selected_dot()) {
    const DotRung& rung = *find_dot_rung(id)->rung;
    for (const Dtype dtype : all_dtypes) {
      const bool has = visit(dtype, [&]<class In, class Out>(Elements<In, Out>) {
        return rung.launches.of<In, Out>() != nullptr;
      });
      if (has) expect_kernel(id, dtype, std::string(rung.entry) + "_" + std::string(name(dtype)));
    }
  }
}

TEST(LibraryImages, HaveNoOtherRung) {
  Ids expected = selected_gemm();
  expected.merge(selected_dot());
  expected.insert({"gemm/cuda/scale", "gemm/cuda/pack_operand", "gemm/cuda/split_operand",
                   "gemm/cuda/split_digits", "gemm/cuda/split_residues", "gemm/cuda/apply_epilogue",
                   "gemm/cuda/fused_epilogue", "gemm/cuda/mixed_operand", "gemm/cuda/pack_weights",
                   "gemm/cuda/tile_signal_gemm", "gemm/cuda/few_rows", "gemm/cuda/summed_parts"});
  Ids found;
  for (const Image& image : images()) {
    if (!image.id.starts_with("sum/")) found.insert(image.id);  // in the file of a dot rung
  }
  EXPECT_EQ(found, expected);
}

bool takes_any_shape(const CudaGemmRule& rule) {
  const std::int64_t least = std::max({rule.min_m, rule.min_n, rule.min_k});
  const std::int64_t most = std::min({rule.max_m, rule.max_n, rule.max_k, rule.max_short});
  return least <= 1 && most == any_size && rule.max_work == any_work && !rule.a && !rule.b &&
         rule.alignment == 1 && rule.max_alignment == 128 && rule.pays == nullptr;
}

bool has_machine_code(std::string_view id, int arch) {
  return std::any_of(images().begin(), images().end(), [&](const Image& image) {
    return image.id == id && image.code == Code::cubin && image.arch == arch;
  });
}

/// The driver would compile PTX at the first call, which takes seconds.
TEST(LibraryImages, AreMachineCodeWhereSelectionUsesThem) {
  if (nvcc_version().empty()) GTEST_SKIP() << "no nvcc, no machine code";
  for (const int arch : {80, 90}) {
    for (const Dtype dtype : all_dtypes) {
      for (const ComputeMode mode :
           {ComputeMode::standard, ComputeMode::split, ComputeMode::reproducible}) {
        for (const CudaGemmRule& rule : tuned::cuda_gemm_rules) {
          const std::string_view id = gemm_rungs.at(static_cast<std::size_t>(rule.use)).id;
          if (rule.compute_mode != mode || arch < rule.min_arch || arch > rule.max_arch) continue;
          if (!rule.dtypes.has(dtype) || !has(*find_gemm_rung(id), dtype)) continue;
          EXPECT_TRUE(has_machine_code(id, arch)) << id << ", sm_" << arch << ", " << name(dtype);
          if (takes_any_shape(rule)) break;
        }
      }
    }
  }
}

TEST(LibraryImages, HaveNoLineTables) {
  for (const Image& image : images()) {
    for (const Unit& unit : image.units) {
      const std::string code = unpack(unit);
      EXPECT_EQ(code.find(".cuh"), std::string::npos) << image.id << ": a source's name";
      if (image.code == Code::cubin) {
        EXPECT_EQ(code.find(".entry"), std::string::npos) << image.id << ": its PTX";
      }
    }
  }
}

/// The driver loads a whole module at the first call of one of its kernels.
TEST(LibraryImages, AreSmallModules) {
  for (const Image& image : images()) {
    for (const Unit& unit : image.units) {
      if (image.code != Code::cubin) continue;
      EXPECT_LE(unpack(unit).size(), 1u << 20) << image.id;
    }
  }
}

#ifdef RUNG_SHARED_LIBRARY
TEST(LibraryImages, LeaveTheLibrarySmall) {
  const std::uintmax_t limit = nvcc_version().empty() ? 7'000'000 : 16'000'000;
  EXPECT_LE(std::filesystem::file_size(RUNG_SHARED_LIBRARY), limit);
}
#endif

TEST(Unpack, GivesPlainCodeAsItIs) {
  const Unit plain = {{}, ".version 8.0"};
  EXPECT_EQ(unpack(plain), ".version 8.0");
  EXPECT_EQ(unpacked(plain), ".version 8.0");
  EXPECT_EQ(unpacked(plain).data(), unpacked(plain).data());
}

TEST(Unpack, RefusesDamagedCode) {
  const Unit& whole = images().front().units.front();
  ASSERT_NE(unpack(whole), whole.data) << "not packed";
  for (const std::size_t length :
       {std::size_t{4}, std::size_t{5}, whole.data.size() / 2, whole.data.size() - 1}) {
    EXPECT_THROW(unpack({{}, whole.data.substr(0, length)}), std::runtime_error) << length;
  }
  std::string wrong(whole.data);
  wrong[wrong.size() / 2] = static_cast<char>(~wrong[wrong.size() / 2]);
  wrong.back() = static_cast<char>(~wrong.back());
  const Unit damaged = {{}, wrong};
  try {
    EXPECT_NE(unpack(damaged), unpack(whole));
  } catch (const std::runtime_error&) {
  }
}

TEST(Image, HasNoUnitOfATypeThatItLacks) {
  const Unit units[] = {{Dtype::f32, "a"}, {Dtype::f64, "b"}};
  const Image image = {"gemm/cuda/00_none", Code::clang_ptx, 80, units};
  EXPECT_EQ(image.unit(Dtype::f64).data, "b");
  EXPECT_THROW(image.unit(Dtype::bf16), std::out_of_range);
  const Unit all[] = {{{}, "c"}};
  EXPECT_EQ((Image{"gemm/cuda/00_none", Code::clang_ptx, 80, all}.unit(Dtype::bf16).data), "c");
}

}  // namespace
}  // namespace rung::cuda
