#include "boxes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace ocr {
namespace {

/// The map above the threshold, each text pixel widened to the right and down by one. A border of
/// one pixel that is not text runs round it, so that a walk needs no bounds.
struct Mask {
  int stride = 0;
  std::vector<uint8_t> text;
};

Mask make_mask(const float* map, Size size, float threshold) {
  Mask mask{size.width + 2, std::vector<uint8_t>(size_t(size.width + 2) * size_t(size.height + 2))};
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      if (!(map[size_t(y) * size_t(size.width) + size_t(x)] > threshold)) continue;
      for (int down = 0; down <= (y + 1 < size.height); ++down)
        for (int right = 0; right <= (x + 1 < size.width); ++right)
          mask.text[size_t(y + 1 + down) * size_t(mask.stride) + size_t(x + 1 + right)] = 1;
    }
  return mask;
}

/// Takes the text pixels that hang together with the one at `start`, corners included, out of the
/// mask. Of each row the leftmost and rightmost: their hull is the hull of all.
std::vector<Point> take_component(Mask& mask, size_t start) {
  struct Row {
    int least = std::numeric_limits<int>::max(), most = -1;
  };
  const auto stride = size_t(mask.stride);
  const size_t first_row = start / stride;  // pixels are met row by row: none lies above
  std::vector<Row> rows;
  std::vector<size_t> open = {start};
  mask.text[start] = 0;
  while (!open.empty()) {
    const size_t at = open.back();
    open.pop_back();
    const size_t row = at / stride - first_row;
    const auto x = static_cast<int>(at % stride);
    if (row >= rows.size()) rows.resize(row + 1);
    rows[row].least = std::min(rows[row].least, x);
    rows[row].most = std::max(rows[row].most, x);
    for (const size_t line : {at - stride, at, at + stride})
      for (const size_t next : {line - 1, line, line + 1})
        if (std::exchange(mask.text[next], uint8_t{0}) != 0) open.push_back(next);
  }
  std::vector<Point> points;
  for (size_t i = 0; i < rows.size(); ++i)
    for (const int x : {rows[i].least, rows[i].most})
      points.push_back({x - 1.0, static_cast<double>(first_row + i) - 1.0});
  return points;
}

/// The columns of one row that a polygon with whole corners covers, its edges included. An edge
/// covers what a line drawn along it would: a flat one every column nearest to it in this row.
struct Span {
  int begin = std::numeric_limits<int>::max(), end = -1;
  void add(double x_least, double x_most) {
    begin = std::min(begin, static_cast<int>(x_least));
    end = std::max(end, static_cast<int>(x_most) + 1);
  }
};

Span covered_columns(const Quad& quad, int y) {
  Span span;
  for (size_t i = 0; i < 4; ++i) {
    Point a = quad[i], b = quad[(i + 1) % 4];
    if (a.y > b.y) std::swap(a, b);
    const double dx = b.x - a.x, dy = b.y - a.y;
    if (dy == 0) {
      if (a.y == y) span.add(std::min(a.x, b.x), std::max(a.x, b.x));
      continue;
    }
    const auto x_at = [&](double row) { return a.x + dx * (std::clamp(row, a.y, b.y) - a.y) / dy; };
    if (std::abs(dx) <= dy) {
      if (y >= a.y && y <= b.y) span.add(std::round(x_at(y)), std::round(x_at(y)));
    } else if (y + 0.5 >= a.y && y - 0.5 <= b.y) {
      const double x0 = x_at(y - 0.5), x1 = x_at(y + 0.5);
      const double least = std::ceil(std::min(x0, x1)), most = std::floor(std::max(x0, x1));
      if (least <= most) span.add(least, most);
    }
  }
  return span;
}

/// The mean of the map inside a box.
double mean_inside(const float* map, Size size, const Quad& box) {
  Point origin = {size.width - 1.0, size.height - 1.0}, end = {0, 0};
  for (const Point corner : box) {
    origin = {std::min(origin.x, std::floor(corner.x)), std::min(origin.y, std::floor(corner.y))};
    end = {std::max(end.x, std::ceil(corner.x)), std::max(end.y, std::ceil(corner.y))};
  }
  origin = {std::max(origin.x, 0.0), std::max(origin.y, 0.0)};
  end = {std::min(end.x, size.width - 1.0), std::min(end.y, size.height - 1.0)};
  Quad whole;
  for (size_t i = 0; i < 4; ++i)
    whole[i] = {std::trunc(box[i].x - origin.x) + origin.x,
                std::trunc(box[i].y - origin.y) + origin.y};

  double sum = 0;
  int64_t count = 0;
  for (int y = static_cast<int>(origin.y); y <= static_cast<int>(end.y); ++y) {
    const Span span = covered_columns(whole, y);
    const int last = std::min(span.end, static_cast<int>(end.x) + 1);
    for (int x = std::max(span.begin, static_cast<int>(origin.x)); x < last; ++x, ++count)
      sum += map[size_t(y) * size_t(size.width) + size_t(x)];
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

/// From the map's pixels to whole pixels of the page, inside it.
Quad to_page(const Quad& box, Size map, Size page) {
  Quad result;
  for (size_t i = 0; i < 4; ++i) {
    const double x = std::nearbyint(box[i].x / map.width * page.width);
    const double y = std::nearbyint(box[i].y / map.height * page.height);
    result[i] = {std::clamp(x, 0.0, page.width - 1.0), std::clamp(y, 0.0, page.height - 1.0)};
  }
  return order_corners(result);
}

}  // namespace

std::vector<Quad> find_boxes(const float* map, Size map_size, Size page_size,
                             const BoxOptions& options) {
  std::vector<Quad> boxes;
  Mask mask = make_mask(map, map_size, options.pixel_threshold);
  for (size_t start = 0; start < mask.text.size(); ++start) {
    if (mask.text[start] == 0) continue;
    const Rectangle core = min_area_rectangle(take_component(mask, start));
    if (core.short_side < options.least_side) continue;
    if (mean_inside(map, map_size, core.corners) < options.box_threshold) continue;
    const Rectangle grown = min_area_rectangle(unclip(core.corners, options.unclip_ratio));
    if (grown.short_side < options.least_side + 2) continue;
    const Quad box = to_page(grown.corners, map_size, page_size);
    constexpr double kLeastPageSide = 4;
    if (distance(box[0], box[1]) < kLeastPageSide || distance(box[0], box[3]) < kLeastPageSide)
      continue;
    boxes.push_back(box);
  }
  return boxes;
}

void sort_for_reading(std::vector<Quad>& boxes) {
  std::stable_sort(boxes.begin(), boxes.end(), [](const Quad& a, const Quad& b) {
    return a[0].y != b[0].y ? a[0].y < b[0].y : a[0].x < b[0].x;
  });
  constexpr double kSameLine = 10;
  for (size_t i = 1; i < boxes.size(); ++i)
    for (size_t j = i; j > 0; --j) {
      const Point left = boxes[j - 1][0], right = boxes[j][0];
      if (std::abs(right.y - left.y) >= kSameLine || right.x >= left.x) break;
      std::swap(boxes[j - 1], boxes[j]);
    }
}

}  // namespace ocr
