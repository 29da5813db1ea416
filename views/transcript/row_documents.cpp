#include "views/transcript/row_documents.h"

#include <QFontMetricsF>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextFrame>
#include <QTextTable>
#include <cmath>

#include "views/theme/theme.h"
#include "views/transcript/code_highlighter.h"

namespace tg {
namespace {

using namespace Qt::StringLiterals;

// Nothing a model writes is ever loaded, from this machine or from another.
class SafeDocument final : public QTextDocument {
 public:
  using QTextDocument::QTextDocument;

 protected:
  QVariant loadResource(int, const QUrl&) override { return {}; }
};

// What the Markdown reader of Qt 6.4 would get wrong: pictures become links, TeX brackets keep their backslash, line ends stay.
QString prepared(QString text) {
  text.replace(u"!["_s, u"["_s);
  for (const auto bracket : {u'(', u')', u'[', u']'}) text.replace(u'\\' + QString(QChar(bracket)), u"\\\\"_s + QChar(bracket));
  if (!text.contains(u'\n') || text.contains(u"```"_s)) return text;
  QStringList lines = text.split(u'\n');
  for (qsizetype i = 0; i + 1 < lines.size(); ++i) {
    if (!lines[i].isEmpty() && !lines[i + 1].isEmpty() && !lines[i].endsWith(u'\\')) lines[i] += u"  "_s;
  }
  return lines.join(u'\n');
}

void setLineHeight(QTextDocument& doc, const QFont& font) {
  const qreal natural = QFontMetricsF(font).height();
  const qreal wanted = em(font) * 1.45;
  QTextBlockFormat format;
  format.setLineHeight(qMax(100.0, std::ceil(wanted * 100 / natural)), QTextBlockFormat::ProportionalHeight);
  QTextCursor all(&doc);
  all.select(QTextCursor::Document);
  all.mergeBlockFormat(format);
}

void styleFragments(QTextDocument& doc, const QFont& base) {
  const QFont mono = monoFont(base);
  for (QTextBlock block = doc.begin(); block.isValid(); block = block.next()) {
    QVector<QPair<QTextCursor, QTextCharFormat>> changes;
    const bool fence = block.blockFormat().hasProperty(QTextFormat::BlockCodeFence);
    for (auto it = block.begin(); !it.atEnd(); ++it) {
      const QTextFragment piece = it.fragment();
      QTextCharFormat format;
      if (piece.charFormat().fontFixedPitch() || fence) {
        format.setFont(mono);
        format.setBackground(color(Role::CodeBg));
      }
      if (piece.charFormat().isAnchor()) format.setForeground(color(Role::Accent));
      if (format.propertyCount() == 0) continue;
      QTextCursor cursor(&doc);
      cursor.setPosition(piece.position());
      cursor.setPosition(piece.position() + piece.length(), QTextCursor::KeepAnchor);
      changes.append({cursor, format});
    }
    for (auto& [cursor, format] : changes) cursor.mergeCharFormat(format);
    if (block.blockFormat().headingLevel() > 0) {
      QTextCursor cursor(block);
      cursor.select(QTextCursor::BlockUnderCursor);
      QTextCharFormat heading;
      heading.setProperty(QTextFormat::FontSizeAdjustment, 0);
      heading.setFontPointSize(base.pointSizeF() * (block.blockFormat().headingLevel() == 1 ? 1.25 : 1.1));
      heading.setFontWeight(QFont::DemiBold);
      cursor.mergeCharFormat(heading);
    }
  }
}

// Blocks of one row are set apart by half a line, lists closer; the row itself has its own margins.
void styleBlocks(QTextDocument& doc, const QFont& base) {
  for (QTextBlock block = doc.begin(); block.isValid(); block = block.next()) {
    QTextBlockFormat format = block.blockFormat();
    const bool first = block == doc.begin();
    format.setTopMargin(first ? 0 : block.textList() ? em(base) * 0.15 : em(base) * 0.45);
    format.setBottomMargin(0);
    QTextCursor(block).setBlockFormat(format);
  }
}

void styleTables(QTextDocument& doc, const QFont& base) {
  const QList<QTextFrame*> frames = doc.rootFrame()->childFrames();
  for (QTextFrame* frame : frames) {
    auto* table = qobject_cast<QTextTable*>(frame);
    if (!table) continue;
    QTextTableFormat format = table->format();
    format.setBorder(0);
    format.setCellSpacing(0);
    format.setCellPadding(0);
    format.setMargin(0);
    table->setFormat(format);
    for (int r = 0; r < table->rows(); ++r) {
      for (int c = 0; c < table->columns(); ++c) {
        QTextTableCellFormat cell = table->cellAt(r, c).format().toTableCellFormat();
        cell.setTopPadding(em(base) * 0.3);
        cell.setBottomPadding(em(base) * 0.3);
        cell.setLeftPadding(em(base) * 0.6);
        cell.setRightPadding(em(base) * 1.2);
        cell.setBottomBorder(r == 0 ? 1 : 0);
        cell.setBottomBorderBrush(color(Role::Border));
        cell.setBottomBorderStyle(QTextFrameFormat::BorderStyle_Solid);
        table->cellAt(r, c).setFormat(cell);
        QTextCursor text = table->cellAt(r, c).firstCursorPosition();
        text.setPosition(table->cellAt(r, c).lastCursorPosition().position(), QTextCursor::KeepAnchor);
        QTextBlockFormat flat = text.blockFormat();
        flat.setTopMargin(0);
        text.setBlockFormat(flat);
        if (r > 0) continue;
        QTextCharFormat head;
        head.setForeground(color(Role::Muted));
        head.setFontWeight(QFont::Normal);
        text.mergeCharFormat(head);
      }
    }
  }
}

}  // namespace

RowDocuments::RowDocuments() : cache_(200) {}

QTextDocument* RowDocuments::document(const TranscriptRow& row, qreal width, const QFont& base) {
  Entry* entry = cache_.object(row.id);
  if (!entry) {
    entry = new Entry{std::make_unique<SafeDocument>()};
    entry->doc->setUndoRedoEnabled(false);
    entry->doc->setDocumentMargin(0);
    const bool code = row.kind == RowKind::Code;
    entry->doc->setDefaultFont(code ? monoFont(base) : row.kind == RowKind::Thinking ? smallFont(base) : base);
    QTextOption option = entry->doc->defaultTextOption();
    option.setWrapMode(code ? QTextOption::NoWrap : QTextOption::WrapAtWordBoundaryOrAnywhere);
    if (code) option.setTextDirection(Qt::LeftToRight);
    if (code) option.setTabStopDistance(QFontMetricsF(monoFont(base)).horizontalAdvance(u' ') * 4);
    entry->doc->setDefaultTextOption(option);
    entry->doc->setIndentWidth(em(base) * 1.5);
    if (code || row.plain || row.kind == RowKind::Thinking || row.kind == RowKind::Notice) {
      if (code && row.text.size() < MarkdownSplitter::kLongest) new CodeHighlighter(entry->doc.get(), row.language);
      entry->doc->setPlainText(row.text);
      setLineHeight(*entry->doc, entry->doc->defaultFont());
    } else {
      entry->doc->setMarkdown(prepared(row.text), QTextDocument::MarkdownFeatures(QTextDocument::MarkdownDialectGitHub) | QTextDocument::MarkdownNoHTML);
      styleBlocks(*entry->doc, base);
      styleFragments(*entry->doc, base);
      setLineHeight(*entry->doc, base);
      if (row.kind == RowKind::Table || row.text.contains(u'|')) styleTables(*entry->doc, base);
    }
    entry->shown = row.text.size();
    cache_.insert(row.id, entry);
  }
  if (!qFuzzyCompare(entry->width, width)) {
    entry->width = width;
    entry->doc->setTextWidth(width);
  }
  return entry->doc.get();
}

void RowDocuments::grew(const TranscriptRow& row, const QFont& base) {
  Entry* entry = cache_.object(row.id);
  if (!entry || row.kind != RowKind::Code || entry->shown > row.text.size()) {
    forget(row.id);
    document(row, 100, base);
    return;
  }
  QTextCursor end(entry->doc.get());
  end.movePosition(QTextCursor::End);
  end.insertText(row.text.mid(entry->shown));
  entry->shown = row.text.size();
}

}  // namespace tg
