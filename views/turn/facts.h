// Rows of "what: figure", used by the popover and the inspector. Figures are right-aligned; a row without a value shows – and its reason.
#pragma once
#include <QGridLayout>
#include <QLabel>
#include <QWidget>

#include "views/theme/theme.h"

namespace tg {

class Facts : public QWidget {
  Q_OBJECT
 public:
  explicit Facts(QWidget* parent = nullptr);
  // Sets or adds the row KEY; REASON is the tooltip of an unknown value.
  void set(const QString& key, const QString& value, bool bold = false, const QString& reason = {});
  void keepOnly(const QStringList& keys);
  void setWrapping(bool on) { wraps_ = on; }   // values break into lines where the panel is narrow
  QString text() const;                       // "key: value" lines, for copying
  QString value(const QString& key) const;

 private:
  struct Row { QLabel* key; QLabel* value; };
  QGridLayout* grid_;
  bool wraps_ = false;
  QVector<Row> rows_;
};

}  // namespace tg
