// The figures of one turn in four segments (UI.md 6.5). While a turn runs it shows Reading and goes to Generating by itself at the first
// token, unless the reader has chosen a segment. A child of the chat view, so that the keyboard stays where it is. GUI thread.
#pragma once
#include <QFrame>
#include <QVector>

#include "app/chat_service.h"

class QButtonGroup;
class QLabel;
class QStackedWidget;
class QToolButton;

namespace tg {

class Facts;
class RateChart;
class TokenBar;

class TurnPopover : public QFrame {
  Q_OBJECT
 public:
  enum Segment { Reading, Generating, Cost, Summary };
  explicit TurnPopover(QWidget* parent);

  void showRecord(const TurnRecord& record, const QVector<MessageInfo>& chat);
  void showLive(const LiveTurn& live, int answerLimit);
  QString shownMessage() const { return shownMessage_; }  // whose record is shown
  Segment segment() const;
  void choose(Segment segment);        // by hand: no automatic change until the popover closes
  bool isPinned() const;
  void setFirstSegment(Segment segment) { first_ = segment; }  // User mode opens with Summary

 Q_SIGNALS:
  void closed();

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  QWidget* readingPage();
  QWidget* generatingPage();
  QWidget* costPage();
  QWidget* summaryPage();
  void go(Segment segment);
  void fillReading(const TurnRecord& record);
  void fillGenerating(const TurnRecord& record);
  void fillCost(const TurnRecord& record);
  void fillSummary(const TurnRecord& record, const QVector<MessageInfo>& chat);

  QButtonGroup* group_;
  QStackedWidget* pages_;
  QToolButton* pin_;
  Facts *reading_, *generating_, *cost_, *summary_;
  TokenBar* bar_;
  RateChart* chart_;
  QLabel *missLine_, *costNote_, *summaryText_;
  Segment first_ = Reading;
  bool chosen_ = false;
  TurnState liveState_ = TurnState::None;
  QString liveId_, shownMessage_;
  QVector<float> liveCurve_;
};

// One number for the whole of CHAT: "$0.0109", or "≥ $0.0109" and how many turns have no price.
QString chatCost(const QVector<MessageInfo>& chat, int* withoutPrice);

}  // namespace tg
