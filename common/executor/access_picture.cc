// Writes the record as JSON into access_picture.html, which draws it.
//
// Most requests of a kernel repeat the pattern of another one at another address. What they have in
// common (the lanes' distances, the alignment, the cost) is a shape, written once, so that a
// request is five numbers.

#include "common/executor/access_picture.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/executor/access_record.h"
#include "common/executor/coalescer.h"
#include "common/executor/source_view.h"
#include "common/executor/symbolizer.h"
#include "common/executor/trace.h"

namespace stridewise::executor {
namespace {

constexpr char kPage[] =
#include "common/executor/access_picture_page.inc"
    ;

// Numbers keys in the order in which they are first asked for.
template <typename Key>
class Numbers {
 public:
  size_t Of(const Key& key) {
    const auto [found, is_new] = numbers_.emplace(key, keys_.size());
    if (is_new) keys_.push_back(key);
    return found->second;
  }
  const std::vector<Key>& keys() const { return keys_; }

 private:
  std::map<Key, size_t> numbers_;
  std::vector<Key> keys_;
};

// A string of JSON within a page: no character of it ends the script element.
std::string Quoted(absl::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      absl::StrAppend(&quoted, "\\", std::string(1, c));
    } else if (static_cast<unsigned char>(c) < 0x20 || c == '<') {
      absl::StrAppend(&quoted, absl::StrFormat("\\u%04x", int{c}));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

template <typename Items, typename Fn>
std::string List(const Items& items, Fn&& text_of) {
  return absl::StrCat("[",
                      absl::StrJoin(items, ",",
                                    [&](std::string* out, const auto& item) {
                                      absl::StrAppend(out, text_of(item));
                                    }),
                      "]");
}

std::string Extents(const Extent3& extent) {
  return absl::StrCat("[", extent.x, ",", extent.y, ",", extent.z, "]");
}

// A request but for its place: the kind and the width of its access, its lanes, how far each lies
// behind the first, and the alignment on which its cost depends.
struct Shape {
  EventKind kind;
  int bytes;
  uint32_t lanes;
  int64_t
      alignment;  // Of the first lane's access, in the 128 bytes of a cache line or of all banks.
  std::array<int64_t, kWarpLanes> behind;

  bool operator<(const Shape& other) const {
    const auto fields = [](const Shape& s) {
      return std::tie(s.kind, s.bytes, s.lanes, s.alignment, s.behind);
    };
    return fields(*this) < fields(other);
  }
};

int64_t FirstOffset(const AccessRequest& request) {
  return request.offset[__builtin_ctz(request.lanes)];
}

Shape ShapeOf(const AccessRequest& request) {
  const int64_t first = FirstOffset(request);
  Shape shape{
      SiteKind(request.site), SiteBytes(request.site), request.lanes, first & (kLineBytes - 1), {}};
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if ((request.lanes >> lane & 1) != 0) shape.behind[lane] = request.offset[lane] - first;
  }
  return shape;
}

std::string ShapeJson(const Shape& shape) {
  // In the middle of the address space, as a lane may lie before the first one.
  uint64_t address[kWarpLanes];
  std::vector<std::string> behind;
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    address[lane] = (uint64_t{1} << 62) + shape.alignment + shape.behind[lane];
    const bool active = (shape.lanes >> lane & 1) != 0;
    behind.push_back(active ? absl::StrCat(shape.behind[lane]) : "null");
  }
  std::string json =
      absl::StrCat("{\"bytes\":", shape.bytes, ",\"lanes\":[", absl::StrJoin(behind, ","), "]");
  if (IsShared(shape.kind)) {
    const SharedCost cost =
        CoalesceShared(address, shape.lanes, shape.bytes, shape.kind != EventKind::kSharedLoad);
    absl::StrAppend(&json, ",\"distinct\":", cost.distinct_bytes,
                    ",\"wavefronts\":", cost.wavefronts, ",\"ideal\":", cost.ideal_wavefronts,
                    ",\"together\":", cost.lanes_together, "}");
  } else {
    const GlobalCost cost = CoalesceGlobal(address, shape.lanes, shape.bytes);
    absl::StrAppend(&json, ",\"distinct\":", cost.distinct_bytes, ",\"sectors\":", cost.sectors,
                    ",\"ideal\":", cost.ideal_sectors, "}");
  }
  return json;
}

// Returns a launch whose sites are at `places`.
std::string LaunchJson(const LaunchReport& launch, const std::map<Site, SourceLine>& places,
                       Numbers<std::string>* files) {
  Numbers<Site> sites;
  Numbers<Shape> shapes;
  std::vector<std::vector<std::string>> warps(
      (launch.block.x * launch.block.y * launch.block.z + kWarpLanes - 1) / kWarpLanes);
  for (const AccessRequest& request : launch.accesses.requests) {
    warps[request.warp].push_back(
        absl::StrCat("[", sites.Of(request.site), ",", shapes.Of(ShapeOf(request)), ",",
                     request.buffer, ",", FirstOffset(request), ",", request.barriers, "]"));
  }
  const auto buffer_json = [](const AccessRecord::Buffer& buffer) {
    return absl::StrCat("[", Quoted(buffer.name), ",", buffer.bytes, "]");
  };
  const auto site_json = [&](Site site) {
    const SourceLine& place = places.at(site);
    return absl::StrCat("[", files->Of(place.file), ",", place.line, ",",
                        Quoted(KindName(SiteKind(site))), "]");
  };
  const auto warp_json = [](const std::vector<std::string>& requests) {
    return absl::StrCat("[", absl::StrJoin(requests, ","), "]");
  };
  return absl::StrCat("{\"kernel\":", Quoted(Executor::KernelName(launch)),
                      ",\"grid\":", Extents(launch.grid), ",\"block\":", Extents(launch.block),
                      ",\"index\":", Extents(launch.accesses.block),
                      ",\"leftOut\":", launch.accesses.left_out,
                      ",\n\"buffers\":", List(launch.accesses.buffers, buffer_json),
                      ",\n\"sites\":", List(sites.keys(), site_json),
                      ",\n\"shapes\":", List(shapes.keys(), ShapeJson),
                      ",\n\"warps\":", List(warps, warp_json), "}");
}

std::string SourceJson(const std::string& file) {
  const absl::StatusOr<SourceText> source = ReadSource(file, /*root=*/"");
  std::vector<absl::string_view> lines;
  if (source.ok()) lines = absl::StrSplit(absl::StripSuffix(source->text, "\n"), '\n');
  return absl::StrCat("{\"file\":", Quoted(file), ",\"lines\":", List(lines, Quoted), "}");
}

std::vector<const LaunchReport*> Recorded(const std::vector<LaunchReport>& launches) {
  std::vector<const LaunchReport*> recorded;
  for (const LaunchReport& launch : launches) {
    if (!launch.accesses.requests.empty()) recorded.push_back(&launch);
  }
  return recorded;
}

}  // namespace

