#include "vgpu/lowering/call_stack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "vgpu/lowering/stack_frame.hpp"
#include "vgpu/lowering/stack_writer.hpp"
#include "vgpu/ptx/build_operand.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;

constexpr const char* trap_label = "call$trap";

std::string start_of(const Function& function) { return function.name + "$start"; }
std::string end_of(const Function& function) { return function.name + "$return"; }
std::string return_table_of(const Function& function) { return function.name + "$returns"; }
std::string return_point(std::size_t index) { return fmt::format("call${}$back", index); }

/// A point to which calls return, and the functions that may return to it.
struct ReturnPoint {
  std::vector<std::size_t> callees;  // indices of functions
};

class StackLinker : private StackWriter {
 public:
  StackLinker(const ptx::Module& module, const CallGraph& graph, std::vector<Function> functions)
      : module_(module), graph_(graph), functions_(std::move(functions)) {}

  Function run() {
    result_ = functions_[0];
    result_.body.clear();
    result_.labels.clear();
    result_.registers.clear();
    for (std::size_t i = 0; i < functions_.size(); ++i) index_[functions_[i].name] = i;
    find_reachable();
    add_stack();
    for (std::size_t i = 0; i < functions_.size(); ++i) append(i);
    place(trap_label);
    emit({}, Opcode::trap, {}, {});
    add_tables();
    return std::move(result_);
  }

 private:
  /// Index of the first register of the current function in the result.
  int first_register() const { return first_registers_[at_]; }

  /// Computes the functions that each function may reach.
  void find_reachable() {
    for (const Function& function : functions_) {
      std::set<std::size_t> callees;
      for (const Instruction& instruction : function.body) {
        if (!is_stack_call(module_, instruction)) continue;
        for (const std::size_t callee : callees_of(function, instruction)) callees.insert(callee);
      }
      reachable_.push_back(std::move(callees));
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (std::set<std::size_t>& reached : reachable_) {
        const std::set<std::size_t> before = reached;
        for (const std::size_t callee : before) {
          reached.insert(reachable_[callee].begin(), reachable_[callee].end());
        }
        changed = changed || reached.size() != before.size();
      }
    }
  }

  std::vector<std::size_t> callees_of(const Function& function, const Instruction& call) const {
    std::vector<std::size_t> callees;
    if (target_of(call).reg < 0) {
      callees.push_back(index_.at(module_.find(target_of(call).name)->name));
    } else {
      for (const Function* callee : graph_.reachable_by_pointer(signature_of(function, call))) {
        callees.push_back(index_.at(callee->name));
      }
    }
    return callees;
  }

  /// True if a call of one of these functions may call the current function again.
  bool leads_back(const std::vector<std::size_t>& callees) const {
    return std::any_of(callees.begin(), callees.end(), [&](std::size_t callee) {
      return callee == at_ || reachable_[callee].contains(at_);
    });
  }

  void add_stack() {
    for (const Function& function : functions_) {
      first_registers_.push_back(static_cast<int>(result_.registers.size()));
      result_.registers.insert(result_.registers.end(), function.registers.begin(),
                               function.registers.end());
    }
    stack_pointer_ = add_register("%stack_pointer", ptx::Type::b64);
    ptx::Variable stack;
    stack.name = call_stack_name;
    stack.space = ptx::Space::local;
    stack.type = ptx::Type::b8;
    stack.count = call_stack_bytes;
    stack.align = StackFrame::alignment;
    result_.variables.push_back(std::move(stack));
    Instruction from;
    if (!functions_[0].body.empty()) from = functions_[0].body[0];
    from.guard = -1;
    emit(from, Opcode::mov, {"b64"},
         {ptx::register_operand(stack_pointer_),
          ptx::named_operand(Operand::Kind::symbol, call_stack_name)});
  }

