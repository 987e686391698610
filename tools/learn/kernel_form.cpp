#include "tools/learn/kernel_form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

#include "vgpu/model/tensor_map.hpp"

namespace rung::learn {
namespace {

constexpr std::array forms = {
    KernelForm{"products", "products", "int, const float*, const float*, float*", true},
    KernelForm{"gemm", "gemm", "int, int, int, const float*, const float*, float*", false},
    KernelForm{"gemm_workspace", "gemm",
               "int, int, int, const float*, const float*, float*, float*, unsigned*", false},
    KernelForm{"gemm_bf16", "gemm", "int, int, int, const bfloat16*, const bfloat16*, float*",
               false},
    KernelForm{"gemm_tma", "gemm", "int, int, int, const TensorMap*, const TensorMap*, float*",
               false},
    KernelForm{"dot_partial", "dot", "int, const float*, const float*, float*", true},
    KernelForm{"dot", "dot", "int, const float*, const float*, float*", true},
    KernelForm{"dot_workspace", "dot", "int, const float*, const float*, float*, float*, unsigned*",
               true},
    KernelForm{"dot_cancelling", "dot",
               "int, const float*, const float*, float*, float*, unsigned*", true},
};

/// A hash in the range -4 to 4, without patterns that a transposed or shifted operand would repeat.
float small_integer(std::uint32_t i, std::uint32_t of) {
  std::uint32_t hash = (i + 1) * 2654435761u ^ of * 2246822519u;
  hash ^= hash >> 15;
  hash *= 2246822519u;
  return static_cast<float>(static_cast<int>((hash >> 16) % 9) - 4);
}

std::vector<float> small_integers(std::size_t count, std::uint32_t of) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = small_integer(static_cast<std::uint32_t>(i), of);
  }
  return values;
}

/// The probe's values, if it has any, then zeros.
void replace(std::vector<float>& values, const std::vector<float>& by) {
  if (by.empty()) return;
  std::fill(values.begin(), values.end(), 0.0f);
  std::copy_n(by.begin(), std::min(by.size(), values.size()), values.begin());
}

/// Bits of bfloat16 values; exact for small halves.
std::vector<std::uint16_t> as_bf16(const std::vector<float>& values) {
  std::vector<std::uint16_t> bits;
  for (const float value : values) {
    bits.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16));
  }
  return bits;
}

/// The first operand of a product: halves, so that a sum of integers would lose them.
std::vector<float> small_halves(std::size_t count) {
  std::vector<float> values = small_integers(count, 1);
  for (float& value : values) value /= 2;
  return values;
}

std::size_t product(int x, int y) {
  return static_cast<std::size_t>(x) * static_cast<std::size_t>(y);
}

std::string matrix_elements(int rows, int columns) {
  return fmt::format("{} x {} = {}", rows, columns, product(rows, columns));
}

/// Parses " + 132" or " - 4" at position `at` of the text and advances `at`; returns 0 if neither
/// is found.
std::int64_t read_offset(const std::string& text, std::size_t& at) {
  const std::string_view sign = std::string_view(text).substr(std::min(at, text.size()), 3);
  if (sign != " + " && sign != " - ") return 0;
  std::int64_t offset = 0;
  const char* const begin = text.data() + at + sign.size();
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), offset);
  if (error != std::errc()) return 0;
  at = static_cast<std::size_t>(end - text.data());
  return sign == " + " ? offset : -offset;
}

/// The element at a byte offset: "a[958]", or "a + 3 bytes".
std::string element_at(const char* name, std::int64_t offset, std::size_t element_bytes) {
  const auto bytes = static_cast<std::int64_t>(element_bytes);
  if (offset % bytes != 0) return fmt::format("{} + {} bytes", name, offset);
  return fmt::format("{}[{}]", name, offset / bytes);
}

}  // namespace

const KernelForm& kernel_form(std::string_view key) {
  for (const KernelForm& form : forms) {
    if (key == form.key) return form;
  }
  throw std::invalid_argument(fmt::format("'{}' is no form of kernel", key));
}

bool KernelForm::is_b_transposed() const {
  const std::string_view form = key;
  return form == "gemm_bf16" || form == "gemm_tma";
}

Problem::Problem(const KernelForm& form, const Size& size, const LaunchShape& shape,
                 vgpu::DeviceMemory& memory, const Probe* probe)
    : form_(form), size_(size), shape_(shape), memory_(memory), probe_(probe) {
  const std::string_view key = form.key;
  if (key == "products") {
    add_products();
  } else if (key.starts_with("gemm")) {
    add_gemm();
  } else {
    add_dot();
  }
  if (key == "gemm_workspace" || key == "dot_workspace" || key == "dot_cancelling") add_workspace();
}

