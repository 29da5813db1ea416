#include "engine/device/cpu/tuning.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <random>
#include <vector>

namespace tg::cpu {
namespace {

constexpr std::string_view kFirstLine = "turnglass-tuning 1";
constexpr std::size_t kMostBytes = 1U << 16U, kMostLines = 100;
constexpr int kMostRows = 64, kMostAhead = 1 << 16, kLine = 64;

// Takes WORD and the space behind it off the front of TEXT.
bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word) || text.size() <= word.size() || text[word.size()] != ' ') return false;
  text.remove_prefix(word.size() + 1);
  return true;
}

bool take_number(std::string_view& text, int least, int most, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < least || number > most) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.empty()) return true;
  if (text.front() != ' ' || text.size() == 1) return false;
  text.remove_prefix(1);
  return true;
}

std::string plain_key(std::string_view key) {
  std::string plain(key);
  for (char& c : plain) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return plain;
}

struct Line {
  std::string key;
  Tuning tuning;
};

// The lines of a file that can be used.
std::vector<Line> read_lines(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  std::vector<Line> lines;
  std::string_view rest = text;
  for (bool first = true; lines.size() < kMostLines; first = false) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) break;  // a last line that was cut off is none
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (first && line != kFirstLine) break;
    const std::size_t tab = line.find('\t');
    if (first || tab == std::string_view::npos) continue;
    if (const auto tuning = tuning_from_text(line.substr(tab + 1))) lines.push_back({std::string(line.substr(0, tab)), *tuning});
  }
  return lines;
}

}  // namespace

std::string to_text(const Tuning& tuning) {
  std::string text = "direct";
  for (const int rows : tuning.direct_rows) text += ' ' + std::to_string(rows);
  return text + " ahead " + std::to_string(tuning.weights_ahead) + " blocks " + std::to_string(tuning.blocks_ahead) + " cache " + std::to_string(tuning.prefetch_cache);
}

std::optional<Tuning> tuning_from_text(std::string_view text) {
  Tuning tuning;
  if (!take_word(text, "direct")) return std::nullopt;
  for (int& rows : tuning.direct_rows) {
    if (!take_number(text, 1, kMostRows, rows)) return std::nullopt;
  }
  if (!take_word(text, "ahead") || !take_number(text, 0, kMostAhead, tuning.weights_ahead)) return std::nullopt;
  if (!take_word(text, "blocks") || !take_number(text, 0, kMostAhead, tuning.blocks_ahead)) return std::nullopt;
  if (!take_word(text, "cache") || !take_number(text, 1, 2, tuning.prefetch_cache) || !text.empty()) return std::nullopt;
  return tuning.weights_ahead % kLine == 0 && tuning.blocks_ahead % kLine == 0 ? std::optional(tuning) : std::nullopt;
}

std::optional<Tuning> read_tuning(const std::string& path, std::string_view key) {
  const std::string wanted = plain_key(key);
  for (const Line& line : read_lines(path)) {
    if (line.key == wanted) return line.tuning;
  }
  return std::nullopt;
}

bool write_tuning(const std::string& path, std::string_view key, const Tuning& tuning) {
  const std::string own = plain_key(key), fresh = path + "." + std::to_string(std::random_device{}());  // of this writer alone
  std::vector<Line> lines = read_lines(path);
  std::erase_if(lines, [&](const Line& line) { return line.key == own; });
  lines.insert(lines.begin(), {own, tuning});
  lines.resize(std::min(lines.size(), kMostLines));
  std::error_code error;
  if (const auto folder = std::filesystem::path(path).parent_path(); !folder.empty()) std::filesystem::create_directories(folder, error);
  std::ofstream file(fresh, std::ios::binary | std::ios::trunc);
  file << kFirstLine << '\n';
  for (const Line& line : lines) file << line.key << '\t' << to_text(line.tuning) << '\n';
  file.close();
  if (file) {
    std::filesystem::rename(fresh, path, error);
    if (!error) return true;
  }
  std::filesystem::remove(fresh, error);
  return false;
}

}  // namespace tg::cpu
