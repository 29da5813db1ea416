// The prefix index against a slow twin that compares every stored text; and how long matching takes.
#include <QElapsedTimer>
#include <QtTest>

#include "engine/cache/page_memory.h"
#include "engine/cache/prefix_tree.h"
#include "engine/sampling/random.h"

using namespace tg;

namespace {

std::vector<TokenId> random_text(Random& random, int n, int alphabet) {
  std::vector<TokenId> out;
  for (int i = 0; i < n; ++i) out.push_back(static_cast<TokenId>(random.next() % static_cast<std::uint64_t>(alphabet)));
  return out;
}

// Stores all pages of TEXT with content.
void store(PrefixTree& tree, std::span<const TokenId> text, const std::shared_ptr<std::byte>& shared) {
  Node* at = tree.root();
  for (std::size_t i = 0; i < text.size(); i += kPageTokens) {
    at = tree.add(at, text.subspan(i, std::min<std::size_t>(kPageTokens, text.size() - i)));
    QVERIFY(at != nullptr);
    for (Blob& page : at->pages) page.memory = shared;
  }
}

int common(std::span<const TokenId> a, std::span<const TokenId> b) {
  int n = 0;
  while (n < static_cast<int>(std::min(a.size(), b.size())) && a[static_cast<std::size_t>(n)] == b[static_cast<std::size_t>(n)]) ++n;
  return n;
}

}  // namespace

class TestPrefixTree : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void matchesLikeTheSlowTwin() {
    Random random(5);
    HostPageMemory memory;
    const auto shared = memory.allocate(64);
    PrefixTree tree("key", {{{0, 64}}, 0});
    std::vector<std::vector<TokenId>> texts;
    for (int round = 0; round < 300; ++round) {
      std::vector<TokenId> text;
      if (!texts.empty() && random.next() % 3 != 0) {
        text = texts[random.next() % texts.size()];
        text.resize(random.next() % text.size() + 1);
      }
      const std::vector<TokenId> tail = random_text(random, 1 + static_cast<int>(random.next() % 300), 3);
      text.insert(text.end(), tail.begin(), tail.end());
      int longest = 0;
      for (const auto& known : texts) longest = std::max(longest, common(known, text));
      const PrefixMatch match = tree.match(text);
      QCOMPARE(match.tokens, longest);
      QCOMPARE(match.usable, longest);
      QCOMPARE(static_cast<int>(match.path.size()), (longest + kPageTokens - 1) / kPageTokens);
      store(tree, text, shared);
      texts.push_back(text);
    }
    QCOMPARE(QString::fromStdString(tree.check()), QString());
  }

  void usableLengths_data() {
    QTest::addColumn<int>("window");
    QTest::addColumn<bool>("states");
    QTest::addColumn<QVector<int>>("absent");   // pages of the window group
    QTest::addColumn<QVector<int>>("stateAt");
    QTest::addColumn<int>("usable");            // of 300 tokens in 5 pages
    QTest::newRow("all there") << 100 << false << QVector<int>{} << QVector<int>{} << 300;
    QTest::newRow("far back is not needed") << 100 << false << QVector<int>{0, 1, 2} << QVector<int>{} << 300;
    QTest::newRow("inside the window") << 100 << false << QVector<int>{3} << QVector<int>{} << 192;
    QTest::newRow("the last") << 100 << false << QVector<int>{4} << QVector<int>{} << 256;
    QTest::newRow("beginning only") << 100 << false << QVector<int>{1, 2, 3, 4} << QVector<int>{} << 64;
    QTest::newRow("no state") << 0 << true << QVector<int>{} << QVector<int>{} << 0;
    QTest::newRow("state inside a page") << 0 << true << QVector<int>{} << QVector<int>{100, 299} << 299;
    QTest::newRow("state and window") << 100 << true << QVector<int>{3} << QVector<int>{64, 100, 299} << 100;
  }
  void usableLengths() {
    QFETCH(int, window);
    QFETCH(bool, states);
    QFETCH(QVector<int>, absent);
    QFETCH(QVector<int>, stateAt);
    QFETCH(int, usable);
    HostPageMemory memory;
    const auto shared = memory.allocate(64);
    CacheLayout layout{{{0, 64}}, states ? std::size_t{8} : std::size_t{0}};
    if (window > 0) layout.groups.push_back({window, 64});
    PrefixTree tree("key", layout);
    Random random(6);
    const std::vector<TokenId> text = random_text(random, 300, 1000);
    store(tree, text, shared);
    const std::vector<Node*> path = [&] {
      std::vector<Node*> nodes;
      for (const auto& entry : tree.nodes()) nodes.push_back(entry.second.get());
      std::sort(nodes.begin(), nodes.end(), [](const Node* a, const Node* b) { return a->first < b->first; });
      return nodes;
    }();
    for (const int i : absent) path[static_cast<std::size_t>(i)]->pages[1].memory.reset();
    for (const int at : stateAt) {
      Blob& state = path[static_cast<std::size_t>((at - 1) / kPageTokens)]->states[at];
      state.bytes = 8;
      state.memory = shared;
    }
    const PrefixMatch match = tree.match(text);
    QCOMPARE(match.tokens, 300);
    QCOMPARE(match.usable, usable);
    QCOMPARE(static_cast<int>(match.path.size()), (usable + kPageTokens - 1) / kPageTokens);
  }

  void keysDoNotMix() {
    PrefixTree a("model a", {{{0, 64}}, 0}), b("model b", {{{0, 64}}, 0});
    const std::vector<TokenId> ids(kPageTokens, 1);
    QVERIFY(!(a.add(a.root(), ids)->hash == b.add(b.root(), ids)->hash));
  }

  void aLongPromptIsMatchedFast() {
    Random random(7);
    HostPageMemory memory;
    const auto shared = memory.allocate(64);
    PrefixTree tree("key", {{{0, 64}}, 0});
    const std::vector<TokenId> head = random_text(random, 64, 1000), text = random_text(random, 100000, 1000);
    for (int chat = 0; chat < 1000; ++chat) {
      std::vector<TokenId> other = head;
      const std::vector<TokenId> tail = random_text(random, 640, 1000);
      other.insert(other.end(), tail.begin(), tail.end());
      store(tree, other, shared);
    }
    std::vector<TokenId> prompt = head;
    prompt.insert(prompt.end(), text.begin(), text.end());
    store(tree, prompt, shared);
    qint64 best = 1 << 30;
    for (int i = 0; i < 20; ++i) {
      QElapsedTimer timer;
      timer.start();
      QCOMPARE(tree.match(prompt).usable, 100064);
      best = std::min(best, timer.nsecsElapsed());
    }
    qInfo("100 064 tokens against 1 001 chats: %.3f ms", static_cast<double>(best) / 1e6);
    QVERIFY(best < 3000000);
  }
};

QTEST_GUILESS_MAIN(TestPrefixTree)
#include "tst_prefix_tree.moc"
