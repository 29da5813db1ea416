#include "views/transcript/markdown_splitter.h"


namespace tg {
namespace {

bool isBlank(QStringView line) { return line.trimmed().isEmpty(); }

qsizetype indent(QStringView line) {
  qsizetype n = 0;
  while (n < line.size() && (line[n] == u' ' || line[n] == u'\t')) n += line[n] == u'\t' ? 4 : 1;
  return n;
}

// The characters of a fence at the start of LINE ("```", "~~~~"); empty: none.
QString fenceOf(QStringView line) {
  if (indent(line) > 3) return {};
  const QStringView rest = line.trimmed();
  qsizetype n = 0;
  while (n < rest.size() && (rest[0] == u'`' || rest[0] == u'~') && rest[n] == rest[0]) ++n;
  if (n < 3 || (rest[0] == u'`' && rest.mid(n).contains(u'`'))) return {};
  return rest.left(n).toString();
}

bool isListItem(QStringView line) {
  const QStringView rest = line.trimmed();
  if (rest.size() < 2) return false;
  if ((rest[0] == u'-' || rest[0] == u'*' || rest[0] == u'+') && rest[1] == u' ') return true;
  qsizetype n = 0;
  while (n < rest.size() && n < 9 && rest[n].isDigit()) ++n;
  return n > 0 && n + 1 < rest.size() && (rest[n] == u'.' || rest[n] == u')') && rest[n + 1] == u' ';
}

bool isQuote(QStringView line) { return line.trimmed().startsWith(u'>'); }

bool isHeading(QStringView line) {
  qsizetype n = 0;
  while (n < line.size() && line[n] == u'#') ++n;
  return n >= 1 && n <= 6 && n < line.size() && line[n] == u' ';
}

bool isTableRule(QStringView line) {
  const QStringView rest = line.trimmed();
  if (!rest.contains(u'-') || !rest.contains(u'|')) return false;
  for (QChar c : rest) {
    if (c != u'-' && c != u'|' && c != u':' && c != u' ' && c != u'\t') return false;
  }
  return true;
}

}  // namespace

void MarkdownSplitter::append(QStringView text) {
  pending_ += text;
  for (;;) {
    const qsizetype end = pending_.indexOf(u'\n', scanned_);
    if (end < 0) break;
    const qsizetype begin = scanned_;
    scanned_ = end + 1;
    const qsizetype before = pending_.size();
    line(QStringView(pending_).mid(begin, end - begin), begin, end);
    if (pending_.size() != before) continue;
    if (state_ != State::Between && state_ != State::Fence && end - begin_ > kLongest) close(end);  // a cut fence would turn inside out
  }
  if (state_ == State::Between && scanned_ == 0 && pending_.size() > kLongest) {
    begin_ = 0;
    close(pending_.size());
  }
}

// One complete line. Offsets are into pending_; close() moves them.
void MarkdownSplitter::line(QStringView text, qsizetype begin, qsizetype end) {
  const QString copy = text.toString();  // pending_ may be cut below
  if (state_ == State::Fence) {
    ++lines_;
    const QString closing = fenceOf(copy);
    if (closing.startsWith(fence_) && QStringView(copy).trimmed().size() == closing.size()) {
      closed_ = true;
      close(end);
    }
    return;
  }
  if (isBlank(copy)) {
    if (state_ == State::Paragraph && list_) {
      state_ = State::Holding;
    } else if (state_ == State::Paragraph || state_ == State::Table) {
      close(contentEnd_);
    }
    return;
  }
  qsizetype at = begin;
  const auto restart = [&] {
    const qsizetype cut = contentEnd_;
    close(cut);
    at -= cut;
    end -= cut;
  };
  const bool fence = !fenceOf(copy).isEmpty();
  if (state_ == State::Holding && !(isListItem(copy) || indent(copy) >= 2 || isQuote(copy))) restart();
  if (state_ == State::Paragraph && ((fence && !(list_ && indent(copy) >= 2)) || isHeading(copy))) restart();
  if (state_ == State::Holding && fence && indent(copy) < 2) restart();
  if (state_ == State::Table && !copy.contains(u'|')) restart();
  if (state_ == State::Paragraph && !list_ && isListItem(copy) && lines_ >= 1 && !isTableRule(copy)) list_ = true;
  if (state_ == State::Paragraph && lines_ == 1 && isTableRule(copy) && pending_.mid(begin_, at - begin_).contains(u'|')) state_ = State::Table;
  if (state_ == State::Between) {
    open(copy, at);
  } else {
    if (state_ == State::Holding) state_ = State::Paragraph;
    ++lines_;
  }
  contentEnd_ = end;
  if (isHeading(copy) && lines_ == 1 && state_ == State::Paragraph) close(end);
}

void MarkdownSplitter::open(QStringView text, qsizetype begin) {
  begin_ = begin;
  lines_ = 1;
  fence_ = fenceOf(text);
  state_ = fence_.isEmpty() ? State::Paragraph : State::Fence;
  list_ = isListItem(text) || isQuote(text);
}

MarkdownBlock MarkdownSplitter::make(qsizetype end) const {
  MarkdownBlock block;
  block.gap = pending_.left(begin_);
  block.source = pending_.mid(begin_, end - begin_);
  block.text = block.source;
  if (state_ == State::Fence) {
    block.kind = MarkdownBlock::Code;
    const qsizetype first = block.source.indexOf(u'\n');
    const QString info = first < 0 ? block.source : block.source.left(first);
    block.language = info.trimmed().mid(fence_.size()).trimmed().section(u' ', 0, 0);
    block.text = first < 0 ? QString() : block.source.mid(first + 1);
    if (closed_) block.text = block.text.left(qMax<qsizetype>(0, block.text.lastIndexOf(u'\n')));
  } else if (block.source.size() > kLongest) {
    block.kind = MarkdownBlock::Plain;
  } else if (state_ == State::Table) {
    block.kind = MarkdownBlock::Table;
  }
  return block;
}

void MarkdownSplitter::close(qsizetype end) {
  finished_.append(make(end));
  pending_.remove(0, end);
  scanned_ = qMax<qsizetype>(0, scanned_ - end);
  begin_ = contentEnd_ = 0;
  lines_ = 0;
  closed_ = list_ = false;
  state_ = State::Between;
  fence_.clear();
}

QVector<MarkdownBlock> MarkdownSplitter::takeFinished() { return std::exchange(finished_, {}); }

MarkdownBlock MarkdownSplitter::tail() const {
  MarkdownSplitter open = *this;  // small: only the tail's text, which is shared
  open.finished_.clear();
  open.finish();
  const QVector<MarkdownBlock> blocks = open.takeFinished();
  if (blocks.size() == 1) return blocks.first();
  // A last line that starts a new block: both are shown as one until the line is complete.
  MarkdownBlock block;
  if (blocks.isEmpty()) return block;
  block = blocks.first();
  for (qsizetype i = 1; i < blocks.size(); ++i) {
    block.source += blocks[i].gap + blocks[i].source;
    block.text = block.source;
    block.kind = MarkdownBlock::Text;
  }
  return block;
}

void MarkdownSplitter::finish() {
  if (scanned_ < pending_.size()) {
    const qsizetype size = pending_.size();
    append(u"\n");
    if (!pending_.isEmpty() && pending_.endsWith(u'\n') && size > 0) {
      pending_.chop(1);
      scanned_ = qMin(scanned_, pending_.size());
    }
  }
  if (state_ == State::Fence) {
    close(pending_.endsWith(u'\n') ? pending_.size() - 1 : pending_.size());
  } else if (state_ != State::Between) {
    close(contentEnd_);
  }
}

QVector<MarkdownBlock> MarkdownSplitter::split(const QString& text) {
  MarkdownSplitter splitter;
  splitter.append(text);
  splitter.finish();
  return splitter.takeFinished();
}

}  // namespace tg
