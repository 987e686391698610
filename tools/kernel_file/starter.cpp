#include "tools/kernel_file/starter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <vector>

#include "backends/rungs/cuda.hpp"
#include "core/dtype.hpp"
#include "core/embed.hpp"
#include "tools/kernel_file/rung_form.hpp"
#include "tools/kernel_file/signature.hpp"

RUNG_EMBED(rung_gemm_starter, RUNG_STARTERS "/gemm.cu")
RUNG_EMBED(rung_dot_starter, RUNG_STARTERS "/dot.cu")
RUNG_EMBED(rung_sum_starter, RUNG_STARTERS "/sum.cu")
RUNG_EMBED(rung_metal_gemm_starter, RUNG_STARTERS "/gemm.metal")
RUNG_EMBED(rung_metal_dot_starter, RUNG_STARTERS "/dot.metal")
RUNG_EMBED(rung_metal_sum_starter, RUNG_STARTERS "/sum.metal")

namespace rung {
namespace {

/// The names of an element type in a user's file: in parameters, and in templates of rungs.
struct TypeNames {
  std::string_view cuda, rung;
};

TypeNames names_of(Dtype elements) {
  switch (elements) {
    case Dtype::f32: return {"float", "float"};
    case Dtype::f64: return {"double", "double"};
    case Dtype::i32: return {"unsigned", "unsigned"};
    case Dtype::bf16_bf16: return {"__nv_bfloat16", "rung::bfloat16"};
    default: return {"__half", "rung::float16"};
  }
}

/// The dtype with inputs and results of the input type of `dtype`.
Dtype elements_of(Dtype dtype) {
  if (dtype == Dtype::bf16) return Dtype::bf16_bf16;
  if (dtype == Dtype::f16) return Dtype::f16_f16;
  return dtype;
}

constexpr std::array supported = {Dtype::f32, Dtype::f64,       Dtype::i32,    Dtype::bf16,
                                  Dtype::f16, Dtype::bf16_bf16, Dtype::f16_f16};

std::string_view without_header(std::string_view source) {
  while (source.starts_with("//")) source.remove_prefix(source.find('\n') + 1);
  return source;
}

/// The rung's source: its includes and its class in namespace rung.
std::string body_of(std::string_view source) {
  source = without_header(source);
  return std::string(source.substr(0, source.find("\nRUNG_CUDA_") + 1)) + "}  // namespace rung\n";
}

/// Collapses consecutive blank lines, and removes those at the end.
std::string without_doubled_blanks(std::string text) {
  for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != text.npos;) text.erase(at, 1);
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

std::string identifier_of(const std::string& file) {
  std::string name = file.substr(0, file.find('.'));
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) {
    name.insert(0, "k_");
  }
  return name + "_kernel";
}

/// Wraps a comment at 100 columns. The first line has no prefix.
std::string comment(const std::string& text) {
  constexpr std::size_t most = 100 - std::string_view("//   ").size();
  if (text.size() <= most) return text;
  const std::size_t space = text.rfind(' ', most);
  return text.substr(0, space) + "\n//   " + comment(text.substr(space + 1));
}

constexpr const char* head_frame = R"(// A kernel to start from: {id}.
//   {idea}
//
// rung check {file}        verify {op}() below by the rules of a rung, without a GPU
// rung explain {file}      what bounds it, and what to write instead
// rung bench {file} --vs {id}
{include})";

constexpr const char* gemm_frame = R"(
__global__ void __launch_bounds__(rung::cuda::threads_of<rung::{Class}>())
    {kernel}(const rung::Gemm<{rin}, {rout}> g) {{
  rung::{Class}::kernel(g);
}}

void gemm(int m, int n, int k, {scalar} alpha, const {in}* A, int lda,
          const {in}* B, int ldb, {scalar} beta, {out}* C, int ldc) {{
  const rung::Gemm<{rin}, {rout}> g = {{
      m, n, k, alpha,
      {{{a}, lda, 1}},
      {{{b}, ldb, 1}},
      beta, {{{c}, ldc, 1}}}};
  const rung::cuda::Launch launch = rung::{Class}::launch(g);
  const dim3 grid(launch.grid.x, launch.grid.y), block(launch.block.x, launch.block.y);
  cudaFuncSetAttribute({kernel}, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       static_cast<int>(launch.shared_bytes));
  {kernel}<<<grid, block, launch.shared_bytes>>>(g);
}}
)";

