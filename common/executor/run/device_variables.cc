#include "common/executor/run/device_variables.h"

#include <cxxabi.h>
#include <elf.h>
#include <link.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "common/executor/run/rewriter.h"

namespace stridewise::executor {
namespace {

// Returns what is added to the addresses in the program's file.
uintptr_t LoadBias() {
  uintptr_t bias = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        *static_cast<uintptr_t*>(out) = info->dlpi_addr;
        return 1;  // The first object is the program.
      },
      &bias);
  return bias;
}

std::string Demangled(const char* symbol) {
  int status = 0;
  char* name = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  const std::string result = status == 0 ? name : symbol;
  std::free(name);
  return result;
}

}  // namespace

std::vector<DeviceVariable> DeviceVariablesOfProgram() {
  std::vector<DeviceVariable> variables;
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const std::string elf((std::istreambuf_iterator<char>(file)), {});
  Elf64_Ehdr header;
  if (elf.size() < sizeof(header)) return variables;
  std::memcpy(&header, elf.data(), sizeof(header));
  if (header.e_shoff + uint64_t{header.e_shnum} * sizeof(Elf64_Shdr) > elf.size()) return variables;
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), elf.data() + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  const auto name_of = [&](const Elf64_Shdr& section) -> absl::string_view {
    return elf.data() + sections[header.e_shstrndx].sh_offset + section.sh_name;
  };
  const uintptr_t bias = LoadBias();
  for (const Elf64_Shdr& table : sections) {
    if (table.sh_type != SHT_SYMTAB) continue;
    const char* names = elf.data() + sections[table.sh_link].sh_offset;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, elf.data() + table.sh_offset + at, sizeof(symbol));
      if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_size == 0 ||
          symbol.st_shndx >= sections.size()) {
        continue;
      }
      const absl::string_view section = name_of(sections[symbol.st_shndx]);
      const bool constant = absl::StartsWith(section, kConstantSection);
      if (!constant && !absl::StartsWith(section, kDeviceSection)) continue;
      variables.push_back(
          {Demangled(names + symbol.st_name), bias + symbol.st_value, symbol.st_size, constant});
    }
  }
  return variables;
}

}  // namespace stridewise::executor
