#include "task/region.h"

#include <algorithm>
#include <cstdlib>

namespace tw::task {
namespace {

/// `count` steps of `stride` elements.
struct Range {
  int64_t stride = 0, count = 0;
};

/// A box of a view in linear terms: the first element, and the ranges to add to it, by ascending
/// stride. Dims that follow each other without a gap are one range.
struct Walk {
  int64_t base = 0;
  FixedList<Range, kMaxRank> ranges;
  /// A range ends before the next one's first step, so that no element is met twice.
  bool apart = true;
};

/// The lowest element of the box.
int64_t base_of(const SlotInfo& slot, const int64_t* begin, const int64_t* end,
                int64_t element_bytes) {
  int64_t base = slot.offset_in_root() / element_bytes;
  for (int d = 0; d < slot.rank; ++d)
    base += (slot.strides[d] >= 0 ? begin[d] : end[d] - 1) * slot.strides[d];
  return base;
}

/// How many elements the box has if they follow each other row-major, else 0.
int64_t row_major_count(const SlotInfo& slot, const int64_t* begin, const int64_t* end) {
  int64_t count = 1;
  for (int d = slot.rank - 1; d >= 0; --d) {
    const int64_t extent = end[d] - begin[d];
    if (extent == 1) continue;
    if (slot.strides[d] != count) return 0;
    count *= extent;
  }
  return count;
}

Walk walk_of(const SlotInfo& slot, const int64_t* begin, const int64_t* end,
             int64_t element_bytes) {
  Walk walk;
  walk.base = base_of(slot, begin, end, element_bytes);
  FixedList<Range, kMaxRank> ranges;
  for (int d = slot.rank - 1; d >= 0; --d) {
    const int64_t stride = slot.strides[d], extent = end[d] - begin[d];
    if (stride != 0 && extent > 1) ranges.push_back({std::abs(stride), extent});
  }
  const auto by_stride = [](const Range& a, const Range& b) { return a.stride < b.stride; };
  // The dims of a row-major view come sorted.
  if (!std::is_sorted(ranges.begin(), ranges.end(), by_stride))
    std::sort(ranges.begin(), ranges.end(), by_stride);
  for (const Range& range : ranges) {
    if (walk.ranges.empty()) {
      walk.ranges.push_back(range);
      continue;
    }
    Range& last = walk.ranges.back();
    if (range.stride == last.stride * last.count) {
      last.count *= range.count;
    } else {
      walk.apart = walk.apart && range.stride > last.stride * (last.count - 1);
      walk.ranges.push_back(range);
    }
  }
  return walk;
}

bool is_empty(const SlotInfo& slot, const int64_t* begin, const int64_t* end) {
  for (int d = 0; d < slot.rank; ++d)
    if (end[d] <= begin[d]) return true;
  return false;
}

constexpr int64_t kZeros[kMaxRank] = {};
const int64_t* begin_of(const Box* box) { return box != nullptr ? box->begin.data() : kZeros; }
const int64_t* end_of(const SlotInfo& slot, const Box* box) {
  return box != nullptr ? box->end.data() : slot.dims;
}

/// Its elements are those of the root, at whole elements of it.
bool is_aligned(const SlotInfo& root, const SlotInfo& slot) {
  const int64_t bytes = size_bytes(root.dtype);
  return size_bytes(slot.dtype) == bytes && slot.offset_in_root() % bytes == 0;
}

/// Everything from the first byte touched to the last.
Region hull(const SlotInfo& root, const SlotInfo& slot, const Box* box) {
  Region region;
  region.end = total_elements(root);
  if (slot.layout != Layout::kStrided) return region;
  const int64_t bytes = size_bytes(root.dtype);
  const ByteRange range = byte_range(slot, box != nullptr ? *box : Box::whole(slot));
  region.begin = range.begin / bytes;
  region.end = (range.end + bytes - 1) / bytes;
  region.exact = false;
  return region;
}

int64_t common_count(const DigitBox& a, const DigitBox& b) {
  int64_t n = 1;
  for (size_t i = 0; i < a.begin.size(); ++i) {
    const int64_t extent = std::min(a.end[i], b.end[i]) - std::max(a.begin[i], b.begin[i]);
    if (extent <= 0) return 0;
    n *= extent;
  }
  return n;
}

}  // namespace

int64_t DigitBox::count() const {
  int64_t n = 1;
  for (size_t i = 0; i < begin.size(); ++i) n *= end[i] - begin[i];
  return n;
}

int64_t Region::count() const {
  if (boxes.empty()) return std::max<int64_t>(0, end - begin);
  int64_t n = 0;
  for (const DigitBox& box : boxes) n += box.count();
  return n;
}

int64_t total_elements(const SlotInfo& root) {
  return root.layout == Layout::kStrided ? root.storage_bytes / size_bytes(root.dtype) : 1;
}

bool overlaps(const Region& a, const Region& b) {
  if (a.begin >= b.end || b.begin >= a.end) return false;
  if (a.boxes.empty()) return true;
  for (const DigitBox& x : a.boxes)
    for (const DigitBox& y : b.boxes)
      if (common_count(x, y) > 0) return true;
  return false;
}

int64_t common_count(const Region& a, const Region& b) {
  if (a.boxes.empty())
    return std::max<int64_t>(0, std::min(a.end, b.end) - std::max(a.begin, b.begin));
  int64_t n = 0;
  for (const DigitBox& x : a.boxes)
    for (const DigitBox& y : b.boxes) n += common_count(x, y);
  return n;
}

std::optional<Region> find_interval(const SlotInfo& root, const SlotInfo& slot, const Box* box) {
  const int64_t *begin = begin_of(box), *end = end_of(slot, box);
  if (is_empty(slot, begin, end)) return Region{};
  if (slot.layout != Layout::kStrided || !is_aligned(root, slot)) return hull(root, slot, box);
  Region region;
  if (const int64_t count = row_major_count(slot, begin, end)) {
    region.begin = base_of(slot, begin, end, size_bytes(root.dtype));
    region.end = region.begin + count;
    return region;
  }
  const Walk walk = walk_of(slot, begin, end, size_bytes(root.dtype));
  if (!walk.apart) return hull(root, slot, box);
  region.begin = walk.base;
  region.end = walk.base + 1;
  if (walk.ranges.empty()) return region;
  if (walk.ranges.size() > 1 || walk.ranges[0].stride != 1) return std::nullopt;
  region.end = walk.base + walk.ranges[0].count;
  return region;
}

Lattice::Lattice(const SlotInfo& root, std::span<const SlotInfo* const> views) : root_(root) {
  std::vector<int64_t> strides{1};
  for (const SlotInfo* view : views)
    for (int d = 0; d < view->rank; ++d)
      if (view->dims[d] > 1 && view->strides[d] != 0) strides.push_back(std::abs(view->strides[d]));
  std::sort(strides.begin(), strides.end(), std::greater<>());
  strides.erase(std::unique(strides.begin(), strides.end()), strides.end());
  chain_ = strides.size() <= kMaxDigits;
  for (size_t i = 0; i + 1 < strides.size(); ++i)
    chain_ = chain_ && strides[i] % strides[i + 1] == 0;
  if (!chain_) strides = {1};
  for (const int64_t stride : strides) strides_.push_back(stride);
}

DigitBox Lattice::digits(int64_t element) const {
  DigitBox point;
  for (size_t i = 0; i < strides_.size(); ++i) {
    const int64_t digit = i == 0 ? element / strides_[i] : element % strides_[i - 1] / strides_[i];
    point.begin.push_back(digit);
    point.end.push_back(digit + 1);
  }
  return point;
}

Region Lattice::region(const SlotInfo& slot, const Box* box) const {
  if (auto interval = find_interval(root_, slot, box)) return cut(std::move(*interval));
  const Walk walk = walk_of(slot, begin_of(box), end_of(slot, box), size_bytes(root_.dtype));
  if (!chain_) return cut(hull(root_, slot, box));
  const DigitBox point = digits(walk.base);
  Region region;
  region.begin = walk.base;
  region.end = walk.base + 1;
  region.boxes.push_back(point);
  for (size_t r = walk.ranges.size(); r-- > 0;) {
    const Range& range = walk.ranges[r];
    const auto digit = static_cast<size_t>(
        std::find(strides_.begin(), strides_.end(), range.stride) - strides_.begin());
    if (digit == strides_.size()) return cut(hull(root_, slot, box));
    const int64_t begin = point.begin[digit];
    if (!add_range(region.boxes, digit, begin, begin + range.count))
      return cut(hull(root_, slot, box));
    region.end += range.stride * (range.count - 1);
  }
  return region;
}

bool Lattice::add_range(std::vector<DigitBox>& boxes, size_t digit, int64_t begin,
                        int64_t end) const {
  if (boxes.size() == 1 &&
      (digit == 0 || end <= strides_[digit - 1] / strides_[digit])) {  // no carry: the common case
    boxes[0].begin[digit] = begin;
    boxes[0].end[digit] = end;
    return true;
  }
  std::vector<DigitBox> out;
  for (const DigitBox& box : boxes) {
    const int64_t radix = digit == 0 ? end : strides_[digit - 1] / strides_[digit];
    if (end <= radix) {
      out.push_back(box);
      out.back().begin[digit] = begin;
      out.back().end[digit] = end;
      continue;
    }
    // The range carries into the next digit: a head, whole turns, a tail. More than one carry is
    // left to the hull unless the higher digit still has room.
    if (digit == 0 || box.end[digit - 1] - box.begin[digit - 1] != 1) return false;
    const int64_t high = box.begin[digit - 1];
    const int64_t first_full = begin == 0 ? 0 : 1, last_full = end / radix;
    const auto piece = [&](int64_t high_begin, int64_t high_end, int64_t low_begin,
                           int64_t low_end) {
      if (high_begin >= high_end || low_begin >= low_end) return true;
      std::vector<DigitBox> one{box};
      one[0].begin[digit] = low_begin;
      one[0].end[digit] = low_end;
      if (!add_range(one, digit - 1, high + high_begin, high + high_end)) return false;
      out.insert(out.end(), one.begin(), one.end());
      return true;
    };
    if (!piece(0, first_full, begin, radix) || !piece(first_full, last_full, 0, radix) ||
        !piece(last_full, last_full + 1, 0, end % radix))
      return false;
  }
  boxes = std::move(out);
  return true;
}

Region Lattice::cut(Region interval) const {
  if (interval.empty()) return interval;
  interval.boxes.push_back(digits(interval.begin));
  const size_t last = strides_.size() - 1;
  const int64_t begin = interval.boxes[0].begin[last];
  if (add_range(interval.boxes, last, begin, begin + (interval.end - interval.begin)))
    return interval;
  // Cannot happen: a single range always carries cleanly. Kept total for safety of the proof.
  interval.exact = false;
  for (size_t i = 0; i < strides_.size(); ++i) {
    interval.boxes[0].begin[i] = 0;
    interval.boxes[0].end[i] =
        i == 0 ? total_elements(root_) / strides_[0] + 1 : strides_[i - 1] / strides_[i];
  }
  interval.begin = 0;
  interval.end = total_elements(root_);
  return interval;
}

}  // namespace tw::task