template <class T>
std::uint64_t Problem::array(const std::vector<T>& values) {
  const std::uint64_t address = memory_.allocate(values.size() * sizeof(T));
  memory_.write(address, values.data(), values.size() * sizeof(T));
  return address;
}

template <class T>
std::uint64_t Problem::array(const char* name, std::string elements, const std::vector<T>& values) {
  const std::uint64_t address = array(values);
  arrays_.push_back({name, std::move(elements), address, sizeof(T), values.size() * sizeof(T)});
  return address;
}

void Problem::replace_operands(std::vector<float>& a, std::vector<float>& b) const {
  if (probe_ == nullptr) return;
  replace(a, probe_->a);
  replace(b, probe_->b);
}

void Problem::add_products() {
  const auto n = static_cast<std::size_t>(size_.n);
  std::vector<float> x = small_halves(n), y = small_integers(n, 2);
  replace_operands(x, y);
  for (std::size_t i = 0; i < n; ++i) expected_.push_back(double{x[i]} * y[i]);
  stored_ = n;
  const std::string elements = fmt::format("{}", n);
  result_ = array("z", elements, std::vector<float>(n, initial(std::nanf(""))));
  parameters_ = {static_cast<std::uint64_t>(size_.n), array("x", elements, x),
                 array("y", elements, y), result_};
}

void Problem::add_gemm() {
  const auto [m, n, k] = size_;
  const bool is_bf16 = std::string_view(form_.key) == "gemm_bf16";
  const bool is_tma = std::string_view(form_.key) == "gemm_tma";
  const bool b_is_transposed = form_.is_b_transposed();
  std::vector<float> a = small_halves(product(m, k));
  std::vector<float> b = small_integers(product(k, n), 2);
  replace_operands(a, b);
  for (int row = 0; row < m; ++row) {
    for (int col = 0; col < n; ++col) {
      double sum = 0;
      for (int i = 0; i < k; ++i) {
        const std::size_t of_b = b_is_transposed ? product(col, k) + static_cast<std::size_t>(i)
                                                 : product(i, n) + static_cast<std::size_t>(col);
        sum += double{a[product(row, k) + static_cast<std::size_t>(i)]} * b[of_b];
      }
      expected_.push_back(sum);
    }
  }
  stored_ = expected_.size();
  const bool is_16_bit = is_bf16 || is_tma;
  const std::string of_a = matrix_elements(m, k);
  const std::string of_b = b_is_transposed ? matrix_elements(n, k) : matrix_elements(k, n);
  const std::uint64_t a_data = is_16_bit ? array("a", of_a, as_bf16(a)) : array("a", of_a, a);
  const std::uint64_t b_data = is_16_bit ? array("b", of_b, as_bf16(b)) : array("b", of_b, b);
  result_ = array("c", matrix_elements(m, n), std::vector<float>(stored_, initial(std::nanf(""))));
  parameters_ = {static_cast<std::uint64_t>(m),
                 static_cast<std::uint64_t>(n),
                 static_cast<std::uint64_t>(k),
                 is_tma ? tensor_map(a_data, m, shape_.a_box_rows) : a_data,
                 is_tma ? tensor_map(b_data, n, shape_.b_box_rows) : b_data,
                 result_};
}

void Problem::add_dot() {
  const auto n = static_cast<std::size_t>(size_.n);
  const std::string_view key = form_.key;
  std::vector<float> x = small_halves(n), y = small_integers(n, 2);
  if (key == "dot_cancelling") {
    // Each term in the second half cancels one in the first, except in its last bit.
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = 1 + small_integer(static_cast<std::uint32_t>(i), 3) / 9;
      y[i] = 1 + small_integer(static_cast<std::uint32_t>(i), 4) / 11;
    }
    for (std::size_t i = n / 2; i < n / 2 * 2; ++i) {
      x[i] = -x[i - n / 2];
      y[i] = std::nextafter(y[i - n / 2], 2.0f);
    }
  }
  replace_operands(x, y);
  long double sum = 0, magnitude = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const long double term = static_cast<long double>(x[i]) * static_cast<long double>(y[i]);
    sum += term;
    magnitude += std::abs(term);
  }
  expected_ = {static_cast<double>(sum)};
  if (key == "dot_cancelling") {
    // Doubled precision with a single rounding, plus a few bits for accumulated errors.
    tolerance_ = static_cast<double>(std::abs(sum) * std::exp2l(-22) + magnitude * std::exp2l(-42));
  }
  const bool is_partial = key == "dot_partial";
  stored_ = is_partial ? shape_.grid.count() : 1;
  const std::string elements = fmt::format("{}", n);
  result_ = array("result", fmt::format("{}", stored_),
                  std::vector<float>(stored_, initial(key == "dot" ? 0 : std::nanf(""))));
  parameters_ = {static_cast<std::uint64_t>(size_.n), array("x", elements, x),
                 array("y", elements, y), result_};
}

