#include "library/cuda/select.hpp"

#include <algorithm>
#include <span>
#include <string>

#include "backends/cuda/row_alignment.hpp"
#include "core/integers.hpp"
#include "device/cuda/entry/launch.hpp"
#include "device/cuda/library/split_digits.hpp"
#include "device/cuda/library/split_operand.hpp"
#include "device/cuda/library/split_residues.hpp"
#include "device/cuda/tile/invariant_parts.hpp"
#include "library/tuned/cuda.hpp"
#include "rung/error.hpp"

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

/// Whether operands can be packed for a rung that reads them by TMA.
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
  return rule.dtypes.has(shape.dtype) &&
         fits_mode(rule.compute_mode, shape.compute_mode, shape.dtype) &&
         rule.min_arch <= shape.arch && shape.arch <= rule.max_arch &&  //
         rule.min_m <= shape.m && shape.m <= rule.max_m &&              //
         rule.min_n <= shape.n && shape.n <= rule.max_n &&              //
         rule.min_k <= shape.k && shape.k <= rule.max_k &&              //
         std::min(shape.m, shape.n) <= rule.max_short &&                //
         multiply_adds <= rule.max_work && rule.alignment <= shape.alignment &&
         shape.alignment_of_ab <= rule.max_alignment && rule.a.value_or(shape.a) == shape.a &&
         rule.b.value_or(shape.b) == shape.b && (!rung_of(rule).maps || can_be_mapped(shape)) &&
         (rule.pays == nullptr || rule.pays(shape));
}

/// The fastest rung also has a fixed order.
DotMode mode_of_rule(DotMode asked) {
  return asked == DotMode::fast ? DotMode::deterministic : asked;
}

bool fits(const CudaDotRule& rule, const CudaDotShape& shape) {
  return rule.dtypes.has(shape.dtype) && rule.mode == mode_of_rule(shape.mode) &&
         rule.min_arch <= shape.arch && shape.arch <= rule.max_arch && shape.n <= rule.max_n;
}

std::uintptr_t bits_of_ab(const GemmCall& call) {
  const std::size_t bytes = input_bytes(call.dtype);
  return cuda::row_bits(call.a, bytes) | cuda::row_bits(call.b, bytes);
}

/// The same of all matrices of a batch.
std::uintptr_t bits_of_batch(const AnyMatrix<const void*>& matrix, std::size_t element_bytes) {
  return cuda::row_bits(matrix, element_bytes) |
         static_cast<std::uintptr_t>(matrix.batch_stride) * element_bytes;
}

/// Whether TMA reads the operands of all products where they are.
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
    constexpr std::int64_t most_blocks = 144;  // the SMs of a whole GH100
    return copies(residues::count, cuda::SplitResidues::chunk) + scales +
           most_blocks * cuda::residues_of_tile_bytes + cuda::semaphores_bytes + 512;
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

/// Whether no mode fixes the order of sums.
bool has_any_order(Dtype dtype, ComputeMode mode) {
  return is_integer(dtype) || mode == ComputeMode::standard || mode == ComputeMode::split;
}

/// Whether TMA reads each matrix of B from multiples of 16 bytes on. Of types that it reads by columns
/// alone, matrices that are by rows follow each other along k when they are packed.
bool has_aligned_groups(const GemmCall& call) {
  const bool is_along_k = cuda::is_k_major_only(call.dtype) && call.b.row_stride != 1;
  if (!is_along_k || call.batch == 1) return true;
  const std::int64_t steps = call.b.batch_stride / call.b.row_stride;
  return steps * static_cast<std::int64_t>(input_bytes(call.dtype)) % 16 == 0;
}

/// In the mean.
std::int64_t rows_of_group(const GroupedCall& grouped) {
  const GemmCall& call = grouped.call;
  return grouped.groups.cuts_k ? call.m : ceil_div(call.m, call.batch);
}

