#include "views/transcript/transcript_model.h"

namespace tg {

using namespace Qt::StringLiterals;

namespace {

constexpr qsizetype kLongTail = 2048;  // characters; below, a parse takes well under a millisecond

RowKind kindOf(MarkdownBlock::Kind kind) {
  if (kind == MarkdownBlock::Code) return RowKind::Code;
  return kind == MarkdownBlock::Table ? RowKind::Table : RowKind::Text;
}

void setBlock(TranscriptRow& row, const MarkdownBlock& block) {
  row.kind = kindOf(block.kind);
  row.plain = block.kind == MarkdownBlock::Plain;
  row.gap = block.gap;
  row.source = block.source;
  row.text = block.text;
  row.language = block.language;
}

bool hasFooter(const MessageInfo& m) { return m.role == u"assistant"_s && (m.record || m.state != TurnState::None); }

bool sameContent(const TranscriptRow& a, const TranscriptRow& b) {
  return a.kind == b.kind && a.source == b.source && a.gap == b.gap && a.last == b.last && a.id == b.id;
}

}  // namespace

TranscriptModel::TranscriptModel(QObject* parent) : QAbstractListModel(parent) {}

int TranscriptModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(rows_.size()); }

QVariant TranscriptModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rows_.size()) return {};
  const TranscriptRow& r = rows_[index.row()];
  switch (role) {
    case Qt::DisplayRole: return displayText(r);
    case Qt::AccessibleTextRole: return accessibleText(r);
    case IdRole: return r.id;
    case KindRole: return static_cast<int>(r.kind);
    case SourceRole: return r.source;
    case MessageIdRole: return r.messageId;
    default: return {};
  }
}

QString TranscriptModel::displayText(const TranscriptRow& r) const {
  switch (r.kind) {
    case RowKind::Footer: {
      QString text = footerText(groupsOf(r));
      if (!r.live && r.message->record) {
        if (const QString miss = missShort(*r.message->record); !miss.isEmpty()) text += u'\n' + miss;
      }
      return text;
    }
    case RowKind::Thinking:
      if (r.live && live_) return live_->text.isEmpty() ? thinkingLine(*live_) : tr("Thought · %1 tokens").arg(live_->thinking);
      return r.message->record ? thinkingLine(*r.message->record) : tr("Thought");
    default: return r.text;
  }
}

QString TranscriptModel::accessibleText(const TranscriptRow& r) const {
  const QString who = r.user ? tr("You") : r.message->modelName.isEmpty() ? tr("Assistant") : r.message->modelName;
  switch (r.kind) {
    case RowKind::Head: return r.text;
    case RowKind::Footer:
      if (r.live && live_) return footerSentence(*live_);
      return r.message->record ? footerSentence(*r.message->record) : tr("No figures for this turn.");
    case RowKind::Code: return tr("%1: code%2: %3").arg(who, r.language.isEmpty() ? QString() : u' ' + r.language, r.text);
    case RowKind::Table: return tr("%1: table: %2").arg(who, r.text);
    case RowKind::Attachment: return tr("%1: attachment %2").arg(who, r.text);
    case RowKind::Notice: return tr("Notice: %1").arg(r.text);
    case RowKind::Thinking: return r.isOpen ? displayText(r) + u". "_s + r.text : displayText(r);
    case RowKind::Text: break;
  }
  return who + u": "_s + r.text;
}

void TranscriptModel::appendBlocks(QVector<TranscriptRow>& rows, const QVector<MarkdownBlock>& blocks, const TranscriptRow& base) const {
  for (int i = 0; i < blocks.size(); ++i) {
    TranscriptRow r = base;
    setBlock(r, blocks[i]);
    r.id = base.messageId + u"/b"_s + QString::number(i);
    rows.append(r);
  }
}

