// Contrast of every pair, completeness of palette and icons, fills that differ without colour, themes that change at once.
#include <QApplication>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSignalSpy>
#include <QTest>
#include <cmath>

#include "views/theme/fill.h"
#include "views/theme/icons.h"
#include "views/theme/theme.h"

using namespace tg;
using namespace Qt::StringLiterals;

namespace {

double luminance(const QColor& c) {
  const auto linear = [](double v) { return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); };
  return 0.2126 * linear(c.redF()) + 0.7152 * linear(c.greenF()) + 0.0722 * linear(c.blueF());
}

double contrast(const QColor& a, const QColor& b) {
  const double x = luminance(a), y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

QJsonObject tokens() {
  Theme::get();
  QFile file(u":/themes/tokens.json"_s);
  return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).object() : QJsonObject();
}

QImage painted(Part part) {
  QImage image(40, 16, QImage::Format_RGB32);
  QPainter p(&image);
  paintFill(p, QRectF(0, 0, 40, 16), part);
  p.end();
  return image.convertToFormat(QImage::Format_Grayscale8);
}

}  // namespace

class TestTheme : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void contrastOfEveryPair() {
    const QJsonObject root = tokens();
    const QJsonArray pairs = root[u"pairs"_s].toArray();
    QVERIFY(pairs.size() > 60);
    for (const QString& scheme : {u"light"_s, u"dark"_s}) {
      const QJsonObject colors = root[scheme].toObject();
      for (const QJsonValue& v : pairs) {
        const QJsonArray pair = v.toArray();
        const QColor fore(colors[pair[0].toString()].toString()), back(colors[pair[1].toString()].toString());
        QVERIFY2(fore.isValid() && back.isValid(), qPrintable(pair[0].toString()));
        QVERIFY2(contrast(fore, back) >= pair[2].toDouble(), qPrintable(u"%1 on %2 in %3: %4"_s.arg(pair[0].toString(), pair[1].toString(), scheme).arg(contrast(fore, back))));
      }
    }
  }

  void everyRoleHasAColour() {
    for (const QString& scheme : {u"dark"_s, u"light"_s}) {
      Theme::get().setScheme(scheme);
      QCOMPARE(Theme::get().isDark(), scheme == u"dark"_s);
      for (int i = 0; i < static_cast<int>(Role::Count); ++i) QVERIFY2(color(static_cast<Role>(i)).isValid(), qPrintable(Theme::roleName(static_cast<Role>(i))));
      QCOMPARE(QApplication::palette().color(QPalette::Window), color(Role::Window));
    }
  }

  void changeIsAnnouncedOnce() {
    QSignalSpy changed(&Theme::get(), &Theme::changed);
    Theme::get().setScheme(u"dark"_s);
    QCOMPARE(changed.size(), 1);
    Theme::get().setScheme(u"light"_s);
  }

  void iconsOfTheDesign() {
    const QStringList wanted = u"nav-chats nav-lab nav-planner nav-levers nav-cache nav-models nav-prices nav-statistics nav-settings chat-new folder-new folder search find-next send stop attach thinking edit copy regenerate version-prev version-next pin unpin keep evict to-gpu to-ram to-disk split inspector details play pause record replay import export view-table optimise fix block-grip block-locked block-add move-up move-down verify licence rescan measure warning error info ok unknown offline online device memory clock close more help tier-gpu tier-ram tier-disk tier-none fill-cached fill-fresh fill-output fill-thinking"_s.split(u' ');
    const QStringList there = iconNames();
    for (const QString& name : wanted) {
      QVERIFY2(there.contains(name), qPrintable(name));
      const QImage image = icon(name).pixmap(40, 40).toImage();
      QVERIFY2(!image.isNull(), qPrintable(name));
      int inked = 0;
      for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) inked += qAlpha(image.pixel(x, y)) > 128;
      }
      QVERIFY2(inked > 10, qPrintable(name));
    }
  }

  void iconsFollowThePalette() {
    const auto darkest = [] {
      const QImage image = icon(u"nav-chats"_s).pixmap(40, 40).toImage();
      int sum = 0, n = 0;
      for (int y = 0; y < 40; ++y) {
        for (int x = 0; x < 40; ++x) {
          if (qAlpha(image.pixel(x, y)) > 250) sum += qGray(image.pixel(x, y)), ++n;
        }
      }
      return n > 0 ? sum / n : -1;
    };
    Theme::get().setScheme(u"light"_s);
    const int light = darkest();
    Theme::get().setScheme(u"dark"_s);
    QVERIFY(darkest() > light + 100);
    Theme::get().setScheme(u"light"_s);
  }

  void fillsDifferInGrey() {
    const Part parts[] = {Part::Cached, Part::Fresh, Part::Thinking, Part::Output};
    for (Part a : parts) {
      for (Part b : parts) {
        if (a != b) QVERIFY(painted(a) != painted(b));
      }
    }
  }

  void smallSharesStayVisible() {
    const auto w = barWidths({{Part::Cached, 4640}, {Part::Fresh, 1}, {Part::Thinking, 0}}, 4641, 100);
    QVERIFY(w[1] >= 3);
    QCOMPARE(w[2], 0.0);
    QVERIFY(w[0] + w[1] + 1 <= 100.5);
  }

  void fontScale() {
    const qreal before = QApplication::font().pointSizeF();
    Theme::get().setFontPercent(200);
    QVERIFY(QApplication::font().pointSizeF() > before * 1.9);
    Theme::get().setFontPercent(100);
    QCOMPARE(QApplication::font().pointSizeF(), before);
  }
};

QTEST_MAIN(TestTheme)
#include "tst_theme.moc"
