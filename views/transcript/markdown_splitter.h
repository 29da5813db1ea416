// Cuts growing Markdown into blocks: finished ones that never change again, and one open tail. Pure; any thread.
// Blocks end at blank lines outside fences; lists and quotes stay together; an open fence is tail. The pieces, put together with their gaps,
// are exactly the text that came in, so a copy is exact.
#pragma once
#include <QString>
#include <QVector>

namespace tg {

struct MarkdownBlock {
  enum Kind { Text, Code, Table, Plain } kind = Text;  // Plain: too long to be parsed
  QString gap;       // what stood between the block before and this one
  QString source;    // exactly as written, fences included, without the last line break
  QString text;      // Code: what is between the fences; else the source
  QString language;  // Code
  bool operator==(const MarkdownBlock&) const = default;
};

class MarkdownSplitter {
 public:
  static constexpr int kLongest = 64 * 1024;  // longer blocks are cut and shown as plain text

  void append(QStringView text);
  QVector<MarkdownBlock> takeFinished();                 // since the last call
  MarkdownBlock tail() const;                            // what is still open; empty source: nothing
  void finish();                                         // the text is complete: the tail becomes a finished block
  static QVector<MarkdownBlock> split(const QString& text);

 private:
  enum class State { Between, Paragraph, Holding, Fence, Table };  // Holding: list or quote after a blank line
  void line(QStringView text, qsizetype begin, qsizetype end);
  void open(QStringView text, qsizetype begin);
  void close(qsizetype end);
  MarkdownBlock make(qsizetype end) const;

  QString pending_;             // from the end of the last finished block
  qsizetype scanned_ = 0;       // complete lines of pending_ seen so far
  qsizetype begin_ = 0;         // of the open block in pending_
  qsizetype contentEnd_ = 0;    // end of the last line that is not blank
  int lines_ = 0;
  State state_ = State::Between;
  bool list_ = false, closed_ = false;
  QString fence_;               // the opening fence's characters
  QVector<MarkdownBlock> finished_;
};

}  // namespace tg
