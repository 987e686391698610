#pragma once
// The layout of a function's frame on the call stack (call_stack.hpp).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/lowering/call_graph.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// A frame, from the stack pointer up: the index of the return point, results, parameters, local
/// variables, saved registers. Then follows the frame of the next called function, whose parameters
/// the caller writes. The entry has no frame of its own, because it is never called.
class StackFrame {
 public:
  /// Alignment in bytes of each result, parameter and variable.
  static constexpr int alignment = 16;

  enum class Call { none, may_lead_back, other };

  /// Offsets in bytes from the stack pointer, of the caller or of the function itself.
  struct CallLayout {
    std::vector<std::int64_t> results, parameters;
    std::int64_t end = 0;
  };
  static CallLayout layout_at(const Signature& signature, std::int64_t start);

  struct Saved {
    int reg;  // register of the function
    bool is_predicate;
    std::int64_t offset;
  };

  StackFrame() = default;
  /// `kind`: determines the instructions that are calls through the stack.
  StackFrame(const ptx::Function& function,
             const std::function<Call(const ptx::Instruction&)>& kind);

  std::int64_t bytes() const { return bytes_; }
  /// The offset of a variable, parameter or result; nullopt if it is not in a frame.
  std::optional<std::int64_t> find(std::string_view name) const;
  /// The layout for a call with this signature, from this function's stack pointer.
  CallLayout layout_of(const Signature& signature) const { return layout_at(signature, bytes_); }
  /// The registers that the call at index `call` of the body must save.
  const std::vector<Saved>& saved_at(std::size_t call) const { return saved_.at(call); }

 private:
  void place_own(const ptx::Function& function);
  void place_saved(const ptx::Function& function,
                   const std::function<Call(const ptx::Instruction&)>& kind);
  void place_outgoing(const ptx::Function& function, const ptx::Instruction& call);

  std::map<std::string, std::int64_t, std::less<>> offsets_;
  std::map<std::size_t, std::vector<Saved>> saved_;
  std::int64_t bytes_ = 0;
};

}  // namespace rung::vgpu
