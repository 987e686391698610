#pragma once
// Helpers of the C interface: conversion of exceptions to status codes and of arguments to views.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>

#include "rung/error.hpp"
#include "rung/matrix.hpp"
#include "rung/rung.h"

namespace rung::c_api {

/// Stores the message for rung_last_error() and returns the status.
rung_status report(Status status, const char* message);

/// Throws rung::Error unless `holds` is true.
void require(bool holds, const char* what, long long value, const char* allowed);

Order stored_order(rung_order order);

/// Runs body and converts its exceptions to a status.
template <class Body>
rung_status guarded(const Body& body) noexcept {
  try {
    body();
    return RUNG_OK;
  } catch (const Error& error) {
    return report(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return report(Status::out_of_memory, "rung: out of memory");
  } catch (const std::exception& error) {
    return report(Status::internal_error, error.what());
  }
}

/// Checks a caller's options. If `size` differs from `known_size`, they belong to an older or a
/// newer version. Throws rung::Error for a size that no version has, and for nonzero fields of a
/// newer version. `first`: size of the first version. `allowed`: allowed values, for the message.
void check_size(const void* options, std::size_t size, std::size_t known_size, std::size_t first,
                const char* allowed);

/// The caller's options. Missing fields, or all fields if `options` is null, are taken from
/// `defaults`.
template <class Options>
Options read_options(const Options* options, const Options& defaults, std::size_t first,
                     const char* allowed) {
  if (options == nullptr) return defaults;
  if (options->struct_size != sizeof(Options)) {
    check_size(options, options->struct_size, sizeof(Options), first, allowed);
  }
  Options read = defaults;
  std::memcpy(&read, options, std::min(options->struct_size, sizeof(Options)));
  return read;
}

/// The view of op(X), a rows x cols matrix.
template <class T>
MatrixView<const T> operand(const char* name, rung_transpose trans, const T* data,
                            std::int64_t rows, std::int64_t cols, std::int64_t ld, Order order) {
  require(trans == RUNG_NO_TRANS || trans == RUNG_TRANS, name, trans,
          "111 (RUNG_NO_TRANS) or 112 (RUNG_TRANS)");
  if (trans == RUNG_NO_TRANS) return {data, rows, cols, ld, order};
  return transposed(MatrixView<const T>{data, cols, rows, ld, order});
}

/// A pointer to a type that C lacks, given as a pointer to its bits (or, for tfloat32, to float).
template <class T, class Bits>
const T* as(const Bits* bits) {
  static_assert(sizeof(T) == sizeof(Bits));
  return reinterpret_cast<const T*>(bits);
}
template <class T, class Bits>
T* as(Bits* bits) {
  static_assert(sizeof(T) == sizeof(Bits));
  return reinterpret_cast<T*>(bits);
}

}  // namespace rung::c_api
