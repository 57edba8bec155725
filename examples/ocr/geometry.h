// geometry.h: the plane geometry of text boxes. Points are in pixels, x to the right and y down;
// the centre of the top left pixel is (0, 0).
#pragma once

#include <array>
#include <vector>

namespace ocr {

struct Point {
  double x = 0, y = 0;
};

/// Four corners, clockwise from the top left as one sees them.
using Quad = std::array<Point, 4>;

double distance(Point a, Point b);

/// The two corners on the left, then the two on the right, put into Quad's order.
Quad order_corners(Quad corners);

/// The corners of the convex hull, in order round it, no three on one straight line. Equal points
/// count once, so the hull of few points may have two corners, one or none.
std::vector<Point> convex_hull(std::vector<Point> points);

struct Rectangle {
  Quad corners;
  double short_side = 0;
};

/// The rectangle of least area, at any angle, that holds all points; there is at least one.
Rectangle min_area_rectangle(const std::vector<Point>& points);

/// The outline at `ratio` * area / perimeter outside the quad, its corners rounded off and its
/// points on whole pixels. The quad is convex and its sides are at least 2 long.
std::vector<Point> unclip(const Quad& quad, double ratio);

/// The projective map that carries the unit square onto a quad.
class Projection {
 public:
  explicit Projection(const Quad& target);
  Point operator()(double u, double v) const;

 private:
  double xu_, xv_, x0_, yu_, yv_, y0_, wu_ = 0, wv_ = 0;
};

}  // namespace ocr