constexpr const char* dot_frame = R"(
__global__ void __launch_bounds__(rung::{Class}::THREADS)
    {kernel}(const rung::Dot<{rin}> d, rung::cuda::DotTarget to) {{
  rung::{Class}::kernel<rung::cuda::{terms}, {rin}, {out}>(d, to);
}}

cudaError_t {op}(int n, const {in}* x, int incx, {y_parameters}{out}* result) {{
  constexpr int multiprocessors = 132;
  const rung::Dot<{rin}> d = {{
      n, {x}, incx,
      {y}}};
  const auto planned = rung::{Class}::launch<{rin}, {out}>(d, multiprocessors);
  if (planned.finish != rung::cuda::Finish::zeroed) return cudaErrorNotSupported;
  cudaMemset(result, 0, sizeof({out}));
  {kernel}<<<planned.launch.grid.x, planned.launch.block.x>>>(d, {{result, nullptr}});
  return cudaSuccess;
}}
)";

std::string pointer(const TypeNames& type, const char* name, const char* qualifier = "const ") {
  if (type.cuda == type.rung) return name;
  return fmt::format("reinterpret_cast<{}{}*>({})", qualifier, type.rung, name);
}

/// The reason why a rung cannot be launched with only its operands; empty if it can.
std::string why_not(const cuda::GemmRung& rung) {
  if (rung.batches) return "computes batches";
  if (rung.maps) return "takes tensor maps";
  if (rung.splits) return "takes a workspace, to split k";
  const bool has_tiles = std::ranges::any_of(
      all_dtypes, [&](Dtype dtype) { return !cuda::tiles_of(rung, dtype).empty(); });
  return has_tiles ? "has several tile sizes" : "";
}

std::string why_not(const cuda::DotRung& rung) {
  const cuda::DotLaunch launch = rung.launches.f32({1 << 20, nullptr, 1, nullptr, 1}, 132);
  if (launch.finish == cuda::Finish::passes) return "needs several launches";
  if (launch.finish == cuda::Finish::host) return "leaves sums to the CPU";
  return launch.finish == cuda::Finish::none ? "takes a workspace" : "";
}

struct Source {
  std::string why_not;
  std::vector<Dtype> dtypes;
};

Source examine_metal(const RungInfo& rung) {
  const auto form = read_rung_form(rung.source);
  if (!form) return {"has no such form", {}};
  return {why_not(*form), dtypes_of(*form)};
}

Source examine(const RungInfo& rung) {
  if (rung.backend == "metal") return examine_metal(rung);
  Source source;
  const cuda::GemmRung* const gemm = cuda::find_gemm_rung(rung.id);
  const cuda::NamedDotRung* const dot = cuda::find_dot_rung(rung.id);
  if (gemm == nullptr && dot == nullptr) return {"is a rung of the CPU", {}};
  source.why_not = gemm != nullptr ? why_not(*gemm) : why_not(*dot->rung);
  for (const Dtype dtype : supported) {
    const bool has =
        gemm != nullptr
            ? cuda::has(*gemm, dtype)
            : is_for_dot(dtype) && visit_dot(dtype, [&]<class In, class Out>(Elements<In, Out>) {
                return dot->rung->launches.of<In, Out>() != nullptr;
              });
    if (has) source.dtypes.push_back(dtype);
  }
  return source;
}

/// "gemm/cuda/00, 01, …": the rungs of this operation and language that `rung new` supports.
std::string usable(const RungInfo& like) {
  const std::string backend = like.backend == "metal" ? "metal" : "cuda";
  std::vector<std::string> numbers;
  for (const RungInfo& rung : catalog()) {
    if (rung.op != like.op || rung.backend != backend || !examine(rung).why_not.empty()) continue;
    numbers.push_back(rung.is_on_ladder() ? rung.slug.substr(0, 2) : rung.slug);
  }
  return fmt::format("{}/{}/{}", like.op, backend, fmt::join(numbers, ", "));
}

