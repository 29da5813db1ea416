#include "views/cache/cache_page.h"

#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QScrollArea>
#include <QStyle>
#include <QToolButton>
#include <QVBoxLayout>

#include "app/cache_overview.h"
#include "app/format.h"
#include "views/cache/budgets_dialog.h"
#include "views/cache/cache_actions.h"
#include "views/cache/cache_detail.h"
#include "views/cache/cache_map.h"
#include "views/cache/cache_table.h"
#include "views/pages/page_parts.h"
#include "views/theme/icons.h"

namespace tg {

using namespace Qt::StringLiterals;
using words::CacheAction;

namespace {

QFrame* rule(QWidget* parent) {
  auto* line = new QFrame(parent);
  line->setObjectName(u"rule"_s);
  line->setFixedHeight(1);
  return line;
}

QScrollArea* scrolling(QWidget* content, const QString& name, QWidget* parent) {
  auto* area = new QScrollArea(parent);
  area->setObjectName(name);
  area->setWidgetResizable(true);
  area->setFrameShape(QFrame::NoFrame);
  area->setFocusPolicy(Qt::NoFocus);
  area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  area->setStyleSheet(u"QScrollArea { background: transparent; border: none; }"_s);
  area->setWidget(content);
  area->viewport()->setAutoFillBackground(false);
  content->setAutoFillBackground(false);
  return area;
}

}  // namespace

CachePage::CachePage(Application& app, QWidget* parent) : QWidget(parent), app_(app), cache_(app.cache()) {
  setObjectName(u"cachePage"_s);
  setAttribute(Qt::WA_StyledBackground);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(buildHeader());
  strip_ = new QFrame(this);
  strip_->setObjectName(u"cacheStrip"_s);
  strip_->setAttribute(Qt::WA_StyledBackground);
  auto* inside = new QHBoxLayout(strip_);
  inside->setContentsMargins(14, 6, 8, 6);
  noteText_ = new QLabel(strip_);
  noteText_->setObjectName(u"cacheNotice"_s);
  noteText_->setWordWrap(true);
  auto* close = new QToolButton(strip_);
  close->setObjectName(u"cacheNoticeClose"_s);
  close->setIcon(icon(u"close"_s));
  close->setAccessibleName(tr("Close this notice"));
  connect(close, &QToolButton::clicked, strip_, &QWidget::hide);
  inside->addWidget(noteText_, 1);
  inside->addWidget(close);
  strip_->hide();
  column->addWidget(strip_);
  main_ = new QWidget;
  body_ = new QHBoxLayout(main_);
  body_->setContentsMargins(0, 0, 0, 0);
  body_->setSpacing(0);
  body_->addWidget(buildMain(), 1);
  detail_ = new CacheDetail(app, main_);
  side_ = scrolling(detail_, u"cacheDetailScroll"_s, main_);
  body_->addWidget(side_);
  scroll_ = scrolling(main_, u"cacheScroll"_s, this);
  column->addWidget(scroll_, 1);
  for (QWidget* w : {static_cast<QWidget*>(table_), static_cast<QWidget*>(map_)}) w->installEventFilter(this);
  connect(table_, &CacheTable::currentChanged, this, &CachePage::choose);
  connect(table_, &QTableView::doubleClicked, this, [this] { Q_EMIT chatWanted(chatId_); });
  connect(table_, &QTableView::customContextMenuRequested, this, &CachePage::contextMenu);
  connect(map_, &CacheMap::chosen, this, &CachePage::choose);
  connect(&cache_, &CacheOverview::failed, this, [this](const QString& sentence) { say(sentence, "warning"); });
  connect(&cache_, &CacheOverview::integrityChecked, this, [this](bool sound, const QString& sentence) {
    check_->setEnabled(true);
    check_->setText(tr("Check integrity"));
    say(sentence, sound ? "ok" : "warning");
  });
}

QWidget* CachePage::buildHeader() {
  auto* header = new QFrame(this);
  header->setObjectName(u"pageHeader"_s);
  header->setAttribute(Qt::WA_StyledBackground);
  head_ = new QHBoxLayout(header);
  head_->setContentsMargins(16, 8, 16, 8);
  head_->setSpacing(8);
  auto* words = new QHBoxLayout;
  words->setSpacing(8);
  auto* title = new QLabel(tr("Cache"), header);
  title->setFont(headingFont(font()));
  summary_ = new QLabel(header);
  summary_->setObjectName(u"cacheSummary"_s);
  summary_->setProperty("kind", u"muted"_s);
  summary_->setMinimumWidth(1);
  words->addWidget(title);
  words->addWidget(summary_, 1);
  head_->addLayout(words, 1);
  auto* tools = new QHBoxLayout;
  tools->setSpacing(8);
  filter_ = new QLineEdit(header);
  filter_->setObjectName(u"cacheFilterEdit"_s);
  filter_->setPlaceholderText(tr("Filter chats"));
  filter_->setAccessibleName(tr("Filter chats"));
  filter_->setClearButtonEnabled(true);
  filter_->addAction(icon(u"search"_s, Role::Muted), QLineEdit::LeadingPosition);
  filter_->setMinimumWidth(qRound(em(font()) * 9));
  filter_->setMaximumWidth(qRound(em(font()) * 14));
  tools->addWidget(filter_, 1);
  const auto button = [&](const QString& name, const QString& iconName, const QString& text, auto slot) {
    auto* b = new QPushButton(text, header);
    b->setObjectName(name);
    b->setAutoDefault(false);
    if (!iconName.isEmpty()) b->setIcon(icon(iconName));
    connect(b, &QPushButton::clicked, this, slot);
    tools->addWidget(b);
    return b;
  };
  budgets_ = button(u"budgetsButton"_s, u"nav-settings"_s, tr("Budgets …"), [this] { openBudgets(); });
  check_ = button(u"checkIntegrityButton"_s, u"check"_s, tr("Check integrity"), [this] { checkIntegrity(); });
  clear_ = button(u"clearAllButton"_s, {}, tr("Clear all …"), [this] { askClear(); });
  head_->addLayout(tools);
  connect(filter_, &QLineEdit::textChanged, this, [this](const QString& text) { table_->filter(text); });
  return header;
}

QWidget* CachePage::buildMain() {
  auto* left = new QWidget(main_);
  auto* column = new QVBoxLayout(left);
  column->setContentsMargins(16, 12, 16, 12);
  column->setSpacing(8);
  auto* line = new QHBoxLayout;
  auto* heading = new QLabel(tr("Map"), left);
  heading->setFont(scaled(font(), 1, true));
  hint_ = new QLabel(left);
  hint_->setObjectName(u"cacheMapHint"_s);
  hint_->setProperty("kind", u"muted"_s);
  hint_->setFont(smallFont(font()));
  hint_->setWordWrap(true);
  line->addWidget(heading, 0, Qt::AlignTop);
  line->addWidget(hint_, 1);
  column->addLayout(line);
  map_ = new CacheMap(left);
  column->addWidget(map_);
  column->addWidget(rule(left));
  table_ = new CacheTable(left);
  table_->setContextMenuPolicy(Qt::CustomContextMenu);
  table_->setMinimumHeight(qRound(em(font()) * 8));
  column->addWidget(table_, 1000);
  auto* foot = mutedNote(tr("Least used leaves first, from its end; pinned chats never leave. “Ready in” is the wait for the first token of a 32-token message. Keys: P pin, E evict, G R D to a tier."), left);
  foot->setFont(smallFont(font()));
  column->addWidget(foot);
  column->addStretch(1);
  return left;
}

void CachePage::refresh() {
  const CacheSnapshot& all = cache_.snapshot();
  QStringList parts{tr("%1 tokens held for %2").arg(format::count(all.tokensHeld), all.chatsHeld == 1 ? tr("1 chat") : tr("%1 chats").arg(format::count(all.chatsHeld)))};
  if (all.chatsCold > 0) parts << (all.chatsCold == 1 ? tr("1 chat is cold") : tr("%1 chats are cold").arg(format::count(all.chatsCold)));
  if (all.tokenBytes > 0) parts << tr("one token is %1").arg(format::bytes(qRound64(all.tokenBytes)));
  summary_->setText(parts.join(u" · "_s));
  summary_->setToolTip(summary_->text());
  QString hint = tr("each block is one chat, to scale within its tier; the rest of a bar is free budget");
  bool copies = false, shared = false;
  for (const CacheTier& t : all.tiers) {
    for (const CacheBlock& b : t.blocks) {
      copies = copies || b.copy;
      shared = shared || b.kind == CacheBlock::Kind::Shared;
    }
  }
  if (shared) hint += tr("; crossed: shared by several chats, counted once");
  if (copies) hint += tr("; pale: on disk a copy of what is in memory too");
  hint_->setText(hint);
  map_->set(all);
  table_->set(all);
  if (!all.row(chatId_)) chatId_.clear();
  if (chatId_.isEmpty() && !all.rows.isEmpty()) {
    chatId_ = all.rows.first().chat.id;
    table_->select(chatId_);
  }
  map_->setSelected(chatId_);
  detail_->setChat(chatId_);
  detail_->refresh();
  clear_->setEnabled(all.chatsHeld > 0);
}

void CachePage::choose(const QString& chatId) {
  if (chatId.isEmpty() || chatId == chatId_) return;
  chatId_ = chatId;
  table_->select(chatId);
  map_->setSelected(chatId);
  detail_->setChat(chatId);
}

bool CachePage::act(CacheAction action) { return detail_->actions()->trigger(action); }

void CachePage::openBudgets() {
  auto* dialog = new BudgetsDialog(cache_, this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->open();
}

void CachePage::checkIntegrity() {
  check_->setEnabled(false);
  check_->setText(tr("Checking …"));
  cache_.checkIntegrity();
}

// Undo is impossible, so it asks; the safe answer is the default.
void CachePage::askClear() {
  auto* box = new QMessageBox(QMessageBox::Warning, tr("Clear all caches"), words::clearQuestion(cache_.snapshot()), QMessageBox::NoButton, this);
  box->setObjectName(u"clearAllDialog"_s);
  box->setAttribute(Qt::WA_DeleteOnClose);
  QPushButton* clear = box->addButton(tr("Clear all"), QMessageBox::DestructiveRole);
  clear->setObjectName(u"clearAllConfirm"_s);
  QPushButton* cancel = box->addButton(QMessageBox::Cancel);
  box->setDefaultButton(cancel);
  box->setEscapeButton(cancel);
  connect(clear, &QPushButton::clicked, this, [this] { cache_.clear(); });
  box->open();
}

void CachePage::focusTable() { table_->setFocus(Qt::OtherFocusReason); }

void CachePage::say(const QString& sentence, const char* kind) {
  strip_->setProperty("kind", QString::fromLatin1(kind));
  strip_->style()->unpolish(strip_);
  strip_->style()->polish(strip_);
  noteText_->setText(sentence);
  noteText_->setAccessibleName(sentence);
  strip_->show();
}

void CachePage::contextMenu(const QPoint& point) {
  const CacheRow* row = cache_.snapshot().row(chatId_);
  if (!row) return;
  auto* menu = new QMenu(this);
  menu->setObjectName(u"cacheRowMenu"_s);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->addAction(tr("Open this chat"), this, [this] { Q_EMIT chatWanted(chatId_); });
  menu->addSeparator();
  for (CacheAction action : {CacheAction::ToGpu, CacheAction::ToRam, CacheAction::ToDisk, CacheAction::Pin, CacheAction::Evict}) {
    if (action == CacheAction::ToGpu && !cache_.snapshot().tier(ChatTier::Gpu)->exists) continue;
    menu->addAction(words::actionName(action, *row), this, [this, action] { act(action); })->setEnabled(words::whyNot(action, *row, cache_.snapshot()).isEmpty());
  }
  menu->popup(table_->viewport()->mapToGlobal(point));
}

bool CachePage::keyAction(int key) {
  switch (key) {
    case Qt::Key_P: act(CacheAction::Pin); return true;
    case Qt::Key_E: act(CacheAction::Evict); return true;
    case Qt::Key_G: act(CacheAction::ToGpu); return true;
    case Qt::Key_R: act(CacheAction::ToRam); return true;
    case Qt::Key_D: act(CacheAction::ToDisk); return true;
    default: return false;
  }
}

bool CachePage::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::KeyPress) {
    auto* key = static_cast<QKeyEvent*>(event);
    if (key->modifiers() == Qt::NoModifier && keyAction(key->key())) return true;
    if (watched == table_ && (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) && !chatId_.isEmpty()) {
      Q_EMIT chatWanted(chatId_);
      return true;
    }
  }
  return QWidget::eventFilter(watched, event);
}