QVector<TranscriptRow> TranscriptModel::rowsOf(const std::shared_ptr<const MessageInfo>& m, int turn) const {
  QVector<TranscriptRow> rows;
  TranscriptRow base;
  base.messageId = m->id;
  base.message = m;
  base.turn = turn;
  base.user = m->role == u"user"_s;
  const auto add = [&](RowKind kind, const QString& name, const QString& text) {
    TranscriptRow r = base;
    r.kind = kind;
    r.id = m->id + u'/' + name;
    r.text = text;
    rows.append(r);
  };
  if (m->role == u"notice"_s) {
    add(RowKind::Notice, u"notice"_s, m->text);
    rows.last().source = m->text;
    rows.last().last = true;
    return rows;
  }
  add(RowKind::Head, u"head"_s, base.user ? tr("You") : m->modelName.isEmpty() ? tr("Assistant") : m->modelName);
  if (base.user) {
    add(RowKind::Text, u"b0"_s, m->text);
    rows.last().plain = true;
    rows.last().source = m->text;
    for (int i = 0; i < m->attachments.size(); ++i) add(RowKind::Attachment, u'a' + QString::number(i), m->attachments[i].section(u'/', -1));
  } else {
    if (!m->thinkingText.isEmpty() || (m->record && m->record->thinking.value_or(0) > 0)) {
      add(RowKind::Thinking, u"thinking"_s, m->thinkingText);
      rows.last().isOpen = openThinking_.contains(m->id);
    }
    appendBlocks(rows, MarkdownSplitter::split(m->text), base);
    if (const QString notice = stateSentence(*m); !notice.isEmpty() && m->state != TurnState::Stopped) add(RowKind::Notice, u"notice"_s, notice);
    if (hasFooter(*m) && footerShown_) add(RowKind::Footer, u"footer"_s, {});
  }
  rows.last().last = true;
  return rows;
}

void TranscriptModel::setMessages(const QVector<MessageInfo>& messages) {
  beginResetModel();
  rows_.clear();
  messages_.clear();
  live_.reset();
  int turn = 0;
  for (const MessageInfo& m : messages) {
    messages_.append(std::make_shared<const MessageInfo>(m));
    if (m.role == u"user"_s) ++turn;
    rows_ += rowsOf(messages_.last(), turn);
  }
  endResetModel();
}

void TranscriptModel::addMessage(const MessageInfo& message) {
  if (this->message(message.id)) {
    changeMessage(message);
    return;
  }
  messages_.append(std::make_shared<const MessageInfo>(message));
  const int turn = (rows_.isEmpty() ? 0 : rows_.last().turn) + (message.role == u"user"_s ? 1 : 0);
  const QVector<TranscriptRow> rows = rowsOf(messages_.last(), turn);
  beginInsertRows({}, rowCount(), rowCount() + static_cast<int>(rows.size()) - 1);
  rows_ += rows;
  endInsertRows();
}

void TranscriptModel::changeMessage(const MessageInfo& message) {
  const int first = firstRowOf(message.id);
  if (first < 0) {
    addMessage(message);
    return;
  }
  const bool stillLive = live_ && live_->messageId == message.id && !message.record &&
                         (message.state == TurnState::Queued || message.state == TurnState::Loading || message.state == TurnState::Reading ||
                          message.state == TurnState::Writing);
  for (auto& known : messages_) {
    if (known->id == message.id) known = std::make_shared<const MessageInfo>(message);
  }
  if (stillLive) return;  // its rows follow updateLive()
  if (live_ && live_->messageId == message.id) live_.reset();
  const auto shared = *std::find_if(messages_.cbegin(), messages_.cend(), [&](const auto& m) { return m->id == message.id; });
  replaceRows(first, lastRowOf(message.id) - first + 1, rowsOf(shared, rows_[first].turn));
}

