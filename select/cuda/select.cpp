#include "select/cuda/select.hpp"

#include <algorithm>
#include <span>
#include <string>

#include "core/integers.hpp"
#include "device/cuda/cost/invariant.hpp"
#include "device/cuda/entry/launch.hpp"
#include "device/cuda/library/split_digits.hpp"
#include "device/cuda/library/split_operand.hpp"
#include "device/cuda/library/split_residues.hpp"
#include "rung/error.hpp"
#include "select/cuda/operands.hpp"
#include "select/cuda/tables.hpp"

namespace rung {
namespace {

const cuda::GemmRung& rung_of(const CudaGemmRule& rule) {
  return *cuda::gemm_rungs[static_cast<std::size_t>(rule.use)].rung;
}

CudaGemmChoice choice_of(cuda::GemmRungIndex rung) {
  const auto index = static_cast<std::size_t>(rung);
  const cuda::NamedGemmRung& named = cuda::gemm_rungs[index];
  return {index, named.id, named.rung};
}

/// True if TMA reads the operands in place, or if there is room to pack them.
bool can_be_mapped(const CudaGemmShape& shape) {
  const bool splits = shape.dtype == Dtype::f32 || shape.dtype == Dtype::f64;
  if (splits && (shape.compute_mode == ComputeMode::split ||
                 shape.compute_mode == ComputeMode::reproducible)) {
    return bytes_for_copies(shape) <= shape.bytes_for_copies;
  }
  const bool along_k = shape.a == Order::row_major && shape.b == Order::col_major;
  if (shape.alignment >= 16 && (along_k || !cuda::is_k_major_only(shape.dtype))) return true;
  return bytes_for_copies(shape) <= shape.bytes_for_copies;
}

bool fits(const CudaGemmRule& rule, const CudaGemmShape& shape, double multiply_adds) {
  return admits(rule, shape.dtype, shape.arch) && covers(rule, shape, multiply_adds) &&
         std::min(shape.m, shape.n) <= rule.max_short && rule.alignment <= shape.alignment &&
         shape.alignment_of_ab <= rule.max_alignment &&
         (!rung_of(rule).maps || can_be_mapped(shape)) &&
         (rule.pays == nullptr || rule.pays(shape));
}

bool fits(const CudaDotRule& rule, const CudaDotShape& shape) {
  return admits(rule, shape.dtype, shape.arch) && rule.mode == detail::mode_of_rule(shape.mode) &&
         shape.n <= rule.max_n;
}

std::uintptr_t bits_of_ab(const GemmCall& call) {
  const std::size_t bytes = input_bytes(call.dtype);
  return cuda::row_bits(call.a, bytes) | cuda::row_bits(call.b, bytes);
}

/// row_bits() of all matrices of a batch.
std::uintptr_t bits_of_batch(const AnyMatrix<const void*>& matrix, std::size_t element_bytes) {
  return cuda::row_bits(matrix, element_bytes) |
         static_cast<std::uintptr_t>(matrix.batch_stride) * element_bytes;
}

/// True if TMA reads the operands of all products in place.
bool has_mapped_operands(const GemmCall& call) {
  const std::size_t bytes = input_bytes(call.dtype);
  return cuda::largest_divisor(bits_of_batch(call.a, bytes) | bits_of_batch(call.b, bytes)) >= 16;
}

Order order_of(std::int64_t col_stride) {
  return col_stride == 1 ? Order::row_major : Order::col_major;
}

}  // namespace

std::int64_t bytes_for_copies(const CudaGemmShape& shape) {
  const auto element = static_cast<std::int64_t>(input_bytes(shape.dtype));
  const std::int64_t scales = (shape.m + shape.n) * std::int64_t{sizeof(cuda::OperandScale)};
  const auto copies = [&](std::int64_t bytes, std::int64_t line) {
    return bytes * (shape.m + shape.n + 2 * line) * (shape.k + line) + 512;
  };
  if (shape.compute_mode == ComputeMode::split && shape.dtype == Dtype::f64) {
    constexpr std::int64_t max_blocks = 144;  // the SMs of a whole GH100
    return copies(residues::count, cuda::SplitResidues::chunk) + scales +
           max_blocks * cuda::residues_of_tile_bytes + cuda::semaphores_bytes + 512;
  }
  if (shape.compute_mode == ComputeMode::split) {
    return copies(element, cuda::SplitOperand::chunk) + scales + cuda::semaphores_bytes + 512;
  }
  if (shape.compute_mode == ComputeMode::reproducible && shape.dtype == Dtype::f32) {
    return copies(element, 32) + copies(digits::count, cuda::SplitDigits::chunk) + scales +
           cuda::semaphores_bytes + 512;
  }
  return copies(element, 128 / element) + cuda::semaphores_bytes;
}

void refuse(const CudaGemmShape& shape) {
  const std::string type(name(shape.dtype));
  const std::string arch = std::to_string(shape.arch);
  if (shape.arch != 90) {
    const bool is_invariant = shape.compute_mode == ComputeMode::batch_invariant;
    const bool is_word = shape.dtype == Dtype::f32 || shape.dtype == Dtype::f64;
    throw Error(Status::unavailable, "rung: gemm: no kernel for " + type +
                                         (is_invariant ? " in mode batch_invariant" : "") +
                                         " on this GPU, sm_" + arch + "; it needs " +
                                         (is_invariant && is_word ? "sm_80" : "sm_90"));
  }
  const bool is_reproducible = shape.compute_mode == ComputeMode::reproducible;
  const std::string operands = is_reproducible
                                   ? " in mode reproducible"
                                   : " that are not K-major, or not aligned to 16 bytes";
  throw Error(Status::invalid_argument,
              "rung: gemm: the workspace has " + std::to_string(shape.bytes_for_copies) +
                  " bytes; for operands of " + type + operands + ", it must have at least " +
                  std::to_string(bytes_for_copies(shape)));
}

bool is_batch_invariant(Dtype dtype, ComputeMode mode) {
  return mode == ComputeMode::batch_invariant && !is_integer(dtype);
}

namespace {

/// True if no mode fixes the order of sums.
bool has_any_order(Dtype dtype, ComputeMode mode) {
  return is_integer(dtype) || mode == ComputeMode::standard || mode == ComputeMode::split;
}

/// The mean rows of a group.
std::int64_t rows_of_group(const GroupedCall& grouped) {
  const GemmCall& call = grouped.call;
  return grouped.groups.cuts_k ? call.m : ceil_div(call.m, call.batch);
}

/// True if few_rows supports a product and is faster than rung 31.
bool takes_few_rows(const CudaGemmShape& shape) {
  const cuda::GemmRung& rung = *cuda::few_rows.rung;
  if (!cuda::has(rung, shape.dtype) || !cuda::few_rows_accepts(shape)) return false;
  const int tile =
      shape.b == Order::col_major ? cuda::few_rows_tile::narrow : cuda::few_rows_tile::mn_major;
  const int columns = cuda::tiles_of(rung, shape.dtype)[static_cast<std::size_t>(tile)].BN;
  return cuda::few_rows_pays(shape.n, shape.k, columns);
}

CudaGemmChoice choose_invariant(const CudaGemmShape& shape) {
  if (takes_few_rows(shape)) return cuda::few_rows;
  for (const CudaBatchRule& rule : tuned::cuda_invariant_rules) {
    const CudaGemmChoice choice = choice_of(rule.use);
    const bool fits =
        admits(rule, shape.dtype, shape.arch) && (!choice.rung->maps || can_be_mapped(shape));
    if (fits) return choice;
  }
  refuse(shape);
}

}  // namespace

CudaGemmChoice choose_cuda_gemm(const CudaGemmShape& shape) {
  if (is_batch_invariant(shape.dtype, shape.compute_mode)) return choose_invariant(shape);
  const double multiply_adds = work_of(shape);
  for (const CudaGemmRule& rule : tuned::cuda_gemm_rules) {
    if (!fits(rule, shape, multiply_adds)) continue;
    return choice_of(rule.use);
  }
  refuse(shape);  // mode reproducible; in the other ones, the last rule matches everything
}

std::optional<CudaGemmChoice> rival_of(const CudaGemmChoice& choice, Dtype dtype) {
  for (const CudaRival& rival : tuned::cuda_rivals) {
    const bool is_its = choice.index == static_cast<std::size_t>(rival.of);
    if (is_its && rival.dtypes.has(dtype)) return choice_of(rival.use);
  }
  return std::nullopt;
}

Dtype type_in(const CudaGemmChoice& choice, Dtype dtype) {
  return dtype == Dtype::tf32 && !cuda::has(*choice.rung, dtype) ? Dtype::f32 : dtype;
}

std::optional<CudaGemmChoice> choose_cuda_batch(const GemmCall& call, int arch,
                                                bool from_pointers) {
  if (!has_any_order(call.dtype, call.compute_mode)) return std::nullopt;
  const double multiply_adds = work_of(call);
  const bool can_be_mapped = !from_pointers && has_mapped_operands(call);
  const bool is_k_major = call.a.col_stride == 1 && call.b.row_stride == 1;
  for (const CudaBatchRule& rule : tuned::cuda_batch_rules) {
    const bool fits =
        admits(rule, call.dtype, arch) && rule.min_short <= std::min(call.m, call.n) &&
        (from_pointers || multiply_adds <= rule.max_work) && (!rule.is_mapped || can_be_mapped) &&
        (!rule.is_packed || !from_pointers) && (!rule.is_k_major || is_k_major) &&
        (rule.pays == nullptr || rule.pays(call.m, call.n));
    if (fits) return choice_of(rule.use);
  }
  return std::nullopt;
}

namespace {

std::optional<CudaGemmChoice> first_fitting(std::span<const CudaBatchRule> rules, Dtype dtype,
                                            int arch) {
  for (const CudaBatchRule& rule : rules) {
    if (admits(rule, dtype, arch)) return choice_of(rule.use);
  }
  return std::nullopt;
}

}  // namespace

bool has_stacked_b(const GemmCall& call) {
  // One of the two strides is 1: their product is the leading dimension.
  return call.batch == 1 || (cuda::is_k_major_only(call.dtype) && call.b.row_stride != 1) ||
         call.b.batch_stride % (call.b.row_stride * call.b.col_stride) == 0;
}

std::optional<CudaGemmChoice> choose_cuda_groups(const GroupedCall& grouped, int arch) {
  const GemmCall& call = grouped.call;
  const bool is_invariant = is_batch_invariant(call.dtype, call.compute_mode);
  if (!is_invariant && !has_any_order(call.dtype, call.compute_mode)) return std::nullopt;
  const bool can_be_mapped = grouped.groups.cuts_k
                                 ? call.batch == 1 || call.c.batch_stride % call.c.row_stride == 0
                                 : has_stacked_b(call);
  for (const CudaGroupRule& rule : tuned::cuda_group_rules) {
    CudaGemmChoice choice = choice_of(rule.use);
    choice.config.tile = rule.tile;
    const bool fits = admits(rule, call.dtype, arch) && rows_of_group(grouped) <= rule.max_rows &&
                      (!is_invariant || rule.is_invariant) && (!choice.rung->maps || can_be_mapped);
    // tf32 that is not rounded has other bits than in a single product.
    if (fits && (!is_invariant || cuda::has(*choice.rung, call.dtype))) return choice;
  }
  return std::nullopt;
}

std::optional<CudaGemmChoice> choose_cuda_block_scales(const GemmCall& call, int arch) {
  return first_fitting(tuned::cuda_block_scale_rules, call.dtype, arch);
}

std::optional<CudaGemmChoice> choose_cuda_mixed(int arch) {
  return first_fitting(tuned::cuda_mixed_rules, Dtype::bf16, arch);
}

CudaDotChoice choose_cuda_dot(const CudaDotShape& shape) {
  for (const CudaDotRule& rule : tuned::cuda_dot_rules) {
    if (!fits(rule, shape)) continue;
    const auto index = static_cast<std::size_t>(rule.use);
    const cuda::NamedDotRung& named = cuda::dot_rungs[index];
    return {index, named.id, named.rung};
  }
  throw Error(Status::internal_error, "rung: dot: no kernel for this mode");
}

std::int64_t alignment_of(const GemmCall& call) {
  return cuda::largest_divisor(bits_of_ab(call) | cuda::row_bits(call.c, output_bytes(call.dtype)));
}

std::int64_t alignment_of_ab(const GemmCall& call) {
  return cuda::largest_divisor(bits_of_ab(call));
}

CudaGemmChoice choose_cuda_gemm(const GemmCall& call, int arch) {
  return choose_cuda_gemm({call.dtype, call.m, call.n, call.k, order_of(call.a.col_stride),
                           order_of(call.b.col_stride), alignment_of(call), arch, call.compute_mode,
                           alignment_of_ab(call)});
}

}  // namespace rung