Dtype choose(const RungInfo& rung, const Source& source, std::optional<Dtype> dtype) {
  if (!source.why_not.empty()) {
    throw KernelFileError(fmt::format("--from: {} {}; a file can start from {}", rung.id,
                                      source.why_not, usable(rung)));
  }
  if (!dtype) return source.dtypes.front();
  if (std::ranges::find(source.dtypes, *dtype) != source.dtypes.end()) return *dtype;
  std::vector<std::string_view> names;
  for (const Dtype each : source.dtypes) names.push_back(name(each));
  throw KernelFileError(fmt::format("--dtype: '{}' is not one of those of {}: {}", name(*dtype),
                                    rung.id, fmt::join(names, ", ")));
}

}  // namespace

std::string plain_starter(const std::string& op, bool metal) {
  if (op == "dot") {
    return std::string(metal ? RUNG_EMBEDDED(rung_metal_dot_starter)
                             : RUNG_EMBEDDED(rung_dot_starter));
  }
  if (op == "sum") {
    return std::string(metal ? RUNG_EMBEDDED(rung_metal_sum_starter)
                             : RUNG_EMBEDDED(rung_sum_starter));
  }
  return std::string(metal ? RUNG_EMBEDDED(rung_metal_gemm_starter)
                           : RUNG_EMBEDDED(rung_gemm_starter));
}

std::string launcher_text(const std::string& op, const std::string& class_name, Dtype dtype,
                          const std::string& kernel) {
  const TypeNames in = names_of(elements_of(dtype)), out = names_of(output_type(dtype));
  if (op == "gemm") {
    return fmt::format(gemm_frame, fmt::arg("kernel", kernel), fmt::arg("Class", class_name),
                       fmt::arg("in", in.cuda), fmt::arg("rin", in.rung), fmt::arg("out", out.cuda),
                       fmt::arg("rout", out.rung),
                       fmt::arg("scalar", out.cuda == out.rung ? out.cuda : "float"),
                       fmt::arg("a", pointer(in, "A")), fmt::arg("b", pointer(in, "B")),
                       fmt::arg("c", pointer(out, "C", "")));
  }
  const bool is_dot = op == "dot";
  return fmt::format(
      dot_frame, fmt::arg("kernel", kernel), fmt::arg("Class", class_name), fmt::arg("op", op),
      fmt::arg("terms", is_dot ? "ProductTerms" : "ElementTerms"), fmt::arg("in", in.cuda),
      fmt::arg("rin", in.rung), fmt::arg("out", out.cuda),
      fmt::arg("y_parameters", is_dot ? fmt::format("const {}* y, int incy, ", in.cuda) : ""),
      fmt::arg("x", pointer(in, "x")),
      fmt::arg("y", is_dot ? pointer(in, "y") + ", incy" : "nullptr, 1"));
}

std::string starter_from(const RungInfo& rung, std::optional<Dtype> wanted,
                         const std::string& file) {
  const Dtype dtype = choose(rung, examine(rung), wanted);
  const TypeNames in = names_of(elements_of(dtype));
  const bool is_metal = rung.backend == "metal";
  const bool is_half = in.cuda == "__half", is_bfloat = in.cuda == "__nv_bfloat16";
  const std::string head =
      fmt::format(head_frame, fmt::arg("id", rung.id), fmt::arg("idea", comment(rung.idea)),
                  fmt::arg("file", file), fmt::arg("op", rung.op),
                  fmt::arg("include", is_metal    ? ""
                                      : is_half   ? "\n#include <cuda_fp16.h>\n"
                                      : is_bfloat ? "\n#include <cuda_bf16.h>\n"
                                                  : ""));
  const RungForm form = *read_rung_form(rung.source);
  if (is_metal) {
    return head +
           without_doubled_blanks(plain_metal(without_header(rung.source), form, rung.op, dtype));
  }
  return head + body_of(rung.source) +
         launcher_text(rung.op, form.class_name(), dtype, identifier_of(file));
}

}  // namespace rung
