#pragma once
// Uniform access by [lane] to the operands of a loop over lanes: rows of numbers, predicates, and
// the immediate.

#include <memory>

#include "vgpu/engine/lanes/lane_types.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

template <class T>
class Source {
 public:
  Source(Warp& warp, const Instr& instr, int row)
      : at_(std::assume_aligned<64>(warp.row<const T>(instr.row[row]))) {}
  const T& operator[](int lane) const { return at_[lane]; }

 private:
  const T* at_;
};

template <>
class Source<bool> {
 public:
  Source(Warp& warp, const Instr& instr, int row) : bits_(warp.predicate(instr.row[row])) {}
  bool operator[](int lane) const { return ((bits_ >> lane) & 1) != 0; }

 private:
  Mask bits_;
};

template <class Word>
class Source<LaneMask<Word>> {
 public:
  Source(Warp& warp, const Instr& instr, int row) : bits_(warp.predicate(instr.row[row])) {}
  LaneMask<Word> operator[](int lane) const { return {lane_mask<Word>(bits_, lane)}; }

 private:
  Mask bits_;
};

template <>
class Source<Imm> {
 public:
  Source(Warp&, const Instr& instr, int) : imm_{instr.imm} {}
  Imm operator[](int) const { return imm_; }

 private:
  Imm imm_;
};

}  // namespace rung::vgpu