void Problem::add_workspace() {
  parameters_.push_back(memory_.allocate(sizeof(float) * shape_.workspace_floats));
  arrays_.push_back({"workspace", fmt::format("{}", shape_.workspace_floats), parameters_.back(),
                     sizeof(float), sizeof(float) * shape_.workspace_floats});
  const std::uint64_t blocks = shape_.grid.count();
  parameters_.push_back(
      array("counts", fmt::format("{}", blocks), std::vector<unsigned>(blocks, 0)));
}

std::uint64_t Problem::tensor_map(std::uint64_t data, int rows, unsigned box_rows) {
  constexpr unsigned max_rows = 256, row_elements = 64, alignment = 16;
  if (box_rows < 1 || box_rows > max_rows) {
    throw std::invalid_argument(
        fmt::format("launch(): a box of {} rows; TMA takes 1 to {}", box_rows, max_rows));
  }
  const auto row_bytes = static_cast<std::uint64_t>(size_.k) * 2;
  if (row_bytes % alignment != 0) throw std::invalid_argument("k is no multiple of 8");
  vgpu::TensorMap map;
  map.tag = vgpu::TensorMap::valid_tag;
  map.address = data;
  map.dimensions = 2;
  map.element = vgpu::TensorElement::bf16;
  map.swizzle = vgpu::TensorSwizzle::bytes_128;
  map.sizes = {static_cast<std::uint32_t>(size_.k - 1), static_cast<std::uint32_t>(rows - 1)};
  map.strides = {row_bytes};
  map.box = {row_elements, static_cast<std::uint16_t>(box_rows)};
  map.steps = {1, 1};
  std::vector<std::byte> bytes(128);
  std::memcpy(bytes.data(), &map, sizeof map);
  return array(bytes);
}

std::vector<std::uint64_t> Problem::parameters() const { return parameters_; }

std::string Problem::with_array_names(std::string message) const {
  for (const Array& array : arrays_) {
    const std::string label = memory_.describe(array.address);
    const std::size_t at = message.find(label);
    if (at == message.npos) continue;
    std::size_t end = at + label.size();
    const std::int64_t offset = read_offset(message, end);
    message.replace(at, end - at,
                    fmt::format("{}, where {} has {} elements",
                                element_at(array.name, offset, array.element_bytes), array.name,
                                array.elements));
  }
  return message;
}

std::optional<ElementPlace> Problem::element(const std::string& address) const {
  for (const Array& array : arrays_) {
    const std::string label = memory_.describe(array.address);
    if (!address.starts_with(label)) continue;
    std::size_t end = label.size();
    const std::int64_t offset = read_offset(address, end);
    return ElementPlace{array.name, offset / static_cast<std::int64_t>(array.element_bytes),
                        array.bytes / array.element_bytes};
  }
  return std::nullopt;
}

std::vector<float> Problem::results() const {
  std::vector<float> results(stored_);
  memory_.read(results.data(), result_, stored_ * sizeof(float));
  return results;
}

std::optional<WrongResult> Problem::error() const {
  const std::vector<float> results = this->results();
  const bool is_sum = expected_.size() == 1 && form_.is_vector;
  if (is_sum) {
    double sum = 0;
    for (const float part : results) sum += part;
    if (std::abs(sum - expected_[0]) <= tolerance_) return std::nullopt;
    if (std::isnan(sum)) return WrongResult{"the result, or a part of it, was never stored", false};
    return WrongResult{fmt::format("the sum is {:.9g}, and should be {:.9g}", sum, expected_[0]),
                       true};
  }
  std::optional<std::size_t> first;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < stored_; ++i) {
    if (results[i] == expected_[i]) continue;
    if (!first) first = i;
    ++wrong;
  }
  if (!first) return std::nullopt;
  const auto columns = static_cast<std::size_t>(size_.n);
  const std::string place =
      form_.is_vector ? fmt::format("element {}", *first)
                      : fmt::format("row {}, column {}", *first / columns, *first % columns);
  if (std::isnan(results[*first])) {
    const std::uint64_t blocks = shape_.grid.count(), threads = shape_.block.count();
    return WrongResult{
        fmt::format(
            "{} of {} results were never stored, or are NaN: the first is {}; {} block{} of "
            "{} threads ran",
            wrong, stored_, place, blocks, blocks == 1 ? "" : "s", threads),
        false, *first};
  }
  return WrongResult{fmt::format("{} of {} results are wrong: {} is {}, and should be {}", wrong,
                                 stored_, place, results[*first], expected_[*first]),
                     true, *first};
}

}  // namespace rung::learn
