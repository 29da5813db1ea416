// Checks of the engine's tests that name both sides when they fail. Include after <QtTest>.
#pragma once

#define SAME_ANSWER(a, b)                                              \
  do {                                                                 \
    QVERIFY2((a).error.message.empty(), (a).error.message.c_str());    \
    QVERIFY2((b).error.message.empty(), (b).error.message.c_str());    \
    QCOMPARE((a).output_ids, (b).output_ids);                          \
    QCOMPARE((a).logits_sha, (b).logits_sha);                          \
  } while (false)

#define INTEGRITY(engine)                                              \
  do {                                                                 \
    const auto checked = (engine)->check_integrity();                  \
    QVERIFY2(checked, checked ? "" : checked.error().message.c_str()); \
  } while (false)
