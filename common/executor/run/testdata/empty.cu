// A kernel and a program that do nothing: what compiling any program takes.

__global__ void Nothing() {}

int main() { return 0; }
