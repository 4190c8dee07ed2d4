#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmarks/matmul/operation.h"
#include "matmul/registry.h"

namespace stridewise {
namespace {

// The implementations of the GPU, apart from the slowest four if `all` is false. They are listed by
// name so that new ones join.
std::string DeviceImplementations(bool all) {
  std::string names;
  for (const MatMulImplementation& i : MatMulImplementations()) {
    const bool slow = i.name == "naive_one_thread_blocks" || i.name == "naive_uncoalesced" ||
                      i.name == "global_accumulation" || i.name == "tile_width_1";
    const bool fp32 = TakesType(i, ElementType::kFloat);
    if (i.on_device() && fp32 && (all || !slow))
      absl::StrAppend(&names, names.empty() ? "" : ",", i.name);
  }
  return names;
}

constexpr char kFrontSizes[] = "1024,2048,4096,8192";
// Dense where the kernel alone begins to win, and up to where copies in pageable memory are made up
// for; with the assignment's 41.
constexpr char kCrossoverSizes[] = "8:128:8,41,160:512:32,640:2048:128,4096";

std::vector<Preset>* MakePresets() {
  return new std::vector<Preset>{
      {"default",
       "what the first look shows: CPU, naive, tiled and cuBLAS over the powers of two and 1000",
       {Selection("cpu_naive").Sizes("32:512:*2"),
        Selection("eigen*,naive*").Sizes("32:2048:*2,1000"),
        Selection("tiled*,cublas*").Sizes("32:4096:*2,1000")}},
      {"cublas_vs_eigen",
       "the assignment's first study: cuBLAS against Eigen to 10000, cuBLAS alone to 26000",
       {Selection("eigen,cublas").Sizes("1:5001:10,5000:10000:1000"),
        Selection("cublas").Sizes("10000:26000:1000")}},
      {"own_kernels",
       "the assignment's second study: CPU to 1024, naive to 2048, tiled to 4096",
       {Selection("cpu_naive").Sizes("1:991:10,1000:4000:100,32:4096:*2").MaxSize(1024),
        Selection("naive*").Sizes("1:991:10,1000:4000:100,32:4096:*2").MaxSize(2048),
        Selection("tiled*").Sizes("1:991:10,1000:4000:100,32:4096:*2")}},
      {"proof",
       "random shapes up to 1024: all implementations against the FP64 reference and each other",
       {Selection("*").RandomShapes(10)},
       /*cross_check=*/true},
      // 256 is what the host executor counts within a second a kernel.
      {"ladder",
       "every kernel of the GPU at 256 (with its memory behaviour), 1024, 4096, and at 8192 "
       "without the slowest four",
       {Selection(DeviceImplementations(/*all=*/true)).Sizes("256,1024,4096"),
        Selection(DeviceImplementations(/*all=*/false)).Sizes("8192")}},
      {"cpu",
       "the CPU's ladder and the libraries that are installed, on one core and on all",
       {Selection("cpu_naive,cpu_loop_order,cpu_blocked").Sizes("256,1024"),
        Selection("cpu_packed,*_1core").Sizes("8,16,32,48,64,100,128,256,512,1000,1024,2048"),
        Selection("cpu_threads,eigen,openblas,blis,onednn")
            .Sizes("64,128,256,512,1000,1024,2048,4096"),
        Selection("cpu_packed,onednn_1core,onednn_matmul_1core")
            .Sizes("64,128,256,512,1000,1024,2048")
            .Types("bf16_float"),
        Selection("cpu_threads,onednn,onednn_matmul")
            .Sizes("256,512,1000,1024,2048,4096")
            .Types("bf16_float")}},
      {"crossover",
       "from which size on the GPU is faster, kernel alone and with copies, than the best CPU",
       {Selection("auto,naive,cublas,cpu_threads,eigen,openblas,blis,onednn")
            .Sizes(kCrossoverSizes),
        Selection("cpu_packed,*_1core").Sizes(kCrossoverSizes).MaxSize(256)}},
      {"tile_width",
       "the assignment's remarks: tiles of width 1, 8, 16 and 32 beside naive, and sums in global "
       "memory",
       {Selection("naive,naive_one_thread_blocks,global_accumulation,tile_width_*,tiled")
            .Sizes("256,1024,2048")}},
      {"tensor_ladder",
       "the steps of tensor cores, from wmma to tile_bands, beside tensor_tile and cuBLAS, in BF16",
       {Selection("wmma,mma_sync,wgmma,tma,warp_roles,cluster,persistent,tile_bands,tensor_tile,"
                  "cublas")
            .Sizes("1024,2048,4096,8192")
            .Types("bf16")}},
      // With --verify=full, which compares every element. Rows of floats come in the precision that
      // they name; cuBLAS has none for fp32_split.
      {"front",
       "speed against error: every scheme of fp32_split and fp32_medium, TF32, 16 bits, floats "
       "rounded to these, FP32 and FP64, and cuBLAS",
       {Selection("cublas").Sizes(kFrontSizes).Types("double"),
        Selection("auto,cublas,cublas_pedantic").Sizes(kFrontSizes),
        Selection("split_*").Sizes(kFrontSizes).Axis("precision", "fp32_split"),
        Selection("split_fp8").Sizes(kFrontSizes).Axis("precision", "fp32_medium"),
        Selection("tensor_tf32,cublas,cublaslt").Sizes(kFrontSizes).Axis("precision", "tf32"),
        Selection("tensor_rounded,cublas,cublaslt")
            .Sizes(kFrontSizes)
            .Axis("precision", "bf16,fp16"),
        Selection("tensor,cublas,cublaslt").Sizes(kFrontSizes).Types("bf16_float,fp16_float")},
       /*cross_check=*/false,
       /*pair_with=*/"cublas"},
      // Three matrices of 113000 x 113000 floats have 153.2e9 bytes, an H200 has 150.8e9.
      {"out_of_memory",
       "matrices that exceed a card of 141 GB, beside ones that do not",
       {Selection("naive,tiled,auto,cublas").Sizes("113000,1024")}},
  };
}

Limit TensorLimit(const char* name, const Selection& selection, double floor, double aim) {
  return {name, selection, {{"cublas", floor, aim}, {"cublaslt", floor, aim}}, "tensor_limits"};
}

// Floats as pairs of FP16 numbers, beside cuBLAS's SGEMM, which has no such path; or as INT8
// numbers, which uniform operands allow.
Limit SplitLimit(const char* name, const char* size, double floor, double aim,
                 const char* precision = "fp32_split") {
  return {name,
          Selection("auto").Sizes(size).Axis("precision", precision),
          {{"cublas", floor, aim}},
          "precision"};
}

// Of the host, on one core and on all. The peers are Eigen and the fastest of three libraries.
Limit OneCoreLimit(const char* name, std::string sizes, double eigen, double best, double peak) {
  Limit limit = {
      name, Selection("cpu_packed").Sizes(std::move(sizes)), {{"eigen", eigen}}, "cpu_limits"};
  for (const char* peer : {"openblas_1core", "blis_1core", "onednn_1core"}) {
    if (best > 0) limit.floors.push_back({peer, best});
  }
  if (peak > 0) limit.floors.push_back({kPeakPeer.data(), peak});
  return limit;
}

Limit AllCoresLimit(const char* name, std::string sizes) {
  return {name,
          Selection("cpu_threads").Sizes(std::move(sizes)),
          {{"eigen", 1.15}, {"openblas", 1.0}, {"blis", 1.0}, {"onednn", 1.0}},
          "cpu_limits"};
}

// The same in bfloat16, which Eigen and BLAS libraries lack: the peers are both of oneDNN's ways.
Limit Bf16Limit(const char* name, const Selection& selection, double peak) {
  const bool one_core = selection.implementations == "cpu_packed";
  Limit limit = {name,
                 selection,
                 {{"onednn_matmul", 1.0}, {one_core ? "onednn_1core" : "onednn", 1.0}},
                 "cpu_limits"};
  if (peak > 0) limit.floors.push_back({kPeakPeer.data(), peak});
  return limit;
}

constexpr char kHostDecodeShapes[] =
    "1x4096x4096,8x4096x4096,16x4096x4096,32x4096x4096,64x4096x4096,4096x8x4096";

std::vector<Limit>* MakeLimits() {
  // Floors are of the speed over that of cuBLAS in its default math mode.
  return new std::vector<Limit>{
      {"large squares", Selection("auto").Sizes("4096,8192,16384"), {{"cublas", 1.03}}},
      {"middle squares", Selection("auto").Sizes("512,768,1024,1536,2048"), {{"cublas", 1.05}}},
      {"small squares",
       Selection("auto").Sizes("1,2,4,8,16,32,64,100,128,200,256"),
       {{"cublas", 1.3}}},
      {"ragged",
       Selection("auto").Sizes("4097,5003,8191").Shapes("4099x2053x8191"),
       {{"cublas", 1.03}}},
      {"skinny",
       Selection("auto").Shapes("16x16384x16384,16384x16x16384,128x128x100000,1x4096x4096,"
                                "1x16384x16384,4096x1x4096"),
       {{"cublas", 1.10}}},
      {"other layouts",
       Selection("auto").Sizes("4096").Axis("layouts", "nt,tn,tt,nn_col"),
       {{"cublas", 1.0}}},
      {"beta", Selection("auto").Sizes("4096").Axis("beta", "0.5"), {{"cublas", 1.0}}},
      {"batch", Selection("auto").Sizes("64").Batch(1000), {{"cublas", 1.0}}},
      // Of tensor cores. The peer is the faster one of cuBLAS and cuBLASLt's best.
      TensorLimit("16-bit 1024", Selection("auto").Sizes("1024").Types("bf16,fp16"), 1.0, 1.2),
      TensorLimit("16-bit 2048", Selection("auto").Sizes("2048").Types("bf16,fp16"), 0.97, 1.05),
      TensorLimit("16-bit 4096", Selection("auto").Sizes("4096").Types("bf16,fp16"), 0.99, 1.03),
      TensorLimit("16-bit 8192", Selection("auto").Sizes("8192").Types("bf16,fp16"), 1.01, 1.03),
      TensorLimit("16-bit 16384", Selection("auto").Sizes("16384").Types("bf16"), 1.005, 1.02),
      TensorLimit("16-bit between", Selection("auto").Sizes("512,1536,3072").Types("bf16"), 0.97,
                  1.05),
      TensorLimit("decode",
                  Selection("auto")
                      .Shapes("1x4096x4096,8x4096x4096,16x4096x4096,32x4096x4096,64x4096x4096,"
                              "1x14336x4096,16x14336x4096,64x14336x4096,1x4096x14336,"
                              "16x4096x14336,64x4096x14336,8x11008x4096,4096x1x4096,"
                              "14336x16x4096,4096x64x14336")
                      .Types("bf16")
                      .Axis("layouts", "nt,nn"),
                  1.0, 1.2),
      TensorLimit("rows that the TMA cannot address",
                  Selection("auto").Sizes("255,1001,2047,4095").Types("bf16"), 1.0, 0),
      // Of the precisions between. Operands of 8 bits are K-major, as cuBLASLt takes them.
      SplitLimit("fp32_split 1024", "1024", 3.0, 3.6),
      SplitLimit("fp32_split 2048", "2048", 3.7, 4.3),
      SplitLimit("fp32_split 4096", "4096", 4.3, 4.8),
      SplitLimit("fp32_split 8192 and 16384", "8192,16384", 4.6, 5.2),
      SplitLimit("fp32_split_int8 4096", "4096", 4.7, 5.2, "fp32_split_int8"),
      SplitLimit("fp32_split_int8 8192 and 16384", "8192,16384", 5.1, 5.6, "fp32_split_int8"),
      {"TF32",
       Selection("auto")
           .Sizes("4096,8192,16384")
           .Axis("precision", "tf32")
           .Axis("layouts", "nn,nt,tn,tt"),
       {{"cublas", 0.97, 1.05}, {"cublaslt", 0.97, 1.05}},
       "precision"},
      {"FP8 with tensor scales",
       Selection("auto").Sizes("4096,8192,16384").Types("e4m3_bf16").Axis("layouts", "nt"),
       {{"cublaslt", 0.95, 1.05}},
       "precision"},
      {"INT8",
       Selection("auto").Sizes("4096,8192,16384").Types("s8_int").Axis("layouts", "nt"),
       {{"cublaslt", 1.0, 1.3}},
       "precision"},
      OneCoreLimit("small, one core", "8,16,32,48,64,100,128", 1.5, 0, 0),
      OneCoreLimit("one core", "256,384,512,768,1000", 1.15, 1.0, 0),
      OneCoreLimit("large, one core", "1024,2048,4096,8192", 1.15, 1.0, 0.9),
      AllCoresLimit("all cores", "256,384,512,768,1000,1024,2048,4096,8192"),
      Bf16Limit("BF16, one core",
                Selection("cpu_packed").Sizes("64,128,256,512,768,1000").Types("bf16_float"), 0),
      Bf16Limit("large in BF16, one core",
                Selection("cpu_packed").Sizes("1024,2048,4096").Types("bf16_float"), 0.9),
      Bf16Limit(
          "BF16, all cores",
          Selection("cpu_threads").Sizes("256,512,768,1000,1024,2048,4096").Types("bf16_float"), 0),
      Bf16Limit("decode in BF16, one core",
                Selection("cpu_packed")
                    .Shapes(kHostDecodeShapes)
                    .Types("bf16_float")
                    .Axis("layouts", "nt,nn"),
                0),
      Bf16Limit("decode in BF16, all cores",
                Selection("cpu_threads")
                    .Shapes(kHostDecodeShapes)
                    .Types("bf16_float")
                    .Axis("layouts", "nt,nn"),
                0),
  };
}

}  // namespace

absl::Span<const Preset> MatMulPresets() {
  static const std::vector<Preset>& presets = *MakePresets();
  return presets;
}

absl::Span<const Limit> MatMulLimits() {
  static const std::vector<Limit>& limits = *MakeLimits();
  return limits;
}

}  // namespace stridewise
