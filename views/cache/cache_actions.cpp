#include "views/cache/cache_actions.h"

#include <QEvent>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "views/cache/flow_layout.h"
#include "views/chats/chat_list_model.h"
#include "views/theme/icons.h"

namespace tg {

using namespace Qt::StringLiterals;
using words::CacheAction;

namespace {

struct Spec { CacheAction action; const char* name; const char* icon; const char* key; };
constexpr Spec kSpecs[] = {{CacheAction::ToGpu, "toGpuButton", "to-gpu", "G"},
                           {CacheAction::ToRam, "toRamButton", "to-ram", "R"},
                           {CacheAction::Pin, "pinButton", "pin", "P"},
                           {CacheAction::ToDisk, "toDiskButton", "to-disk", "D"},
                           {CacheAction::Evict, "evictButton", "evict", "E"}};

}  // namespace

CacheActions::CacheActions(CacheOverview& cache, bool names, QWidget* parent) : QWidget(parent), cache_(cache) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(8);
  auto* bar = new QWidget(this);
  auto* line = new FlowLayout(bar);
  for (const Spec& spec : kSpecs) {
    auto* b = new QPushButton(bar);
    const QString name = QString::fromLatin1(spec.name);
    b->setObjectName(names ? name : u"tab"_s + name.left(1).toUpper() + name.mid(1));
    b->setIcon(icon(QString::fromLatin1(spec.icon)));
    b->setAutoDefault(false);
    b->installEventFilter(this);
    connect(b, &QPushButton::clicked, this, [this, action = spec.action] { trigger(action); });
    line->addWidget(b);
    buttons_.append({spec.action, b});
  }
  column->addWidget(bar);
  box_ = new QFrame(this);
  box_->setProperty("kind", u"note"_s);
  box_->setAttribute(Qt::WA_StyledBackground);
  auto* inside = new QVBoxLayout(box_);
  inside->setContentsMargins(12, 8, 12, 8);
  sentence_ = new QLabel(box_);
  sentence_->setObjectName(names ? u"cacheConsequence"_s : u"tabCacheConsequence"_s);
  sentence_->setWordWrap(true);
  inside->addWidget(sentence_);
  column->addWidget(box_);
  setRow(nullptr, {});
}

void CacheActions::setRow(const CacheRow* row, const CacheSnapshot& all) {
  row_ = row ? std::optional(*row) : std::nullopt;
  all_ = all;
  show();
}

void CacheActions::show() {
  const CacheTier* gpu = all_.tier(ChatTier::Gpu);
  for (const Button& b : buttons_) {
    const Spec& spec = *std::find_if(std::begin(kSpecs), std::end(kSpecs), [&](const Spec& s) { return s.action == b.action; });
    b.widget->setEnabled(row_.has_value());
    // Without a GPU memory is the best place there is, and the other way round it is where a chat waits.
    if (b.action == CacheAction::ToGpu) b.widget->setVisible(gpu && gpu->exists);
    if (!row_) {
      b.widget->setText(words::actionName(b.action, {}));
      continue;
    }
    const QString name = words::actionName(b.action, *row_), off = words::whyNot(b.action, *row_, all_), what = words::consequence(b.action, *row_, all_);
    b.widget->setText(name);
    b.widget->setAccessibleName(name + u' ' + shownTitle(row_->chat.title));
    b.widget->setAccessibleDescription(what);
    b.widget->setToolTip(u"%1 (%2)"_s.arg(what, QString::fromLatin1(spec.key)));
    b.widget->setEnabled(off.isEmpty());
    if (b.action == CacheAction::Pin) b.widget->setIcon(icon(row_->chat.pinned ? u"unpin"_s : u"pin"_s));
  }
  box_->setVisible(row_.has_value());
  if (row_) tell(told_);
}

void CacheActions::tell(CacheAction action) {
  told_ = action;
  if (row_) sentence_->setText(words::consequence(action, *row_, all_));
}

bool CacheActions::trigger(CacheAction action) {
  tell(action);
  if (!row_ || !words::whyNot(action, *row_, all_).isEmpty()) return false;
  const QString id = row_->chat.id;
  switch (action) {
    case CacheAction::ToGpu: cache_.toTier(id, ChatTier::Gpu); break;
    case CacheAction::ToRam: cache_.toTier(id, ChatTier::Ram); break;
    case CacheAction::ToDisk: cache_.toTier(id, ChatTier::Disk); break;
    case CacheAction::Pin: cache_.pin(id, !row_->chat.pinned); break;
    case CacheAction::Evict: cache_.evict(id); break;
  }
  return true;
}

QString CacheActions::sentence() const { return sentence_->text(); }

bool CacheActions::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::FocusIn || event->type() == QEvent::Enter) {
    for (const Button& b : buttons_) {
      if (b.widget == watched) tell(b.action);
    }
  }
  return QWidget::eventFilter(watched, event);
}

}  // namespace tg
