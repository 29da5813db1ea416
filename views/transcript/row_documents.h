// The laid-out text of rows: at most 200 documents are kept, the least used leave first. GUI thread; owns the documents.
#pragma once
#include <QCache>
#include <QTextDocument>
#include <memory>

#include "views/transcript/transcript_model.h"

namespace tg {

class RowDocuments {
 public:
  RowDocuments();
  // Laid out for WIDTH. Code is never wrapped.
  QTextDocument* document(const TranscriptRow& row, qreal width, const QFont& base);
  void grew(const TranscriptRow& row, const QFont& base);  // an open code block: only the new end is put in
  void forget(const QString& rowId) { cache_.remove(rowId); }
  void clear() { cache_.clear(); }

 private:
  struct Entry {
    std::unique_ptr<QTextDocument> doc;
    qreal width = -1;
    qsizetype shown = 0;  // characters of the row put in
  };
  QCache<QString, Entry> cache_;
};

}  // namespace tg
