#include "views/chats/chat_header.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QToolButton>

#include "app/format.h"
#include "views/chats/chat_list_model.h"
#include "views/shell/actions.h"
#include "views/theme/fill.h"
#include "views/theme/icons.h"
#include "views/turn/turn_words.h"

namespace tg {

using namespace Qt::StringLiterals;

namespace {

QString stateName(TurnState state) {
  switch (state) {
    case TurnState::Queued: return u"queued"_s;
    case TurnState::Loading: return u"loading"_s;
    case TurnState::Reading: return u"reading"_s;
    case TurnState::Writing: return u"writing"_s;
    default: return {};
  }
}

QString tierSentence(const ChatInfo& c) {
  const QString t = format::expectedTime(c.waitMs);
  switch (c.tier) {
    case ChatTier::Gpu: return ChatHeader::tr("Ready at once: the cache is in GPU memory.");
    case ChatTier::Ram: return ChatHeader::tr("Ready at once: the cache is in memory.");
    case ChatTier::Disk: return ChatHeader::tr("Kept on disk: read back first, %1.").arg(t);
    case ChatTier::Cold: return ChatHeader::tr("Nothing kept: %1 tokens are read first, %2.").arg(format::count(c.tokensToRead), t);
    case ChatTier::Unknown: break;
  }
  return ChatHeader::tr("Not known: the remote engine does not say.");
}

}  // namespace

ChatHeader::ChatHeader(Application& app, Actions& actions, QWidget* parent) : QFrame(parent), app_(app), actions_(actions) {
  setObjectName(u"chatHeader"_s);
  setAttribute(Qt::WA_StyledBackground);
  auto* line = new QHBoxLayout(this);
  line->setContentsMargins(12, 6, 12, 6);
  line->setSpacing(8);
  title_ = new QLineEdit(this);
  title_->setObjectName(u"chatTitle"_s);
  title_->setAccessibleName(tr("Title of this chat"));
  title_->setProperty("kind", u"bare"_s);
  title_->setFont(headingFont(font()));
  title_->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  connect(title_, &QLineEdit::editingFinished, this, [this] {
    const auto chat = app_.chats().chat(chatId_);
    if (chat && !title_->text().trimmed().isEmpty() && title_->text() != shownTitle(chat->title)) app_.chats().renameChat(chatId_, title_->text().trimmed());
    title_->setCursorPosition(0);
  });
  model_ = new QToolButton(this);
  model_->setObjectName(u"modelButton"_s);
  model_->setPopupMode(QToolButton::InstantPopup);
  modelMenu_ = new QMenu(model_);
  modelMenu_->setToolTipsVisible(true);
  model_->setMenu(modelMenu_);
  connect(modelMenu_, &QMenu::aboutToShow, this, &ChatHeader::fillModelMenu);
  tier_ = new QToolButton(this);
  tier_->setObjectName(u"tierBadge"_s);
  tier_->setProperty("kind", u"chip"_s);
  tier_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  tier_->setPopupMode(QToolButton::InstantPopup);
  tierMenu_ = new QMenu(tier_);
  tier_->setMenu(tierMenu_);
  connect(tierMenu_, &QMenu::aboutToShow, this, &ChatHeader::fillTierMenu);
  state_ = new QLabel(this);
  state_->setObjectName(u"stateChip"_s);
  state_->setProperty("kind", u"chip"_s);
  state_->hide();
  line->addWidget(title_);
  line->addWidget(model_);
  line->addWidget(tier_);
  line->addWidget(state_);
  line->addStretch(1);
  const auto tool = [&](Act act, const QString& name, const QString& verb) {
    auto* b = new QToolButton(this);
    b->setObjectName(name);
    b->setIcon(actions_.get(act)->icon());
    b->setAccessibleName(verb);
    b->setToolTip(verb + u" ("_s + actions_.get(act)->shortcut().toString(QKeySequence::NativeText) + u')');
    connect(b, &QToolButton::clicked, actions_.get(act), &QAction::trigger);
    line->addWidget(b);
    return b;
  };
  tool(Act::Find, u"findInChatButton"_s, tr("Find in this chat"));
  inspector_ = tool(Act::ToggleInspector, u"inspectorButton"_s, tr("Inspector"));
  inspector_->setCheckable(true);
  connect(&app.chats(), &ChatService::chatChanged, this, [this](const QString& id) {
    if (id == chatId_) refresh();
  });
  connect(&app.chats(), &ChatService::chatsChanged, this, &ChatHeader::refresh);
  connect(&app.models(), &ModelCatalogue::changed, this, &ChatHeader::refresh);
  connect(&Theme::get(), &Theme::changed, this, [this] {
    title_->setFont(headingFont(font()));
    refresh();
  });
}

void ChatHeader::setChat(const QString& chatId) {
  chatId_ = chatId;
  setLive(app_.chats().liveTurn(chatId));
  refresh();
}

void ChatHeader::refresh() {
  const auto chat = app_.chats().chat(chatId_);
  if (!chat) return;
  if (!title_->hasFocus()) title_->setText(shownTitle(chat->title));
  title_->setMinimumWidth(qMin(QFontMetrics(title_->font()).horizontalAdvance(shownTitle(chat->title)) + 16, qRound(em(font()) * 22)));
  title_->setCursorPosition(0);
  QString name = chat->modelName.isEmpty() ? tr("No model") : chat->modelName;
  for (const ModelInfo& m : app_.models().models()) {
    if (m.path == chat->modelPath && !m.format.isEmpty() && !name.contains(m.format)) name += u" · "_s + m.format;
  }
  model_->setText(name + u"  ⌄"_s);
  model_->setAccessibleName(tr("Model: %1").arg(name));
  model_->setToolTip(tr("Choose the model of this chat (Ctrl+Shift+L)"));
  tier_->setText((chat->partly ? tr("partly %1").arg(tierWord(chat->tier)) : tierWord(chat->tier)) + u"  ⌄"_s);
  tier_->setIcon(icon(tierIcon(chat->tier)));
  tier_->setAccessibleName(tr("Cache: %1").arg(tierWord(chat->tier)));
  tier_->setToolTip(tierSentence(*chat));
}

void ChatHeader::setLive(const std::optional<LiveTurn>& live) {
  if (!live) {
    if (!state_->isHidden()) say(tr("The answer has ended."));
    state_->setProperty("turnState", QString());
    state_->hide();
    return;
  }
  const QString word = stateWord(*live);
  state_->setText(word);
  state_->setProperty("turnState", stateName(live->state));
  state_->show();
  // A long read speaks at each quarter, everything else when its word changes.
  const int quarter = live->state == TurnState::Reading && live->readTotal > 0 ? live->readDone * 4 / live->readTotal : 0;
  say(quarter > 0 ? tr("%1, %2 percent").arg(word).arg(quarter * 25) : word);
}

void ChatHeader::say(const QString& sentence) {
  if (state_->accessibleName() != sentence) state_->setAccessibleName(sentence);  // tells the screen reader
}

void ChatHeader::editTitle() {
  title_->setFocus();
  title_->selectAll();
}

void ChatHeader::openModelMenu() { model_->showMenu(); }

void ChatHeader::setInspectorShown(bool shown) { inspector_->setChecked(shown); }

void ChatHeader::fillModelMenu() {
  modelMenu_->clear();
  const auto chat = app_.chats().chat(chatId_);
  if (chat && chat->tokensHeld > 0) {
    QAction* note = modelMenu_->addAction(tr("With another model this chat goes cold: %1 tokens are read again with the next message.").arg(format::count(chat->tokensHeld)));
    note->setEnabled(false);
    modelMenu_->addSeparator();
  }
  for (const ModelInfo& m : app_.models().models()) {
    QAction* a = modelMenu_->addAction(tr("%1 · %2").arg(m.name, format::bytes(m.fileBytes)), this, [this, path = m.path] { Q_EMIT modelChosen(path); });
    a->setCheckable(true);
    a->setChecked(chat && chat->modelPath == m.path);
    a->setEnabled(m.refusal.isEmpty());
    a->setToolTip(m.refusal);
  }
  if (app_.models().models().isEmpty()) modelMenu_->addAction(tr("No model yet"))->setEnabled(false);
  if (actions_.get(Act::AddModel)->isVisible()) {
    modelMenu_->addSeparator();
    modelMenu_->addAction(actions_.get(Act::AddModel));
  }
}

void ChatHeader::fillTierMenu() {
  tierMenu_->clear();
  const auto chat = app_.chats().chat(chatId_);
  if (!chat) return;
  QAction* held = tierMenu_->addAction(tr("%1 tokens held · %2").arg(format::count(chat->tokensHeld), format::bytes(chat->bytesHeld)));
  held->setEnabled(false);
  tierMenu_->addSeparator();
  for (Act act : {Act::KeepInRam, Act::KeepOnDisk, Act::Pin, Act::Evict}) tierMenu_->addAction(actions_.get(act));
  QMenu* keep = tierMenu_->addMenu(tr("When the program closes"));
  keep->setObjectName(u"keepOnCloseMenu"_s);
  const QPair<ChatKeep, QString> choices[] = {{ChatKeep::BySize, tr("Keep by its size")}, {ChatKeep::Always, tr("Always keep on disk")}, {ChatKeep::Never, tr("Never keep")}};
  for (const auto& [choice, text] : choices) {
    QAction* a = keep->addAction(text, this, [this, choice = choice] { app_.chats().setKeepOnClose(chatId_, choice); });
    a->setCheckable(true);
    a->setChecked(chat->keepOnClose == choice);
  }
}

}  // namespace tg