// Rows that stay the same keep their place, so the view keeps what it measured.
void TranscriptModel::replaceRows(int first, int count, const QVector<TranscriptRow>& rows) {
  int same = 0;
  while (same < count && same < rows.size() && rows_[first + same].kind == rows[same].kind && rows_[first + same].id == rows[same].id) {
    const bool repaint = !sameContent(rows_[first + same], rows[same]) || rows[same].kind == RowKind::Footer || rows[same].kind == RowKind::Thinking;
    rows_[first + same] = rows[same];
    if (repaint) changed(first + same);
    ++same;
  }
  if (count > same) {
    beginRemoveRows({}, first + same, first + count - 1);
    rows_.remove(first + same, count - same);
    endRemoveRows();
  }
  if (rows.size() > same) {
    beginInsertRows({}, first + same, first + static_cast<int>(rows.size()) - 1);
    for (int i = same; i < rows.size(); ++i) rows_.insert(first + i, rows[i]);
    endInsertRows();
  }
}

void TranscriptModel::startLive(const QString& messageId) {
  splitter_ = MarkdownSplitter();
  consumed_ = 0;
  liveBlocks_ = 0;
  liveTail_ = tailWaits_ = false;
  MessageInfo m;
  if (const MessageInfo* known = message(messageId)) m = *known;
  m.id = messageId;
  if (m.role.isEmpty()) m.role = u"assistant"_s;
  m.state = TurnState::Queued;
  m.record.reset();
  m.text.clear();
  m.thinkingText.clear();
  live_.reset();
  changeMessage(m);
  const int first = firstRowOf(messageId), last = lastRowOf(messageId);
  for (int i = first; i <= last; ++i) rows_[i].live = true;
}

void TranscriptModel::updateLive(const LiveTurn& live, bool figures) {
  if (!live_ || live_->messageId != live.messageId) startLive(live.messageId);
  const bool stateChanged = !live_ || live_->state != live.state;
  live_ = live;
  updateThinking(live, figures || stateChanged);
  updateBlocks(live, figures || stateChanged);
  if ((figures || stateChanged) && footerShown_) changed(lastRowOf(live.messageId));
}

void TranscriptModel::updateThinking(const LiveTurn& live, bool figures) {
  if (live.thinkingText.isEmpty()) return;
  const int at = firstRowOf(live.messageId) + 1;
  if (rows_[at].kind != RowKind::Thinking) {
    TranscriptRow r = rows_[at - 1];
    r.kind = RowKind::Thinking;
    r.id = live.messageId + u"/thinking"_s;
    r.last = false;
    r.isOpen = openThinking_.contains(live.messageId);
    r.text = live.thinkingText;
    beginInsertRows({}, at, at);
    rows_.insert(at, r);
    endInsertRows();
    return;
  }
  const bool grew = rows_[at].text.size() != live.thinkingText.size();
  rows_[at].text = live.thinkingText;
  if (figures || (grew && rows_[at].isOpen)) changed(at);
}

// A long open paragraph is parsed again as a whole: it is shown when it has grown by a part of itself, and with every update of the figures,
// so that its cost stays in proportion to its length.
void TranscriptModel::updateBlocks(const LiveTurn& live, bool figures) {
  if (live.text.size() <= consumed_ && !tailWaits_) return;
  splitter_.append(QStringView(live.text).mid(consumed_));
  consumed_ = live.text.size();
  for (const MarkdownBlock& block : splitter_.takeFinished()) putBlock(block, false);
  const MarkdownBlock tail = splitter_.tail();
  const qsizetype size = tail.source.size();
  const qsizetype shown = liveTail_ ? rows_[lastRowOf(live.messageId) - (footerShown_ ? 1 : 0)].source.size() : 0;
  tailWaits_ = !figures && tail.kind != MarkdownBlock::Code && size > kLongTail && size - shown < size / 32;
  if (size > 0 && !tailWaits_) putBlock(tail, true);
}

