#include "engine/model/families/builder.h"

#include <algorithm>
#include <cmath>

namespace tg {

namespace {

constexpr std::int64_t kLargestInteger = std::int64_t{1} << 24;  // dimensions and counts; real models stay below 2^20

// Names come from an untrusted file: what is shown of them is short and printable.
std::string shown(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 64)) {
    out += c >= 0x20 && c < 0x7f ? c : '?';
  }
  return out;
}

}  // namespace

void FamilyBuilder::fail(ErrorCode code, std::string message) {
  if (!error_) {
    error_ = make_error(code, std::move(message));
  }
}

// ---- Metadata -------------------------------------------------------------------------------------------------------------

bool FamilyBuilder::has(std::string_view name) const { return file_.find(key(name)) != nullptr; }

int FamilyBuilder::integer_or(std::string_view name, int fallback) { return has(name) ? integer(name) : fallback; }

int FamilyBuilder::integer(std::string_view name) {
  const std::string full = key(name);
  if (file_.find(full) == nullptr) {
    fail(ErrorCode::bad_file, "The model does not give " + full + ".");
    return 0;
  }
  const auto value = file_.integer(full);
  if (!value) {
    fail(ErrorCode::bad_file, "The value of " + full + " has the wrong type.");
    return 0;
  }
  if (*value < 0 || *value > kLargestInteger) {
    fail(ErrorCode::bad_file, "The value of " + full + " is out of range.");
    return 0;
  }
  return static_cast<int>(*value);
}

double FamilyBuilder::number_or(std::string_view name, double fallback) { return has(name) ? number(name) : fallback; }

double FamilyBuilder::number(std::string_view name) {
  const std::string full = key(name);
  if (file_.find(full) == nullptr) {
    fail(ErrorCode::bad_file, "The model does not give " + full + ".");
    return 1.0;
  }
  auto value = file_.number(full);
  if (!value) {
    if (const auto whole = file_.integer(full)) {
      value = static_cast<double>(*whole);
    }
  }
  if (!value) {
    fail(ErrorCode::bad_file, "The value of " + full + " has the wrong type.");
    return 1.0;
  }
  if (!std::isfinite(*value)) {
    fail(ErrorCode::bad_file, "The value of " + full + " is not a number.");
    return 1.0;
  }
  return *value;
}

bool FamilyBuilder::flag_or(std::string_view name, bool fallback) {
  if (!has(name)) {
    return fallback;
  }
  const auto value = file_.boolean(key(name));
  if (!value) {
    fail(ErrorCode::bad_file, "The value of " + key(name) + " has the wrong type.");
  }
  return value.value_or(fallback);
}

std::string FamilyBuilder::text_or(std::string_view name, std::string fallback) {
  if (!has(name)) {
    return fallback;
  }
  const auto value = file_.string(key(name));
  if (!value) {
    fail(ErrorCode::bad_file, "The value of " + key(name) + " has the wrong type.");
    return fallback;
  }
  return shown(*value);
}

int FamilyBuilder::per_layer(std::string_view name, int index, int fallback) {
  const std::string full = key(name);
  const GgufArray* array = file_.array(full);
  if (array == nullptr) {
    return integer_or(name, fallback);
  }
  const auto i = static_cast<std::size_t>(index);
  if (array->type == GgufType::string || is_float(array->type) || i >= array->size()) {
    fail(ErrorCode::bad_file, "The array " + full + " does not hold a number for every layer.");
    return 0;
  }
  const std::int64_t value = array->integer(i);
  if (value < 0 || value > kLargestInteger) {
    fail(ErrorCode::bad_file, "The value of " + full + " is out of range.");
    return 0;
  }
  return static_cast<int>(value);
}

bool FamilyBuilder::is_window_layer(int index, int default_period) {
  constexpr std::string_view name = "attention.sliding_window_pattern";
  if (file_.array(key(name)) != nullptr) {
    return per_layer(name, index, 0) != 0;
  }
  const int period = integer_or(name, default_period);
  return period > 0 && index % period < period - 1;
}

// ---- Tensors --------------------------------------------------------------------------------------------------------------

bool FamilyBuilder::has_tensor(const std::string& name) const { return file_.tensor(name) != nullptr; }

std::string FamilyBuilder::in_layer(int index, std::string_view part) {
  return "blk." + std::to_string(index) + "." + std::string(part);
}

const GgufTensor* FamilyBuilder::find(const std::string& name, bool required) {
  const GgufTensor* tensor = file_.tensor(name);
  if (tensor != nullptr) {
    used_.insert(name);
  } else if (required) {
    fail(ErrorCode::bad_file, "The tensor " + shown(name) + " is missing.");
  }
  return tensor;
}

// Compares with a shape whose trailing ones may be left out on either side.
bool FamilyBuilder::check_shape(const GgufTensor& tensor, std::initializer_list<int> shape) {
  const std::size_t n = std::max(tensor.shape.size(), shape.size());
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t is = i < tensor.shape.size() ? tensor.shape[i] : 1;
    const std::uint64_t wanted = i < shape.size() ? static_cast<std::uint64_t>(shape.begin()[i]) : 1;
    if (is != wanted || wanted == 0) {
      fail(ErrorCode::bad_file, "The tensor " + shown(tensor.name) + " has the wrong shape.");
      return false;
    }
  }
  return true;
}

