#include "task/region.h"

#include <algorithm>

namespace tw::task {
namespace {

/// `count` steps of `stride` elements.
struct Range {
  int64_t stride = 0, count = 0;
};

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
  int64_t n = 0;
  for (const DigitBox& box : boxes) n += box.count();
  return n;
}

bool overlaps(const Region& a, const Region& b) {
  for (const DigitBox& x : a.boxes)
    for (const DigitBox& y : b.boxes)
      if (common_count(x, y) > 0) return true;
  return false;
}

int64_t common_count(const Region& a, const Region& b) {
  int64_t n = 0;
  for (const DigitBox& x : a.boxes)
    for (const DigitBox& y : b.boxes) n += common_count(x, y);
  return n;
}

Lattice::Lattice(const SlotInfo& root, const std::vector<const SlotInfo*>& views)
    : element_bytes_(size_bytes(root.dtype)),
      total_(root.layout == Layout::kStrided ? root.storage_bytes / size_bytes(root.dtype) : 1) {
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

Region Lattice::region(const SlotInfo& slot, const Box& box) const {
  Region region;
  if (box.count() == 0) return region;
  if (slot.layout != Layout::kStrided || size_bytes(slot.dtype) != element_bytes_ || !chain_)
    return hull(slot, box);
  // The first element of the box in linear terms; ranges then count from zero upwards.
  int64_t base = slot.offset_in_root() / element_bytes_;
  FixedList<Range, kMaxRank> ranges;
  for (int d = 0; d < slot.rank; ++d) {
    const int64_t begin = box.begin[static_cast<size_t>(d)], end = box.end[static_cast<size_t>(d)];
    const int64_t stride = slot.strides[d];
    base += (stride >= 0 ? begin : end - 1) * stride;
    if (stride != 0 && end - begin > 1) ranges.push_back({std::abs(stride), end - begin});
  }
  // Dims that follow each other without a gap act as one: then a range may run over several digits.
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.stride < b.stride; });
  FixedList<Range, kMaxRank> merged;
  for (const Range& range : ranges) {
    if (!merged.empty() && range.stride == merged.back().stride * merged.back().count)
      merged.back().count *= range.count;
    else
      merged.push_back(range);
  }
  DigitBox point;
  for (size_t i = 0; i < strides_.size(); ++i) {
    const int64_t digit = i == 0 ? base / strides_[i] : base % strides_[i - 1] / strides_[i];
    point.begin.push_back(digit);
    point.end.push_back(digit + 1);
  }
  region.boxes.push_back(point);
  for (size_t r = merged.size(); r-- > 0;) {
    const auto digit = static_cast<size_t>(
        std::find(strides_.begin(), strides_.end(), merged[r].stride) - strides_.begin());
    if (digit == strides_.size()) return hull(slot, box);
    const int64_t begin = point.begin[digit];
    if (!add_range(region.boxes, digit, begin, begin + merged[r].count)) return hull(slot, box);
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

Region Lattice::hull(const SlotInfo& slot, const Box& box) const {
  Region region;
  region.exact = slot.layout != Layout::kStrided;
  const ByteRange range = byte_range(slot, box);
  int64_t begin = 0, end = total_;
  if (slot.layout == Layout::kStrided) {
    begin = range.begin / element_bytes_;
    end = (range.end + element_bytes_ - 1) / element_bytes_;
  }
  DigitBox point;
  for (size_t i = 0; i < strides_.size(); ++i) {
    const int64_t digit = i == 0 ? begin / strides_[i] : begin % strides_[i - 1] / strides_[i];
    point.begin.push_back(digit);
    point.end.push_back(digit + 1);
  }
  region.boxes.push_back(point);
  const size_t last = strides_.size() - 1;
  if (end > begin &&
      !add_range(region.boxes, last, point.begin[last], point.begin[last] + (end - begin))) {
    region.boxes.assign(1, point);  // cannot happen: a single range always carries cleanly; kept
                                    // total for safety of the proof
    for (size_t i = 0; i < strides_.size(); ++i) {
      region.boxes[0].begin[i] = 0;
      region.boxes[0].end[i] = i == 0 ? total_ / strides_[0] + 1 : strides_[i - 1] / strides_[i];
    }
  }
  return region;
}

}  // namespace tw::task
