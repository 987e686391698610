#include "vgpu/layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>

#include "vgpu/engine/async/tensor_box.hpp"
#include "vgpu/engine/matrix/fragment_places.hpp"
#include "vgpu/engine/matrix/matrix.hpp"
#include "vgpu/engine/matrix/matrix_descriptor.hpp"
#include "vgpu/engine/matrix/matrix_names.hpp"
#include "vgpu/engine/matrix/wmma_layout.hpp"
#include "vgpu/launch.hpp"
#include "vgpu/lowering/tcgen05_form.hpp"
#include "vgpu/lowering/wgmma_form.hpp"
#include "vgpu/model/banks.hpp"

namespace rung::vgpu::layout {
namespace {

constexpr std::array<std::string_view, 12> element_names = {
    "f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8", "s4", "u4", "f32", "s32", "f64"};

[[noreturn]] void refuse(const std::string& message) { throw std::invalid_argument(message); }

/// An instruction of these words, which are separated by dots.
ptx::Instruction instruction_of(const std::string& mnemonic) {
  ptx::Instruction result;
  std::size_t from = mnemonic.find('.');
  result.set_opcode(mnemonic.substr(0, from));
  while (from != std::string::npos) {
    const std::size_t to = mnemonic.find('.', from + 1);
    result.modifiers.push_back(mnemonic.substr(from + 1, to - from - 1));
    from = to;
  }
  return result;
}

Fragment empty_fragment(std::string what, std::string section, const MatrixPlace& size, int threads,
                        int registers, int packed) {
  return {std::move(what), std::move(section), size.row, size.column,
          threads,         registers,          packed,   {}};
}

/// Adds place(thread, register, index) for every element of every register.
template <class Place>
Fragment filled(Fragment fragment, const Place& place) {
  for (int thread = 0; thread < fragment.threads; ++thread) {
    for (int reg = 0; reg < fragment.registers; ++reg) {
      for (int index = 0; index < fragment.per_register; ++index) {
        const MatrixPlace at = place(thread, reg, index);
        fragment.slots.push_back({at.row, at.column, thread, reg, index});
      }
    }
  }
  return fragment;
}

WmmaFragment kind_of(char operand) {
  return operand == 'A' ? WmmaFragment::a : operand == 'B' ? WmmaFragment::b : WmmaFragment::sum;
}

/// The shapes of mma or wmma that exist with these types.
std::vector<std::string> shapes_of(std::string_view instruction, std::string_view types) {
  std::vector<std::string> shapes;
  for (const char* shape :
       {"m8n8k4", "m8n8k16", "m8n8k32", "m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32", "m16n8k64",
        "m16n16k8", "m16n16k16", "m32n8k16", "m8n32k16"}) {
    const std::string mnemonic = fmt::format("{}.{}{}", instruction, shape, types);
    if (matrix_form(instruction_of(mnemonic))) shapes.emplace_back(shape);
  }
  return shapes;
}

Fragment matrix_fragment(bool wmma, std::string_view shape, MatrixElement type, MatrixElement sum,
                         char operand) {
  const std::string start = wmma ? "wmma.mma.sync.aligned.row.col" : "mma.sync.aligned.row.col";
  // wmma with f16 inputs names only D and C.
  const std::string types = wmma && type == MatrixElement::f16
                                ? fmt::format(".{}.{}", name(sum), name(sum))
                                : fmt::format(".{0}.{1}.{1}.{0}", name(sum), name(type));
  const auto form = matrix_form(instruction_of(fmt::format("{}.{}{}", start, shape, types)));
  const char* const instruction = wmma ? "wmma.mma" : "mma.sync";
  if (!form) {
    const auto shapes = shapes_of(start, types);
    refuse(shapes.empty()
               ? fmt::format("{} has no form with {} and sums of {}", instruction, name(type),
                             name(sum))
               : fmt::format("'{}' is no shape of {} with {} and sums of {}; it has {}", shape,
                             instruction, name(type), name(sum), fmt::join(shapes, ", ")));
  }
  const WmmaLayout layout = fragment_layout(kind_of(operand), *form);
  return filled(empty_fragment(fmt::format("{} of {}.{}, {}", operand, instruction, shape,
                                           name(layout.element)),
                               wmma ? "" : "9.7.14.5", {layout.rows, layout.columns}, warp_size,
                               layout.registers, layout.per_register),
                [&](int lane, int reg, int index) { return layout.place(lane, reg, index); });
}

Fragment wgmma_fragment(std::string_view shape, MatrixElement type, MatrixElement sum,
                        char operand) {
  const auto op = wgmma_form(instruction_of(
      fmt::format("wgmma.mma_async.sync.aligned.{0}.{2}.{1}.{1}", shape, name(type), name(sum))));
  if (!op) {
    refuse(
        fmt::format("'{}' is no shape of wgmma with {} and sums of {}; it has m64nNk{} with N "
                    "from 8 to 256 in steps of 8",
                    shape, name(type), name(sum), 256 / element_bits(type)));
  }
  if (operand == 'B') refuse("B of wgmma is in shared memory, never in registers");
  constexpr int threads = 128, rows = 64;
  const bool is_a = operand == 'A';
  const MatrixElement element = is_a ? type : sum;
  const int packed = per_register(element), columns = is_a ? op->k : op->n;
  const auto place = [&](int thread, int reg, int index) -> MatrixPlace {
    if (!is_a) return place_in_wgmma_sum(packed, thread, reg, index);
    const MatrixPlace at = place_in_a(16, packed, thread % warp_size, reg, index);
    return {thread / warp_size * 16 + at.row, at.column};
  };
  return filled(
      empty_fragment(fmt::format("{} of wgmma.{}, {}, in registers", operand, shape, name(element)),
                     is_a ? "9.7.15.5.1.1" : "9.7.15.5.1.2", {rows, columns}, threads,
                     rows * columns / threads / packed, packed),
      place);
}

Fragment simdgroup_fragment(MatrixElement type) {
  if (type != MatrixElement::f32 && type != MatrixElement::f16 && type != MatrixElement::bf16) {
    refuse(
        fmt::format("simdgroup_matrix has no elements of {}; it has f32, f16, bf16", name(type)));
  }
  const int packed = per_register(type);
  return filled(
      empty_fragment(fmt::format("simdgroup_matrix of {}, on Apple's GPUs", name(type)), "", {8, 8},
                     warp_size, 2 / packed, packed),
      [&](int lane, int reg, int index) { return place_in_simdgroup(lane, reg * packed + index); });
}

/// Lane l reads its address from `%addresses + 4 l`; register i goes to `%out + 16 l + 4 i`.
std::string copy_kernel(bool stores, int count, bool transposed) {
  const std::string form =
      fmt::format("sync.aligned.m8n8.x{}{}.shared.b16", count, transposed ? ".trans" : "");
  std::string fragment, moves;
  for (int i = 0; i < count; ++i) {
    fragment += fmt::format("{}%r{}", i == 0 ? "" : ", ", i);
    moves += stores ? fmt::format("ld.global.u32 %r{0}, [%rd3+{1}];\n", i, 4 * i)
                    : fmt::format("st.global.u32 [%rd3+{1}], %r{0};\n", i, 4 * i);
  }
  const std::string copy = stores ? fmt::format("stmatrix.{} [%r8], {{{}}};\n", form, fragment)
                                  : fmt::format("ldmatrix.{} {{{}}}, [%r8];\n", form, fragment);
  // Each thread moves half-words l, l + 32, … between shared memory and the image.
  const std::string fill = fmt::format(
      "mov.u32 %r9, %tid.x;\nfill:\nshl.b32 %r10, %r9, 1;\ncvt.u64.u32 %rd5, %r10;\n"
      "add.u64 %rd6, %rd4, %rd5;\nadd.u32 %r11, %r10, %r12;\n{}\n"
      "add.u32 %r9, %r9, 32;\nsetp.lt.u32 %p0, %r9, 32768;\n@%p0 bra fill;\nbar.sync 0;\n",
      stores ? "ld.shared.u16 %h0, [%r11];\nst.global.u16 [%rd6], %h0;"
             : "ld.global.u16 %h0, [%rd6];\nst.shared.u16 [%r11], %h0;");
  return fmt::format(
      ".version 8.0\n.target sm_90\n.address_size 64\n.extern .shared .align 128 .b8 tile[];\n"
      ".visible .entry k(.param .u64 addresses, .param .u64 registers, .param .u64 image)\n{{\n"
      ".reg .b32 %r<16>;\n.reg .b64 %rd<8>;\n.reg .b16 %h<1>;\n.reg .pred %p<1>;\n"
      "ld.param.u64 %rd0, [addresses];\nld.param.u64 %rd1, [registers];\n"
      "ld.param.u64 %rd4, [image];\nmov.u32 %r12, tile;\nmov.u32 %r0, %tid.x;\n"
      "mul.wide.u32 %rd2, %r0, 4;\nadd.u64 %rd2, %rd0, %rd2;\nld.global.u32 %r8, [%rd2];\n"
      "add.u32 %r8, %r8, %r12;\nmul.wide.u32 %rd3, %r0, 16;\nadd.u64 %rd3, %rd1, %rd3;\n"
      "{}ret;\n}}\n",
      stores ? moves + copy + "bar.sync 0;\n" + fill : fill + copy + moves);
}

}  // namespace

std::string_view name(MatrixElement element) {
  return element_names[static_cast<std::size_t>(element)];
}

MatrixElement element_named(std::string_view name) {
  const auto found = matrix_element_named(name);
  if (!found) {
    refuse(fmt::format("'{}' is not one of {}", name, fmt::join(element_names, ", ")));
  }
  return *found;
}

MatrixElement usual_sum(MatrixElement type) {
  if (type == MatrixElement::f64) return type;
  return matrix_sum_fits(type, MatrixElement::s32) ? MatrixElement::s32 : MatrixElement::f32;
}

std::array<int, 3> shape_named(std::string_view shape) {
  const auto found = read_matrix_shape(shape);
  if (!found) refuse(fmt::format("'{}' is no shape, such as m16n8k16", shape));
  return {found->m, found->n, found->k};
}

Fragment fragment(std::string_view instruction, std::string_view shape, MatrixElement type,
                  MatrixElement sum, char operand) {
  if (instruction == "simdgroup") return simdgroup_fragment(type);
  if (instruction == "wgmma") return wgmma_fragment(shape, type, sum, operand);
  return matrix_fragment(instruction == "wmma", shape, type, sum, operand);
}

Fragment tensor_load(std::string_view form) {
  auto found = tensor_fragment(instruction_of(fmt::format("tcgen05.ld.sync.aligned.{}.b32", form)));
  if (!found) {
    refuse(
        fmt::format("'{}' is no form of tcgen05.ld; it has 32x32b, 16x64b, 16x128b, 16x256b, "
                    "16x32bx2 with .x1 to .x128, such as 32x32b.x8",
                    form));
  }
  found->split = found->columns();  // an operand of .16x32bx2: here, its halves are adjacent
  const int packed = found->packed ? 2 : 1;
  const int halves = found->shape == TensorShape::l16_b32_twice ? 2 : 1;
  return filled(empty_fragment(fmt::format("tcgen05.ld.{} from tensor memory", form),
                               "9.7.16.2.3.1", {found->lanes(), halves * found->columns()},
                               warp_size, found->registers(), packed),
                [&](int thread, int reg, int index) -> MatrixPlace {
                  const TensorAddress cell = cell_of(*found, thread, reg);
                  return {cell.lane, cell.column + index};
                });
}

std::vector<Chunk> box_chunks(const TensorMap& map, std::uint32_t address) {
  std::vector<Chunk> chunks;
  TensorMap inside = map;  // a tensor that the box covers, so that addresses are positions
  inside.address = 0;
  std::uint64_t stride = bytes_of(map.element, map.box[0]);
  for (std::size_t i = 0; i < map.dimensions; ++i) {
    inside.sizes[i] = map.box[i] - 1u;
    if (i == 0) continue;
    inside.strides[i - 1] = stride;
    stride *= map.box[i];
  }
  for (const BoxRow& row : box_rows(inside, {})) {
    for_each_chunk(
        inside, row, address, [&](std::uint32_t to, std::uint32_t done, std::uint32_t bytes) {
          for (std::uint32_t part = 0; part < bytes; part += chunk_of(map.swizzle)) {
            std::uint64_t position = (row.address + done + part) * 8 / bits_of(map.element);
            Chunk chunk{{}, to + part, std::min(bytes - part, chunk_of(map.swizzle))};
            for (std::size_t i = 0; i < map.dimensions; ++i) {
              chunk.at[i] = static_cast<std::int32_t>(position % map.box[i]);
              position /= map.box[i];
            }
            chunks.push_back(chunk);
          }
        });
  }
  return chunks;
}

std::uint32_t box_bytes(const TensorMap& map) { return box_extent(map); }

std::uint32_t box_pitch(const TensorMap& map) { return vgpu::box_pitch(map); }

std::uint64_t encode(const Descriptor& descriptor, DescriptorFormat format) {
  const auto field = [](std::uint32_t bytes) { return std::uint64_t{bytes >> 4 & 0x3FFF}; };
  const std::uint64_t common = field(descriptor.start) | field(descriptor.leading) << 16 |
                               field(descriptor.stride) << 32 |
                               std::uint64_t{descriptor.base & 7} << 49;
  const auto mode = static_cast<std::uint64_t>((4 - static_cast<int>(descriptor.swizzle)) % 4);
  if (format == DescriptorFormat::wgmma) return common | mode << 62;
  return common | tcgen05_descriptor_version << 46 | mode << 62;
}

Descriptor decode(std::uint64_t bits, DescriptorFormat format) {
  bool known = true;
  const MatrixDescriptor fields =
      format == DescriptorFormat::wgmma ? wgmma_descriptor(bits) : tcgen05_descriptor(bits, known);
  if (!known) {
    refuse(
        fmt::format("{:#x} is no descriptor of tcgen05: bits 46 to 48 must be 1, bits 61 to 63 "
                    "0, 1, 2, 4 or 6",
                    bits));
  }
  return {fields.start, fields.leading, fields.stride, fields.base, fields.swizzle};
}

std::vector<Chunk> operand_chunks(const Operand& operand) {
  std::vector<Chunk> chunks;
  const MatrixOperand read{
      {operand.descriptor.start, operand.descriptor.leading, operand.descriptor.stride,
       operand.descriptor.base, operand.descriptor.swizzle},
      element_bits(operand.type),
      operand.transposed,
      0,
      static_cast<std::uint32_t>(operand.lines),
      operand.k};
  read.for_each_chunk([&](std::uint32_t address, std::uint32_t line, std::uint32_t k) {
    chunks.push_back(
        {{static_cast<std::int32_t>(k), static_cast<std::int32_t>(line)}, address, operand_chunk});
  });
  return chunks;
}

MatrixCopy matrix_copy(bool stores, int count, bool transposed,
                       const std::array<std::uint32_t, 32>& address) {
  constexpr std::uint32_t shared_bytes = 65536;
  DeviceMemory memory(std::size_t{1} << 24);
  const auto module = Module::load(copy_kernel(stores, count, transposed), "layout.ptx", memory);
  // Every half-word is its own index, so that a copy of it tells where it was.
  std::vector<std::uint16_t> image(shared_bytes / 2), registers(32 * 8);
  std::vector<std::uint16_t>& tags = stores ? registers : image;
  for (std::size_t i = 0; i < tags.size(); ++i) tags[i] = static_cast<std::uint16_t>(i);
  std::vector<std::uint64_t> parameters;
  const auto place = [&](const void* data, std::size_t bytes) {
    parameters.push_back(memory.allocate(bytes));
    memory.write(parameters.back(), data, bytes);
  };
  place(address.data(), sizeof address);
  place(registers.data(), registers.size() * 2);
  place(image.data(), image.size() * 2);
  LaunchOptions options;
  options.block.x = warp_size;
  options.dynamic_shared = shared_bytes;
  options.threads = 1;
  const LaunchReport report =
      launch(*module->kernel("k"), options, std::as_bytes(std::span(parameters)), memory,
             parse_device("h200"));
  MatrixCopy copy;
  const Counters& counters = report.counters;
  copy.wavefronts =
      static_cast<int>(stores ? counters.shared_store_wavefronts : counters.shared_load_wavefronts);
  copy.address.resize(static_cast<std::size_t>(warp_size * count * 2));
  memory.read(registers.data(), parameters[1], registers.size() * 2);
  memory.read(image.data(), parameters[2], image.size() * 2);
  const auto halves = static_cast<std::size_t>(count) * 2;
  for (std::size_t i = 0; i < copy.address.size(); ++i) {
    const std::size_t slot = i / halves * 8 + i % halves;
    if (!stores) copy.address[i] = registers[slot] * 2u;
  }
  for (std::size_t lane = 0; stores && lane < static_cast<std::size_t>(count) * 8; ++lane) {
    for (std::uint32_t at = address[lane]; at < address[lane] + 16; at += 2) {
      const std::size_t slot = image[at / 2];
      copy.address[slot / 8 * halves + slot % 8] = at;
    }
  }
  return copy;
}

int wavefronts(const std::array<std::uint64_t, 32>& address, std::uint32_t bytes, bool load) {
  return shared_wavefronts(address, all_lanes, bytes, 0, load);
}

void set_watcher(const LayoutWatcher* watcher) { layout_watcher = watcher; }

}  // namespace rung::vgpu::layout