VectorRef FamilyBuilder::vector(const std::string& name, int cols, int rows) { return vector_of(name, cols, rows, true); }
VectorRef FamilyBuilder::vector_if(const std::string& name, int cols, int rows) { return vector_of(name, cols, rows, false); }

VectorRef FamilyBuilder::vector_of(const std::string& name, int cols, int rows, bool required) {
  const GgufTensor* tensor = find(name, required);
  if (tensor == nullptr || !check_shape(*tensor, {cols, rows})) {
    return {};
  }
  if (tensor->format != Format::F32 && tensor->format != Format::F16 && tensor->format != Format::BF16) {
    fail(ErrorCode::unsupported, "The tensor " + shown(name) + " is quantised where plain numbers are needed.");
    return {};
  }
  return {name, 0, static_cast<std::size_t>(cols) * static_cast<std::size_t>(rows)};
}

MatrixRef FamilyBuilder::matrix(const std::string& name, int rows, int cols, int experts) {
  return matrix_of(name, rows, cols, experts, true);
}

MatrixRef FamilyBuilder::matrix_if(const std::string& name, int rows, int cols, int experts) {
  return matrix_of(name, rows, cols, experts, false);
}

MatrixRef FamilyBuilder::matrix_of(const std::string& name, int rows, int cols, int experts, bool required) {
  const GgufTensor* tensor = find(name, required);
  if (tensor == nullptr || !check_shape(*tensor, {cols, rows, experts})) {
    return {};
  }
  const FormatInfo* info = format_info(tensor->format);
  if (info == nullptr || !info->weights) {
    fail(ErrorCode::unsupported, "The tensor " + shown(name) + " is stored in a format that cannot be computed with.");
    return {};
  }
  return {name, rows, cols, experts, 0, rows, rows, tensor_scale(name)};
}

float FamilyBuilder::tensor_scale(const std::string& name) {
  constexpr std::string_view suffix = ".weight";
  if (!name.ends_with(suffix)) {
    return 1.0F;
  }
  const std::string scale = name.substr(0, name.size() - suffix.size()) + ".scale";
  const GgufTensor* tensor = file_.tensor(scale);
  if (tensor == nullptr || tensor->elements() != 1) {
    return 1.0F;
  }
  const std::vector<float> value = read_floats(scale, 1);
  return value.empty() ? 1.0F : value[0];
}

MatrixRef FamilyBuilder::slice(const std::string& name, int file_rows, int cols, int first, int rows) {
  MatrixRef ref = matrix(name, file_rows, cols);
  if (ref) {
    ref.rows = rows;
    ref.first = first;
    ref.run = ref.step = rows;
  }
  return ref;
}

MatrixRef FamilyBuilder::runs(const std::string& name, int n_runs, int step, int cols, int first, int run, bool stacked) {
  MatrixRef ref = matrix(name, n_runs * step, cols);
  if (ref) {
    ref.rows = stacked ? run : n_runs * run;
    ref.experts = stacked ? n_runs : 1;
    ref.first = first;
    ref.run = run;
    ref.step = step;
  }
  return ref;
}

NormDescription FamilyBuilder::norm(const std::string& name, int size, bool required) {
  NormDescription norm = norm_without_weight();
  norm.weight = vector_of(name + ".weight", size, 1, required);
  norm.bias = vector_if(name + ".bias", size);
  norm.present = static_cast<bool>(norm.weight);
  return norm;
}

NormDescription FamilyBuilder::norm_without_weight() const { return {true, norm_kind_, {}, {}, eps_}; }

std::vector<float> FamilyBuilder::read_floats(const std::string& name, int size) {
  std::vector<float> out;
  if (vector(name, size)) {
    const GgufTensor* tensor = file_.tensor(name);
    const FormatInfo* info = format_info(tensor->format);
    if (info == nullptr || tensor->data.size() < row_bytes(*info, static_cast<std::size_t>(size))) {
      fail(ErrorCode::bad_file, "The tensor " + shown(name) + " holds no data.");
      return out;
    }
    out.resize(static_cast<std::size_t>(size));
    dequantise(tensor->format, tensor->data.first(row_bytes(*info, out.size())), out.data(), out.size());
  }
  return out;
}

// Blocks behind the model's layers that predict further tokens: counted in block_count, not run.
bool FamilyBuilder::is_prediction_block(std::string_view name) const {
  for (int i = model.n_layers; i < model.n_layers + n_prediction_blocks_; ++i) {
    if (name.starts_with(in_layer(i, ""))) {
      return true;
    }
  }
  return false;
}

void FamilyBuilder::check_all_used() {
  // Harmless leftovers: precomputed rope tables of old files, statistics of calibration, parts of multi-token prediction blocks.
  constexpr std::string_view ignored[] = {"rope_freqs", "rope_factors", "rot_embd", "input_scale", "nextn."};
  for (const GgufTensor& tensor : file_.tensors()) {
    const bool leftover = std::any_of(std::begin(ignored), std::end(ignored), [&](std::string_view part) {
      return tensor.name.find(part) != std::string::npos;
    });
    if (!leftover && !is_prediction_block(tensor.name) && !used_.contains(tensor.name)) {
      fail(ErrorCode::unsupported, "The model holds a tensor " + shown(tensor.name) + " that its architecture " +
                                       shown(model.architecture) + " does not have.");
      return;
    }
  }
}

}  // namespace tg
