#include <gtest/gtest.h>

#include <string_view>

#include "golden_file.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  tw::goldens::set_updating(argc > 1 && std::string_view(argv[1]) == "--update");
  return RUN_ALL_TESTS();
}
