// cublasLtMatmul: computes plain products and forwards other calls. Descriptors are objects of the
// real cuBLASLt, which we use to read them.

#include <cstdint>
#include <optional>

#include "library/cublas/products.hpp"
#include "library/cublas/real.hpp"

namespace rung::cublas {
namespace {

using namespace lt;

constexpr int full_fill = 2;  // CUBLAS_FILL_MODE_FULL

using GetAttribute = int(const void*, int, void*, std::size_t, std::size_t*);

GetAttribute* getter(const char* name) {
  return reinterpret_cast<GetAttribute*>(real_function(name, Library::cublas_lt));
}

/// Reads an attribute; returns `otherwise` if the installed cuBLASLt does not know it.
template <class Value>
Value read(GetAttribute* get, const void* object, int attribute, Value otherwise) {
  Value value = {};
  std::size_t written = 0;
  const bool is_read =
      get != nullptr && get(object, attribute, &value, sizeof value, &written) == success;
  return is_read && written == sizeof value ? value : otherwise;
}

template <class Value>
Value of_desc(const void* object, int attribute, Value otherwise = {}) {
  static GetAttribute* const get = getter("cublasLtMatmulDescGetAttribute");
  return read(get, object, attribute, otherwise);
}

template <class Value>
Value of_layout(const void* object, int attribute, Value otherwise = {}) {
  static GetAttribute* const get = getter("cublasLtMatrixLayoutGetAttribute");
  return read(get, object, attribute, otherwise);
}

struct Layout {
  int type, order;
  std::uint64_t rows, cols;
  std::int64_t ld;

  bool operator==(const Layout&) const = default;
};

/// Empty for layouts that Rung does not support, and for batches, which cuBLASLt computes in one
/// launch.
std::optional<Layout> layout_of(const void* object) {
  if (object == nullptr) return std::nullopt;
  const Layout found = {.type = of_layout<int>(object, layout::type, -1),
                        .order = of_layout<int>(object, layout::order, -1),
                        .rows = of_layout<std::uint64_t>(object, layout::rows),
                        .cols = of_layout<std::uint64_t>(object, layout::cols),
                        .ld = of_layout<std::int64_t>(object, layout::ld)};
  const bool is_plain = (found.order == by_columns || found.order == by_rows) &&
                        of_layout<int>(object, layout::batch_count, -1) == 1;
  return is_plain ? std::optional(found) : std::nullopt;
}

/// True if a descriptor requests alpha op(A) op(B) + beta C with host scalars and nothing else.
bool is_plain(const void* object) {
  const bool has_defaults = of_desc<int>(object, desc::epilogue, -1) == no_epilogue &&
                            of_desc<int>(object, desc::pointer_mode, -1) == host_pointers &&
                            of_desc<int>(object, desc::op_c, -1) == 0 &&
                            of_desc<int>(object, desc::fill_mode, -1) == full_fill &&
                            of_desc<int>(object, desc::sm_count_target, 0) == 0;
  if (!has_defaults) return false;
  for (const int pointer : {desc::a_scale, desc::b_scale, desc::c_scale, desc::d_scale,
                            desc::amax_d, desc::d_out_scale}) {
    if (of_desc<void*>(object, pointer) != nullptr) return false;
  }
  return true;
}

/// The type of alpha and beta for a compute type.
int scale_type(int compute) {
  if (compute == compute_64f || compute == compute_64f_pedantic) return r_64f;
  return compute == compute_32i || compute == compute_32i_pedantic ? r_32i : r_32f;
}

struct Call {
  const void* descriptor;
  const void* alpha;
  const void* a;
  const void* a_layout;
  const void* b;
  const void* b_layout;
  const void* beta;
  const void* c;
  const void* c_layout;
  void* d;
  const void* d_layout;
};

/// True if D already holds beta C, or beta is 0, so that C need not be read separately.
bool reads_only_d(const Call& call, const Layout& d, int scale) {
  const bool is_zero = scale == r_64f   ? *static_cast<const double*>(call.beta) == 0
                       : scale == r_32i ? *static_cast<const std::int32_t*>(call.beta) == 0
                                        : *static_cast<const float*>(call.beta) == 0;
  return is_zero || (call.c == call.d && layout_of(call.c_layout) == d);
}

/// The product of a call; empty if Rung does not support it.
std::optional<Product> product_of(const Call& call) {
  if (call.descriptor == nullptr || call.alpha == nullptr || call.beta == nullptr) return {};
  if (!is_plain(call.descriptor)) return {};
  const auto a = layout_of(call.a_layout), b = layout_of(call.b_layout),
             d = layout_of(call.d_layout);
  if (!a || !b || !d) return {};
  const int compute = of_desc<int>(call.descriptor, desc::compute_type, -1);
  const int scale = of_desc<int>(call.descriptor, desc::scale_type, -1);
  if (scale != scale_type(compute) || !reads_only_d(call, *d, scale)) return {};

  const bool is_a_transposed = of_desc<int>(call.descriptor, desc::op_a, 0) != 0;
  const bool is_b_transposed = of_desc<int>(call.descriptor, desc::op_b, 0) != 0;
  const std::uint64_t k = is_a_transposed ? a->rows : a->cols;
  const bool fits = (is_a_transposed ? a->cols : a->rows) == d->rows &&
                    (is_b_transposed ? b->cols : b->rows) == k &&
                    (is_b_transposed ? b->rows : b->cols) == d->cols;
  if (!fits) return {};
  // A matrix in the opposite order of D is a transposed matrix in the same order.
  return Product{.op_a = is_a_transposed != (a->order != d->order),
                 .op_b = is_b_transposed != (b->order != d->order),
                 .m = static_cast<std::int64_t>(d->rows),
                 .n = static_cast<std::int64_t>(d->cols),
                 .k = static_cast<std::int64_t>(k),
                 .alpha = call.alpha,
                 .a = {call.a, a->type, a->ld},
                 .b = {call.b, b->type, b->ld},
                 .beta = call.beta,
                 .c = {call.d, d->type, d->ld},
                 .compute = compute,
                 .order = d->order == by_rows ? RUNG_ROW_MAJOR : RUNG_COL_MAJOR};
}

}  // namespace
}  // namespace rung::cublas

using namespace rung::cublas;

CUBLAS_API int cublasLtMatmul(Handle handle, const void* descriptor, const void* alpha,
                              const void* a, const void* a_layout, const void* b,
                              const void* b_layout, const void* beta, const void* c,
                              const void* c_layout, void* d, const void* d_layout,
                              const void* algorithm, void* workspace, std::size_t workspace_bytes,
                              void* stream) {
  if (handle == nullptr) return not_initialized;
  const std::optional<Product> product =
      product_of({descriptor, alpha, a, a_layout, b, b_layout, beta, c, c_layout, d, d_layout});
  if (product) {
    const int answered = multiply(State{.stream = stream}, *product);
    if (answered != unanswered) return answered;
  }
  return pass_on<Library::cublas_lt>("cublasLtMatmul", handle, descriptor, alpha, a, a_layout, b,
                                     b_layout, beta, c, c_layout, d, d_layout, algorithm, workspace,
                                     workspace_bytes, stream);
}
