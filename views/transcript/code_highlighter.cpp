#include "views/transcript/code_highlighter.h"

#include <QSet>

#include "views/theme/theme.h"

namespace tg {
namespace {

using namespace Qt::StringLiterals;

// Words that are keywords in most of the languages people ask for.
const QSet<QString>& keywords() {
  static const QSet<QString> words = [] {
    const QString list = u"and as async await auto begin bool break case catch char class const constexpr continue def default defer del delete do double "
                         "echo elif else end enum except export extends extern fi final finally float fn for foreach from func function global go goto if "
                         "implements import in include inline int interface is lambda let local long loop match mod module mut namespace new nonlocal not "
                         "of operator or package pass private protected public pub raise register return select self set short signed sizeof static "
                         "struct super switch template then this throw trait try type typedef typename union unsafe unsigned use using var virtual void "
                         "volatile when where while with yield SELECT FROM WHERE INSERT UPDATE DELETE CREATE TABLE JOIN ON AND OR NOT ORDER BY GROUP LIMIT"_s;
    const QStringList split = list.split(u' ');
    return QSet<QString>(split.cbegin(), split.cend());
  }();
  return words;
}

const QSet<QString>& constants() {
  static const QSet<QString> words{u"None"_s, u"True"_s, u"False"_s, u"true"_s, u"false"_s, u"null"_s, u"nullptr"_s, u"undefined"_s, u"nil"_s};
  return words;
}

bool defines(const QString& word) {
  return word == u"class"_s || word == u"def"_s || word == u"struct"_s || word == u"function"_s || word == u"fn"_s || word == u"func"_s || word == u"enum"_s;
}

}  // namespace

CodeHighlighter::CodeHighlighter(QTextDocument* document, const QString& language) : QSyntaxHighlighter(document) {
  const QString name = language.toLower();
  hash_ = name.startsWith(u"py"_s) || name == u"sh"_s || name == u"bash"_s || name == u"ruby"_s || name == u"yaml"_s || name == u"toml"_s || name == u"perl"_s ||
          name == u"r"_s || name == u"cmake"_s;
  slashes_ = !hash_;
}

qsizetype CodeHighlighter::word(const QString& line, qsizetype at) {
  qsizetype end = at;
  while (end < line.size() && (line[end].isLetterOrNumber() || line[end] == u'_')) ++end;
  const QString text = line.mid(at, end - at);
  QTextCharFormat format;
  if (define_) {
    format.setFontWeight(QFont::Bold);
  } else if (keywords().contains(text)) {
    format.setForeground(color(Role::Accent));
  } else if (constants().contains(text)) {
    format.setFontItalic(true);
  }
  define_ = defines(text);
  if (format.propertyCount() > 0) setFormat(static_cast<int>(at), static_cast<int>(end - at), format);
  return end;
}

void CodeHighlighter::highlightBlock(const QString& line) {
  QTextCharFormat quiet;
  quiet.setFontItalic(true);
  quiet.setForeground(color(Role::Muted));
  define_ = false;
  for (qsizetype at = 0; at < line.size();) {
    const QChar c = line[at];
    if ((hash_ && c == u'#') || (slashes_ && c == u'/' && at + 1 < line.size() && line[at + 1] == u'/')) {
      setFormat(static_cast<int>(at), static_cast<int>(line.size() - at), quiet);
      return;
    }
    if (c == u'"' || c == u'\'') {
      qsizetype end = at + 1;
      while (end < line.size() && line[end] != c) end += line[end] == u'\\' ? 2 : 1;
      at = end + 1;
    } else if (c.isLetter() || c == u'_') {
      at = word(line, at);
    } else {
      if (!c.isSpace()) define_ = false;
      ++at;
    }
  }
}

}  // namespace tg
