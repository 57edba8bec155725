#include "wire.h"

#include <algorithm>

namespace tw::fuzz {
namespace {

constexpr int kMaxDepth = 12;
constexpr uint64_t kMaxNumber = 64;  // larger field numbers are taken for text that looks like one
constexpr size_t kMaxMessage = 65536;  // larger payloads are weights

std::optional<uint64_t> read_varint(std::string_view& bytes) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  return std::nullopt;
}

void write_varint(Bytes& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

std::optional<uint64_t> read_fixed(std::string_view& bytes, size_t size) {
  if (bytes.size() < size) return std::nullopt;
  uint64_t value = 0;
  for (size_t i = size; i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  bytes.remove_prefix(size);
  return value;
}

std::optional<Field> read_field(std::string_view& bytes, int depth) {
  Field field;
  const auto key = read_varint(bytes);
  if (!key || *key >> 3 == 0 || *key >> 3 > kMaxNumber) return std::nullopt;
  field.number = *key >> 3;
  field.type = static_cast<int>(*key & 7);
  if (field.type == 1 || field.type == 5 || field.type == 0) {
    const auto value =
        field.type == 0 ? read_varint(bytes) : read_fixed(bytes, field.type == 1 ? 8 : 4);
    if (!value) return std::nullopt;
    field.value = *value;
    return field;
  }
  if (field.type != 2) return std::nullopt;
  const auto size = read_varint(bytes);
  if (!size || *size > bytes.size()) return std::nullopt;
  const std::string_view payload = bytes.substr(0, *size);
  bytes.remove_prefix(*size);
  const bool is_weights = depth > 2 && payload.size() > kMaxMessage;
  if (auto inner =
          payload.empty() || is_weights ? std::nullopt : read_message(payload, depth + 1)) {
    field.is_message = true;
    field.fields = std::move(*inner);
  } else {
    field.bytes = payload;
  }
  return field;
}

/// Every list of fields in the tree that is not empty.
void collect(Message& message, std::vector<Message*>& lists) {
  if (!message.empty()) lists.push_back(&message);
  for (Field& field : message)
    if (field.is_message) collect(field.fields, lists);
}

Field& any_field(std::vector<Message*>& lists, Random& random) {
  Message& list = *lists[below(random, lists.size())];
  return list[below(random, list.size())];
}

void change_contents(Field& field, const Field& donor, Random& random) {
  if (field.type != 2)
    field.value = static_cast<uint64_t>(odd_number(random));
  else if (field.is_message && field.number == donor.number)
    field = donor;
  else if (!field.is_message && one_in(random, 2))
    damage(field.bytes, donor.bytes, random);
  else if (!field.is_message && !donor.is_message)
    field.bytes = donor.bytes;  // mostly names: another edge, a cycle, another operator
  else
    field.number = 1 + below(random, 30);
}

}  // namespace

std::optional<Message> read_message(std::string_view bytes, int depth) {
  if (depth > kMaxDepth) return std::nullopt;
  const std::string_view whole = bytes;
  Message message;
  while (!bytes.empty()) {
    auto field = read_field(bytes, depth);
    if (!field) return std::nullopt;
    message.push_back(std::move(*field));
  }
  if (write_message(message) != whole) return std::nullopt;
  return message;
}

Bytes write_message(const Message& message) {
  Bytes out;
  for (const Field& field : message) {
    write_varint(out, field.number << 3 | static_cast<unsigned>(field.type));
    if (field.type == 0) {
      write_varint(out, field.value);
    } else if (field.type == 2) {
      const Bytes payload = field.is_message ? write_message(field.fields) : field.bytes;
      write_varint(out, payload.size());
      out += payload;
    } else {
      for (unsigned i = 0; i < (field.type == 1 ? 8U : 4U); ++i)
        out += static_cast<char>(field.value >> 8 * i);
    }
  }
  return out;
}

void change_field(Message& message, const Message& other, Random& random) {
  std::vector<Message*> lists, donors;
  collect(message, lists);
  Message copy = other;
  collect(copy, donors);
  if (lists.empty()) return;
  Message& list = *lists[below(random, lists.size())];
  const size_t at = below(random, list.size());
  switch (below(random, 6)) {
    case 0:
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
      return;
    case 1:
      list.insert(list.begin() + static_cast<std::ptrdiff_t>(below(random, list.size() + 1)),
                  Field(list[at]));
      return;
    case 2:
      std::swap(list[at], list[below(random, list.size())]);
      return;
    case 3:
      if (!donors.empty()) list.push_back(any_field(donors, random));
      return;
    default: {
      const Field donor = one_in(random, 2) || donors.empty() ? any_field(lists, random)
                                                              : any_field(donors, random);
      change_contents(list[at], donor, random);
    }
  }
}

}  // namespace tw::fuzz
