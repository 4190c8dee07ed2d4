// rewrite_asm < preprocessed > rewritten
// Makes calls of inline PTX; see rewrite_asm.h.

#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>

#include "common/executor/ptx/rewrite_asm.h"

int main() {
  const std::string source{std::istreambuf_iterator<char>(std::cin),
                           std::istreambuf_iterator<char>()};
  const auto rewritten = stridewise::executor::RewriteAsm(source);
  if (!rewritten.ok()) {
    std::cerr << rewritten.status().message() << "\n";
    return 1;
  }
  std::fwrite(rewritten->data(), 1, rewritten->size(), stdout);
  return std::fflush(stdout) == 0 ? 0 : 1;
}