  void append(std::size_t index) {
    const Function& function = functions_[index];
    at_ = index;
    frame_ = StackFrame(function, [&](const Instruction& instruction) {
      if (!is_stack_call(module_, instruction)) return StackFrame::Call::none;
      return leads_back(callees_of(function, instruction)) ? StackFrame::Call::may_lead_back
                                                           : StackFrame::Call::other;
    });
    if (index != 0) add_declarations(function);
    std::multimap<std::size_t, std::string> labels;
    for (const ptx::Label& label : function.labels) labels.emplace(label.at, label.name);
    if (!function.entry) place(start_of(function));
    move_register_parameters(function, function.parameters, true);
    for (std::size_t i = 0; i <= function.body.size(); ++i) {
      const auto [here, behind] = labels.equal_range(i);
      for (auto label = here; label != behind; ++label) place(label->second);
      if (i < function.body.size()) append_instruction(function, i);
    }
    if (!function.entry) append_return(function);
  }

  /// Adds the declarations that stay outside the frame: shared variables, and parameters of device
  /// runtime functions.
  void add_declarations(const Function& function) {
    for (const ptx::Variable& variable : function.variables) {
      const bool is_there =
          std::any_of(result_.variables.begin(), result_.variables.end(),
                      [&](const ptx::Variable& known) { return known.name == variable.name; });
      if (!is_there && !frame_.find(variable.name)) result_.variables.push_back(variable);
    }
    for (const Function::Targets& targets : function.branch_targets) {
      result_.branch_targets.push_back(targets);
    }
  }

  void append_instruction(const Function& function, std::size_t i) {
    Instruction instruction = function.body[i];
    if (instruction.guard >= 0) instruction.guard += first_register();
    for (Operand& operand : instruction.operands) ptx::shift_registers(operand, first_register());
    if (is_stack_call(module_, instruction)) {
      call(function, function.body[i], instruction, i);
    } else if (instruction.opcode == Opcode::ret && !function.entry) {
      instruction.operands.clear();
      emit(instruction, Opcode::bra, {},
           {ptx::named_operand(Operand::Kind::label, end_of(function))});
    } else {
      emit_with_frame(instruction);
    }
  }

  /// Replaces names of variables in the frame by addresses relative to the stack pointer, and emits
  /// the instruction.
  void emit_with_frame(Instruction instruction) {
    bool in_frame = false;
    for (Operand& operand : instruction.operands) replace_name(instruction, operand, in_frame);
    if (in_frame) {
      for (std::string& modifier : instruction.modifiers) {
        if (modifier == "param" || modifier == "param::func") modifier = "local";
      }
    }
    result_.body.push_back(std::move(instruction));
  }

  void replace_name(const Instruction& instruction, Operand& operand, bool& in_frame) {
    for (Operand& element : operand.elements) replace_name(instruction, element, in_frame);
    const bool is_address = operand.kind == Operand::Kind::address;
    if (operand.reg >= 0 || (!is_address && operand.kind != Operand::Kind::symbol)) return;
    const auto offset = frame_.find(operand.name);
    if (!offset) return;
    if (is_address) {
      operand = frame_address(*offset + operand.offset);
      in_frame = true;
    } else {
      const int address = add_register("%frame_address", ptx::Type::b64);
      emit(instruction, Opcode::add, {"s64"},
           {ptx::register_operand(address), ptx::register_operand(stack_pointer_),
            ptx::immediate_operand(*offset + operand.offset)});
      operand = ptx::register_operand(address);
    }
  }

