// turnglass: the window. Wires options, profile and window together and nothing else.
#include <QApplication>
#include <QCommandLineParser>
#include <QFileInfo>
#include <QTextStream>

#include "app/application.h"
#include "app/settings.h"
#include "views/shell/grab.h"
#include "views/shell/main_window.h"
#include "views/shell/self_test.h"
#include "views/shell/signals.h"
#include "views/theme/theme.h"

namespace {

using namespace Qt::StringLiterals;

bool has(int argc, char** argv, const char* option) {
  for (int i = 1; i < argc; ++i) {
    if (qstrcmp(argv[i], option) == 0) return true;
  }
  return false;
}

// Before the platform is chosen: pictures need no display, and their scale must be known.
void preparePlatform(int argc, char** argv) {
  const bool display = qEnvironmentVariableIsSet("DISPLAY") || qEnvironmentVariableIsSet("WAYLAND_DISPLAY");
  const bool textOnly = has(argc, argv, "--version") || has(argc, argv, "--help") || has(argc, argv, "-h") || has(argc, argv, "-v");
  const bool offscreen = has(argc, argv, "--grab") || textOnly || (has(argc, argv, "--self-test") && !display);
  if (offscreen && !qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  for (int i = 1; i + 1 < argc; ++i) {
    if (qstrcmp(argv[i], "--scale") == 0) qputenv("QT_SCALE_FACTOR", argv[i + 1]);
  }
}

void addOptions(QCommandLineParser& parser) {
  parser.setApplicationDescription(QApplication::translate("main", "Chat with local models and see what every turn really cost."));
  parser.addHelpOption();
  parser.addVersionOption();
  parser.addPositionalArgument(u"FILE"_s, QApplication::translate("main", "Models or text files to open."), u"[FILE…]"_s);
  const auto add = [&](const QString& name, const QString& help, const QString& value) { parser.addOption(value.isEmpty() ? QCommandLineOption(name, help) : QCommandLineOption(name, help, value)); };
  add(u"profile"_s, QApplication::translate("main", "Folder of all data of a user."), u"DIR"_s);
  add(u"theme"_s, QApplication::translate("main", "light, dark or system."), u"NAME"_s);
  add(u"self-test"_s, QApplication::translate("main", "Check the installation and say what was checked."), {});
  add(u"grab"_s, QApplication::translate("main", "Write a picture of every page and dialog into DIR."), u"DIR"_s);
  add(u"scale"_s, QApplication::translate("main", "With --grab: scale factor."), u"N"_s);
  add(u"font"_s, QApplication::translate("main", "With --grab: font size in percent."), u"PERCENT"_s);
  add(u"size"_s, QApplication::translate("main", "With --grab: size of the window."), u"WxH"_s);
  add(u"mode"_s, QApplication::translate("main", "With --grab: user or developer."), u"MODE"_s);
}

int refuse(const QString& sentence) {
  QTextStream(stderr) << sentence << Qt::endl;
  return 2;
}

// One sentence for what cannot be used; empty: all is well.
QString badOption(const QCommandLineParser& parser) {
  const QString theme = parser.value(u"theme"_s);
  if (parser.isSet(u"theme"_s) && theme != u"light"_s && theme != u"dark"_s && theme != u"system"_s) return QApplication::translate("main", "The theme is light, dark or system, not “%1”.").arg(theme);
  const QString mode = parser.value(u"mode"_s);
  if (parser.isSet(u"mode"_s) && mode != u"user"_s && mode != u"developer"_s) return QApplication::translate("main", "The mode is user or developer, not “%1”.").arg(mode);
  const QStringList size = parser.value(u"size"_s).split(u'x');
  if (parser.isSet(u"size"_s) && (size.size() != 2 || size[0].toInt() < 200 || size[1].toInt() < 200 || size[0].toInt() > 8000 || size[1].toInt() > 8000)) {
    return QApplication::translate("main", "The size is WIDTHxHEIGHT, not “%1”.").arg(parser.value(u"size"_s));
  }
  const int font = parser.value(u"font"_s).toInt();
  if (parser.isSet(u"font"_s) && (font < 50 || font > 300)) return QApplication::translate("main", "The font size is 50 to 300 percent.");
  return {};
}

int grab(tg::Application& app, const QCommandLineParser& parser) {
  tg::GrabOptions options;
  options.folder = parser.value(u"grab"_s);
  if (parser.isSet(u"theme"_s)) options.theme = parser.value(u"theme"_s);
  if (parser.isSet(u"font"_s)) options.fontPercent = parser.value(u"font"_s).toInt();
  if (parser.isSet(u"size"_s)) options.size = {parser.value(u"size"_s).section(u'x', 0, 0).toInt(), parser.value(u"size"_s).section(u'x', 1).toInt()};
  options.developer = parser.value(u"mode"_s) == u"developer"_s;
  QString error;
  const bool ok = grabPictures(app, options, &error);
  app.shutdown();
  if (ok) return 0;
  QTextStream(stderr) << error << Qt::endl;
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  preparePlatform(argc, argv);
  QApplication application(argc, argv);
  QApplication::setApplicationName(u"turnglass"_s);
  QApplication::setApplicationDisplayName(u"Turnglass"_s);
  QApplication::setApplicationVersion(QStringLiteral(TG_VERSION));
  QGuiApplication::setDesktopFileName(u"turnglass"_s);
  QCommandLineParser parser;
  addOptions(parser);
  if (!parser.parse(QApplication::arguments())) return refuse(parser.errorText());
  if (parser.isSet(u"help"_s)) parser.showHelp(0);
  if (parser.isSet(u"version"_s)) parser.showVersion();
  if (const QString bad = badOption(parser); !bad.isEmpty()) return refuse(bad);
  if (parser.isSet(u"self-test"_s)) return tg::runSelfTest();

  tg::AppOptions options;
  options.profile = parser.value(u"profile"_s);
  for (const QString& file : parser.positionalArguments()) options.openFiles << QFileInfo(file).absoluteFilePath();
  QString error;
  const std::unique_ptr<tg::Application> app = tg::Application::create(options, &error);
  if (!app) return refuse(error);
  if (parser.isSet(u"grab"_s)) return grab(*app, parser);
  if (parser.isSet(u"theme"_s)) app->settings().set(tg::Setting::Theme, parser.value(u"theme"_s));
  tg::quitOnSignals();
  int code = 0;
  {
    tg::MainWindow window(*app);
    window.start();
    window.show();
    if (!options.openFiles.isEmpty()) window.openFiles(options.openFiles);
    code = QApplication::exec();
  }
  app->shutdown();
  return code;
}
