#pragma once
// Memory that knows when it was touched: an operand between guard zones.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/call.hpp"
#include "core/dtype.hpp"
#include "core/random.hpp"

namespace rung {

/// rows x cols elements of one type, each row `ld` elements after the one before. Guards lie before
/// the first row, after the last and, as far as ld leaves room, between rows: a fixed bit pattern,
/// NaN for floating-point types, that a kernel must neither change nor let into its result. Under
/// AddressSanitizer the outer guards may not even be read.
///
/// Memory is reserved, not touched: rows that lie gigabytes apart cost their own pages alone.
class Operand {
 public:
  /// The elements are of the type of a dtype's inputs. The first element lies `offset`
  /// elements past a 64-byte boundary. Throws std::invalid_argument for a negative size or
  /// ld < cols (with more than one row), std::length_error if the bytes overflow 63 bits, and
  /// std::bad_alloc.
  Operand(Dtype type, std::int64_t rows, std::int64_t cols, std::int64_t ld, int offset);

  void* data() const { return data_; }
  /// All of it, guards included; it begins on a page. Not the outer guards under AddressSanitizer.
  Storage storage() const;
  Dtype type() const { return type_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  std::int64_t ld() const { return ld_; }

  /// Element (row, col) becomes random_element(values, seed, row * cols + col), with the one NaN or
  /// infinity where `values` asks for it. Guards are renewed.
  void fill(Values values, std::uint64_t seed);
  /// Every element becomes the guard pattern. Guards are renewed.
  void poison();

  /// A hash of all elements.
  std::uint64_t fingerprint() const;
  /// Nothing if every guard is as it was, else where it was written: "2 past the end of row 3".
  std::optional<std::string> broken_guard() const;

 private:
  struct Unmap {
    std::size_t bytes, guard_before, guard_after;
    void operator()(void* mapped) const;
    void set_readable(void* mapped, bool readable) const;  // the guards, to AddressSanitizer
  };

  template <class F>
  void for_each_guard(F f) const;
  template <class T, class F>
  void for_each_element(std::int64_t first, std::int64_t last, const F& f) const;
  void write_guards();
  void set_guards_readable(bool readable) const;

  Dtype type_;
  std::int64_t rows_, cols_, ld_;
  std::unique_ptr<void, Unmap> mapped_;
  void* data_;
};

}  // namespace rung