// The open tail is one row before the footer; a finished block takes its place.
void TranscriptModel::putBlock(const MarkdownBlock& block, bool tail) {
  const int footer = lastRowOf(live_->messageId) + (footerShown_ ? 0 : 1);
  if (liveTail_) {
    TranscriptRow& r = rows_[footer - 1];
    const bool grewOnly = r.kind == RowKind::Code && block.kind == MarkdownBlock::Code && block.text.startsWith(r.text) && block.language == r.language;
    const bool same = r.kind == kindOf(block.kind) && r.source == block.source;
    setBlock(r, block);
    if (grewOnly && !same) {
      Q_EMIT tailAppended(footer - 1);
    } else if (!same) {
      changed(footer - 1);
    }
  } else {
    TranscriptRow r = rows_[firstRowOf(live_->messageId)];
    setBlock(r, block);
    r.id = live_->messageId + u"/b"_s + QString::number(liveBlocks_);
    r.last = false;
    beginInsertRows({}, footer, footer);
    rows_.insert(footer, r);
    endInsertRows();
  }
  liveTail_ = tail;
  if (!tail) ++liveBlocks_;
}

void TranscriptModel::endLive() {
  if (!live_) return;
  const QString id = live_->messageId;
  live_.reset();
  for (int i = 0; i < rows_.size(); ++i) {
    if (rows_[i].messageId == id) rows_[i].live = false;
  }
}

void TranscriptModel::setFooterOptions(const FooterOptions& options, bool shown) {
  footer_ = options;
  if (shown != footerShown_) {
    footerShown_ = shown;
    QVector<MessageInfo> all;
    for (const auto& m : messages_) all.append(*m);
    setMessages(all);
  } else if (!rows_.isEmpty()) {
    Q_EMIT dataChanged(index(0), index(rowCount() - 1));
  }
}

QVector<FooterGroup> TranscriptModel::groupsOf(const TranscriptRow& row) const {
  FooterOptions options = footer_;
  if (row.live && live_) {
    options.thinking = live_->thinking > 0 || !live_->thinkingText.isEmpty();
    return footerGroups(*live_, options);
  }
  if (row.message->record) return footerGroups(*row.message->record, row.message->state, options);
  LiveTurn waiting;
  waiting.state = row.message->state;
  return footerGroups(waiting, options);
}

QVector<FooterGroup> TranscriptModel::groupsForLayout(const TranscriptRow& row) const {
  if (!row.live || !live_ || live_->state == TurnState::Writing) return groupsOf(row);
  LiveTurn final = *live_;
  final.state = TurnState::Writing;
  return footerGroups(final, footer_);
}

void TranscriptModel::setThinkingOpen(int row, bool open) {
  TranscriptRow& r = rows_[row];
  if (r.kind != RowKind::Thinking || r.isOpen == open) return;
  r.isOpen = open;
  if (open) {
    openThinking_.insert(r.messageId);
  } else {
    openThinking_.remove(r.messageId);
  }
  changed(row);
}

int TranscriptModel::firstRowOf(const QString& messageId) const {
  for (int i = static_cast<int>(rows_.size()) - 1; i >= 0; --i) {  // the asked-for message is nearly always near the end
    if (rows_[i].messageId != messageId) continue;
    while (i > 0 && rows_[i - 1].messageId == messageId) --i;
    return i;
  }
  return -1;
}

int TranscriptModel::lastRowOf(const QString& messageId) const {
  for (int i = static_cast<int>(rows_.size()) - 1; i >= 0; --i) {
    if (rows_[i].messageId == messageId) return i;
  }
  return -1;
}

const MessageInfo* TranscriptModel::message(const QString& messageId) const {
  for (auto it = messages_.crbegin(); it != messages_.crend(); ++it) {
    if ((*it)->id == messageId) return it->get();
  }
  return nullptr;
}

QString TranscriptModel::source(int first, int last) const {
  QString text, message;
  for (int i = first; i <= last; ++i) {
    const TranscriptRow& r = rows_[i];
    if (r.source.isEmpty()) continue;
    if (!text.isEmpty()) text += r.messageId == message ? r.gap : u"\n\n"_s;
    text += r.source;
    message = r.messageId;
  }
  return text;
}

}  // namespace tg
