// The figures and sentences of one turn (UI.md 6.4, 12.1): the same words in the footer, popover, inspector and for screen readers.
#pragma once
#include <QString>
#include <QVector>
#include <optional>

#include "app/chat_service.h"
#include "views/theme/theme.h"

namespace tg {

struct FooterRun { QString text; Role role = Role::Muted; bool bold = false; };

// One group of the footer line; never broken inside. `reserve` is text as wide as the group may become, so that live figures never move it.
struct FooterGroup {
  enum Kind { Bar, State, In, Out, First, Rate, Held, Money } kind = In;
  QVector<FooterRun> runs;
  QString reserve;
  std::optional<ChatTier> tier;   // Held: whose shape stands before the bytes
  QString text() const;           // as painted, the tier's shape as a character
};

struct FooterOptions {
  QString money = QStringLiteral("hosted");   // hosted own both none
  std::optional<double> bytesPerToken;        // of the model, for the live line
  ChatTier tier = ChatTier::Ram;              // where the running turn's cache is
  bool thinking = false;                      // the model may think: keep room for it
};

ChatTier heldTier(const TurnRecord& record);
QVector<FooterGroup> footerGroups(const TurnRecord& record, TurnState state, const FooterOptions& options);
QVector<FooterGroup> footerGroups(const LiveTurn& live, const FooterOptions& options);
QString footerText(const QVector<FooterGroup>& groups);            // groups with three spaces between
QString footerSentence(const TurnRecord& record);                  // read aloud
QString footerSentence(const LiveTurn& live);

int tokensReadAgain(const TurnRecord& record);                     // reusable but not reused; 0 without a miss worth a line
QString missShort(const TurnRecord& record);                       // footer's second line; empty: none
QString missSentence(const TurnRecord& record);                    // whole sentence; says so when nothing was read twice
bool isMiss(const TurnRecord& record);

QString thinkingLine(const TurnRecord& record);                    // "Thought for 5.3 s · 212 tokens"
QString thinkingLine(const LiveTurn& live);
QString finishWords(const QString& finishReason);
QString stateSentence(const MessageInfo& message);                 // what a turn that did not simply finish says; empty: nothing
QString stateWord(const LiveTurn& live);                           // the chip: "reading", "waits for its turn (2nd)"
QString ordinal(int n);

}  // namespace tg
