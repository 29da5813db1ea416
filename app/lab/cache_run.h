// One run of a scenario through a provider's cache rule. What the rule leaves open is decided one way for the whole run: as a hit or as a miss.
// Pure, any thread; a CacheRun is used once.
#pragma once
#include <QVector>

#include "app/cost/cache_rules.h"
#include "app/lab/scenario.h"

namespace tg::lab {

enum class Doubt { Hit, Miss };

struct StepResult {
  QString error;                         // too_many_breakpoints ttl_order below_minimum no_such_cache; counts do not hold then
  qint64 total = 0, cached = 0, fresh = 0, write = 0;
  qint64 write5m = 0, write1h = 0;       // of write; the rest has the row's default lifetime
};

struct StoredCache {                     // a cache as a resource
  qint64 tokens = 0, created = 0, end = 0;                  // ms
};

class CacheRun {
 public:
  CacheRun(const Scenario& scenario, const cost::CacheRule& rule, Doubt doubt) : scenario_(scenario), rule_(rule), doubt_(doubt) {}
  StepResult step(const Step& step);
  const QVector<StoredCache>& stored() const { return stored_; }

 private:
  struct Entry {
    QString workspace, model, params;
    QStringList blocks;
    QString lifetime;
    qint64 made = 0, readable = 0, used = 0;                // ms
    bool answered = false;               // mode Units: a whole request, whose prompt later ones are compared with
  };
  struct Mark { int block; QString lifetime; bool isExplicit; };
  enum class Certainty { No, Open, Yes };

  const Scenario& scenario_;
  const cost::CacheRule& rule_;
  Doubt doubt_;
  QVector<Entry> entries_;
  QVector<StoredCache> stored_;
  QHash<QString, qsizetype> storedByName_;
  QStringList slot_;

  bool decide(Certainty certainty) const { return certainty == Certainty::Yes || (certainty == Certainty::Open && doubt_ == Doubt::Hit); }
  Certainty lifeOf(const Entry& entry, qint64 t) const;     // not yet gone
  Certainty readability(const Entry& entry, qint64 t) const;
  bool usable(const Entry& entry, qint64 t) const;
  qint64 readableFrom(const Step& step) const { return rule_.readableAfter == QStringLiteral("first_token") ? step.firstToken : step.end; }
  QString paramsAt(const Step& step, int block) const;      // values that must match for an entry that ends at this block
  QString paramsOfMessages(const Step& step) const;
  Entry* find(const Step& step, int block);
  Entry entryFor(const Step& step, int blocks, const QString& params, const QString& lifetime) const;
  int commonBlocks(const Entry& entry, const QStringList& prompt) const;

  StepResult byMarks(const Step& step);
  QVector<Mark> marksOf(const Step& step, QString* error) const;
  int longestRead(const Step& step, const QVector<Mark>& marks);  // block ends read, 0: none
  void keep(const Step& step, const Mark& mark);
  StepResult byPrefix(const Step& step);
  StepResult byUnits(const Step& step);
  StepResult byResource(const Step& step);
  StepResult createResource(const Step& step);
  StepResult changeResource(const Step& step);
  StepResult bySlot(const Step& step);
};

}  // namespace tg::lab
