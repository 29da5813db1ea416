// A random walk of everything a user can do to chats and their cache. After each step the books are checked, and every answer is the one a
// turn without cache gives.
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QtTest>

#include "engine/sampling/random.h"
#include "tests/support/fake_model.h"

using namespace tg;
using namespace tg::test;

namespace {

QString scratch() { return QString::fromStdString(scratch_template()); }

constexpr std::uint64_t kPage = kPageTokens * 8;

struct Chat {
  std::string name;
  std::vector<TokenId> prompt;           // of the last request
  std::vector<TokenId> answer;
};

class Walk {
 public:
  Walk(std::uint64_t seed, FakeOptions fake, QString folder) : random_(seed), fake_(std::move(fake)), folder_(std::move(folder)) { open(); }

  // Empty, or what is wrong.
  std::string step() {
    const std::string problem = act();
    if (!problem.empty()) return last + ": " + problem;
    const auto checked = engine_->engine->check_integrity();
    return checked ? std::string() : last + ": " + checked.error().message;
  }
  std::string last;
  int sends = 0, reused = 0, from_disk = 0;

 private:
  std::uint64_t below(std::uint64_t n) { return random_.next() % n; }
  void open() {
    EngineOptions o;
    if (!folder_.isEmpty()) o.cache_dir = folder_.toStdString();
    o.budget = budget_;
    engine_.reset();
    engine_ = std::make_unique<FakeEngine>(fake_, o);
  }
  Chat& any() {
    if (chats_.size() < 3 || (chats_.size() < 7 && below(12) == 0)) {
      chats_.push_back({"chat" + std::to_string(++named_), tokens(100, below(2)) + tokens(static_cast<int>(below(200)) + 1, random_.next()), {}});
      return chats_.back();
    }
    return chats_[below(chats_.size())];
  }

  std::string send(Chat& chat, std::vector<TokenId> prompt) {
    TurnRequest r = engine_->request(chat.name, prompt, static_cast<int>(below(30)) + 1);
    r.prompt.segments = {{SegmentKind::system, 0, "system", 0, std::min(100, static_cast<int>(prompt.size()))},
                         {SegmentKind::new_text, 1, "user", std::min(100, static_cast<int>(prompt.size())), static_cast<int>(prompt.size())}};
    r.sampling.temperature = below(2) == 0 ? 0.0F : 1.0F;
    r.sampling.seed = below(3) + 1;
    if (below(4) == 0) r.speculation.kind = SpeculationOptions::Kind::ngram;
    TurnRequest control = r;
    control.use_cache = false;
    control.speculation = {};
    const bool stops = below(8) == 0;
    if (stops) engine_->engine->cancel_after(chat.name, below(2) == 0 ? static_cast<int>(below(150)) + 1 : 0, static_cast<int>(below(10)) + 1);
    const TurnReport warm = engine_->run(r);
    if (!warm.error.message.empty()) return warm.error.message;
    if (stops) control.max_tokens = std::max(1, warm.output);
    const TurnReport cold = engine_->run(control);
    ++sends;
    reused += warm.input_cached > 0 ? 1 : 0;
    from_disk += warm.cache.from_disk > 0 ? 1 : 0;
    chat.prompt = std::move(prompt);
    chat.answer = warm.output_ids;
    if (warm.output == 0) return {};
    if (warm.output_ids != cold.output_ids) return "another answer than without cache";
    if (warm.logits_sha != cold.logits_sha) return "other logits than without cache";
    if (warm.input_cached + warm.input_fresh != warm.input_total || warm.input_cached >= warm.input_total) return "the counts do not add up";
    if (warm.input_cached < warm.cache.reusable && warm.cache.miss.cause == MissCause::none) return "reused less than possible without a cause";
    if (warm.cache.miss.cause == MissCause::unknown) return "a miss without a known cause";
    return {};
  }

