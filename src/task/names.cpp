#include "task/program.h"

namespace tw::task {

const std::vector<std::string>& Names::list() const {
  static const std::vector<std::string> none;
  return list_ ? *list_ : none;
}

void Names::push_back(std::string name) {
  if (!list_ || list_.use_count() > 1) list_ = std::make_shared<std::vector<std::string>>(list());
  list_->push_back(std::move(name));
}

}  // namespace tw::task