  /// Emits a call. `before`: the instruction in the function; `instruction`: the same, rewritten
  /// for the result.
  void call(const Function& function, const Instruction& before, const Instruction& instruction,
            std::size_t at) {
    const std::vector<std::size_t> callees = callees_of(function, before);
    const std::size_t index = return_points_.size();
    return_points_.push_back({callees});
    Instruction plain = instruction;  // keeps the source line, without the guard
    plain.guard = -1;
    const std::string behind = return_point(index) + "$skip";
    if (instruction.guard >= 0) {
      Instruction skip = instruction;
      skip.guard_negated = !skip.guard_negated;
      emit(skip, Opcode::bra, {}, {ptx::named_operand(Operand::Kind::label, behind)});
    }
    const StackFrame::CallLayout layout = frame_.layout_of(signature_of(function, before));
    copy_arguments(plain, layout);
    for (const StackFrame::Saved& saved : frame_.saved_at(at)) save(plain, saved, first_register());
    emit(plain, Opcode::st, {"local", "b32"},
         {frame_address(frame_.bytes()), ptx::immediate_operand(static_cast<std::int64_t>(index))});
    std::vector<std::string> kind = {"call"};
    if (leads_back(callees)) {
      kind.push_back("recursive");
      trap_on_overflow(plain, frame_.bytes() + layout.end, return_point(index) + "$fits");
    }
    const Operand& target = target_of(instruction);
    const Operand back = ptx::named_operand(Operand::Kind::label, return_point(index));
    if (target.reg < 0) {
      move_stack_pointer(plain, frame_.bytes());
      const std::string start = start_of(functions_[callees[0]]);
      emit(plain, Opcode::bra, kind, {ptx::named_operand(Operand::Kind::label, start), back});
    } else {
      const int choice = index_of_function(plain, target.reg);
      move_stack_pointer(plain, frame_.bytes());
      add_call_table(index, callees);
      kind.insert(kind.begin(), "idx");
      emit(plain, Opcode::brx, kind,
           {ptx::register_operand(choice),
            ptx::named_operand(Operand::Kind::label, return_point(index) + "$callees"), back});
    }
    place(return_point(index));
    move_stack_pointer(plain, -frame_.bytes());
    for (const StackFrame::Saved& saved : frame_.saved_at(at))
      restore(plain, saved, first_register());
    copy_results(plain, layout);
    if (instruction.guard >= 0) place(behind);
  }

  /// Emits a trap before a call that needs `bytes` bytes at the stack pointer, if they exceed the
  /// stack. `fits`: the label of what follows.
  void trap_on_overflow(const Instruction& call, std::int64_t bytes, const std::string& fits) {
    const int overflows = add_register("%overflows", ptx::Type::pred);
    Operand last = ptx::named_operand(Operand::Kind::symbol, call_stack_name);
    last.offset = call_stack_bytes - bytes;
    emit(call, Opcode::setp, {"gt", "s64"},
         {ptx::register_operand(overflows), ptx::register_operand(stack_pointer_), last});
    Instruction branch = call;
    branch.guard = overflows;
    branch.guard_negated = true;
    emit(branch, Opcode::bra, {}, {ptx::named_operand(Operand::Kind::label, fits)});
    emit(call, Opcode::trap, {"stack"}, {});
    place(fits);
  }

  /// Copies arguments that are passed in registers or as constants. Variables are already in the
  /// callee's frame.
  void copy_arguments(const Instruction& call, const StackFrame::CallLayout& layout) {
    const auto& operands = call.operands;
    const Operand* arguments = nullptr;
    for (std::size_t i = 1; i < operands.size(); ++i) {
      if (operands[i].kind == Operand::Kind::tuple) arguments = &operands[i];
    }
    if (arguments == nullptr) return;
    for (std::size_t i = 0; i < arguments->elements.size(); ++i) {
      const Operand& passed = arguments->elements[i];
      if (passed.kind == Operand::Kind::symbol) continue;
      emit(call, Opcode::st, {"local", type_of(passed)},
           {frame_address(layout.parameters[i]), passed});
    }
  }

