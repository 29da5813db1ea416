// Rows in tiles: the same bytes for every format and number of rows as by the layout's definition, and every row back.
#include <QtTest>
#include <cstring>
#include <vector>

#include "engine/device/cpu/self_check.h"
#include "engine/device/cpu/weight_tiles.h"

using namespace tg;
using namespace tg::cpu;

namespace {

// The definition, unit by unit: words of a block transposed, the head in front; of floats strips of 4 rows, 16 columns of each in turn.
std::vector<std::byte> tile_by_definition(Format format, int cols, const std::vector<std::byte>& rows, int n_rows) {
  const std::size_t stride = row_bytes(*format_info(format), zu(cols)), word = 4;
  std::vector<std::byte> tile(tile_row_bytes(format, cols) * kTileRows);
  if (format_info(format)->block_elements == 1) {
    const std::size_t element = stride / zu(cols), steps = zu(cols + 15) / 16;
    for (std::size_t r = 0; r < zu(n_rows); ++r) {
      for (std::size_t c = 0; c < zu(cols); ++c) {
        std::memcpy(tile.data() + ((r / 4 * steps + c / 16) * 64 + r % 4 * 16 + c % 16) * element, rows.data() + r * stride + c * element, element);
      }
    }
    return tile;
  }
  const TileShape s = tile_shape(format);
  const std::size_t block = zu(s.block_bytes), head = zu(s.head);
  for (std::size_t r = 0; r < zu(n_rows); ++r) {
    for (std::size_t b = 0; b < zu(cols / s.block_elements); ++b) {
      const std::byte* from = rows.data() + r * stride + b * block;
      std::byte* to = tile.data() + b * block * kTileRows;
      const std::byte* from_head = s.head_last ? from + block - head : from;
      const std::byte* from_words = s.head_last ? from : from + head;
      std::memcpy(to + r * head, from_head, head);
      for (std::size_t w = 0; w < (block - head) / word; ++w) std::memcpy(to + head * kTileRows + (w * kTileRows + r) * word, from_words + w * word, word);
    }
  }
  return tile;
}

}  // namespace

class TestWeightTiles : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void tiles_data() {
    QTest::addColumn<int>("format");
    for (int i = 0; i < 64; ++i) {
      const FormatInfo* info = format_info(static_cast<Format>(i));
      if (info != nullptr && info->weights) QTest::addRow("%.*s", static_cast<int>(std::string_view(info->name).size()), std::string_view(info->name).data()) << i;
    }
  }
  void tiles() {
    QFETCH(int, format);
    const auto f = static_cast<Format>(format);
    Random random(7);
    for (const int blocks : {1, 2, 5, 16, 77}) {
      const int cols = blocks * static_cast<int>(format_info(f)->block_elements);
      const std::size_t stride = row_bytes(*format_info(f), zu(cols));
      for (int n = 1; n <= kTileRows; ++n) {
        std::vector<std::byte> rows(stride * zu(n)), tile(tile_row_bytes(f, cols) * kTileRows, std::byte{0x5a}), back(stride);
        for (std::byte& b : rows) b = static_cast<std::byte>(random.next());
        interleave_rows(f, cols, rows.data(), n, tile.data());
        QVERIFY2(tile == tile_by_definition(f, cols, rows, n), qPrintable(QStringLiteral("%1 blocks, %2 rows").arg(blocks).arg(n)));
        for (int r = 0; r < n; ++r) {
          extract_row(f, cols, tile.data(), r, back.data());
          QVERIFY(std::memcmp(back.data(), rows.data() + zu(r) * stride, stride) == 0);
        }
      }
    }
  }
};

QTEST_APPLESS_MAIN(TestWeightTiles)
#include "tst_weight_tiles.moc"
