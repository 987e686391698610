// rung layout: shows where instructions keep the elements of a matrix.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "command_line.hpp"
#include "layout_views.hpp"
#include "tools/layout/view.hpp"
#include "tools/report/table.hpp"

namespace rung {
namespace {

using layout::View;

constexpr int table_rows = 16;

std::vector<std::string> answers(const LayoutArguments& given, const View& view) {
  std::vector<std::string> lines;
  const auto add = [&](const std::vector<std::string>& more) {
    lines.insert(lines.end(), more.begin(), more.end());
  };
  if (!given.at.empty()) {
    std::vector<int> at;
    for (const std::string& part : split(given.at, ',')) {
      at.push_back(static_cast<int>(read_integer("--at", part, 0, 1 << 16)));
    }
    add(reading("--at", [&] { return where_is(view, at); }));
  }
  if (!given.byte.empty()) {
    if (view.cells.empty())
      throw UsageError("--byte: this matrix is in registers; ask with --lane");
    add({at_byte(view, read_bytes("--byte", given.byte, 1))});
  }
  if (given.lane.empty() && !given.reg.empty()) throw UsageError("--register: needs --lane");
  if (!given.lane.empty()) {
    if (!view.fragment)
      throw UsageError("--lane: this matrix is in shared memory; ask with --byte");
    const auto& fragment = *view.fragment;
    const auto lane = static_cast<int>(read_integer("--lane", given.lane, 0, fragment.threads - 1));
    std::optional<int> reg;
    if (!given.reg.empty()) {
      reg = static_cast<int>(read_integer("--register", given.reg, 0, fragment.registers - 1));
    }
    add(in_thread(view, lane, reg));
  }
  return lines;
}

ExitCode run(const LayoutArguments& given) {
  check_apart({{"--json", given.json}, {"--svg", given.svg}});
  ExitCode code = exit_right;
  const View view = layout_view(given, code);
  const auto json = read_json(given.json);
  const auto svg = read_output("--svg", given.svg);
  const std::vector<std::string> answer = answers(given, view);
  if (json) json->write(layout::json_of(view));
  if (svg) svg->write(layout::picture(view));
  if ((json && json->is_stdout()) || (svg && svg->is_stdout())) return code;
  if (!answer.empty()) {
    fmt::print("{}\n", fmt::join(answer, "\n"));
    return code;
  }
  fmt::print("{}\n", view.title);
  for (const std::string& note : view.notes) fmt::print("{}", wrap(note, 2));
  if (given.instruction == "banks") return code;
  if (view.fragment) {
    const bool is_pair = view.fragment->per_register > 1;
    fmt::print("  a cell is {} and {}{}\n", layout::thread_word(*view.fragment),
               layout::register_word(*view.fragment),
               is_pair ? "; .i: element i of it, from the low bits" : "");
  }
  fmt::print("\n{}", layout::table(view, given.all ? 0 : table_rows));
  return code;
}

}  // namespace

Action add_layout(Options& app) {
  auto given = std::make_shared<LayoutArguments>();
  const auto words = [](std::vector<std::string> list) { return [list] { return list; }; };
  app.add_option("INSTRUCTION", given->instruction,
                 "tma, wgmma, tcgen05, tmem (tcgen05.ld), mma, wmma, simdgroup, ldmatrix, "
                 "stmatrix, or banks: any access")
      ->type_name("")
      ->required()
      ->offers(words({layout_instructions.begin(), layout_instructions.end()}));
  app.add_option("FORM,--shape", given->form,
                 "Its shape, such as m16n8k16, x4 of ldmatrix, 32x32b.x8 of tmem")
      ->type_name("");
  app.add_option("--type", given->type, "Element type of A and B or of the box (default: bf16)")
      ->type_name("T")
      ->offers(
          words({"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8", "s4", "u4", "f32", "f64"}));
  app.add_option("--sum", given->sum, "Element type of C and D (default: f32, s32 or f64)")
      ->type_name("T")
      ->offers(words({"f16", "f32", "s32", "f64"}));
  app.add_option("--operand", given->operand,
                 "A, B, C or D; SA or SB: block scales; E: metadata of a sparse A (default: A)")
      ->type_name("M")
      ->offers(words({"A", "B", "C", "D", "SA", "SB", "E"}));
  app.add_option("--blocks", given->blocks, "For tcgen05: 2 for a pair, .cta_group::2 (default: 1)")
      ->type_name("N");
  app.add_flag("--ws", given->weight_stationary, "For D of tcgen05: .ws");
  app.add_flag("--sparse", given->sparse, "For D of tcgen05 and for mma: a sparse A, .sp");
  app.add_option("--selector", given->selector,
                 "For mma --sparse: which threads have the metadata (default: 0)")
      ->type_name("N");
  app.add_option(
         "--scales", given->scales,
         "For SA and SB: block scales along k, 1, 2 or 4; of tcgen05 also 3 and 6 (default: 1)")
      ->type_name("N");
  app.add_option("--first-byte", given->first_byte,
                 "For SA and SB: the byte of a word with the first scale (default: 0)")
      ->type_name("N");
  app.add_option("--scale-thread", given->scale_thread,
                 "For SA and SB of mma: its thread-id (default: 0)")
      ->type_name("N");
  app.add_option("--image", given->image,
                 "For tma: im2col from images of these extents; --box is channels x pixels")
      ->type_name("WxHxN");
  app.add_option("--lower", given->lower, "With --image: lower corner, such as --lower=-1,-1")
      ->type_name("W,H");
  app.add_option("--upper", given->upper, "With --image: upper corner (default: 0,0)")
      ->type_name("W,H");
  app.add_option("--from", given->from,
                 "With --image: first pixel (default: the lower corner of image 0)")
      ->type_name("W,H,N");
  app.add_option("--filter", given->filter, "With --image: position in the filter (default: 0,0)")
      ->type_name("W,H");
  app.add_option("--traversal", given->traversal, "With --image: traversal stride (default: 1)")
      ->type_name("N");
  app.add_option("--box", given->box,
                 "Elements of a TMA box, innermost first, as in cuTensorMapEncodeTiled (default: "
                 "64x64; for operands, as wide as the swizzle)")
      ->type_name("WxH");
  app.add_option("--swizzle", given->swizzle,
                 "none, 32, 64 or 128 bytes (default: 128; ldmatrix: none)")
      ->type_name("B")
      ->offers(words({"none", "32", "64", "128"}));
  app.add_option("--major", given->major,
                 "Major-ness of an operand in shared memory: k, or mn (default: k)")
      ->type_name("M")
      ->offers(words({"k", "mn"}));
  app.add_option("--k-step", given->k_step,
                 "Which k of the operand's tile is multiplied, in instructions (default: 0)")
      ->type_name("N");
  app.add_option("--start", given->start,
                 "Byte of shared memory where the tile begins (default: 0)")
      ->type_name("B");
  app.add_option("--lbo", given->lbo,
                 "Leading byte offset of the descriptor (default: as the tile needs)")
      ->type_name("B");
  app.add_option("--sbo", given->sbo,
                 "Stride byte offset of the descriptor (default: as the tile needs)")
      ->type_name("B");
  app.add_option("--descriptor", given->descriptor,
                 "All 64 bits of the descriptor, such as 0x4000004000010000")
      ->type_name("BITS");
  app.add_flag("--registers", given->in_registers, "For wgmma: A in registers");
  app.add_flag("--trans", given->transposed, "For ldmatrix and stmatrix: .trans");
  app.add_option("--pitch", given->pitch,
                 "For ldmatrix and stmatrix: bytes between rows (default: 128)")
      ->type_name("B");
  app.add_option("--address", given->address,
                 "For ldmatrix, stmatrix and banks: byte of each lane, such as 'lane * 128'")
      ->type_name("EXPR");
  app.add_option("--bytes", given->bytes, "For banks: 1, 2, 4, 8 or 16 bytes a lane (default: 4)")
      ->type_name("N");
  app.add_flag("--store", given->stores, "For banks: a store, not a load");
  app.add_option("--at", given->at, "Ask: where is this element? Row, column; of B: k, column")
      ->type_name("R,C");
  app.add_option("--byte", given->byte, "Ask: which element is at this byte of shared memory?")
      ->type_name("B");
  app.add_option("--lane", given->lane, "Ask: which elements does this lane, or thread, have?")
      ->type_name("L");
  app.add_option("--register", given->reg, "With --lane: only in this register")->type_name("I");
  app.add_flag("--all", given->all, "Show all rows and columns");
  app.add_option("--json", given->json, "Write every element as JSON; - for standard output")
      ->type_name("FILE");
  app.add_option("--svg", given->svg, "Draw the layout; - for standard output")->type_name("FILE");
  app.footer(
      "Computed by the functions with which the virtual GPU executes the instructions. With\n"
      "wgmma and tcgen05, a descriptor is held against the tile that TMA boxes fill: exit code 1\n"
      "if it reads other elements, with what to change. 'rung trace --tiles' does so for a\n"
      "kernel.\n\n"
      "Examples:\n"
      "  rung layout tma --type bf16 --box 64x128 --swizzle 128 --at 3,17\n"
      "  rung layout wgmma m64n128k16 --operand B --swizzle 128 --k-step 1\n"
      "  rung layout wgmma m64n128k16 --operand B --swizzle 64 --sbo 1024\n"
      "  rung layout mma m16n8k16 --type bf16 --operand A --lane 5\n"
      "  rung layout ldmatrix x4 --trans --pitch 128 --swizzle 128\n"
      "  rung layout banks --bytes 16 --address 'lane / 8 * 16 + lane % 8 * 144'");
  return [given] { return run(*given); };
}

}  // namespace rung