  void copy_results(const Instruction& call, const StackFrame::CallLayout& layout) {
    if (call.operands[0].kind != Operand::Kind::tuple) return;
    const std::vector<Operand>& results = call.operands[0].elements;
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (results[i].kind != Operand::Kind::reg) continue;
      emit(call, Opcode::ld, {"local", type_of(results[i])},
           {results[i], frame_address(layout.results[i])});
    }
  }

  /// Returns a register with the index of a function's address in tables of callees. Values that
  /// are not the address of a function become the last index.
  int index_of_function(const Instruction& call, int pointer) {
    const Operand wide = ptx::register_operand(add_register("%callee", ptx::Type::b64));
    const int narrow = add_register("%callee_index", ptx::Type::b32);
    const auto last = static_cast<std::int64_t>(module_.functions.size());
    emit(call, Opcode::sub, {"s64"},
         {wide, ptx::register_operand(pointer),
          ptx::immediate_operand(static_cast<std::int64_t>(function_window))});
    emit(call, Opcode::shr, {"u64"}, {wide, wide, ptx::immediate_operand(function_address_shift)});
    emit(call, Opcode::min, {"u64"}, {wide, wide, ptx::immediate_operand(last)});
    emit(call, Opcode::cvt, {"u32", "u64"}, {ptx::register_operand(narrow), wide});
    return narrow;
  }

  void add_call_table(std::size_t index, const std::vector<std::size_t>& callees) {
    Function::Targets table{return_point(index) + "$callees",
                            std::vector<std::string>(module_.functions.size() + 1, trap_label)};
    for (const std::size_t callee : callees) {
      const auto address = function_address(module_, functions_[callee].name);
      const auto place = (*address - function_window) >> function_address_shift;
      table.labels[place] = start_of(functions_[callee]);
    }
    result_.branch_targets.push_back(std::move(table));
  }

  /// Copies parameters or results that the function keeps in registers.
  void move_register_parameters(const Function& function,
                                const std::vector<ptx::Variable>& variables, bool to_registers) {
    if (function.entry) return;
    const StackFrame::CallLayout own = StackFrame::layout_at(signature_of(function), 0);
    const auto& offsets = to_registers ? own.parameters : own.results;
    for (std::size_t i = 0; i < variables.size(); ++i) {
      if (variables[i].space != ptx::Space::reg) continue;
      const auto found =
          std::find_if(function.registers.begin(), function.registers.end(),
                       [&](const ptx::Register& known) { return known.name == variables[i].name; });
      const int reg = static_cast<int>(found - function.registers.begin());
      const Operand value = ptx::register_operand(reg + first_register());
      const std::string type = type_of(value);
      const Instruction from = function.body.front();
      if (to_registers) {
        emit(from, Opcode::ld, {"local", type}, {value, frame_address(offsets[i])});
      } else {
        emit(from, Opcode::st, {"local", type}, {frame_address(offsets[i]), value});
      }
    }
  }

  void append_return(const Function& function) {
    place(end_of(function));
    move_register_parameters(function, function.results, false);
    const int index = add_register("%return_index", ptx::Type::b32);
    const Instruction& last = function.body.back();
    emit(last, Opcode::ld, {"local", "b32"}, {ptx::register_operand(index), frame_address(0)});
    emit(last, Opcode::brx, {"idx", "ret"},
         {ptx::register_operand(index),
          ptx::named_operand(Operand::Kind::label, return_table_of(function))});
  }

  /// Adds the branch tables of return points, one for each function.
  void add_tables() {
    for (std::size_t i = 1; i < functions_.size(); ++i) {
      Function::Targets table{return_table_of(functions_[i]), {}};
      for (std::size_t point = 0; point < return_points_.size(); ++point) {
        const auto& callees = return_points_[point].callees;
        const bool is_callee = std::find(callees.begin(), callees.end(), i) != callees.end();
        table.labels.push_back(is_callee ? return_point(point) : trap_label);
      }
      result_.branch_targets.push_back(std::move(table));
    }
  }

  const ptx::Module& module_;
  const CallGraph& graph_;
  std::vector<Function> functions_;
  std::map<std::string, std::size_t> index_;
  std::vector<std::set<std::size_t>> reachable_;
  std::vector<int> first_registers_;
  StackFrame frame_;
  std::vector<ReturnPoint> return_points_;
  std::size_t at_ = 0;  // index of the current function
};

}  // namespace

std::optional<std::uint64_t> function_address(const ptx::Module& module, std::string_view name) {
  const Function* function = module.find(name);
  if (function == nullptr) return std::nullopt;
  const auto index = static_cast<std::uint64_t>(function - module.functions.data());
  return function_window + (index << function_address_shift);
}

bool is_stack_call(const ptx::Module& module, const Instruction& instruction) {
  if (instruction.opcode != Opcode::call) return false;
  const Operand& target = target_of(instruction);
  if (target.reg >= 0) return true;
  const Function* callee = module.find(target.name);
  return callee != nullptr && !callee->external;
}

Function link_by_call_stack(const ptx::Module& module, const CallGraph& graph,
                            std::vector<Function> functions) {
  return StackLinker(module, graph, std::move(functions)).run();
}

}  // namespace rung::vgpu
