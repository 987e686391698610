// Graphs whose nodes are executable graphs, and their conditional nodes.

#include <cstring>
#include <span>
#include <utility>

#include "vgpu/driver/call.hpp"
#include "vgpu/driver/graph_launch.hpp"
#include "vgpu/memory/written_bytes.hpp"

namespace rung::vgpu::driver {
namespace {

using Graphs = std::vector<std::shared_ptr<GraphState>>;

/// The body that runs for a value of the condition, or null (CUDA Runtime API, cudaConditionalNodeParams).
GraphState* chosen(ConditionalNode::Kind kind, const Graphs& bodies, unsigned value) {
  const bool is_choice = kind == ConditionalNode::Kind::choice;
  const std::size_t body = is_choice ? value : (value != 0 ? 0 : 1);
  return body < bodies.size() ? bodies[body].get() : nullptr;
}

/// A conditional node as an operation of its graph. Each reading of the condition and each run of a body is
/// ordered after the one before it.
class Conditional {
 public:
  Conditional(const ConditionalNode& node, CapturedOperation read, Graphs bodies)
      : kind_(node.kind),
        condition_(node.condition),
        read_(std::move(read)),
        bodies_(std::move(bodies)) {}

  void operator()(ContextState& context) const {
    OperationEnd end;
    bool is_first = true;
    for (;;) {
      next(end, is_first, [&] { read_.run(context); });
      if (context.sticky != Result::success) return;
      unsigned value = 0;
      context.memory.read(&value, condition_, condition_bytes);
      GraphState* const body = chosen(kind_, bodies_, value);
      if (body == nullptr) return;
      next(end, is_first, [&] { replay(context, *body); });
      if (kind_ != ConditionalNode::Kind::loop || context.sticky != Result::success) return;
    }
  }

 private:
  /// Runs something after `end`, which becomes its own.
  template <class Run>
  void next(OperationEnd& end, bool& is_first, const Run& run) const {
    const OperationEnd earlier = std::move(end);
    const OperationEnd* const before = &earlier;
    end = {};
    process().order.operate_node(std::span(&before, is_first ? 0 : 1), {}, read_.site, end, run);
    is_first = false;
  }

  ConditionalNode::Kind kind_;
  cuda::DevicePointer condition_;
  CapturedOperation read_;
  Graphs bodies_;
};

/// The clocks of the parts' last launches are those of the graph.
struct Launched {
  std::shared_ptr<GraphState> graph = std::make_shared<GraphState>();
  Graphs parts;
};

Launched as_graph(ContextState& context, const NodeGraph& nodes);

CapturedOperation as_operation(ContextState& context, const std::shared_ptr<GraphState>& part,
                               const ConditionalNode* conditional, Graphs& parts) {
  if (conditional != nullptr) {
    CapturedOperation operation;
    Graphs bodies;
    for (const NodeGraph& body : conditional->bodies) {
      Launched launched = as_graph(context, body);
      parts.insert(parts.end(), launched.parts.begin(), launched.parts.end());
      bodies.push_back(std::move(launched.graph));
    }
    operation.site = part->operations.front().site;
    operation.run = Conditional(*conditional, part->operations.front(), std::move(bodies));
    return operation;
  }
  if (part->operations.size() == 1) return part->operations.front();
  CapturedOperation operation;
  operation.run = [part](ContextState& running) { replay(running, *part); };
  return operation;
}

Launched as_graph(ContextState& context, const NodeGraph& nodes) {
  Launched launched;
  launched.graph->starts = nodes.starts;
  for (std::size_t i = 0; i < nodes.nodes.size(); ++i) {
    launched.parts.push_back(find_exec(context, nodes.nodes[i]));
    const auto found = nodes.conditional.find(i);
    const std::shared_ptr<GraphState> part = launched.parts.back();
    CapturedOperation operation = as_operation(
        context, part, found == nodes.conditional.end() ? nullptr : &found->second, launched.parts);
    for (const GraphEdge& edge : nodes.after[i]) {
      operation.after.push_back(edge.node);
      if (edge.port != GraphEdge::Port::completion) operation.programmatic.push_back(edge);
    }
    launched.graph->operations.push_back(std::move(operation));
  }
  return launched;
}

/// Reports a condition that no kernel of this launch of the graph has set, and that has no default.
void check_condition(const ContextState& context, cuda::DevicePointer condition) {
  const Allocation* const memory = context.memory.find(condition);
  ProgramReports& reports = process().order.reports();
  if (memory == nullptr || memory->all_initialised || !reports.has_observer()) return;
  if (HalfShadowWord::are_written(memory->shadow(condition))) return;
  reports.report_condition(process().order.running_site(), condition, context.memory);
}

}  // namespace
}  // namespace rung::vgpu::driver

namespace rung::vgpu {

cuda::Result launch_as_nodes(const NodeGraph& graph, cuda::Stream stream) {
  using namespace driver;
  return call_context([&](ContextState& context) {
    enqueue(context, stream, [launched = as_graph(context, graph)](ContextState& running) {
      ProgramOrder& order = process().order;
      for (const auto& part : launched.parts) order.start_after(part->launched);
      replay(running, *launched.graph);
      for (const auto& part : launched.parts) part->launched = order.reached();
    });
  });
}

cuda::Result read_condition(cuda::DevicePointer condition, cuda::Stream stream) {
  using namespace driver;
  return call_context([&](ContextState& context) {
    enqueue(context, stream, [condition](ContextState& running) {
      ProgramOrder& order = process().order;
      order.describe("conditional node");
      order.access(running.memory, condition, condition_bytes, Touch::read);
      check_condition(running, condition);
    });
  });
}

}  // namespace rung::vgpu
