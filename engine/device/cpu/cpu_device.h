// The CPU backend: cuts every op into pieces for the thread pool and calls the kernels of the chosen instruction set.
// Results depend on the kernel table only, never on the number of threads or on how a batch was put together.
#pragma once
#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "engine/device/cpu/kernels.h"
#include "engine/device/cpu/thread_pool.h"

namespace tg::cpu {

// Memory aligned to a cache line.
std::shared_ptr<std::byte> allocate_uninitialised(std::size_t bytes);
std::shared_ptr<std::byte> allocate_zeroed(std::size_t bytes);

class CpuActivations : public Activations {
 public:
  Mat f32;                       // [max_rows, max_cols]; of rows that were only quantised, where they came from
  Mat own;                       // memory for rows that are computed
  std::shared_ptr<std::byte> f32_storage, block_storage;
  ActBlock* blocks = nullptr;    // [max_rows, max_cols / 32]
  std::size_t block_stride = 0;
  const Tuning* tuning = nullptr;  // the device's
  ActView view() const { return {f32.data, f32.stride, blocks, block_stride, nullptr, rows, tuning}; }
};

// One row of a step: its sequence and position.
struct RowPlace {
  const SequenceRows* sequence;
  int row, position;
};

// Queries [first, first + n) of one sequence and kv head; query i is row i / group, head i % group of the kv head's group.
struct QueryTile {
  const SequenceRows* sequence;
  int kv_head, first, n, first_split, end_split;
  std::size_t partial = 0;  // where its results stand when splits are computed by different threads
};

// A weight the device made: where `read` is set, pieces [settled, all) are still in the file.
class StoredWeight final : public CpuWeight {
 public:
  std::function<bool(std::size_t offset, std::span<std::byte> to)> read;
  int settled = 0;  // pieces in `tiles`, counted over all experts
};

// Mixture of experts: what a row chose, and the rows of one expert in the lists of all rows.
struct ExpertChoice {
  int expert;
  float weight;
};
struct ExpertRows {
  int expert, first, n;
};
struct RouterRoom {
  std::vector<float> value, score, weights;
  std::vector<int> order;
};

class CpuDevice final : public Device {
 public:
  // Of OPTIONS all but the names of kernels and number of threads, which are chosen. No tuning file: the usual tuning holds.
  CpuDevice(const Kernels& kernels, int threads, const CpuOptions& options = {});

  std::string name() const override;
  std::string backend() const override { return "cpu"; }
  std::string kernel_variant() const override { return k_.variant; }
  int threads() const override { return pool_.threads(); }
  void set_cancel(const std::atomic<bool>* flag) override { pool_.set_cancel(flag); }

  std::shared_ptr<std::byte> allocate(std::size_t bytes) override { return allocate_zeroed(bytes); }
  void copy_to_host(void* to, const std::byte* from, std::size_t bytes) override;
  void copy_from_host(std::byte* to, const void* from, std::size_t bytes) override;
  Mat matrix(std::shared_ptr<std::byte>& storage, int rows, int cols) override;
  Result<std::unique_ptr<Weight>> upload(const WeightSource& source) override;
  std::size_t settle(Weight& weight, std::size_t bytes) override;
  std::unique_ptr<Activations> activations(int max_rows, int max_cols) override;
  std::size_t kv_layer_bytes(const KvLayerShape& shape) const override;

  void embed(const Weight& table, std::span<const TokenId> tokens, float scale, Mat out) override;
  void norm(Mat in, const NormSpec& spec, Mat out) override;
  void norm_heads(Mat x, int head_dim, const NormSpec& spec) override;
  void prepare(Mat in, Activations& out) override;
  void norm_prepare(Mat in, const NormSpec& spec, Activations& out) override;
  void matmul(const Activations& x, std::span<const MatmulTask> tasks) override;
  void glu(const Activations& x, const GluTask& task, Activations& out) override;
  void head(const Activations& x, const HeadArgs& args) override;
  void rope_store(const RopeStoreArgs& args) override;
  void attention(const AttentionArgs& args) override;
  void moe(const MoeArgs& args) override;
  void delta_net(const DeltaNetArgs& args) override;
  void short_conv(const ShortConvArgs& args) override;

  void add(Mat x, Mat y, float y_scale) override;
  void add_norm(Mat x, Mat y, const NormSpec& spec, float y_scale) override;
  void scale(Mat x, float factor) override;
  void multiply(Mat x, Mat y) override;
  void activate(Mat x, Activation activation) override;
  void gate_sigmoid(Mat x, Mat gate) override;
  void gate_silu(Mat x, Mat gate) override;
  void softcap(Mat x, float cap) override;

  DeviceLimits measure_limits() override;
  bool tuned() const override { return tuned_; }
  void tune() override;
  std::string tuning() const override { return to_text(tuning_); }

