#include "benchmarks/harness/row_pair.h"

namespace stridewise {

RowPair PairedWith(const Config& config, const Peer* peer) {
  if (peer == nullptr || config.implementation->on_host_memory) return {};
  const Operation& operation = *config.operation;
  const Implementation& own = *config.implementation;
  const bool one_core = !own.on_device() && !operation.UsesAllCores(own);
  const bool has_twin = one_core && peer->on_one_core != nullptr;
  // Another peer has a column of its own.
  const Peer* const next =
      peer->otherwise == nullptr ? nullptr : operation.FindPeer(peer->otherwise);
  const char* const stand_in = next == nullptr ? peer->otherwise : nullptr;
  for (const char* name : {has_twin ? peer->on_one_core : peer->implementation, stand_in}) {
    const Implementation* found = name == nullptr ? nullptr : operation.Find(name);
    if (found == nullptr || found->on_device() != own.on_device()) continue;
    if (found == &own && !own.on_device()) continue;
    if (operation.CheckSupported(*found, config.point).ok()) return {found, peer};
  }
  return PairedWith(config, next);
}

}  // namespace stridewise
