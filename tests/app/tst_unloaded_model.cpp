// A real engine with a tiny model: no chat template and what happens then, and what is known of a wait before the model is loaded.
#include <future>

#include "tests/support/service_fixture.h"
#include "tests/support/tiny_model.h"
#include "tests/support/tiny_vocabulary.h"

using namespace tg;
using namespace tg::test;

namespace {

// A model file whose vocabulary knows the marks of ChatML, and that brings no template.
QByteArray model_without_template() {
  const TinyVocabulary v = tiny_bpe();
  GgufWriter w;
  w.add_string("tokenizer.ggml.model", v.model);
  w.add_string("tokenizer.ggml.pre", v.pre);
  w.add_strings("tokenizer.ggml.tokens", v.tokens);
  w.add_i32s("tokenizer.ggml.token_type", v.kinds);
  w.add_strings("tokenizer.ggml.merges", v.merges);
  for (const auto& [key, id] : v.ids) w.add_u32("tokenizer.ggml." + key + "_token_id", id);
  TinyModel model = tiny_llama();
  model.set_vocabulary(static_cast<int>(v.tokens.size()));
  return QByteArray::fromStdString(model.bytes(w));
}

}  // namespace

class TestUnloadedModel : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void initTestCase();
  void templateIsAskedFor();
  void waitIsKnownBeforeTheLoad();
  void anotherModelAsksAgain();
  void whatWasAskedIsDoneWhileClosing();

 private:
  void open() {
    app_.reset();
    AppOptions options;
    options.profile = dir_.path();
    QString error;
    app_ = ApplicationImpl::open(options, &error);
    QVERIFY2(app_ != nullptr, qPrintable(error));
  }
  ChatServiceImpl& chats() { return app_->service(); }
  MessageInfo turn(const QString& text) {
    QSignalSpy finished(&chats(), &ChatService::turnFinished);
    chats().send(id_, text, {});
    return finished.wait(15000) ? finished[0][1].value<MessageInfo>() : MessageInfo();
  }
  QTemporaryDir dir_;
  std::unique_ptr<ApplicationImpl> app_;
  QString id_, model_;
};

void TestUnloadedModel::initTestCase() {
  model_ = dir_.filePath(QStringLiteral("bare.gguf"));
  QFile file(model_);
  QVERIFY(file.open(QIODevice::WriteOnly));
  const QByteArray bytes = model_without_template();
  QCOMPARE(file.write(bytes), bytes.size());
  file.close();
  open();
  GenerationSettings settings;
  settings.maxTokens = 12;
  settings.temperature = 0;
  id_ = chats().createChat(QStringLiteral("a"), model_, settings);
}

void TestUnloadedModel::templateIsAskedFor() {
  QSignalSpy needed(&chats(), &ChatService::templateNeeded), started(&chats(), &ChatService::turnStarted), listed(&chats(), &ChatService::templatesListed);
  chats().send(id_, QStringLiteral("hello"), {});
  QVERIFY(needed.wait());
  QCOMPARE(needed[0][1].toString(), QStringLiteral("hello"));
  QCOMPARE(started.size(), 0);               // nothing was sent, nothing was guessed
  QVERIFY(chats().messages(id_).isEmpty());
  QCOMPARE(chats().draft(id_), QStringLiteral("hello"));
  QVERIFY(!chats().busy(id_));
  chats().listTemplates(id_, 4);
  QVERIFY(listed.wait());
  const auto choices = listed[0][0].value<QVector<TemplateChoice>>();
  QVERIFY(choices.size() > 3);
  QCOMPARE(choices[0].name, QStringLiteral("builtin:chatml"));
  QVERIFY(choices[0].suggested);
  QVERIFY(!choices[0].reason.isEmpty());
  QCOMPARE(std::count_if(choices.begin(), choices.end(), [](const TemplateChoice& c) { return c.suggested; }), 1);
  chats().setTemplate(id_, choices[0].name);
  const MessageInfo answer = turn(QStringLiteral("hello"));
  QVERIFY2(answer.record.has_value(), qPrintable(answer.error));
  QVERIFY(answer.record->loadMs.value_or(0) > 0);
}

void TestUnloadedModel::waitIsKnownBeforeTheLoad() {
  open();                                    // a new run: nothing is loaded
  const ChatInfo before = *chats().chat(id_);
  QVERIFY(!before.modelLoaded);
  QVERIFY(before.waitMs.has_value());
  QVERIFY(before.loadMs.value_or(0) > 0);
  const MessageInfo answer = turn(QStringLiteral("and more"));  // the template was kept with the chat
  QVERIFY2(answer.record.has_value(), qPrintable(answer.error));
  QVERIFY(answer.record->predictedTtftMs.has_value());
  QVERIFY(answer.record->loadMs.value_or(0) > 0);
  const ChatInfo after = *chats().chat(id_);
  QVERIFY(after.modelLoaded);
  QVERIFY(!after.loadMs.has_value());
  QVERIFY(after.waitMs.has_value());
}

void TestUnloadedModel::anotherModelAsksAgain() {
  const QString other = dir_.filePath(QStringLiteral("other.gguf"));
  QVERIFY(QFile::copy(model_, other));
  chats().setModel(id_, other);              // the choice was for the first one
  QSignalSpy needed(&chats(), &ChatService::templateNeeded);
  chats().send(id_, QStringLiteral("hello"), {});
  QVERIFY(needed.wait());
}

// The service of the chats closes before their engine, which may still be at work for it.
void TestUnloadedModel::whatWasAskedIsDoneWhileClosing() {
  QVERIFY(app_->engine().cacheState(id_));
  std::promise<void> closed;
  connect(&chats(), &QObject::destroyed, [&closed] { closed.set_value(); });
  app_->engine().background(
      [&closed] {
        closed.get_future().wait();
        return Status(Ok{});
      },
      [](const Status&) {});
  const QString other = chats().createChat(QStringLiteral("b"), model_, {});
  chats().pin(other, true);
  chats().evict(other);
  chats().deleteForever(id_);
  open();
  QCOMPARE(chats().chats().size(), 1);
  QVERIFY(!app_->engine().cacheState(id_));
}

QTEST_GUILESS_MAIN(TestUnloadedModel)
#include "tst_unloaded_model.moc"
