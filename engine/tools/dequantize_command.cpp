#include "engine/base/text.h"
#include "engine/formats/format.h"
#include "engine/tools/command.h"

namespace tg {
namespace {

Result<std::string> dequantise_bytes(const FormatInfo& info, const std::string& blocks) {
  if (!info.weights) {
    return make_error(ErrorCode::unsupported, "The format " + std::string(info.name) + " holds no weights.");
  }
  if (blocks.size() % info.block_bytes != 0) {
    return make_error(ErrorCode::bad_argument,
                      "The input is not a whole number of " + std::string(info.name) + " blocks.");
  }
  const std::size_t n = blocks.size() / info.block_bytes * info.block_elements;
  std::string values(n * sizeof(float), '\0');
  dequantise(info.format, std::as_bytes(std::span(blocks)), reinterpret_cast<float*>(values.data()), n);
  return values;
}

}  // namespace

int run_dequantize(int argc, char** argv) {
  CLI::App app("Values of raw blocks of a weight format as float32", "dequantize");
  CommonOptions common;
  std::string type;
  std::string in;
  std::string out;
  add_common_options(app, common);
  app.add_option("--type", type, "Format, for example Q4_K")->required();
  app.add_option("--in", in, "File with the blocks")->required();
  app.add_option("--out", out, "File for the values")->required();
  if (const auto code = parse_options(app, argc, argv)) return *code;

  const auto format = format_by_name(type);
  if (!format) return refuse_argument("There is no format \"" + printable(type) + "\".");
  const auto blocks = read_file(in);
  if (!blocks) return fail(blocks.error());
  const auto values = dequantise_bytes(*format_info(*format), *blocks);
  if (!values) return fail(values.error());
  const Status written = write_file(out, *values);
  return written ? kExitDone : fail(written.error());
}

}  // namespace tg
