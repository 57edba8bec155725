#include "geometry.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ocr {
namespace {

Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
Point operator*(Point a, double factor) { return {a.x * factor, a.y * factor}; }
double dot(Point a, Point b) { return a.x * b.x + a.y * b.y; }
double cross(Point a, Point b) { return a.x * b.y - a.y * b.x; }

/// Where the points lie along a direction.
struct Extent {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
  double length() const { return most - least; }
};

Extent extent_along(const std::vector<Point>& points, Point direction) {
  Extent extent;
  for (const Point point : points) {
    extent.least = std::min(extent.least, dot(point, direction));
    extent.most = std::max(extent.most, dot(point, direction));
  }
  return extent;
}

/// Appends the points on whole pixels of an arc about `centre` that starts at `from` and turns
/// clockwise by `turn`; the chords stay within a quarter of a pixel of it.
void append_arc(std::vector<Point>& outline, Point centre, Point from, double turn) {
  const double radius = distance({}, from);
  const double sag = std::min(0.25, radius / 4);
  const double step = 2 * std::acos(1 - sag / radius);
  const auto steps = std::max(std::lround(turn / step), 1L);
  for (long i = 0; i <= steps; ++i) {
    const double angle = i == steps ? turn : step * static_cast<double>(i);
    const double c = std::cos(angle), s = std::sin(angle);
    const Point point = centre + Point{from.x * c - from.y * s, from.x * s + from.y * c};
    outline.push_back({std::round(point.x), std::round(point.y)});
  }
}

}  // namespace

double distance(Point a, Point b) { return std::hypot(a.x - b.x, a.y - b.y); }

Quad order_corners(Quad corners) {
  const auto by_x = [](Point a, Point b) { return a.x < b.x; };
  const auto by_y = [](Point a, Point b) { return a.y < b.y; };
  std::stable_sort(corners.begin(), corners.end(), by_x);
  std::stable_sort(corners.begin(), corners.begin() + 2, by_y);
  std::stable_sort(corners.begin() + 2, corners.end(), by_y);
  return {corners[0], corners[2], corners[3], corners[1]};
}

std::vector<Point> convex_hull(std::vector<Point> points) {
  const auto before = [](Point a, Point b) { return a.x != b.x ? a.x < b.x : a.y < b.y; };
  const auto equal = [](Point a, Point b) { return a.x == b.x && a.y == b.y; };
  std::sort(points.begin(), points.end(), before);
  points.erase(std::unique(points.begin(), points.end(), equal), points.end());
  if (points.size() < 3) return points;
  // One chain from left to right, then one back; each drops the corners that are not convex.
  std::vector<Point> hull;
  const auto extend = [&hull](Point point, size_t chain_begin) {
    while (hull.size() >= chain_begin + 2 &&
           cross(hull.back() - hull[hull.size() - 2], point - hull.back()) <= 0)
      hull.pop_back();
    hull.push_back(point);
  };
  for (const Point point : points) extend(point, 0);
  const size_t turning_point = hull.size() - 1;
  for (auto point = points.rbegin() + 1; point != points.rend(); ++point)
    extend(*point, turning_point);
  hull.pop_back();  // the first point again
  return hull;
}

Rectangle min_area_rectangle(const std::vector<Point>& points) {
  const std::vector<Point> hull = convex_hull(points);
  if (hull.size() < 3) return {order_corners({hull[0], hull.back(), hull.back(), hull[0]}), 0};
  // The least rectangle has a side along an edge of the hull. A hull of pixels has few corners, so
  // every edge looks at all of them.
  Rectangle best;
  double least_area = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < hull.size(); ++i) {
    const Point edge = hull[(i + 1) % hull.size()] - hull[i];
    const Point along = edge * (1 / distance({}, edge)), across = {-along.y, along.x};
    const Extent a = extent_along(hull, along), b = extent_along(hull, across);
    if (a.length() * b.length() >= least_area) continue;
    least_area = a.length() * b.length();
    best = {{along * a.least + across * b.least, along * a.most + across * b.least,
             along * a.most + across * b.most, along * a.least + across * b.most},
            std::min(a.length(), b.length())};
  }
  best.corners = order_corners(best.corners);
  return best;
}

std::vector<Point> unclip(const Quad& quad, double ratio) {
  double twice_area = 0, perimeter = 0;
  for (size_t i = 0; i < 4; ++i) {
    twice_area += cross(quad[i], quad[(i + 1) % 4]);
    perimeter += distance(quad[i], quad[(i + 1) % 4]);
  }
  const double offset = std::abs(twice_area) / 2 * ratio / perimeter;

  Quad whole;
  for (size_t i = 0; i < 4; ++i) whole[i] = {std::trunc(quad[i].x), std::trunc(quad[i].y)};
  std::vector<Point> outline;
  for (size_t i = 0; i < 4; ++i) {
    const Point in = whole[i] - whole[(i + 3) % 4], out = whole[(i + 1) % 4] - whole[i];
    const Point normal = Point{in.y, -in.x} * (offset / distance({}, in));  // points outwards
    const double turn = std::atan2(cross(in, out), dot(in, out));
    append_arc(outline, whole[i], normal, std::max(turn, 0.0));
  }
  return outline;
}

Projection::Projection(const Quad& target) {
  const auto& [p0, p1, p2, p3] = target;
  // A parallelogram's diagonals share their middle; what is left over is perspective.
  const Point skew = p0 - p1 + p2 - p3, right = p1 - p2, bottom = p3 - p2;
  const double area = cross(right, bottom);
  if (area != 0) {
    wu_ = cross(skew, bottom) / area;
    wv_ = cross(right, skew) / area;
  }
  xu_ = p1.x - p0.x + wu_ * p1.x;
  xv_ = p3.x - p0.x + wv_ * p3.x;
  x0_ = p0.x;
  yu_ = p1.y - p0.y + wu_ * p1.y;
  yv_ = p3.y - p0.y + wv_ * p3.y;
  y0_ = p0.y;
}

Point Projection::operator()(double u, double v) const {
  const double w = wu_ * u + wv_ * v + 1;
  return {(xu_ * u + xv_ * v + x0_) / w, (yu_ * u + yv_ * v + y0_) / w};
}

}  // namespace ocr