std::string AccessPictureHtml(absl::string_view title, const std::vector<LaunchReport>& launches) {
  std::map<Site, SourceLine> places;
  for (const LaunchReport* launch : Recorded(launches)) {
    for (const AccessRequest& request : launch->accesses.requests) places[request.site];
  }
  std::vector<uintptr_t> calls;
  for (const auto& [site, place] : places) calls.push_back(SitePc(site));
  const std::vector<SourceLine> symbolized = SymbolizeCalls(calls);
  size_t i = 0;
  for (auto& [site, place] : places) place = symbolized[i++];

  Numbers<std::string> files;
  const std::string launches_json = List(
      Recorded(launches), [&](const LaunchReport* l) { return LaunchJson(*l, places, &files); });
  const std::string data =
      absl::StrCat("{\"title\":", Quoted(title), ",\n\"launches\":", launches_json,
                   ",\n\"sources\":", List(files.keys(), SourceJson), "}");
  const std::string escaped_title =
      absl::StrReplaceAll(title, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}});
  return absl::StrReplaceAll(kPage, {{"{{title}}", escaped_title}, {"{{data}}", data}});
}

absl::Status WriteAccessPicture(const std::string& path, absl::string_view title,
                                const std::vector<LaunchReport>& launches) {
  if (Recorded(launches).empty()) {
    return absl::FailedPreconditionError(
        "no launch has a record: is ExecutorOptions::record_block set, and in the grid?");
  }
  std::ofstream file(path);
  file << AccessPictureHtml(title, launches) << std::flush;
  if (file) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("cannot write \"", path, "\""));
}

}  // namespace stridewise::executor
