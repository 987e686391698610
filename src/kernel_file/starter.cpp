#include "kernel_file/starter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <vector>

#include "backends/cuda/rungs.hpp"
#include "core/embed.hpp"
#include "kernel_file/signature.hpp"

RUNG_EMBED(rung_gemm_starter, RUNG_STARTERS "/gemm.cu")
RUNG_EMBED(rung_dot_starter, RUNG_STARTERS "/dot.cu")
RUNG_EMBED(rung_sum_starter, RUNG_STARTERS "/sum.cu")

namespace rung {
namespace {

/// How a file of the user's writes an element type: in its parameters, and as rungs do.
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

/// The dtype whose inputs and results have the type of another one's inputs.
Dtype elements_of(Dtype dtype) {
  if (dtype == Dtype::bf16) return Dtype::bf16_bf16;
  if (dtype == Dtype::f16) return Dtype::f16_f16;
  return dtype;
}

constexpr std::array supported = {Dtype::f32, Dtype::f64,       Dtype::i32,    Dtype::bf16,
                                  Dtype::f16, Dtype::bf16_bf16, Dtype::f16_f16};

/// The rung's own text: its includes, and its class in namespace rung.
std::string body_of(std::string_view source) {
  std::size_t begin = 0;
  while (source.substr(begin).starts_with("//")) begin = source.find('\n', begin) + 1;
  const std::size_t end = source.find("\nRUNG_CUDA_");
  return std::string(source.substr(begin, end + 1 - begin)) + "}  // namespace rung\n";
}

/// "AsyncCopies" of RUNG_CUDA_GEMM(09, async_copies, AsyncCopies, f32, …).
std::string class_of(std::string_view source) {
  const std::size_t call = source.find("\nRUNG_CUDA_");
  const std::size_t slug = source.find(", ", call) + 2;
  const std::size_t begin = source.find(", ", slug) + 2;
  return std::string(source.substr(begin, source.find(',', begin) - begin));
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

/// Comment lines of at most 100 columns, without the first one's beginning.
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
// rung bench {file} --against {id}
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

void {op}(int n, const {in}* x, int incx, {y_parameters}{out}* result) {{
  constexpr int multiprocessors = 132;
  const rung::Dot<{rin}> d = {{
      n, {x}, incx,
      {y}}};
  const auto launch = rung::{Class}::launch<{rin}, {out}>(d, multiprocessors).launch;
  cudaMemset(result, 0, sizeof({out}));
  {kernel}<<<launch.grid.x, launch.block.x>>>(d, {{result, nullptr}});
}}
)";

std::string pointer(const TypeNames& type, const char* name, const char* qualifier = "const ") {
  if (type.cuda == type.rung) return name;
  return fmt::format("reinterpret_cast<{}{}*>({})", qualifier, type.rung, name);
}

/// Why a rung's launch is more than a kernel on its operands; empty if it is not.
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

Source examine(const RungInfo& rung) {
  Source source;
  const cuda::GemmRung* const gemm = cuda::find_gemm_rung(rung.id);
  const cuda::NamedDotRung* const dot = cuda::find_dot_rung(rung.id);
  if (gemm == nullptr && dot == nullptr) return {"is no CUDA rung", {}};
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

/// "gemm/cuda/00 to 09, …": the rungs of an op that a file can start from.
std::string usable(const std::string& op) {
  std::vector<std::string> numbers;
  for (const RungInfo& rung : catalog()) {
    if (rung.op != op || rung.backend != "cuda" || !examine(rung).why_not.empty()) continue;
    numbers.push_back(rung.slug.substr(0, 2));
  }
  return fmt::format("{}/cuda/{}", op, fmt::join(numbers, ", "));
}

Dtype choose(const RungInfo& rung, const Source& source, std::optional<Dtype> dtype) {
  if (!source.why_not.empty()) {
    throw KernelFileError(fmt::format("--from: {} {}; a file can start from {}", rung.id,
                                      source.why_not, usable(rung.op)));
  }
  if (!dtype) return source.dtypes.front();
  if (std::ranges::find(source.dtypes, *dtype) != source.dtypes.end()) return *dtype;
  std::vector<std::string_view> names;
  for (const Dtype each : source.dtypes) names.push_back(name(each));
  throw KernelFileError(fmt::format("--dtype: '{}' is not one of those of {}: {}", name(*dtype),
                                    rung.id, fmt::join(names, ", ")));
}

}  // namespace

std::string plain_starter(const std::string& op) {
  if (op == "dot") return std::string(RUNG_EMBEDDED(rung_dot_starter));
  if (op == "sum") return std::string(RUNG_EMBEDDED(rung_sum_starter));
  return std::string(RUNG_EMBEDDED(rung_gemm_starter));
}

std::string starter_from(const RungInfo& rung, std::optional<Dtype> wanted,
                         const std::string& file) {
  const Dtype dtype = choose(rung, examine(rung), wanted);
  const TypeNames in = names_of(elements_of(dtype)), out = names_of(output_type(dtype));
  const bool is_half = in.cuda == "__half", is_bfloat = in.cuda == "__nv_bfloat16";
  const std::string head =
      fmt::format(head_frame, fmt::arg("id", rung.id), fmt::arg("idea", comment(rung.idea)),
                  fmt::arg("file", file), fmt::arg("op", rung.op),
                  fmt::arg("include", is_half     ? "\n#include <cuda_fp16.h>\n"
                                      : is_bfloat ? "\n#include <cuda_bf16.h>\n"
                                                  : ""));
  const std::string kernel = identifier_of(file), name_of_class = class_of(rung.source);
  if (rung.op == "gemm") {
    return head + body_of(rung.source) +
           fmt::format(gemm_frame, fmt::arg("kernel", kernel), fmt::arg("Class", name_of_class),
                       fmt::arg("in", in.cuda), fmt::arg("rin", in.rung), fmt::arg("out", out.cuda),
                       fmt::arg("rout", out.rung),
                       fmt::arg("scalar", out.cuda == out.rung ? out.cuda : "float"),
                       fmt::arg("a", pointer(in, "A")), fmt::arg("b", pointer(in, "B")),
                       fmt::arg("c", pointer(out, "C", "")));
  }
  const bool is_dot = rung.op == "dot";
  return head + body_of(rung.source) +
         fmt::format(dot_frame, fmt::arg("kernel", kernel), fmt::arg("Class", name_of_class),
                     fmt::arg("op", rung.op),
                     fmt::arg("terms", is_dot ? "ProductTerms" : "ElementTerms"),
                     fmt::arg("in", in.cuda), fmt::arg("rin", in.rung), fmt::arg("out", out.cuda),
                     fmt::arg("y_parameters",
                              is_dot ? fmt::format("const {}* y, int incy, ", in.cuda) : ""),
                     fmt::arg("x", pointer(in, "x")),
                     fmt::arg("y", is_dot ? pointer(in, "y") + ", incy" : "nullptr, 1"));
}

}  // namespace rung
