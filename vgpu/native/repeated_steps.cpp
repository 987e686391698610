// Runs of FMAs whose sums do not all fit in registers: an outer product of 8 x 8 words per lane has
// 64 sums in 128 vectors. The loops over runs are inside the loops over groups of sums, so each sum
// is loaded and stored once for all runs (K. Goto and R. van de Geijn, "Anatomy of High-Performance
// Matrix Multiplication", ACM TOMS 34 (3), 2008; this is the innermost kernel). Words that are
// neither adjacent nor the same for all lanes are first packed in order.

#include "vgpu/native/steps.hpp"

#include <algorithm>
#include <compare>
#include <map>
#include <optional>
#include <vector>

#include "vgpu/native/word_loads.hpp"

namespace rung::vgpu::native {
namespace {

using Xbyak::Reg64;
using Step = Superinstruction::Step;
using Kind = LoadPattern::Kind;

constexpr std::int32_t word = 4;  // bytes

/// Assignment of registers: sums come first, then factors.
struct Registers {
  int end_sums, end_factors;
};
constexpr Registers registers_of_avx512{20, 31};
constexpr Registers registers_of_avx2{11, 15};  // the last register is for a factor used once

/// The location of a factor: a row of the frame, or words at an offset from a batch's addresses.
struct Factor {
  bool in_frame = false;
  std::uint8_t batch = 0;
  std::int32_t offset = 0;  // in_frame: offset of the row

  auto operator<=>(const Factor&) const = default;
};

struct Product {
  std::size_t sum;  // index in Products::sums
  Factor a, b;
};

struct Products {
  std::vector<std::uint32_t> sums;  // rows
  std::vector<Product> all;         // in textual order
};

/// Converts the steps to products. Fails if they contain other operations.
class Reader {
 public:
  explicit Reader(const Superinstruction& super) : super_(super) {}

  std::optional<Products> read() {
    for (const Step& step : super_.steps) {
      if (step.kind == Step::Kind::operation) return std::nullopt;
      if (!(step.kind == Step::Kind::load ? load(step) : multiply_add(step))) return std::nullopt;
    }
    const bool apart = std::none_of(products_.sums.begin(), products_.sums.end(), [&](auto row) {
      return loaded_.contains(row) || read_rows_.contains(row);
    });
    return apart ? std::optional(std::move(products_)) : std::nullopt;
  }

 private:
  bool load(const Step& step) {
    for (std::size_t e = 0; e < step.count; ++e) {
      loaded_[step.row[e]] = {false, step.batch[0],
                              step.offset[0] + static_cast<std::int32_t>(e) * word};
    }
    return step.last_use <= super_.parts.back().site;  // the words are not needed elsewhere
  }

  Factor factor(const Step& step, std::size_t operand) {
    std::uint32_t row = step.row[operand + 1];
    if (step.kind == Step::Kind::multiply_add_loaded) {
      if (step.batch[operand] != Superinstruction::in_frame) {
        return {false, step.batch[operand], step.offset[operand]};
      }
      row = static_cast<std::uint32_t>(step.offset[operand]);
    }
    if (const auto found = loaded_.find(row); found != loaded_.end()) return found->second;
    read_rows_[row] = true;
    return {true, 0, static_cast<std::int32_t>(row)};
  }

  bool multiply_add(const Step& step) {
    if (step.row[0] != step.row[3]) return false;
    const Factor a = factor(step, 0), b = factor(step, 1);
    const auto [known, is_new] = sum_at_.try_emplace(step.row[0], products_.sums.size());
    if (is_new) products_.sums.push_back(step.row[0]);
    products_.all.push_back({known->second, a, b});
    return true;
  }