  const Tuning& tuning_in_use() const { return tuning_; }
  void set_tuning(const Tuning& tuning) { tuning_ = tuning; }  // between ops
  bool interleaves() const { return k_.interleaves; }
  bool cancelled() const { return pool_.cancelled(); }

 private:
  struct RopeTable {  // cos and sin of the positions of one step, shared by its layers
    std::vector<float> inv_freq, cosine, sine;
    std::vector<int> positions;
    float magnitude = 0;
    std::uint64_t used = 0;
  };
  // Calls f(row) for every row, several rows a piece: at least ~16k elements, so that small ops do not pay for waking threads.
  template <class F>
  void for_rows(int rows, int row_cost, F&& f) {
    const int per_piece = std::max(1, 16384 / std::max(1, row_cost)), pieces = (rows + per_piece - 1) / per_piece;
    pool_.run(pieces, [&](int piece, int) {
      for (int r = piece * per_piece; r < std::min(rows, (piece + 1) * per_piece); ++r) f(r);
    });
  }
  // Calls f(unit, thread) for units of kPieceRows weight rows. Several units make a piece where they are small (handing out a piece takes
  // about 100 ns), but every thread gets many pieces, so that one slow thread is made up for.
  template <class F>
  void run_units(int units, int cols, int n, F&& f) {
    const int by_size = 4'000'000 / std::max(1, kPieceRows * cols * std::max(1, n)), by_count = units / (16 * threads());
    const int group = std::clamp(by_size, 1, std::max(1, by_count)), pieces = (units + group - 1) / group;
    pool_.run(pieces, [&](int piece, int thread) {
      for (int u = piece * group; u < std::min(units, (piece + 1) * group) && !pool_.cancelled(); ++u) f(u, thread);
    });
  }
  // cpu_weights.cpp: a product of a piece, wherever its bytes are.
  void product(const CpuWeight& weight, int expert, int row0, int rows, const ActView& x, float* out, float* spare, int thread);
  void touch(std::byte* memory, std::size_t bytes);
  struct PieceRoom {  // of one thread, for a piece as it stands in the file and in tiles
    std::byte *rows, *tiles;
  };
  PieceRoom room(int thread, Format format, int cols);
  void make_tiles(const StoredWeight& w, int expert, int row0, int rows, int thread, std::byte* to);
  bool has_room(const StoredWeight& w) const;
  bool allocate_tiles(StoredWeight& w);
  void finish_row(const float* f32, ActBlock* blocks, int cols) const;
  void row_op(RowOp op, Mat x, Mat y, float factor, int cost);
  float* scratch(int thread, std::size_t floats);
  const RopeTable& rope_table(const RopeSpec& rope);  // of places_
  void run_experts(const MoeArgs& args, std::span<const ExpertRows> runs);

  std::string tuning_key() const;

  const Kernels& k_;
  ThreadPool pool_;
  Tuning tuning_;
  std::string tuning_file_;
  bool tuned_ = true;
  decltype(CpuOptions::memory) memory_;
  std::vector<std::shared_ptr<std::byte>> scratch_;
  std::vector<std::size_t> scratch_floats_;
  struct Room {  // bytes of one thread
    std::shared_ptr<std::byte> memory;
    std::size_t bytes = 0;
    std::byte* at_least(std::size_t wanted) {
      if (bytes < wanted) {
        memory = allocate_uninitialised(wanted);
        bytes = wanted;
      }
      return memory.get();
    }
  };
  std::vector<Room> rooms_;                  // rows on their way from the file, and their tiles
  std::mutex touching_;                      // held while the system hands out memory for tiles
  std::shared_ptr<std::byte> tiles_block_;   // where the next weights' tiles go
  std::size_t tiles_used_ = 0;
  // Kept from op to op for their memory.
  std::vector<int> first_piece_;  // of each task of a product
  std::vector<RowPlace> places_;
  std::vector<QueryTile> tiles_;
  std::vector<std::pair<std::size_t, int>> split_work_;  // tile and split
  std::vector<CandidateScan> scans_;  // of each row of the head
  std::vector<float> partials_;   // attention results of splits, before they are merged
  std::vector<RopeTable> ropes_;
  std::uint64_t rope_clock_ = 0;
  RouterRoom router_room_;
  std::vector<ExpertChoice> moe_choices_;    // [rows, used]
  std::vector<ExpertRows> moe_runs_;
  std::vector<int> moe_inputs_, moe_next_;   // [rows * used] by expert: row of the input; [experts]
  std::vector<float*> moe_targets_;          // [rows * used] by expert: where the result goes
  std::unique_ptr<Activations> moe_middle_;  // of the experts that work together
  int moe_rows_ = 0, moe_cols_ = 0;
  std::shared_ptr<std::byte> moe_results_;
};

}  // namespace tg::cpu
