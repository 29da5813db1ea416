// One open chat: header, transcript with its overlays, composer, popover. Follows the running turn with one 33 ms timer that only runs
// while there is one. Thread: GUI thread; everything slow is asked of the service and comes back by signal.
#pragma once
#include <QElapsedTimer>
#include <QTimer>
#include <QWidget>

#include "app/application.h"
#include "app/settings.h"

class QLabel;
class QStackedWidget;
class QPushButton;
class QToolButton;
class QVBoxLayout;

namespace tg {

class Actions;
class ChatHeader;
class Composer;
class EditInPlace;
class FindBar;
class RowActionBar;
class TranscriptModel;
class TranscriptView;
class TurnPopover;

class ChatView : public QWidget {
  Q_OBJECT
 public:
  ChatView(Application& app, Actions& actions, QWidget* parent = nullptr);

  void openChat(const QString& chatId);
  void showMessage(const QString& messageId, const QString& words);  // from the search: shows it and marks the words
  QString chatId() const { return chatId_; }
  bool isRunning() const;
  TranscriptView* transcript() const { return view_; }
  Composer* composer() const { return composer_; }
  ChatHeader* header() const { return header_; }
  TurnPopover* popover() const { return popover_; }
  RowActionBar* actionBar() const { return rowBar_; }

  bool escape();                                  // one step of the Esc order; false: nothing was left to do
  void send(const QString& text, const QStringList& attachments);
  void editLast();
  void regenerateLast();
  void changeVersion(int by);
  void togglePopover();
  void copyLastCode();
  void openFind();
  void selectTurn(int turn);                      // scrolls to the turn's footer and makes it the current turn
  int currentTurn() const { return currentTurn_; }
  int turnCount() const;
  void showError(const QString& sentence, const QString& details);
  void applySettings();
  void setFirstRunPage(QWidget* page);            // stands in for the transcript while no chat is open; owned from here

 Q_SIGNALS:
  void chatCreated(const QString& chatId);        // by a first message written with no chat open, or by a fork
  void currentTurnChanged(int turn);              // also when its record changes
  void linkHovered(const QString& url);

 private:
  void buildLayout();
  void connectService();
  void connectTranscript();
  void reload();
  void poll();
  void startPolling();
  void finishTurn(const MessageInfo& message);
  void showContent();
  void updateOverlays();
  void updateStateStrip();
  void updateComposerModel();
  void showRowBar(int row);
  void showTurn(int row);
  void placePopover();
  void startEdit(const QString& messageId);
  void copyMessage(const QString& messageId);
  void openLink(const QUrl& url);
  void resizeEvent(QResizeEvent* event) override;

  Application& app_;
  ChatService& service_;
  Actions& actions_;
  ChatHeader* header_;
  TranscriptModel* model_;
  TranscriptView* view_;
  FindBar* find_;
  RowActionBar* rowBar_;
  EditInPlace* edit_;
  Composer* composer_;
  TurnPopover* popover_;
  QStackedWidget* content_;                       // transcript, or the page shown while no chat is open
  QWidget* firstRun_ = nullptr;
  QToolButton* jump_;
  QLabel *empty_, *errorText_;
  QWidget *strip_, *errorStrip_;
  QLabel* stripText_;
  QPushButton *continue_, *regenerate_, *retry_, *discard_;
  QTimer timer_;
  QElapsedTimer figuresClock_;
  QString chatId_, pendingMessage_, pendingWords_;
  int currentTurn_ = 0;
};

}  // namespace tg
