#include <gtest/gtest.h>

#include <algorithm>

#include "boxes.h"
#include "draw.h"
#include "geometry.h"
#include "image.h"

namespace ocr {
namespace {

double area(const Quad& quad) { return distance(quad[0], quad[1]) * distance(quad[1], quad[2]); }

void expect_quad(const Quad& found, const Quad& expected, double tolerance) {
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(found[i].x, expected[i].x, tolerance) << "corner " << i;
    EXPECT_NEAR(found[i].y, expected[i].y, tolerance) << "corner " << i;
  }
}

/// Red grows with x, green with y.
Image gradient(int width, int height) {
  Image image(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      image.pixel(x, y)[0] = static_cast<uint8_t>(4 * x);
      image.pixel(x, y)[1] = static_cast<uint8_t>(4 * y);
    }
  return image;
}

/// A map of 0 with rectangles of `value`.
struct Map {
  Size size;
  std::vector<float> values;
  explicit Map(Size s) : size(s), values(size_t(s.width) * size_t(s.height)) {}
  void fill(int left, int top, int width, int height, float value) {
    for (int y = top; y < top + height; ++y)
      std::fill_n(values.begin() + y * size.width + left, width, value);
  }
};

TEST(ConvexHull, KeepsCornersOnly) {
  const auto hull = convex_hull({{0, 0}, {4, 0}, {2, 0}, {4, 3}, {0, 3}, {2, 2}, {0, 0}, {0, 1}});
  EXPECT_EQ(hull.size(), 4U);
}

TEST(ConvexHull, OfPointsOnALineIsItsEnds) {
  const auto hull = convex_hull({{0, 0}, {2, 2}, {1, 1}, {3, 3}});
  ASSERT_EQ(hull.size(), 2U);
  EXPECT_EQ(hull[1].x, 3);
}

TEST(ConvexHull, OfOnePointIsThePoint) {
  EXPECT_EQ(convex_hull({{5, 6}, {5, 6}}).size(), 1U);
  EXPECT_TRUE(convex_hull({}).empty());
}

TEST(MinAreaRectangle, FollowsATurnedRectangle) {
  // Sides along (4, 3) and (-3, 4), 10 and 5 long; one point inside.
  const auto rectangle = min_area_rectangle({{10, 10}, {18, 16}, {15, 20}, {7, 14}, {12, 14}});
  expect_quad(rectangle.corners, order_corners({{{10, 10}, {18, 16}, {15, 20}, {7, 14}}}), 1e-9);
  EXPECT_NEAR(rectangle.short_side, 5, 1e-9);
}

TEST(MinAreaRectangle, OfALineHasNoShortSide) {
  EXPECT_EQ(min_area_rectangle({{1, 1}, {9, 1}}).short_side, 0);
  EXPECT_EQ(min_area_rectangle({{1, 1}}).short_side, 0);
}

TEST(OrderCorners, StartsAtTheTopLeftAndGoesClockwise) {
  const Quad expected = {{{1, 2}, {9, 1}, {10, 5}, {2, 6}}};
  expect_quad(order_corners({expected[2], expected[0], expected[3], expected[1]}), expected, 0);
}

TEST(Unclip, GrowsByAreaOverPerimeterOnEachSide) {
  // 100 x 20: area 2000, perimeter 240; 1.5 times that is 12.5, and points are whole.
  const Quad box = {{{50, 50}, {150, 50}, {150, 70}, {50, 70}}};
  const Rectangle grown = min_area_rectangle(unclip(box, 1.5));
  expect_quad(grown.corners, {{{37.5, 37.5}, {162.5, 37.5}, {162.5, 82.5}, {37.5, 82.5}}}, 0.5);
}

TEST(Unclip, RoundsCornersOff) {
  const Quad box = {{{50, 50}, {150, 50}, {150, 70}, {50, 70}}};
  for (const Point point : unclip(box, 1.5)) {
    const Point nearest = {std::clamp(point.x, 50.0, 150.0), std::clamp(point.y, 50.0, 70.0)};
    EXPECT_NEAR(distance(point, nearest), 12.5, 0.75);  // a pixel's half diagonal
  }
}

TEST(Projection, CarriesTheUnitSquareOntoTheQuad) {
  const Quad quad = {{{3, 4}, {40, 2}, {44, 30}, {1, 25}}};
  const Projection projection(quad);
  expect_quad({projection(0, 0), projection(1, 0), projection(1, 1), projection(0, 1)}, quad, 1e-9);
}

TEST(Projection, KeepsStraightLinesStraight) {
  const Projection projection(Quad{{{3, 4}, {40, 2}, {44, 30}, {1, 25}}});
  const Point a = projection(0, 0), b = projection(0.3, 0.3), c = projection(1, 1);
  EXPECT_NEAR(distance(a, b) + distance(b, c), distance(a, c), 1e-9);
}

TEST(Crop, OfAnUprightBoxIsThatPartOfThePicture) {
  const Image part = crop(gradient(60, 40), {{{10, 8}, {50, 8}, {50, 20}, {10, 20}}});
  ASSERT_EQ(part.width, 40);
  ASSERT_EQ(part.height, 12);
  EXPECT_EQ(part.pixel(5, 3)[0], 4 * 15);
  EXPECT_EQ(part.pixel(5, 3)[1], 4 * 11);
}

TEST(Crop, TurnsATallBoxToTheLeft) {
  const Image part = crop(gradient(60, 60), {{{10, 8}, {20, 8}, {20, 48}, {10, 48}}});
  ASSERT_EQ(part.width, 40);
  ASSERT_EQ(part.height, 10);
  EXPECT_EQ(part.pixel(0, 9)[0], 4 * 10);  // the top left corner came to the bottom left
  EXPECT_EQ(part.pixel(0, 9)[1], 4 * 8);
}

TEST(Crop, RepeatsTheBorderOutsideThePicture) {
  const Image part = crop(gradient(30, 30), {{{-8, -8}, {20, -8}, {20, 4}, {-8, 4}}});
  EXPECT_EQ(part.pixel(0, 0)[0], 0);
  EXPECT_EQ(part.pixel(0, 0)[1], 0);
}

TEST(Resize, KeepsASmoothPictureSmooth) {
  const Image large = resize(gradient(20, 20), 40, 40);
  EXPECT_EQ(large.pixel(0, 0)[0], 0);
  EXPECT_EQ(large.pixel(39, 0)[0], 4 * 19);
  EXPECT_EQ(large.pixel(20, 0)[0], 4 * 9 + 3);  // at 9.75
}

TEST(FindBoxes, GrowsEachLineAndScalesItToThePage) {
  Map map({200, 100});
  map.fill(20, 20, 100, 10, 0.9F);
  map.fill(20, 60, 150, 12, 0.8F);
  auto boxes = find_boxes(map.values.data(), map.size, {400, 200});
  sort_for_reading(boxes);
  ASSERT_EQ(boxes.size(), 2U);
  // Pixels 20..120 and 20..30 once widened; grown by 1.6 * 1000 / 220 = 7.3.
  expect_quad(boxes[0], {{{26, 26}, {254, 26}, {254, 74}, {26, 74}}}, 1);
  EXPECT_GT(area(boxes[1]), area(boxes[0]));
}

TEST(FindBoxes, DropsFaintAndSmallOnes) {
  Map map({200, 100});
  map.fill(20, 20, 100, 10, 0.4F);
  map.fill(20, 60, 2, 2, 0.9F);
  EXPECT_TRUE(find_boxes(map.values.data(), map.size, {200, 100}).empty());
}

TEST(FindBoxes, TakesTextAtTheMapsEdges) {
  Map map({64, 32});
  map.fill(0, 0, 64, 32, 0.9F);
  const auto boxes = find_boxes(map.values.data(), map.size, {64, 32});
  ASSERT_EQ(boxes.size(), 1U);
  expect_quad(boxes[0], {{{0, 0}, {63, 0}, {63, 31}, {0, 31}}}, 0);
}

TEST(SortForReading, GoesDownAndInALineToTheRight) {
  const auto box_at = [](double x, double y) {
    return Quad{{{x, y}, {x + 9, y}, {x + 9, y + 9}, {x, y + 9}}};
  };
  std::vector<Quad> boxes = {box_at(5, 50), box_at(200, 4), box_at(5, 9)};
  sort_for_reading(boxes);
  EXPECT_EQ(boxes[0][0].x, 5);
  EXPECT_EQ(boxes[1][0].x, 200);
  EXPECT_EQ(boxes[2][0].y, 50);
}

TEST(Annotate, DrawsAtTheEdgesOfThePage) {
  const Image drawn = annotate(gradient(40, 20), {{{{0, 0}, {39, 0}, {39, 19}, {0, 19}}}});
  EXPECT_EQ(drawn.width, 1000);
  EXPECT_EQ(drawn.height, 500);
}

}  // namespace
}  // namespace ocr