  const Superinstruction& super_;
  Products products_;
  std::map<std::uint32_t, Factor> loaded_;       // by row
  std::map<std::uint32_t, bool> read_rows_;      // rows of the frame
  std::map<std::uint32_t, std::size_t> sum_at_;  // by row: index in products_.sums
};

class Writer {
 public:
  Writer(const Superinstruction& super, const Products& products,
         std::span<const LoadPattern> patterns, Emitter& to)
      : super_(super),
        products_(products),
        patterns_(patterns),
        c(to),
        parts(static_cast<int>(sizeof(std::uint32_t)) * warp_size / to.vectors().bytes),
        vector_bytes(to.vectors().bytes),
        registers_(to.has_avx512() ? registers_of_avx512 : registers_of_avx2),
        held_(static_cast<std::size_t>(registers_.end_factors - registers_.end_sums)) {}

  NativeSteps::Repeated write() {
    for (const LoadPattern& pattern : patterns_) {
      if (pattern.kind == Kind::scattered || pattern.kind == Kind::repeated_scattered) return {};
    }
    for (const Product& product : products_.all) {
      place(product.a);
      place(product.b);
    }
    if (scratch_bytes_ > NativeSteps::max_scratch) return {};
    c.begin_bare();
    if (!scratch_.empty()) order_words();
    const std::size_t count = products_.sums.size();
    const auto max_group = static_cast<std::size_t>(registers_.end_sums);
    const std::size_t groups = (count + max_group - 1) / max_group;
    for (int part = 0; part < parts; ++part) {
      for (std::size_t group = 0; group < groups; ++group) {
        add_up(part, count * group / groups, count * (group + 1) / groups);
      }
    }
    c.vzeroupper();
    c.ret();
    c.make_executable();
    const std::size_t fit =
        scratch_bytes_ == 0 ? NativeSteps::max_runs : NativeSteps::max_scratch / scratch_bytes_;
    const bool exceeds_registers =
        static_cast<int>(count) * parts > c.vectors().passes * c.vectors().registers;
    return {c.getCode<NativeSteps::Repeated::Function>(), std::min(NativeSteps::max_runs, fit),
            exceeds_registers && products_.all.size() >= 2 * count};
  }

 private:
  LoadPattern pattern_of(const Factor& factor) const { return patterns_[factor.batch]; }
  bool is_broadcast(const Factor& factor) const {
    if (factor.in_frame) return false;
    return pattern_of(factor).kind == Kind::uniform || pattern_of(factor).kind == Kind::halves;
  }
  /// The parts with distinct words. If the pattern repeats, the other parts have the same words as
  /// the first half of the lanes.
  int own_parts(const Factor& factor) const {
    return pattern_of(factor).kind == Kind::repeated ? parts / 2 : parts;
  }

  /// Reserves scratch memory for the words of a run if they must be packed.
  void place(const Factor& factor) {
    if (factor.in_frame || is_broadcast(factor) || pattern_of(factor).stride == word) return;
    const auto [known, is_new] = scratch_.try_emplace(factor, scratch_bytes_);
    if (is_new) scratch_bytes_ += static_cast<std::size_t>(vector_bytes * own_parts(factor));
  }

  // Registers of the function: its arguments, then the variables of the loop over runs.
  const Reg64 frame = Reg64(Xbyak::Operand::RDI), lows = Reg64(Xbyak::Operand::RSI),
              runs = Reg64(Xbyak::Operand::RDX), scratch = Reg64(Xbyak::Operand::RCX);
  const Reg64 lows_now = Reg64(Xbyak::Operand::R9), runs_left = Reg64(Xbyak::Operand::R10),
              scratch_now = Reg64(Xbyak::Operand::R11);
  const std::array<Reg64, 2> low = {Reg64(Xbyak::Operand::RAX), Reg64(Xbyak::Operand::R8)};

  template <class F>
  void each_run(const F& f) {
    c.mov(lows_now, lows);
    c.mov(runs_left, runs);
    c.mov(scratch_now, scratch);
    Xbyak::Label again;
    c.align(16);
    c.L(again);
    low_of_.fill(-1);
    f();
    c.add(lows_now, static_cast<int>(patterns_.size() * sizeof(void*)));
    c.add(scratch_now, static_cast<int>(scratch_bytes_));
    c.dec(runs_left);
    c.jnz(again, Xbyak::CodeGenerator::T_NEAR);
  }

