#include <QFileInfo>
#include <QInputMethodEvent>
#include <QKeyEvent>
#include <QMimeData>
#include <QTextBlock>
#include <QUrl>

#include "views/composer/composer.h"
#include "views/theme/theme.h"

namespace tg {

ComposerEdit::ComposerEdit(QWidget* parent) : QPlainTextEdit(parent) {
  setObjectName(QStringLiteral("composerEdit"));
  setAccessibleName(tr("Message"));
  setTabChangesFocus(true);
  setFrameShape(QFrame::NoFrame);
  setStyleSheet(QStringLiteral("QPlainTextEdit { border: none; background: transparent; } QPlainTextEdit:focus { border: none; }"));
  setVerticalScrollBarPolicy(Qt::ScrollBarAsNeeded);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  document()->setDocumentMargin(2);
  connect(this, &QPlainTextEdit::textChanged, this, &QWidget::updateGeometry);
}

// As many lines as the text has, wrapped ones too, up to the limit set by the window.
QSize ComposerEdit::sizeHint() const {
  const qreal line = QFontMetricsF(font()).lineSpacing();
  int lines = 0;
  const int perLine = qMax(10, static_cast<int>((viewport()->width() - 8) / QFontMetricsF(font()).averageCharWidth()));
  for (QTextBlock b = document()->begin(); b.isValid() && lines < 60; b = b.next()) lines += 1 + b.length() / (perLine + 1);
  return {100, qMin(mostHeight_, qRound(line * qMax(1, lines)) + 8)};
}

QSize ComposerEdit::minimumSizeHint() const { return {60, qRound(QFontMetricsF(font()).lineSpacing()) + 8}; }

void ComposerEdit::setMostHeight(int pixels) {
  mostHeight_ = qMax(pixels, minimumSizeHint().height());
  updateGeometry();
}

void ComposerEdit::keyPressEvent(QKeyEvent* event) {
  const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  if (enter && composing_) return;
  if (enter) {
    const bool ctrl = event->modifiers() & Qt::ControlModifier, shift = event->modifiers() & Qt::ShiftModifier;
    if (!shift && ctrl == ctrlSends_) {
      Q_EMIT sendWanted();
      return;
    }
    insertPlainText(QStringLiteral("\n"));
    return;
  }
  if (event->key() == Qt::Key_Up && event->modifiers() == Qt::NoModifier && document()->isEmpty()) {
    Q_EMIT editLastWanted();
    return;
  }
  if (event->key() == Qt::Key_Tab && event->modifiers() & Qt::ControlModifier) {
    insertPlainText(QStringLiteral("\t"));
    return;
  }
  QPlainTextEdit::keyPressEvent(event);
}

// While text is being composed the input method owns Enter, even where it hands the key on.
void ComposerEdit::inputMethodEvent(QInputMethodEvent* event) {
  composing_ = !event->preeditString().isEmpty();
  QPlainTextEdit::inputMethodEvent(event);
}

bool ComposerEdit::canInsertFromMimeData(const QMimeData* source) const { return source->hasUrls() || QPlainTextEdit::canInsertFromMimeData(source); }

void ComposerEdit::insertFromMimeData(const QMimeData* source) {
  QStringList files;
  for (const QUrl& url : source->urls()) {
    if (url.isLocalFile() && QFileInfo(url.toLocalFile()).isFile()) files << url.toLocalFile();
  }
  if (!files.isEmpty()) {
    Q_EMIT filesDropped(files);
  } else {
    QPlainTextEdit::insertFromMimeData(source);
  }
}

}  // namespace tg
