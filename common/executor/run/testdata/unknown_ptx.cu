__global__ void Unknown(unsigned* out) {
  unsigned a = 0;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(a));
  asm volatile("bmsk.clamp.b32 %0, 1, 2;" : "=r"(a));
  asm("teleport.b32 %0;" : "=r"(a));
  *out = a;
}
int main() {}