  /// The register with the batch's lowest address in this run.
  Reg64 low_of(int batch) {
    for (std::size_t i = 0; i < low.size(); ++i) {
      if (low_of_[i] == batch) return low[i];
    }
    const std::size_t i = next_low_++ % low.size();
    low_of_[i] = batch;
    c.mov(low[i], c.ptr[lows_now + batch * static_cast<int>(sizeof(void*))]);
    return low[i];
  }

  /// Packs the words of a run into vectors in scratch memory. Loads of four adjacent words are one
  /// step.
  void order_words() {
    each_run([&] {
      std::map<Factor, std::size_t> left = scratch_;
      for (const Step& step : super_.steps) {
        if (step.kind != Step::Kind::load || step.count != 4) continue;
        std::array<Factor, 4> four;
        for (std::size_t e = 0; e < four.size(); ++e) {
          four[e] = {false, step.batch[0], step.offset[0] + static_cast<std::int32_t>(e) * word};
        }
        if (!std::all_of(four.begin(), four.end(), [&](auto& f) { return left.contains(f); })) {
          continue;
        }
        order_fours(four);
        for (const Factor& factor : four) left.erase(factor);
      }
      for (const auto& [factor, at] : left) order_singles(factor, at);
    });
  }
  void order_fours(const std::array<Factor, 4>& four) {
    const std::array words = {c.vector(0), c.vector(1), c.vector(2), c.vector(3)};
    for (int part = 0; part < own_parts(four[0]); ++part) {
      load_transposed(c, words, address(four[0], part), pattern_of(four[0]).stride);
      for (std::size_t e = 0; e < words.size(); ++e) {
        c.vmovaps(c.vector_at(in_order(scratch_.at(four[e]), part)), words[e]);
      }
    }
  }
  void order_singles(const Factor& factor, std::size_t at) {
    for (int part = 0; part < own_parts(factor); ++part) {
      load_strided(c, c.vector(0), address(factor, part), pattern_of(factor).stride);
      c.vmovaps(c.vector_at(in_order(at, part)), c.vector(0));
    }
  }
  Xbyak::RegExp in_order(std::size_t at, int part) const {
    return scratch_now + static_cast<int>(at) + part * vector_bytes;
  }

  /// The address of the words of a part's lanes, for words that are not packed.
  Xbyak::RegExp address(const Factor& factor, int part) {
    const int lane = part * words_of(c.vectors());
    return low_of(factor.batch) + (factor.offset + offset_of_lane(pattern_of(factor), lane));
  }
  Xbyak::RegExp place_of(const Factor& factor, int part) {
    if (factor.in_frame) return frame + (factor.offset + part * vector_bytes);
    const auto ordered = scratch_.find(factor);
    if (ordered == scratch_.end()) return address(factor, part);
    return in_order(ordered->second, part % own_parts(factor));
  }

  /// Adds up sums [first, end), for all runs.
  void add_up(int part, std::size_t first, std::size_t end) {
    const auto in_memory = [&](std::size_t sum) {
      return c.vector_at(frame + static_cast<int>(products_.sums[sum]) + part * vector_bytes);
    };
    const auto in_register = [&](std::size_t sum) {
      return c.vector(static_cast<int>(sum - first));
    };
    std::vector<Product> group;
    for (const Product& product : products_.all) {
      if (product.sum >= first && product.sum < end) group.push_back(product);
    }
    for (std::size_t sum = first; sum < end; ++sum) c.vmovups(in_register(sum), in_memory(sum));
    each_run([&] {
      std::ranges::fill(held_, std::nullopt);
      for (std::size_t i = 0; i < group.size(); ++i) {
        multiply(std::span(group).subspan(i), in_register(group[i].sum), part);
      }
    });
    c.load_numbers();
    for (std::size_t sum = first; sum < end; ++sum) {
      c.canonicalise(in_register(sum));
      c.vmovups(in_memory(sum), in_register(sum));
    }
  }

