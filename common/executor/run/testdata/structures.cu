// Structures of floats, which are aligned to 4 bytes whatever their size: no access of one is wider
// than that, and none is a finding.

#include <cstdio>

struct Point {
  float x, y, z;
};
struct Line {
  Point from, to;
  float length;
};
struct Labelled {
  int label;
  struct {
    float real, imaginary;
  } value;
};

__host__ __device__ Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }

__global__ void Connect(Point* sums, Line* lines, Labelled* labels, const Point* a, const Point* b,
                        int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  sums[i] = a[i] + b[i];
  lines[i] = Line{a[i], b[i], 1.f};
  labels[i].value = {a[i].x, b[i].y};
  labels[i].label = i;
}

int main() {
  constexpr int kPoints = 200;
  Point *sums, *a, *b;
  Line* lines;
  Labelled* labels;
  cudaMallocManaged(&sums, kPoints * sizeof(Point));
  cudaMallocManaged(&a, kPoints * sizeof(Point));
  cudaMallocManaged(&b, kPoints * sizeof(Point));
  cudaMallocManaged(&lines, kPoints * sizeof(Line));
  cudaMallocManaged(&labels, kPoints * sizeof(Labelled));
  for (int i = 0; i < kPoints; ++i) {
    a[i] = {1.f * i, 1.f, 2.f};
    b[i] = {3.f, 1.f * i, 5.f};
  }
  Connect<<<2, 128>>>(sums, lines, labels, a, b, kPoints);
  cudaDeviceSynchronize();
  for (int i = 0; i < kPoints; ++i) {
    const bool right = sums[i].x == i + 3.f && sums[i].y == i + 1.f && sums[i].z == 7.f &&
                       lines[i].from.x == i && lines[i].to.y == i && lines[i].length == 1.f &&
                       labels[i].label == i && labels[i].value.imaginary == i;
    if (right) continue;
    std::printf("element %d is wrong\n", i);
    return 1;
  }
  return 0;
}
