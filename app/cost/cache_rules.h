// Prompt-cache rules of hosted models as data. Thread: immutable after reading, any thread.
#pragma once
#include <QByteArray>
#include <QHash>
#include <QString>
#include <QStringList>
#include <QVector>
#include <optional>

namespace tg::cost {

struct CacheLifetime {
  qint64 sureSeconds = 0;
  std::optional<qint64> maxSeconds;      // unset: no maximum is stated
};

struct MarkMode { bool addsLastBlock = false; int maxExplicit = 0; };

struct MarkRules {
  int max = 0;
  bool overflowIsError = false;          // else the latest marks are kept
  bool longFirst = false;                // a longer lifetime may not follow a shorter one
  QString defaultMode;
  QHash<QString, MarkMode> modes;
};

struct CacheRule {
  enum class Mode { Breakpoint, Prefix, Units, Resource, Slot };
  QString id, certainty;                 // certainty: exact formula range
  Mode mode = Mode::Prefix;
  QVector<std::pair<QString, QStringList>> appliesTo;       // provider, models; {"*"}: all
  std::optional<qint64> minTokens;
  QHash<QString, qint64> minTokensOf;    // by model
  std::optional<std::pair<qint64, qint64>> rounding;        // base, step
  QString defaultLifetime;
  QHash<QString, CacheLifetime> lifetimes;
  qint64 defaultResourceSeconds = 0;     // mode Resource
  bool refreshOnHit = false, includesOutput = false, lastTokenComputed = false;
  QString readableAfter;                 // first_token end unstated
  MarkRules marks;
  std::optional<qint64> lookbackSure, lookbackMax;          // in blocks; unset: no limit
  QString requiresParam;
  QStringList keyParamsTools, keyParamsSystem, keyParamsMessages;
  QString readPrice;                     // key in the price book, usually cached_read

  bool appliesToModel(const QString& provider, const QString& model) const;
  qint64 minimum(const QString& model) const { return minTokensOf.value(model, minTokens.value_or(0)); }
  // Tokens of a common prefix that the rule can serve from the cache.
  qint64 usable(qint64 prefix, qint64 total, const QString& model) const;
};

class CacheRules {
 public:
  static std::optional<CacheRules> read(const QByteArray& json, QString* refusal);
  static const CacheRules& shipped();
  const CacheRule* named(const QString& id) const;
  const CacheRule* firstFor(const QString& provider, const QString& model) const;
  // The first one that works without the caller marking or creating anything by hand.
  const CacheRule* automaticFor(const QString& provider, const QString& model) const;

 private:
  QVector<CacheRule> rules_;
};

}  // namespace tg::cost
