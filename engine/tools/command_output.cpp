#include <csignal>
#include <fstream>
#include <iostream>
#include <iterator>

#include "engine/base/text.h"
#include "engine/tools/command.h"

namespace tg {
namespace {

constexpr std::size_t kMaxSentence = 290;  // characters; acceptance asks for at most 300

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::io:
    case ErrorCode::bad_file:
    case ErrorCode::unsupported:
    case ErrorCode::no_template:
    case ErrorCode::bad_argument:
      return kExitRefused;
    case ErrorCode::template_error:
      return kExitTemplate;
    case ErrorCode::does_not_fit:
      return kExitDoesNotFit;
    case ErrorCode::cancelled:
      return kExitInterrupted;
    case ErrorCode::device:
    case ErrorCode::internal:
      return kExitFailed;
  }
  return kExitFailed;
}

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) line += c == '\n' || c == '\r' || c == '\t' ? ' ' : c;
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

// Value of a base64 digit; -1: none.
int base64_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

const std::atomic<bool>* interrupt_flag = nullptr;

void on_interrupt(int) {
  const_cast<std::atomic<bool>*>(interrupt_flag)->store(true, std::memory_order_relaxed);
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  if (path == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  std::ifstream file(path, std::ios::binary);
  std::string content(std::istreambuf_iterator<char>(file), {});
  if (!file.is_open() || file.bad()) {
    return make_error(ErrorCode::io, "The file \"" + printable(path, 120) + "\" cannot be read.");
  }
  return content;
}

Status write_file(const std::string& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) return make_error(ErrorCode::io, "The file \"" + printable(path, 120) + "\" cannot be written.");
  return Ok{};
}

std::optional<std::string> decode_base64(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  int n_bits = 0;
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  for (const char c : text) {
    const int value = base64_value(c);
    if (value < 0) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    n_bits += 6;
    if (n_bits < 8) continue;
    n_bits -= 8;
    out += static_cast<char>(static_cast<unsigned char>(bits >> n_bits & 0xFF));
  }
  return out;
}

void print_sentence(std::string_view message) {
  std::cout.flush();
  std::cerr << printable(one_line(message), kMaxSentence) << "\n";
}

int fail(const Error& error) {
  print_sentence(error.message);
  return exit_code(error.code);
}

int refuse_argument(std::string_view message) {
  return fail(make_error(ErrorCode::bad_argument, std::string(message)));
}

void print_json(const Json& object) {
  std::cout << object.dump(-1, ' ', false, Json::error_handler_t::replace) << "\n";
}

CancelToken interrupt_token() {
  static const CancelToken token;
  if (interrupt_flag == nullptr) {
    interrupt_flag = &token.flag();
    std::signal(SIGINT, on_interrupt);
  }
  return token;
}

}  // namespace tg
