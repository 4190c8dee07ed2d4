#include "common/executor/device_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace stridewise::executor {
namespace {

absl::Status OutOfAddressSpace(absl::string_view name, size_t bytes) {
  return absl::ResourceExhaustedError(
      absl::StrCat(name, ": no room for ", bytes, " bytes of the host executor's memory"));
}

}  // namespace

std::unique_ptr<LazyPages> LazyPages::Map(size_t bytes) {
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) return nullptr;
  return std::unique_ptr<LazyPages>(new LazyPages(data, bytes));
}

LazyPages::~LazyPages() { munmap(data_, bytes_); }

void LazyPages::Clear() { madvise(data_, bytes_, MADV_DONTNEED); }

absl::StatusOr<std::unique_ptr<DeviceMemory>> DeviceMemory::Create() {
  std::unique_ptr<LazyPages> arena = LazyPages::Map(kArenaBytes);
  if (arena == nullptr) return OutOfAddressSpace("arena", kArenaBytes);
  return std::unique_ptr<DeviceMemory>(new DeviceMemory(std::move(arena)));
}

DeviceMemory::DeviceMemory(std::unique_ptr<LazyPages> arena)
    : arena_(std::move(arena)),
      base_(reinterpret_cast<uintptr_t>(arena_->As<void>())),
      owner_(kArenaBytes / kChunkBytes) {}

absl::StatusOr<Region*> DeviceMemory::Allocate(absl::string_view name, size_t bytes) {
  // Buffers start at different offsets in their chunks: they would otherwise compete for the same
  // lines of the host's caches.
  const size_t skew = regions_.size() % 16 * 4352;
  const size_t chunks = (bytes + skew + kChunkBytes - 1) / kChunkBytes;
  const size_t with_guards = chunks + 2;

  // First fit from the cursor, then from the start, so that addresses are not reused soon.
  const auto free_run = [&](size_t from, size_t to) -> size_t {
    for (size_t first = from, length = 0, i = from; i < to; ++i) {
      length = owner_[i] == nullptr ? length + 1 : 0;
      if (length == 0) first = i + 1;
      if (length == with_guards) return first + 1;
    }
    return 0;
  };
  size_t first = free_run(cursor_ - 1, owner_.size());
  if (first == 0) first = free_run(0, owner_.size());
  if (first == 0) return OutOfAddressSpace(name, bytes);

  auto region = std::make_unique<Region>();
  region->name = std::string(name);
  region->bytes = bytes;
  region->base = base_ + first * kChunkBytes + skew;
  region->first_chunk = first;
  region->chunks = chunks;
  region->written_pages = LazyPages::Map(bytes);
  region->cell_pages = LazyPages::Map(bytes * sizeof(Cell));  // Enough for cells of 1 byte.
  if (region->written_pages == nullptr || region->cell_pages == nullptr) {
    return OutOfAddressSpace(name, bytes);
  }
  region->written = region->written_pages->As<uint8_t>();
  region->cells = region->cell_pages->As<Cell>();
  std::fill_n(owner_.begin() + static_cast<ptrdiff_t>(first), chunks, region.get());
  cursor_ = first + chunks + 1;
  std::memset(reinterpret_cast<void*>(region->base), 0xff, bytes);
  regions_.push_back(std::move(region));
  return regions_.back().get();
}

absl::StatusOr<Region*> DeviceMemory::Adopt(absl::string_view name, uintptr_t base, size_t bytes,
                                            size_t reserved_bytes) {
  auto region = std::make_unique<Region>();
  region->name = std::string(name);
  region->base = base;
  region->bytes = bytes;
  region->reserved_bytes = reserved_bytes;
  region->initialised = true;
  region->cell_pages = LazyPages::Map((bytes + 16) * sizeof(Cell));
  if (region->cell_pages == nullptr) return OutOfAddressSpace(name, bytes);
  region->cells = region->cell_pages->As<Cell>();
  const auto after = std::upper_bound(adopted_.begin(), adopted_.end(), base,
                                      [](uintptr_t at, const Region* r) { return at < r->base; });
  adopted_.insert(after, region.get());
  regions_.push_back(std::move(region));
  return regions_.back().get();
}

Region* DeviceMemory::FindAdopted(uintptr_t address) const {
  const auto after = std::upper_bound(adopted_.begin(), adopted_.end(), address,
                                      [](uintptr_t at, const Region* r) { return at < r->base; });
  if (after == adopted_.begin()) return nullptr;
  Region* region = *(after - 1);
  return address - region->base < region->reserved_bytes ? region : nullptr;
}

void DeviceMemory::Free(Region* region) {
  const auto adopted = std::find(adopted_.begin(), adopted_.end(), region);
  if (adopted != adopted_.end()) adopted_.erase(adopted);
  std::fill_n(owner_.begin() + static_cast<ptrdiff_t>(region->first_chunk), region->chunks,
              nullptr);  // No chunk of an adopted buffer is in the arena.
  if (region->chunks > 0) {
    madvise(reinterpret_cast<void*>(base_ + region->first_chunk * kChunkBytes),
            region->chunks * kChunkBytes, MADV_DONTNEED);
  }
  regions_.erase(std::find_if(regions_.begin(), regions_.end(),
                              [&](const auto& r) { return r.get() == region; }));
}

const Region* DeviceMemory::Nearest(uintptr_t address) const {
  const Region* nearest = nullptr;
  uintptr_t least = UINTPTR_MAX;
  for (const auto& region : regions_) {
    const uintptr_t end = region->base + region->bytes;
    const uintptr_t distance = address < region->base ? region->base - address
                               : address < end        ? 0
                                                      : address - end + 1;
    if (distance < least) {
      least = distance;
      nearest = region.get();
    }
  }
  return nearest;
}

void MemorySnapshot::Save(Region* region) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Saved& saved : saved_) {
    if (saved.region == region) return;
  }
  const auto* data = reinterpret_cast<const uint8_t*>(region->base);
  Saved saved{region, {data, data + region->bytes}, {}};
  if (!region->initialised) {
    saved.written.assign(region->written, region->written + region->bytes);
  }
  saved_.push_back(std::move(saved));
}

void MemorySnapshot::SaveAllThatKernelsMayWrite(const DeviceMemory& memory) {
  for (const auto& region : memory.regions()) {
    if (!region->read_only) Save(region.get());
  }
}

void MemorySnapshot::Restore() const {
  for (const Saved& saved : saved_) {
    std::memcpy(reinterpret_cast<void*>(saved.region->base), saved.bytes.data(),
                saved.bytes.size());
    if (!saved.written.empty()) {
      std::memcpy(saved.region->written, saved.written.data(), saved.written.size());
    }
  }
}

}  // namespace stridewise::executor
