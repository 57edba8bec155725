// wire.h: protobuf's wire format without a schema: enough to take a message apart, change a field
// and put it together again with lengths that fit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver.h"

namespace tw::fuzz {

struct Field;
using Message = std::vector<Field>;

struct Field {
  uint64_t number = 0;
  int type = 0;        // 0 varint, 1 eight bytes, 2 with a length, 5 four bytes
  uint64_t value = 0;  // types 0, 1, 5
  Bytes bytes;         // type 2 that is no message
  bool is_message = false;
  Message fields;  // type 2 that reads, and writes back, as a message
};

/// Nothing when the bytes are not a message, or are one in another than the shortest form.
std::optional<Message> read_message(std::string_view bytes, int depth = 0);
Bytes write_message(const Message& message);

/// One change of a field anywhere in the message, often by a part of `other`.
void change_field(Message& message, const Message& other, Random& random);

}  // namespace tw::fuzz
