// The seam between the ops (which split work into pieces) and the code of one instruction set (which computes a piece).
// Each instruction set fills one table; scalar.cpp is the obvious twin that the others are tested against.
// Within one table the value of an output element never depends on how the pieces were cut.
#pragma once
#include "engine/device/cpu/kv_page.h"
#include "engine/device/cpu/tuning.h"
#include "engine/device/device.h"

namespace tg::cpu {

// 32 activations as they are multiplied: value = d * q. The sums serve weights stored with an offset or a minimum.
struct ActBlock {
  float d;                // scale
  float s;                // d * sum of q
  std::int32_t sum;       // of all 32 q
  std::int32_t sum_low;   // of q[0..15]
  std::int8_t q[32];
};
static_assert(sizeof(ActBlock) == 48);

// Asks for a line, into the first cache or only into the second.
TG_ALWAYS_INLINE void prefetch_first(const std::byte* p) { __builtin_prefetch(p, 0, 3); }
TG_ALWAYS_INLINE void prefetch_second(const std::byte* p) { __builtin_prefetch(p, 0, 2); }

// Rows of activations (columns of the product). Row c is at position index[c], or c where index is null.
struct ActView {
  const float* f32 = nullptr;         // null where no float weight needs it
  std::size_t f32_stride = 0;         // floats
  const ActBlock* blocks = nullptr;
  std::size_t block_stride = 0;       // blocks
  const int* index = nullptr;
  int n = 0;
  const Tuning* tuning = &kUsualTuning;  // how they are multiplied
  TG_ALWAYS_INLINE int at(int c) const { return index != nullptr ? index[c] : c; }
};

// F32, F16, BF16: multiplied as they are, not with activations quantised.
inline bool is_float(Format format) { return format_info(format)->block_elements == 1; }

// A weight as the CPU keeps it: the file's bits, permuted into tiles of 16 rows or (interleaved = false) left as in the file.
class CpuWeight : public Weight {
 public:
  bool interleaved = false;
  float scale = 1.0F;
  std::span<const std::byte> file;          // the file's bytes where they are still used
  std::shared_ptr<std::byte> tiles;         // own copy where interleaved
  std::size_t expert_bytes = 0;             // from one expert to the next, in tiles or file
  TG_ALWAYS_INLINE const std::byte* expert_data(int expert) const {
    return (interleaved ? tiles.get() : file.data()) + zu(expert) * expert_bytes;
  }
};

inline constexpr int kTileRows = 16;
inline constexpr int kPieceRows = 32;  // rows of a weight per unit of work: two tiles, and one ActBlock of a following op

inline constexpr int kTileQueries = 24;  // most queries of an attention tile; its scores of a split are 48 KiB

// Scores and sums of one split of keys for some queries of one kv head.
struct AttentionTile {
  KvLayerShape kv;
  std::byte* const* pages = nullptr;
  std::size_t layer_offset = 0;
  int kv_head = 0;
  int n = 0;                              // queries
  const float* const* q = nullptr;        // [n] -> [head_dim_k]
  const int* first_key = nullptr;         // [n], visible keys are [first_key, end_key)
  const int* end_key = nullptr;
  int split_begin = 0, split_end = 0;     // absolute keys, at most kAttentionSplit of them
  float softcap = 0;
  // Keys that the thread visits next, another head's or split's, to be asked for in time: next_pages[i] together with page i of this split.
  std::byte* const* next_pages = nullptr;
  int next_head = 0, next_n_pages = 0;
  bool second_cache = false;              // where keys and values are asked for, see Tuning
  float* scores = nullptr;                // scratch [n][kAttentionSplit]
  float* packed = nullptr;                // scratch [head_dim_k, rounded up to 32][kTileQueries]
  float* max = nullptr;                   // [n], -inf where the split holds no visible key
  float* sum = nullptr;                   // [n]
  float* out = nullptr;                   // [n][out_stride], sum of exp(score - max) * value; undefined where max is -inf
  std::size_t out_stride = 0;             // >= padded head_dim_v
};

// One key or value row into its place in a page, below the keys or values of its head.
struct StoreRow {
  const float* values = nullptr;          // [head_dim]
  int head_dim = 0;
  KvType type{};
  int token = 0;                          // in the page
};

// What happens to a product before it is stored: out = act(value * scale + bias), or out += that.
struct Epilogue {
  float scale = 1.0F;
  const float* bias = nullptr;            // of the first row
  Activation activation = Activation::none;
  bool add = false;
};

// Element-wise work on a row: x[i] = f(x[i], y[i], factor).
enum class RowOp : std::uint8_t {
  add,           // x + y * factor
  multiply,      // x * y
  scale,         // x * factor
  gate_sigmoid,  // x * sigmoid(y)
  gate_silu,     // x * silu(y)
  softcap,       // factor * tanh(x / factor)
};

struct GluOut {
  float* f32 = nullptr;                   // null where no float weight follows
  std::size_t f32_stride = 0;
  ActBlock* blocks = nullptr;
  std::size_t block_stride = 0;
};

struct Kernels {
  const char* variant = "";               // name and revision: part of the key of every KV page
  const char* label = "";                 // for people
  bool interleaves = false;               // weights are repacked into tiles for this table
  void (*norm)(const float* in, const NormSpec& spec, float* out, int n) = nullptr;
  void (*quantise)(const float* in, int n, ActBlock* out) = nullptr;  // n a multiple of 32
  // out[c * stride + r] = row row0 + r times activation row c, for r < rows (at most kPieceRows), row0 a multiple of kPieceRows.
  void (*matmul)(const CpuWeight& w, int expert, int row0, int rows, const ActView& x, float* out, std::size_t stride, float* scratch) = nullptr;
  // Floats of scratch `matmul` needs for a weight of so many columns.
  std::size_t (*matmul_scratch)(int cols) = nullptr;
  // values[c * kPieceRows + r], r < rows, c < n, to out[c * stride + r].
  void (*finish)(const Epilogue& e, const float* values, int rows, int n, float* out, std::size_t stride) = nullptr;
  void (*activate)(float* x, int n, Activation activation) = nullptr;
  void (*row_op)(RowOp op, float* x, const float* y, float factor, int n) = nullptr;
  // The same for gate and up values together, and, where out.blocks is set and rows == kPieceRows, quantised as well.
  void (*glu)(const float* gate, const float* up, int rows, int n, Activation activation, const GluOut& out) = nullptr;
  void (*rotate)(float* head, const float* cosine, const float* sine, int n_dims, RopeLayout layout) = nullptr;
  void (*store_k)(const StoreRow& row, std::byte* part) = nullptr;
  void (*store_v)(const StoreRow& row, std::byte* part, int padded) = nullptr;
  void (*attention)(const AttentionTile& tile) = nullptr;
  // (max, sum, acc) += (max2, sum2, acc2): the one merge of split results, applied in the order of the splits.
  void (*merge)(float& max, float& sum, float* acc, float max2, float sum2, const float* acc2, int n) = nullptr;
  // Probes of the machine's limits: a sum of all bytes' words; `rounds` of independent multiply-adds, returning operations done.
  std::uint64_t (*read_bytes)(const std::byte* data, std::size_t bytes) = nullptr;
  double (*int8_work)(int rounds) = nullptr;
  double (*f32_work)(int rounds) = nullptr;
};

const Kernels& scalar_kernels();
#if defined(__x86_64__)
const Kernels& avx512_kernels();
const Kernels& avx2_kernels();
const Kernels& avxvnni_kernels();
#elif defined(__aarch64__)
const Kernels& dotprod_kernels();
const Kernels& neon_kernels();
#endif

}  // namespace tg::cpu
