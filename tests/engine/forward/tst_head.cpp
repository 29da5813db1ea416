// The head of a step: candidates are those of the logits that the same step would have written, and a decode step allocates nothing.
#include <QtTest>
#include <cstdlib>
#include <new>

#include "tests/support/forward_runner.h"
#include "tests/support/tiny_model.h"

using namespace tg;
using namespace tg::test;

namespace {

thread_local long allocations = 0;  // of this thread: Qt Test has one of its own

void* counted(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) { return counted(bytes, static_cast<std::size_t>(alignment)); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace {

constexpr int kVocabulary = 200;

struct Loaded {
  std::string bytes;
  std::shared_ptr<Device> device;
  std::unique_ptr<Forward> forward;
};

Loaded load(const TinyModel& model, int threads) {
  Loaded l;
  l.bytes = model.bytes();
  const std::shared_ptr<const GgufFile> file = *GgufFile::parse(std::as_bytes(std::span(l.bytes)));
  l.device = std::shared_ptr<Device>(std::move(*make_cpu_device({threads, "auto"})));
  l.forward = std::move(*Forward::load(file, *describe_model(*file, 0), l.device, KvType::f16, KvType::f16, 64, {}, {}));
  return l;
}

std::vector<TokenId> tokens_of(int n, int salt) {
  std::vector<TokenId> out;
  for (int i = 0; i < n; ++i) out.push_back((i * 37 + salt) % kVocabulary);
  return out;
}

std::vector<std::pair<TokenId, float>> sorted(const RowCandidates& row) {
  std::vector<std::pair<TokenId, float>> out;
  for (const TokenCandidate& c : row.list) out.emplace_back(c.id, c.logit);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

class TestHead : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void candidatesOfAStep() {
    for (const TinyModel& model : {tiny_llama(), tiny_gemma3(), tiny_qwen35(), tiny_gpt_oss()}) {
      for (const int threads : {1, 2, 3}) {
        const Loaded l = load(model, threads);
        const auto sequences = [&] {
          std::vector<PagedSequence> out;
          for (int s = 0; s < 3; ++s) out.emplace_back(tokens_of(20, s), l.forward->kv_layout(), *l.device);
          return out;
        };
        StepCounters counters;
        std::vector<float> logits(40 * kVocabulary), fewer(20 * kVocabulary);
        auto plain = sequences(), short_way = sequences();
        std::vector<SequenceStep> steps{plain[0].next(15), plain[1].next(20), plain[2].next(5)};
        QVERIFY(l.forward->run(steps, logits.data(), {}, counters).ok());
        steps = {short_way[0].next(15), short_way[1].next(20), short_way[2].next(5)};
        std::vector<RowCandidates> found(20);
        steps[0].wish = {7, -1, false};
        steps[2].wish = {0, 2, true};
        steps[0].candidates = std::span(found).first(15);
        steps[2].candidates = std::span(found).subspan(15, 5);
        QVERIFY(l.forward->run(steps, fewer.data(), {}, counters).ok());
        QVERIFY(std::memcmp(fewer.data(), &logits[15 * kVocabulary], fewer.size() * sizeof(float)) == 0);
        CandidateScan scan;
        RowCandidates of_row;
        for (std::size_t i = 0; i < found.size(); ++i) {
          const std::size_t row = i < 15 ? i : 20 + i;
          scan.row(i < 15 ? steps[0].wish : steps[2].wish, std::span(logits).subspan(row * kVocabulary, kVocabulary), of_row);
          QCOMPARE(sorted(found[i]), sorted(of_row));
          if (i >= 15) QCOMPARE(found[i].mass, of_row.mass);
        }
      }
    }
  }

  void noPlaceForCandidates() {
    const Loaded l = load(tiny_llama(), 1);
    PagedSequence sequence(tokens_of(4, 1), l.forward->kv_layout(), *l.device);
    SequenceStep step = sequence.next(4);
    step.wish = {0, 0, false};
    StepCounters counters;
    QCOMPARE(l.forward->run({&step, 1}, nullptr, {}, counters).error().code, ErrorCode::bad_argument);
  }

  // Four sequences that write; window layers, grouped heads, experts, recurrent state and short convolution. One thread: of several, one may
  // get its first piece of some op, and with it its memory, late.
  void decodeAllocatesNothing() {
    for (const TinyModel& model : {tiny_llama(), tiny_gemma3(), tiny_gpt_oss(), tiny_qwen35(), tiny_lfm2()}) {
      const Loaded l = load(model, 1);
      std::vector<PagedSequence> sequences;
      for (int s = 0; s < 4; ++s) sequences.emplace_back(tokens_of(40, s), l.forward->kv_layout(), *l.device);
      std::vector<RowCandidates> found(4);
      std::vector<SequenceStep> steps(4);
      StepCounters counters;
      const CancelToken cancel;
      long in_steps = 0;
      for (int i = 0; i < 40; ++i) {
        for (std::size_t s = 0; s < 4; ++s) {
          steps[s] = sequences[s].next(1);
          steps[s].wish = {0, 0, false};
          steps[s].candidates = std::span(found).subspan(s, 1);
        }
        const long before = allocations;
        QVERIFY(l.forward->run(steps, nullptr, cancel, counters).ok());
        if (i >= 20) in_steps += allocations - before;
      }
      QVERIFY2(in_steps == 0, qPrintable(QString::number(in_steps)));
    }
  }
};

QTEST_GUILESS_MAIN(TestHead)
#include "tst_head.moc"
