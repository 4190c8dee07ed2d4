// Graphs: what a captured stream keeps, a second stream that joins it by an event, launches with
// changed data, an update, and what must not be done while a stream is captured.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                        \
  if (const cudaError_t error = (call)) {                                  \
    std::fprintf(stderr, "%d: %s\n", __LINE__, cudaGetErrorString(error)); \
    std::exit(1);                                                          \
  }

__global__ void Add(int* to, const int* from, int value, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) to[i] += from[i] + value;
}

int failures = 0;
void Expect(const char* what, int got, int wanted) {
  if (got == wanted) return;
  ++failures;
  std::fprintf(stderr, "%s: %d, wanted %d\n", what, got, wanted);
}

constexpr int kN = 300;
constexpr size_t kBytes = kN * sizeof(int);

int main() {
  int *to, *from, *host, calls = 0;
  CHECK(cudaMalloc(&to, kBytes));
  CHECK(cudaMalloc(&from, kBytes));
  CHECK(cudaMallocHost(&host, kBytes));
  for (int i = 0; i < kN; ++i) host[i] = i;
  CHECK(cudaMemset(to, 0, kBytes));

  cudaStream_t stream, side;
  cudaEvent_t begun, done;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamCreate(&side));
  CHECK(cudaEventCreate(&begun));
  CHECK(cudaEventCreate(&done));
  cudaGraph_t graph;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMemcpyAsync(from, host, kBytes, cudaMemcpyHostToDevice, stream));
  CHECK(cudaEventRecord(begun, stream));
  CHECK(cudaStreamWaitEvent(side, begun));
  for (int value = 1; value <= 2; ++value) Add<<<3, 128, 0, side>>>(to, from, value, kN);
  CHECK(cudaLaunchHostFunc(
      side, [](void* p) { ++*static_cast<int*>(p); }, &calls));
  CHECK(cudaEventRecord(done, side));
  CHECK(cudaStreamWaitEvent(stream, done));
  CHECK(cudaMemcpyAsync(host, to, kBytes, cudaMemcpyDeviceToHost, stream));
  cudaStreamCaptureStatus status;
  CHECK(cudaStreamIsCapturing(side, &status));
  Expect("the second stream is captured", status, cudaStreamCaptureStatusActive);
  Add<<<3, 128>>>(to, from, 100, kN);
  Expect("a launch in the default stream", cudaGetLastError(), cudaErrorStreamCaptureImplicit);
  CHECK(cudaStreamEndCapture(stream, &graph));
  Expect("a second end", cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState);
  Expect("nothing has run", host[7] + calls, 7);
  size_t nodes;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  Expect("nodes", static_cast<int>(nodes), 5);

  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  Expect("once", host[7], 2 * 7 + 3);
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  Expect("twice, of what the host has now", host[7], 17 + 2 * 17 + 3);
  Expect("calls", calls, 2);

  // After the capture a stream runs at once again.
  Add<<<3, 128, 0, side>>>(to, from, 1, kN);
  CHECK(cudaMemcpy(host, to, kBytes, cudaMemcpyDeviceToHost));
  Expect("outside of a capture", host[7], 54 + 17 + 1);

  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  CHECK(cudaMemsetAsync(to, 0, kBytes, stream));
  CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExecUpdateResultInfo info;
  CHECK(cudaGraphExecUpdate(exec, graph, &info));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaMemcpy(host, to, kBytes, cudaMemcpyDeviceToHost));
  Expect("updated", host[7], 0);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  return failures;
}
