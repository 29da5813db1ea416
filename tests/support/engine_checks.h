// Checks of the engine's tests that name both sides when they fail. Include after <QtTest>.
#pragma once

#define SAME_ANSWER(a, b)                                                          \
  do {                                                                             \
    const TurnReport &same_a = (a), &same_b = (b);                                 \
    QVERIFY2(same_a.error.message.empty(), same_a.error.message.c_str());          \
    QVERIFY2(same_b.error.message.empty(), same_b.error.message.c_str());          \
    QCOMPARE(same_a.output_ids, same_b.output_ids);                                \
    QCOMPARE(same_a.logits_sha, same_b.logits_sha);                                \
  } while (false)

#define INTEGRITY(engine)                                              \
  do {                                                                 \
    const auto checked = (engine)->check_integrity();                  \
    QVERIFY2(checked, checked ? "" : checked.error().message.c_str()); \
  } while (false)
