// gemm_parts(): kernels/device/cuda/library/tile_signal_gemm.cu.

#include "rung/tile_signal_gemm.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "backends/cuda/prepared_gemm.hpp"
#include "backends/cuda/tensor_maps.hpp"
#include "core/integers.hpp"
#include "device/cuda/library/tile_signal_gemm.hpp"
#include "library/check.hpp"
#include "library/cuda/launch.hpp"
#include "rung/error.hpp"

namespace rung {
namespace {

constexpr std::int64_t bytes_of_element = 2;

[[noreturn]] void refuse(std::size_t part, const std::string& what) {
  throw Error(Status::invalid_argument,
              "rung: gemm_parts: part " + std::to_string(part) + ": " + what);
}

/// Checks the width of a matrix whose rows parts may use.
template <class Pointer>
void check_matrix(const char* name, const AnyMatrixView<Pointer>& matrix, std::int64_t cols) {
  if (matrix.data == nullptr || matrix.cols == cols) return;
  throw Error(Status::invalid_argument, "rung: gemm_parts: " + std::string(name) + " has " +
                                            std::to_string(matrix.cols) +
                                            " columns; it must have " + std::to_string(cols));
}

/// Checks that a part's rows are within a matrix.
template <class Pointer>
void check_rows(std::size_t part, const char* name, std::int64_t first, std::int64_t rows,
                const AnyMatrixView<Pointer>& matrix) {
  if (first >= 0 && rows <= matrix.rows - first) return;
  refuse(part, "rows " + std::to_string(first) + " to " + std::to_string(first + rows) + " of " +
                   name + ", which has " + std::to_string(matrix.rows));
}

void check_matrices(const TileSignalGemm& product) {
  for (const InputMatrix& a : product.a) check_matrix("A", a, product.b.rows);
  for (const OutputMatrix& c : product.c) check_matrix("C", c, product.b.cols);
  check_matrix("the addend", product.addend, product.b.cols);
}

void check_parts(const TileSignalGemm& product) {
  for (std::size_t i = 0; i < product.parts.size(); ++i) {
    const TileSignalPart& part = product.parts[i];
    if (part.rows < 0)
      refuse(i, "rows is " + std::to_string(part.rows) + "; it must be at least 0");
    const auto check_number = [&](const char* name, int number) {
      if (number == 0 || number == 1) return;
      refuse(i, std::string(name) + " is " + std::to_string(number) + "; it must be 0 or 1");
    };
    check_number("a", part.a);
    check_number("c", part.c);
    check_rows(i, "A", part.a_row, part.rows, product.a[part.a]);
    check_rows(i, "C", part.c_row, part.rows, product.c[part.c]);
    if (part.addend_row >= 0) {
      check_rows(i, "the addend", part.addend_row, part.rows, product.addend);
    }
  }
}

/// True if TMA can copy boxes of a matrix and 32-bit row numbers suffice, or if there is no matrix.
template <class Pointer>
bool has_boxes(const AnyMatrixView<Pointer>& matrix, ElementType type) {
  if (matrix.data == nullptr) return true;
  return matrix.type == type && reinterpret_cast<std::uintptr_t>(matrix.data) % 16 == 0 &&
         matrix.ld * bytes_of_element % 16 == 0 &&
         matrix.rows < std::numeric_limits<std::int32_t>::max();
}

template <class Pointer>
bool has_boxes_of_rows(const AnyMatrixView<Pointer>& matrix, ElementType type) {
  const bool ends_at_box = matrix.cols * bytes_of_element % 16 == 0;
  return matrix.data == nullptr ||
         (has_boxes(matrix, type) && matrix.order == Order::row_major && ends_at_box);
}

/// True if TMA can read the part's rows of A, which must begin at multiples of 16 bytes along a row
/// in memory.
bool has_kernel(const TileSignalPart& part, Order order_of_a) {
  return part.rows > 0 &&
         (order_of_a == Order::row_major || part.a_row * bytes_of_element % 16 == 0);
}

bool has_kernel(const TileSignalGemm& product) {
  const ElementType type = product.b.type;
  const auto& [first, second] = product.a;
  return (type == ElementType::bf16 || type == ElementType::f16) && product.alpha != 0 &&
         product.b.rows > 0 && product.b.cols > 0 && !product.parts.empty() &&
         product.parts.size() <= cuda::max_parts_of_rows && has_boxes(first, type) &&
         has_boxes(second, type) && (second.data == nullptr || first.order == second.order) &&
         has_boxes(product.b, type) && has_boxes_of_rows(product.c[0], type) &&
         has_boxes_of_rows(product.c[1], type) && has_boxes_of_rows(product.addend, type) &&
         std::ranges::all_of(product.parts, [&](const TileSignalPart& part) {
           return has_kernel(part, product.a[0].order);
         });
}

template <class Pointer>
AnyMatrix<Pointer> strided(const AnyMatrixView<Pointer>& view) {
  if (view.order == Order::row_major) return {view.data, view.ld, 1};
  return {view.data, 1, view.ld};
}

/// The problem for one matrix of A and one of C. Its tensor maps have `rows` rows.
GemmCall call_of(const TileSignalGemm& product, const InputMatrix& a, const OutputMatrix& c,
                 std::int64_t rows) {
  const bool is_bf16 = product.b.type == ElementType::bf16;
  return {.dtype = is_bf16 ? Dtype::bf16_bf16 : Dtype::f16_f16,
          .m = rows,
          .n = product.b.cols,
          .k = product.b.rows,
          .alpha = product.alpha,
          .a = strided(a),
          .b = strided(product.b),
          .beta = 0,
          .c = strided(c)};
}

cuda::Launch launch_of_rows(const TileSignalGemm& product, const InputMatrix& a,
                            const OutputMatrix& c, std::int64_t rows) {
  return cuda::launch_of(cuda::tile_signal_gemm, call_of(product, a, c, rows));
}

/// The tensor maps of matrices a[number] and c[number], and of B if number is 0.
cuda::Launch launch_of_matrices(const TileSignalGemm& product, int number) {
  const InputMatrix& a = product.a[number];
  const OutputMatrix& c = product.c[number];
  cuda::Launch launch = launch_of_rows(product, a, c, a.rows);
  launch.c = launch_of_rows(product, a, c, c.rows).c;
  if (number > 0) launch.b = {};
  return launch;
}

cuda::Launch launch_of_addend(const TileSignalGemm& product) {
  const InputMatrix& from = product.addend;
  const OutputMatrix c(const_cast<void*>(from.data), from.type, from.rows, from.cols, from.ld);
  cuda::Launch launch = launch_of_rows(product, product.a[0], c, from.rows);
  launch.a = launch.b = {};
  return launch;
}

template <class In>
void fill(cuda::TileSignalArgs<In>& args, const TileSignalGemm& product,
          const cuda::TileShape& tile) {
  const auto narrow = [](std::int64_t value) { return static_cast<std::int32_t>(value); };
  args.finished_value = product.finished_value;
  const std::int64_t tiles_in_row = ceil_div(product.b.cols, tile.BN);
  std::int64_t tiles = 0;
  for (const TileSignalPart& part : product.parts) {
    tiles += ceil_div(part.rows, tile.BM) * tiles_in_row;
    args.parts[args.count++] = {.tiles_end = narrow(tiles),
                                .a_row = narrow(part.a_row),
                                .c_row = narrow(part.c_row),
                                .addend_row = narrow(std::max<std::int64_t>(part.addend_row, 0)),
                                .c_end = narrow(part.c_row + part.rows),
                                .a_is_other = part.a == 1,
                                .c_is_other = part.c == 1,
                                .has_addend = part.addend_row >= 0,
                                .awaited = part.awaited,
                                .finished = part.finished};
  }
}

}  // namespace

bool gemm_parts(const TileSignalGemm& product, CudaStream stream, const CudaOptions& options) {
  check::workspace("gemm_parts", options.workspace, options.workspace_bytes);
  check::multiprocessors("gemm_parts", options.multiprocessors);
  check::compute_mode("gemm_parts", options.compute_mode);
  check_matrices(product);
  check_parts(product);
  cuda::ContextCache& context = cuda::current_context();
  const bool has_mode = options.compute_mode != ComputeMode::reproducible;
  if (context.arch() != 90 || !has_mode || !has_kernel(product)) return false;

  const cuda::WorkspaceSource workspace{context, static_cast<cuda::Stream>(stream.handle()),
                                        options.workspace, options.workspace_bytes};
  if (workspace.bytes() < cuda::semaphores_bytes) return false;
  const cuda::WorkspaceUse use = workspace.use();
  const cuda::PreparedMaps first(context.api(), launch_of_matrices(product, 0), nullptr);
  const cuda::PreparedMaps second(context.api(), launch_of_matrices(product, 1), nullptr);
  const cuda::PreparedMaps third(context.api(), launch_of_addend(product), nullptr);
  for (const cuda::PreparedMaps* const maps : {&first, &second, &third}) {
    cuda::require(context.api(), maps->result(), "cuTensorMapEncodeTiled");
  }
  const GemmCall call = call_of(product, product.a[0], product.c[0], product.c[0].rows);
  const cuda::TileShape& tile = cuda::tiles_of(*cuda::tile_signal_gemm.rung, call.dtype)[0];
  visit(call.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    if constexpr (std::is_same_v<In, Out> && sizeof(In) == 2) {
      const OutputMatrix& other = product.c[1];
      cuda::TileSignalArgs<In> args = {
          .problem = call.typed<In, Out>(),
          .maps = first.maps(),
          .other_a = second.maps().a,
          .other_c = second.maps().c,
          .addend = third.maps().c,
          .matrix_of_other_c = {static_cast<In*>(other.data), other.ld, 1},
          .next_tile = reinterpret_cast<unsigned*>(use.data),
          .stored = reinterpret_cast<unsigned*>(use.data) + 1};
      fill(args, product, tile);
      cuda::Launch launch = cuda::launch_of(cuda::tile_signal_gemm, call);
      launch.grid.x = args.parts[args.count - 1].tiles_end;
      launch = cuda::fitted(
          launch, cuda::limits_of_call(workspace, options.multiprocessors).multiprocessors);
      void* parameters[] = {&args};
      cuda::start(context, workspace.stream, cuda::kernel_of(cuda::tile_signal_gemm, call.dtype),
                  launch, parameters);
    }
  });
  return true;
}

// For programs compiled when TileSignalGemm was a struct PartedGemm of the same layout.
struct PartedGemm;
RUNG_API bool gemm_parts(const PartedGemm& product, CudaStream stream, const CudaOptions& options) {
  return gemm_parts(reinterpret_cast<const TileSignalGemm&>(product), stream, options);
}

}  // namespace rung
