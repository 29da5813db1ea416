// Said before it is done: size and wait of a draft, what an edit keeps, and the choices when a prompt does not fit. All counted by the engine's own
// prompt builder, off this thread.
#include <algorithm>
#include <memory>

#include "app/chat_service_impl.h"
#include "app/format.h"

namespace tg {

namespace {

int tokens_of_last(const Prompt& prompt) {
  int last = -1, tokens = 0;
  for (const PromptSegment& s : prompt.segments) last = std::max(last, s.message);
  for (const PromptSegment& s : prompt.segments) tokens += s.message == last && s.kind != SegmentKind::prompt_tail ? s.end - s.begin : 0;
  return tokens;
}

std::optional<double> wait_of(const PromptOutput& output) { return output.prediction.ttft_ms; }

// One row of the dialog that is still to be counted.
struct Candidate {
  OverflowChoice choice;
  Pending pending;
};

void fill(OverflowChoice& choice, const PromptOutput& output, const DraftCount& count, int new_tokens) {
  choice.prompt = count.promptTokens;
  choice.window = count.window;
  choice.fresh = new_tokens;
  choice.readAgain = std::max(0, output.prediction.fresh - new_tokens);
  choice.waitMs = wait_of(output);
  choice.possible = choice.possible && count.fits();
}

}  // namespace

DraftCount ChatServiceImpl::countOf(const Pending& pending, const ChatState& chat, quint64 request) const {
  DraftCount out;
  out.request = request;
  out.window = pending.prompt.window;
  out.answerKept = answer_kept(chat.settings.generation.maxTokens, pending.prompt.window);
  if (!pending.prompt.prompt) return out;
  const Prompt& prompt = *pending.prompt.prompt;
  out.promptTokens = static_cast<int>(prompt.ids.size());
  const bool says = !pending.text.isEmpty() || !pending.attachments.isEmpty();
  out.draftTokens = says ? tokens_of_last(prompt) : 0;
  out.waitMs = wait_of(pending.prompt);
  out.cached = pending.prompt.prediction.cached;
  out.parts = segments_of(prompt);
  return out;
}

void ChatServiceImpl::countDraft(const QString& chatId, const QString& text, const QStringList& attachments, quint64 request) {
  if (!find(chatId)) return;
  drafts_waiting_[chatId] = {text, attachments, request};
  if (!drafts_counting_.contains(chatId)) countNext(chatId);
}

// One count at a time for each chat; of what was typed meanwhile only the newest is counted.
void ChatServiceImpl::countNext(const QString& chatId) {
  if (!drafts_waiting_.contains(chatId)) {
    drafts_counting_.remove(chatId);
    return;
  }
  const Draft draft = drafts_waiting_.take(chatId);
  drafts_counting_.insert(chatId);
  whenOpen(chatId, [this, chatId, draft] {
    readFiles(draft.files, [this, chatId, draft](const QVector<storage::Attachment>& read, const QString& refusal) {
      ChatState* chat = find(chatId);
      if (!chat) return;
      if (!refusal.isEmpty()) Q_EMIT failed(chatId, refusal, {});
      Pending pending;
      pending.chatId = chatId;
      pending.text = draft.text;
      if (refusal.isEmpty()) pending.attachments = read;
      pending.cut = chat->settings.cut;
      pending.window = chat->settings.window;
      build(inputOf(pending, *chat), [this, pending, request = draft.request](const PromptOutput& output) mutable {
        pending.prompt = output;
        if (const ChatState* counted = find(pending.chatId)) Q_EMIT draftCounted(countOf(pending, *counted, request));
        countNext(pending.chatId);
      });
    });
  });
}

void ChatServiceImpl::previewEdit(const QString& chatId, const QString& messageId, const QString& text, quint64 request) {
  const ChatState* chat = find(chatId);
  const storage::Message* message = chat ? chat->conversation.find(messageId) : nullptr;
  if (!message) return;
  Pending pending;
  pending.kind = Pending::Kind::Edit;
  pending.chatId = chatId;
  pending.text = text;
  pending.targetId = messageId;
  pending.attachments = message->attachments;
  pending.cut = chat->settings.cut;
  pending.window = chat->settings.window;
  build(inputOf(pending, *chat), [this, request](const PromptOutput& output) {
    EditPreview preview;
    preview.keeps = output.prediction.cached;
    preview.reads = output.prediction.fresh;
    preview.waitMs = wait_of(output);
    Q_EMIT editPreviewed(preview, request);
  });
}

void ChatServiceImpl::overflowChoices(const QString& chatId, const QString& text, const QStringList& attachments, int dropTurns, quint64 request) {
  whenOpen(chatId, [this, chatId, text, attachments, dropTurns, request] {
    readFiles(attachments, [this, chatId, text, dropTurns, request](const QVector<storage::Attachment>& read, const QString&) {
      const ChatState* chat = find(chatId);
      if (!chat) return;
      Pending pending;
      pending.chatId = chatId;
      pending.text = text;
      pending.attachments = read;
      pending.cut = chat->settings.cut;
      pending.window = chat->settings.window;
      build(inputOf(pending, *chat), [this, pending, dropTurns, request](const PromptOutput& output) mutable {
        pending.prompt = output;
        choicesCounted(pending.chatId, pending, dropTurns, request);
      });
    });
  });
}

namespace {

Candidate widen_choice(const Pending& pending, const DraftCount& count) {
  Candidate c{{}, pending};
  c.choice.kind = QStringLiteral("widen");
  const int wide = widened(count.promptTokens, count.answerKept, count.window, pending.prompt.modelWindow);
  c.choice.possible = wide > count.window;
  c.pending.window = wide;
  c.choice.reason = c.choice.possible ? ChatService::tr("Widen the window of this chat to %1: nothing is dropped.").arg(format::count(wide))
                                      : ChatService::tr("The model was made for at most %1.").arg(format::count(pending.prompt.modelWindow));
  return c;
}

Candidate drop_choice(const Pending& pending, const DraftCount& count, const QVector<PromptTurn>& turns, bool keep_first, int drop_turns) {
  Candidate c{{}, pending};
  c.choice.kind = keep_first ? QStringLiteral("head-tail") : QStringLiteral("drop-oldest");
  const DropPlan plan = plan_drop(turns, pending.cut, count.promptTokens, count.answerKept, count.window, keep_first, drop_turns);
  c.choice.possible = plan.possible;
  c.choice.firstTurn = plan.firstTurn;
  c.choice.lastTurn = plan.lastTurn;
  c.choice.droppedTokens = plan.tokens;
  c.pending.cut = plan.cut;
  const QString range = ChatService::tr("turns %1–%2 (%3 tokens)").arg(plan.firstTurn).arg(plan.lastTurn).arg(format::count(plan.tokens));
  if (plan.turns == 0) {
    c.choice.reason = ChatService::tr("There are no earlier turns to leave out.");
  } else if (!plan.possible) {
    c.choice.reason = ChatService::tr("Leaving out %1 is not enough.").arg(range);
  } else {
    c.choice.reason = keep_first ? ChatService::tr("Keep the beginning and the end: %1 leave the prompt; turn 1 stays.").arg(range)
                                 : ChatService::tr("Drop the oldest turns: %1 leave the prompt in one step and stay readable above.").arg(range);
  }
  return c;
}

Candidate document_choice(const Pending& pending, const QVector<storage::Message>& path) {
  Candidate c{{}, pending};
  c.choice.kind = QStringLiteral("remove-document");
  const storage::Message* holder = nullptr;
  for (const storage::Message& m : path) {
    if (!holder && !m.attachments.isEmpty() && !pending.cut.withoutDocuments.contains(m.id)) holder = &m;
  }
  if (!holder) {
    c.choice.reason = ChatService::tr("No document is attached.");
    return c;
  }
  c.choice.possible = true;
  c.pending.cut.withoutDocuments << holder->id;
  c.pending.removedDocumentOf = holder->id;
  c.choice.reason = ChatService::tr("Take the attached document out: %1 stands near the start, so all that follows is read again.").arg(holder->attachments.front().name);
  return c;
}

}  // namespace

void ChatServiceImpl::choicesCounted(const QString& chatId, const Pending& pending, int drop_turns, quint64 request) {
  const ChatState* chat = find(chatId);
  if (!chat || !pending.prompt.prompt) return;
  const DraftCount count = countOf(pending, *chat, request);
  QVector<storage::Message> path = pathOf(pending, *chat);
  const QVector<storage::Message> with_new = path;
  if (!path.isEmpty() && path.back().role == QLatin1String("user")) path.pop_back();
  const QVector<PromptTurn> turns = prompt_turns(path, *pending.prompt.prompt, pending.cut, !chat->settings.generation.system.isEmpty());
  auto rows = std::make_shared<std::vector<Candidate>>();
  rows->push_back(widen_choice(pending, count));
  rows->push_back(drop_choice(pending, count, turns, false, drop_turns));
  rows->push_back(drop_choice(pending, count, turns, true, drop_turns));
  rows->push_back(document_choice(pending, with_new));
  auto left = std::make_shared<int>(static_cast<int>(rows->size()));
  const auto counted = [this, rows, left, count, request] {
    if (--*left > 0) return;
    QVector<OverflowChoice> choices;
    for (const Candidate& c : *rows) choices.push_back(c.choice);
    Q_EMIT overflowReady(choices, count, request);
  };
  for (std::size_t i = 0; i < rows->size(); ++i) {
    Candidate& row = (*rows)[i];
    if (!row.choice.possible) {
      QMetaObject::invokeMethod(this, counted, Qt::QueuedConnection);
      continue;
    }
    build(inputOf(row.pending, *chat), [this, rows, i, counted, chatId, draft = count.draftTokens](const PromptOutput& output) {
      Candidate& done = (*rows)[i];
      done.pending.prompt = output;
      if (const ChatState* still = find(chatId)) fill(done.choice, output, countOf(done.pending, *still, 0), draft);
      counted();
    });
  }
}

void ChatServiceImpl::sendWithOverflow(const QString& chatId, const QString& text, const QStringList& attachments, const OverflowChoice& choice, bool always) {
  ChatState* chat = find(chatId);
  if (!chat || chat->busy()) return;
  Pending pending;
  pending.chatId = chatId;
  pending.text = text;
  pending.files = attachments;
  pending.settled = true;
  pending.cut = chat->settings.cut;
  pending.window = chat->settings.window;
  pending.storePolicy = always && (choice.kind == QLatin1String("drop-oldest") || choice.kind == QLatin1String("head-tail"));
  pending.policy = choice.kind;
  if (choice.kind == QLatin1String("widen")) pending.window = choice.window;
  if (choice.kind == QLatin1String("remove-document")) {
    const Candidate without = document_choice(pending, chat->conversation.path());
    pending.cut = without.pending.cut;
    pending.removedDocumentOf = without.pending.removedDocumentOf;
    if (without.pending.removedDocumentOf.isEmpty()) pending.files.clear();  // it was the new one
  }
  if (choice.lastTurn > 0 && pending.policy != QLatin1String("widen")) {
    DropPlan plan;
    plan.possible = true;
    plan.firstTurn = choice.firstTurn;
    plan.lastTurn = choice.lastTurn;
    plan.tokens = choice.droppedTokens;
    plan.turns = choice.lastTurn - choice.firstTurn + 1;
    // The turn after the last one left out begins with its user message: the LASTTURN + 1-th of the path.
    int users = 0;
    plan.cut = pending.cut;
    plan.cut.firstKept = QStringLiteral("new");
    plan.cut.keepFirstTurn = choice.kind == QLatin1String("head-tail");
    const QVector<storage::Message> path = chat->conversation.path();
    for (const storage::Message& m : path) {
      if (m.role == QLatin1String("user") && ++users == choice.lastTurn + 1) plan.cut.firstKept = m.id;
    }
    pending.cut = plan.cut;
    pending.dropped = plan;
  }
  begin(std::move(pending));
}

}  // namespace tg