  /// Emits the first of these products. One factor is in a register; the other may be in memory.
  void multiply(std::span<const Product> left, const Vector& sum, int part) {
    Factor a = left.front().a, b = left.front().b;
    if (!held_in(a) &&
        (held_in(b) || next_use(b, left.subspan(1)) < next_use(a, left.subspan(1)))) {
      std::swap(a, b);
    }
    const Vector in_register = held_in(a) ? *held_in(a) : load(a, left, part, std::nullopt);
    if (const auto held = held_in(b)) {
      c.vfmadd231ps(sum, in_register, *held);
    } else if (next_use(b, left.subspan(1)) < left.size() - 1 && has_room(left)) {
      c.vfmadd231ps(sum, in_register, load(b, left, part, a));
    } else if (!is_broadcast(b)) {
      c.vfmadd231ps(sum, in_register, c.vector_at(place_of(b, part)));
    } else if (c.has_avx512()) {
      c.vfmadd231ps(sum, in_register, c.ptr_b[place_of(b, part)]);
    } else {
      const Vector once = c.vector(registers_.end_factors);
      c.vbroadcastss(once, c.dword[place_of(b, part)]);
      c.vfmadd231ps(sum, in_register, once);
    }
  }

  static std::size_t next_use(const Factor& factor, std::span<const Product> left) {
    const auto found = std::find_if(left.begin(), left.end(), [&](const Product& product) {
      return product.a == factor || product.b == factor;
    });
    return static_cast<std::size_t>(found - left.begin());
  }
  std::optional<Vector> held_in(const Factor& factor) const {
    const auto found = std::find(held_.begin(), held_.end(), std::optional(factor));
    if (found == held_.end()) return std::nullopt;
    return c.vector(registers_.end_sums + static_cast<int>(found - held_.begin()));
  }
  /// True if some register holds nothing that is used again.
  bool has_room(std::span<const Product> left) const {
    return std::any_of(held_.begin(), held_.end(), [&](const std::optional<Factor>& held) {
      return !held || next_use(*held, left) == left.size();
    });
  }
  /// Loads a factor into the register whose factor is used last, except that of `kept`.
  Vector load(const Factor& factor, std::span<const Product> left, int part,
              const std::optional<Factor>& kept) {
    std::size_t best = 0, best_use = 0;
    for (std::size_t i = 0; i < held_.size(); ++i) {
      if (held_[i] && held_[i] == kept) continue;
      const std::size_t use = held_[i] ? next_use(*held_[i], left) : left.size() + 1;
      if (use >= best_use) {
        best = i;
        best_use = use;
      }
    }
    held_[best] = factor;
    const Vector to = c.vector(registers_.end_sums + static_cast<int>(best));
    if (is_broadcast(factor)) {
      c.vbroadcastss(to, c.dword[place_of(factor, part)]);
    } else {
      c.vmovups(to, c.vector_at(place_of(factor, part)));
    }
    return to;
  }

  const Superinstruction& super_;
  const Products& products_;
  const std::span<const LoadPattern> patterns_;
  Emitter& c;
  const int parts;  // per row
  const std::int32_t vector_bytes;
  const Registers registers_;
  std::map<Factor, std::size_t> scratch_;  // offset of the words in a run's scratch memory
  std::size_t scratch_bytes_ = 0;
  std::array<int, 2> low_of_{};
  std::size_t next_low_ = 0;
  std::vector<std::optional<Factor>> held_;
};

}  // namespace

NativeSteps::Repeated repeated_steps(const Superinstruction& super,
                                     std::span<const LoadPattern> patterns, Emitter& to) {
  const auto products = Reader(super).read();
  if (!products || products->all.empty()) return {};
  return Writer(super, *products, patterns, to).write();
}

}  // namespace rung::vgpu::native