/// Whether the kernel for few rows supports a product and is faster than rung 31. With more than
/// one wave of its tiles it is not, unless k is cut.
bool has_few_rows(const CudaGemmShape& shape) {
  constexpr std::int64_t multiprocessors = 132;
  const int columns = shape.b == Order::col_major ? 32 : 64;  // of a tile
  return cuda::has(*cuda::few_rows.rung, shape.dtype) && shape.arch == 90 &&
         shape.m <= cuda::few_rows_most && shape.a == Order::row_major &&
         shape.alignment_of_ab >= 16 &&
         (shape.n <= multiprocessors * columns || cuda::invariant_parts(shape.k) > 1);
}

CudaGemmChoice choose_invariant(const CudaGemmShape& shape) {
  if (has_few_rows(shape)) return cuda::few_rows;
  for (const CudaBatchRule& rule : tuned::cuda_invariant_rules) {
    const CudaGemmChoice choice = choice_of(rule.use);
    const bool fits = rule.dtypes.has(shape.dtype) && rule.min_arch <= shape.arch &&
                      shape.arch <= rule.max_arch && (!choice.rung->maps || can_be_mapped(shape));
    if (fits) return choice;
  }
  refuse(shape);
}

}  // namespace

CudaGemmChoice choose_cuda_gemm(const CudaGemmShape& shape) {
  if (is_batch_invariant(shape.dtype, shape.compute_mode)) return choose_invariant(shape);
  const double multiply_adds =
      static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
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
  const double multiply_adds =
      static_cast<double>(call.m) * static_cast<double>(call.n) * static_cast<double>(call.k);
  const bool can_be_mapped = !from_pointers && has_mapped_operands(call);
  const bool is_k_major = call.a.col_stride == 1 && call.b.row_stride == 1;
  for (const CudaBatchRule& rule : tuned::cuda_batch_rules) {
    const bool fits = rule.dtypes.has(call.dtype) && rule.min_arch <= arch &&
                      arch <= rule.max_arch && rule.min_short <= std::min(call.m, call.n) &&
                      (from_pointers || multiply_adds <= rule.max_work) &&
                      (!rule.is_mapped || can_be_mapped) && (!rule.is_packed || !from_pointers) &&
                      (!rule.is_k_major || is_k_major) &&
                      (rule.pays == nullptr || rule.pays(call.m, call.n));
    if (fits) return choice_of(rule.use);
  }
  return std::nullopt;
}

namespace {

std::optional<CudaGemmChoice> first_fitting(std::span<const CudaBatchRule> rules, Dtype dtype,
                                            int arch) {
  for (const CudaBatchRule& rule : rules) {
    const bool fits = rule.dtypes.has(dtype) && rule.min_arch <= arch && arch <= rule.max_arch;
    if (fits) return choice_of(rule.use);
  }
  return std::nullopt;
}

}  // namespace

std::optional<CudaGemmChoice> choose_cuda_groups(const GroupedCall& grouped, int arch) {
  const GemmCall& call = grouped.call;
  const bool is_invariant = is_batch_invariant(call.dtype, call.compute_mode);
  if (!is_invariant && !has_any_order(call.dtype, call.compute_mode)) return std::nullopt;
  // One of the two strides is 1: their product is the leading dimension.
  const auto is_in_lines = [&](const auto& matrix) {
    return call.batch == 1 || matrix.batch_stride % (matrix.row_stride * matrix.col_stride) == 0;
  };
  const bool can_be_mapped =
      grouped.groups.cuts_k ? is_in_lines(call.c) : is_in_lines(call.b) && has_aligned_groups(call);
  for (const CudaGroupRule& rule : tuned::cuda_group_rules) {
    CudaGemmChoice choice = choice_of(rule.use);
    choice.config.tile = rule.tile;
    const bool fits = rule.dtypes.has(call.dtype) && rule.min_arch <= arch &&
                      arch <= rule.max_arch && rows_of_group(grouped) <= rule.max_rows &&
                      (!is_invariant || rule.is_invariant) && (!choice.rung->maps || can_be_mapped);
    // Floats that are not rounded have other bits than in a product by itself.
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
  __builtin_unreachable();  // the last rule of each mode matches everything
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