  std::string act() {
    Chat& chat = any();
    switch (below(16)) {
      case 0: case 1: case 2: case 3: case 4: case 5:
        last = "continue " + chat.name;
        return send(chat, chat.prompt + chat.answer + tokens(static_cast<int>(below(60)) + 1, random_.next()));
      case 6:
        last = "regenerate " + chat.name;
        return send(chat, chat.prompt);
      case 7: {
        last = "edit " + chat.name;
        std::vector<TokenId> prompt = chat.prompt;
        prompt.resize(below(prompt.size()) + 1);
        return send(chat, prompt + tokens(static_cast<int>(below(80)) + 1, random_.next()));
      }
      case 8: {
        last = "fork " + chat.name;
        Chat fork = chat;
        fork.name = "chat" + std::to_string(++named_);
        engine_->engine->fork(chat.name, fork.name);
        chats_.push_back(fork);
        return send(chats_.back(), fork.prompt + fork.answer + tokens(20, random_.next()));
      }
      case 9:
        last = "evict " + chat.name;
        static_cast<void>(engine_->engine->evict(chat.name));
        return {};
      case 10:
        last = "pin " + chat.name;
        static_cast<void>(engine_->engine->pin(chat.name, below(2) == 0));
        return {};
      case 11:
        last = "keep " + chat.name;
        static_cast<void>(engine_->engine->keep(chat.name, below(2) == 0 ? Tier::disk : Tier::ram));
        return {};
      case 12:
        last = "budget";
        budget_ = {0, (below(60) + 1) * kPage, (below(100) + 1) * kPage};
        engine_->engine->set_budget(budget_);
        return {};
      case 13:
        last = "restart";
        if (!folder_.isEmpty()) open();
        return {};
      case 14:
        last = "unload";
        engine_->engine->unload(engine_->model);
        engine_->model = *engine_->engine->load("model", {}, {}, {});
        return {};
      default:
        last = "forget " + chat.name;
        static_cast<void>(engine_->engine->forget(chat.name));
        if (below(3) == 0) return send(chat, chat.prompt);
        std::erase_if(chats_, [name = chat.name](const Chat& c) { return c.name == name; });
        return {};
    }
  }

  Random random_;
  FakeOptions fake_;
  QString folder_;
  CacheBudget budget_{0, 40 * kPage, 60 * kPage};
  std::unique_ptr<FakeEngine> engine_;
  std::vector<Chat> chats_;
  int named_ = 0;
};

}  // namespace

class TestCacheWalk : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void walk_data() {
    QTest::addColumn<int>("window");
    QTest::addColumn<bool>("recurrent");
    QTest::addColumn<bool>("disk");
    QTest::newRow("full") << 0 << false << false;
    QTest::newRow("full, disk") << 0 << false << true;
    QTest::newRow("window") << 90 << false << false;
    QTest::newRow("window, disk") << 90 << false << true;
    QTest::newRow("recurrent") << 0 << true << false;
    QTest::newRow("recurrent, disk") << 0 << true << true;
    QTest::newRow("both, disk") << 70 << true << true;
  }
  void walk() {
    QFETCH(int, window);
    QFETCH(bool, recurrent);
    QFETCH(bool, disk);
    const QTemporaryDir dir(scratch());
    FakeOptions fake;
    fake.window = window;
    fake.recurrent = recurrent;
    const auto from = qEnvironmentVariableIntValue("TG_WALK_SEED");
    Walk walk(static_cast<std::uint64_t>(from) * 100 + static_cast<std::uint64_t>(window * 4 + (recurrent ? 2 : 0) + (disk ? 1 : 0)), fake, disk ? dir.path() + QStringLiteral("/cache") : QString());
    const int steps = disk ? 200 : 700;
    for (int i = 0; i < steps; ++i) {
      const std::string problem = walk.step();
      QVERIFY2(problem.empty(), qPrintable(QStringLiteral("step %1: %2").arg(i).arg(QString::fromStdString(problem))));
    }
    QVERIFY(walk.sends > steps / 3);
    QVERIFY(walk.reused > walk.sends / 4);
    if (disk) QVERIFY(walk.from_disk > 3);
  }
};

QTEST_GUILESS_MAIN(TestCacheWalk)
#include "tst_cache_walk.moc"
