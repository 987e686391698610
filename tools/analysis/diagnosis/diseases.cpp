#include "tools/analysis/diagnosis/diseases.hpp"

#include "tools/analysis/diagnosis/signs.hpp"

namespace rung::analysis::diagnosis {
namespace {

constexpr Disease table[] = {
    {"work of single threads",
     signs::works_alone,
     {.shared_out = true, .even_blocks = true, .even_warps = true},
     signs::alone,
     "let all threads of the block share the loop, and reduce their parts at the end",
     "for (int i = threadIdx.x; i < n; i += blockDim.x) sum += x[i];",
     "dot/cuda/03"},
    {"too few blocks",
     signs::has_few_blocks,
     {.enough_blocks = true},
     signs::few_blocks,
     "launch more and smaller pieces: a warp per row instead of a thread, a block per row instead "
     "of a warp, smaller tiles or blocks; or split the longest loop among blocks, each with a part "
     "of the sum",
     "// a warp per row\n"
     "const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;\n"
     "for (int i = threadIdx.x % 32; i < n; i += 32) sum += x[row * n + i];",
     "gemm/cuda/11",
     "dot/cuda/06"},
    {"uneven blocks",
     signs::has_uneven_blocks,
     {.even_blocks = true, .even_warps = true},
     signs::uneven_blocks,
     "cut the work into equal pieces, or let blocks fetch the next piece from a counter",
     "if (threadIdx.x == 0) piece = atomicAdd(&next_piece, 1);\n__syncthreads();",
     "gemm/cuda/26",
     ""},
    {"uneven warps",
     signs::has_uneven_warps,
     {.even_warps = true},
     signs::uneven_warps,
     "divide the work of a block among all of its warps",
     "for (int i = threadIdx.x; i < n; i += blockDim.x)",
     ""},
    {"atomics at one address",
     signs::adds_once_per_block,
     {.scattered_atomics = true},
     signs::atomics_of_blocks,
     "launch only as many blocks as the GPU holds at once, and let each loop over its part of the "
     "data before it adds",
     "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;\n"
     "     i += gridDim.x * blockDim.x)\n"
     "  sum += x[i];",
     "dot/cuda/09"},
    {"atomics at one address",
     signs::contends_in_global_atomics,
     {.scattered_atomics = true},
     signs::global_atomics,
     "add up within the warp, then within the block, and leave one atomic to each block; of a "
     "histogram, give each block its own in shared memory",
     "sum = __reduce_add_sync(~0u, sum);  // or __shfl_down_sync for floats\n"
     "if (threadIdx.x % 32 == 0) atomicAdd(&block_sum, sum);\n"
     "atomicAdd(&bins_of_block[value], 1);  // __shared__; at the end, to those of all blocks",
     "dot/cuda/06"},
    {"atomics at one shared address",
     signs::contends_in_shared_atomics,
     {.scattered_shared_atomics = true},
     signs::shared_atomics,
     "give each warp a copy of its own, and add the copies up at the end",
     "__shared__ unsigned bins[WARPS][256];\natomicAdd(&bins[threadIdx.x / 32][value], 1);",
     ""},
    {"uncoalesced accesses",
     signs::accesses_structures,
     {.coalesced = true},
     signs::structures,
     "store a structure of arrays, so that neighbouring threads read neighbouring elements of one "
     "field; or load whole structures as vectors of 16 bytes, through shared memory",
     "struct Particles { float *x, *y, *mass; };\n"
     "p.x[i] += dt * p.vx[i];   // not p[i].x",
     ""},
    {"uncoalesced accesses",
     signs::gathers,
     {.coalesced = true},
     signs::gather,
     "the indices are data, so sort or bucket them to let neighbouring threads read neighbouring "
     "elements; reorder the table by use, store what is read together in one 32-byte sector, or "
     "copy a small table to shared memory",
     "cub::DeviceRadixSort::SortPairs(…);  // by index, once; then gather",
     ""},
    {"uncoalesced accesses",
     signs::scatters_stores,
     {.coalesced = true},
     signs::uncoalesced,
     "let neighbouring threads store neighbouring elements: threadIdx.x in the index that is "
     "contiguous in memory, or a tile in shared memory that is written along columns and stored "
     "along rows",
     "// __shared__ float tile[32][33]\n"
     "tile[threadIdx.y][threadIdx.x] = x[…];\n"
     "__syncthreads();\n"
     "y[row * ld + threadIdx.x] = tile[threadIdx.x][threadIdx.y];",
     "gemm/cuda/01",
     ""},
    {"uncoalesced accesses",
     signs::is_uncoalesced,
     {.coalesced = true},
     signs::uncoalesced,
     "let neighbouring threads access neighbouring elements: threadIdx.x in the index that is "
     "contiguous in memory, structures of arrays, or a tile in shared memory that is read along "
     "rows and written along columns",
     "x[row * ld + threadIdx.x]   // not x[threadIdx.x * ld + col]",
     "gemm/cuda/01",
     ""},
    {"misaligned accesses",
     signs::is_misaligned,
     {.coalesced = true},
     signs::misaligned,
     "begin rows at multiples of 32 bytes: pad the leading dimension, use cudaMallocPitch, or "
     "start "
     "the loop at an aligned element",
     "cudaMallocPitch(&x, &pitch, width * sizeof(float), height);",
     ""},
    {"bank conflicts",
     signs::has_strided_tree,
     {.conflict_free = true, .convergent = true, .even_warps = true},
     signs::strided_tree,
     "let the first half of the threads add what the second half has, which has no conflicts and "
     "leaves whole warps idle; add several elements per thread before the tree, and end it with "
     "shuffles, which need no barrier",
     "for (int h = blockDim.x / 2; h >= 32; h /= 2) {\n"
     "  if (t < h) s[t] += s[t + h];  // not s[2 d t] += s[2 d t + d]\n"
     "  __syncthreads();\n}",
     "dot/cuda/03"},
    {"bank conflicts",
     signs::has_conflicts,
     {.conflict_free = true},
     signs::conflicts,
     "pad the rows of the shared array by one word, or permute the columns",
     "__shared__ float tile[32][32 + 1];",
     "gemm/cuda/06",
     "dot/cuda/05"},
    {"register spills",
     signs::spills,
     {.no_spills = true},
     signs::spilled,
     "allow the thread more registers: drop the second number of __launch_bounds__ or the option "
     "-maxrregcount, or make blocks smaller; or let a thread hold fewer values",
     "__global__ void __launch_bounds__(256) kernel(…)   // not (1024, 2)",
     ""},
    {"local memory",
     signs::uses_local_memory,
     {.no_local = true},
     signs::local_memory,
     "make every index of the array a constant: unroll the loops over it, or keep it in shared "
     "memory; let a thread hold less, or allow it more registers",
     "#pragma unroll\nfor (int i = 0; i < 8; ++i) sum[i] += a[i] * b;",
     "gemm/cuda/04",
     ""},
    {"double precision by accident",
     signs::uses_doubles_needlessly,
     {.single_precision = true},
     signs::doubles,
     "write literals with f, and call the functions for float",
     "y = 0.5f * sqrtf(x);   // not 0.5 * sqrt(x)",
     ""},
    {"divisions",
     signs::divides_integers,
     {.fast_arithmetic = true},
     signs::divisions,
     "the GPU has no integer division: let extents be constants or powers of two (& and >>), count "
     "rows and columns up instead of dividing an index, use a 2D grid, or multiply by a "
     "precomputed reciprocal (umulhi)",
     "const int row = blockIdx.y;\n"
     "const int col = blockIdx.x * blockDim.x + threadIdx.x;\n"
     "// not col = i % width, row = i / width",
     ""},
    {"divisions",
     signs::divides,
     {.fast_arithmetic = true},
     signs::divisions,
     "multiply by a reciprocal that is computed once; let extents be constants or powers of two; "
     "__fdividef and rsqrtf where their rounding serves",
     "const float scale = 1.0f / n;   // once\ny[i] = x[i] * scale;",
     ""},
    {"divergence",
     signs::diverges_by_data,
     {.convergent = true},
     signs::divergence_by_data,
     "the data decide the branch, so sort or bin them by kind or length before the launch, or "
     "launch a kernel for each kind; let a warp take the next item when one is done; or compute "
     "both sides and select",
     "y[i] = x[i] > 0 ? f(x[i]) : g(x[i]);   // if both are short",
     ""},
    {"divergence",
     signs::diverges,
     {.convergent = true},
     signs::divergence,
     "let a whole warp take the same branch: decide by threadIdx.x / 32, sort the work by kind, or "
     "compute both sides and select",
     "if ((threadIdx.x / 32) % 2 == 0) { … } else { … }",
     ""},
    {"partial warps",
     signs::has_partial_warps,
     {.whole_warps = true},
     signs::partial_warps,
     "make the block a multiple of 32 threads",
     "kernel<<<(n + 255) / 256, 256>>>(…);",
     ""},
    {"repeated stores",
     signs::stores_again,
     {.stored_once = true},
     signs::repeated_stores,
     "sum up in a register, and store it once after the loop",
     "float sum = 0;\nfor (…) sum += a * b;\nc[i] = sum;",
     "gemm/cuda/00",
     ""},
    {"repeated loads",
     signs::loads_again,
     {.reused = true},
     signs::repeated_loads,
     "let the block load a tile into shared memory once, and all its threads read it there",
     "tile[threadIdx.y][threadIdx.x] = a[…];\n__syncthreads();",
     "gemm/cuda/02",
     ""},
    {"repeated passes",
     signs::passes_again,
     {.one_pass = true},
     signs::passes,
     "read the data once: keep them in registers or shared memory between passes, or merge passes, "
     "such as maximum and sum of a softmax in one loop, or the sum and the sum of squares",
     "const float m1 = fmaxf(m, x[i]);   // online softmax\n"
     "sum = sum * expf(m - m1) + expf(x[i] - m1);\nm = m1;",
     ""},
    {"tensor cores unused",
     signs::leaves_tensor_cores_idle,
     {.tensor_cores = true},
     signs::idle_tensor_cores,
     "multiply tiles with wmma, mma.sync or wgmma: the operands have 16 bits already",
     "nvcuda::wmma::mma_sync(acc, a, b, acc);   // 16 x 16 x 16 per warp",
     "gemm/cuda/20"},
    {"low occupancy",
     signs::has_few_warps,
     {.full_occupancy = true},
     signs::few_warps,
     "use less of what limits it: smaller blocks or more threads in small ones, a smaller shared "
     "tile, fewer registers (__launch_bounds__)",
     "__global__ void __launch_bounds__(256, 4) kernel(…)",
     ""},
    {"barriers",
     signs::steps_through_shared,
     {.no_barriers = true, .in_registers = true},
     signs::barriers_of_steps,
     "do more between two barriers: let a thread keep several neighbouring elements in registers, "
     "and the block take several steps on a tile with a wider halo, so that only edges go through "
     "shared memory",
     "for (int i = 0; i < 4; ++i) next[i] = u[i] + c * (u[i - 1] - 2 * u[i] + u[i + 1]);\n"
     "left[t] = next[0], right[t] = next[3];   // the edges of four elements\n"
     "__syncthreads();",
     ""},
    {"barriers",
     signs::has_barriers,
     {.no_barriers = true},
     signs::barriers,
     "do more between two barriers: larger tiles, two buffers that take turns, or shuffles within "
     "a "
     "warp, which need none",
     "sum += __shfl_down_sync(~0u, sum, offset);   // no __syncthreads()",
     "gemm/cuda/08",
     "dot/cuda/08"},
    {"narrow accesses",
     signs::has_narrow_accesses,
     {.wide = true},
     signs::narrow,
     "load and store vectors of 16 bytes",
     "const float4 v = reinterpret_cast<const float4*>(x)[i];",
     "gemm/cuda/05",
     "dot/cuda/09"},
    {"shared loads",
     signs::loads_shared_often,
     {.in_registers = true},
     signs::shared_loads,
     "let each thread compute a tile of results in registers, so that a loaded value serves "
     "several",
     "for (int i = 0; i < 8; ++i)\n  for (int j = 0; j < 8; ++j) sum[i][j] += a[i] * b[j];",
     "gemm/cuda/04",
     "dot/cuda/08"},
    {"addresses",
     signs::computes_addresses,
     {.lean_addresses = true},
     signs::addresses,
     "move what does not change out of the loop: advance a pointer rather than compute it",
     "const float* p = x + row * ld;\nfor (…) sum += *p++;",
     ""},
    {"exposed latency",
     signs::chases,
     {.overlapped = true},
     signs::chain_of_loads,
     "a load cannot start before the one it depends on, so have more of them: several chains per "
     "thread or more threads; or shorten the chain: store elements in the order of their use, in "
     "an "
     "array, and let a node hold several keys or the next two links",
     "int a = first[i], b = first[i + half];   // two chains in flight\n"
     "for (…) { a = next[a]; b = next[b]; }",
     ""},
    {"exposed latency",
     signs::waits_for_loads,
     {.overlapped = true},
     signs::waiting,
     "have several independent loads in flight: unroll the loop, load the next element before the "
     "present one is used, declare pointers const … __restrict__",
     "const float a = x[i], b = x[i + stride];  // both, then use a",
     "dot/cuda/09"},
    {"last wave",
     signs::has_tail,
     {.no_tail = true},
     signs::tail,
     "choose the grid so that its last wave is full, or let persistent blocks share the work",
     "kernel<<<blocks_of_a_wave, threads>>>(…);  // each loops",
     "gemm/cuda/26",
     "dot/cuda/09"},
};

}  // namespace

std::span<const Disease> diseases() { return table; }

}  // namespace rung::analysis::diagnosis
