// Code in three shades that carry no meaning of their own: accent for keywords, bold for names being defined, italic for comments and constants.
#pragma once
#include <QSyntaxHighlighter>

namespace tg {

class CodeHighlighter final : public QSyntaxHighlighter {
 public:
  CodeHighlighter(QTextDocument* document, const QString& language);

 protected:
  void highlightBlock(const QString& line) override;

 private:
  qsizetype word(const QString& line, qsizetype at);
  bool hash_ = false, slashes_ = true, define_ = false;
};

}  // namespace tg