// Narrow: the buttons go below the title, the detail below the table, and the whole page scrolls.
void CachePage::layoutParts() {
  const qreal unit = em(font());
  const bool narrow = width() < unit * 66;
  head_->setDirection(width() < unit * 80 ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
  detail_->setMaximumWidth(QWIDGETSIZE_MAX);
  if (!narrow) side_->setFixedWidth(qRound(unit * 25));
  if (arranged_ && narrow == narrow_) return;
  arranged_ = true;
  narrow_ = narrow;
  body_->setDirection(narrow ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
  side_->setProperty("below", narrow);
  if (narrow) {
    side_->setMinimumWidth(0);
    side_->setMaximumWidth(QWIDGETSIZE_MAX);
    side_->setMinimumHeight(qRound(unit * 34));
  } else {
    side_->setMinimumHeight(0);
  }
}

void CachePage::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  layoutParts();
}

void CachePage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  layoutParts();
  if (!live_) live_ = connect(&cache_, &CacheOverview::changed, this, &CachePage::refresh);
  refresh();
  cache_.refresh();
  // The stack gives the focus to the first field it finds; the table is where one works.
  if (!event->spontaneous()) QMetaObject::invokeMethod(this, &CachePage::focusTable, Qt::QueuedConnection);
}

// A page that is not shown asks for no figures.
void CachePage::hideEvent(QHideEvent* event) {
  QWidget::hideEvent(event);
  disconnect(live_);
  live_ = {};
}

}  // namespace tg
