#include "vgpu/engine/tensor_memory/descriptor_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "vgpu/engine/execution/report.hpp"

namespace rung::vgpu {
namespace {

/// A position in a box: its row, and the byte in the row.
struct InBox {
  const FilledBox* box = nullptr;
  std::uint32_t row = 0, byte = 0;
};

InBox position_of(const TensorSource& source, std::uint32_t address) {
  AsyncShadow& shadow = source.block.async->shadow;
  if (address >= source.block.shared.size()) return {};
  const std::uint32_t write = shadow.write_at(address);
  const auto& boxes = source.block.async->tensor->boxes;
  const auto found = std::lower_bound(
      boxes.begin(), boxes.end(), write,
      [](const FilledBox& box, std::uint32_t wanted) { return box.write < wanted; });
  if (write == 0 || found == boxes.end() || found->write != write) return {};
  const std::uint32_t inside = swizzled(address, found->swizzle) - found->start;
  return {&*found, inside / found->pitch, inside % found->pitch};
}

const char* name(TensorSwizzle swizzle) {
  switch (swizzle) {
    case TensorSwizzle::none: return "no swizzle";
    case TensorSwizzle::bytes_32: return "the 32-byte swizzle";
    case TensorSwizzle::bytes_64: return "the 64-byte swizzle";
    case TensorSwizzle::bytes_128: return "the 128-byte swizzle";
    case TensorSwizzle::bytes_128_atom_32: return "the 128-byte swizzle with atoms of 32 bytes";
    case TensorSwizzle::bytes_128_atom_32_flip_8:
      return "the 128-byte swizzle with atoms of 32 bytes and flipped halves";
    case TensorSwizzle::bytes_128_atom_64: return "the 128-byte swizzle with atoms of 64 bytes";
  }
  return "";
}

void report_mismatch(const TensorIssue& issue, const TensorSource& source, std::uint32_t address,
                     const InBox& is, const InBox& expected, int line, int k) {
  const MatrixDescriptor& it = source.descriptor;
  const Site& site = issue.block().worker.kernel.sites[is.box->site];
  report(issue.block(), HazardKind::descriptor, issue.thread(), issue.instr.site, issue.what,
         shared_address(source.block, address),
         fmt::format("the descriptor of {} ({}-major, {}, leading offset {}, stride offset {}, "
                     "base offset {}) "
                     "does not fit the box that the copy at {} loaded ({}, rows of {} bytes): {} "
                     "{}, k {} is read "
                     "from row {}, byte {} of the box instead of row {}, byte {}",
                     source.name, source.transposed ? "MN" : "K", name(it.swizzle), it.leading,
                     it.stride, it.base, site.where.empty() ? site.mnemonic : site.where,
                     name(is.box->swizzle), is.box->pitch, source.name[0] == 'A' ? "row" : "column",
                     line, k, is.row, is.byte, expected.row, expected.byte));
}

}  // namespace

void check_descriptor(const TensorIssue& issue, const TensorSource& source) {
  if (source.block.async->tensor->boxes.empty()) return;
  const auto address_of_chunk = [&](int line, int k) {
    const auto unit = static_cast<std::uint32_t>(source.per_chunk());
    const auto l = static_cast<std::uint32_t>(line), step = static_cast<std::uint32_t>(k);
    return source.transposed ? source.descriptor.across_k(step, l / unit)
                             : source.descriptor.along_k(l, step / unit);
  };
  // Lines of a K-major matrix are compared with line 0, steps of an MN-major one with step 0, as long as both are
  // in one box.
  const int minor_step = source.per_chunk();
  const int minors = source.transposed ? source.lines : source.k;
  const int majors = source.transposed ? source.k : source.lines;
  const std::uint32_t span = std::max(span_of(source.descriptor.swizzle), 16u);
  for (int minor = 0; minor < minors; minor += minor_step) {
    const auto chunk_at = [&](int major) {
      return source.transposed ? address_of_chunk(minor, major) : address_of_chunk(major, minor);
    };
    const InBox first = position_of(source, chunk_at(0));
    // Chunks of a span are neighbours in a row of the box.
    const std::uint32_t in_span = static_cast<std::uint32_t>(minor / minor_step) * 16 % span;
    if (first.box == nullptr) continue;
    if (in_span != 0) {
      const int previous = minor - minor_step;
      const InBox before = position_of(source, source.transposed ? address_of_chunk(previous, 0)
                                                                 : address_of_chunk(0, previous));
      const InBox expected{before.box, before.row, before.byte + 16};
      if (before.box == first.box && (first.row != expected.row || first.byte != expected.byte)) {
        report_mismatch(issue, source, chunk_at(0), first, expected, source.transposed ? minor : 0,
                        source.transposed ? 0 : minor);
        return;
      }
    }
    for (int major = 1; major < majors; ++major) {
      const InBox is = position_of(source, chunk_at(major));
      const InBox expected{first.box, first.row + static_cast<std::uint32_t>(major), first.byte};
      if (is.box != first.box || (is.row == expected.row && is.byte == expected.byte)) continue;
      report_mismatch(issue, source, chunk_at(major), is, expected,
                      source.transposed ? minor : major, source.transposed ? major : minor);
      return;
    }
  }
}

}  // namespace rung::vgpu
