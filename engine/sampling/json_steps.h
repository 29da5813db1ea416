// Within a string or a number of a JSON text: which byte may follow, character by character. Pure functions. Internal to engine/sampling.
#pragma once
#include <cstdint>

#include "engine/sampling/json_schema.h"

namespace tg {

// Steps within a string: plain, behind a backslash, 4..1 hexadecimal digits to come, 1..3 further bytes of a character to come.
// After E0, ED, F0 and F4 the second byte has a narrower range (Unicode table 3-7). An escape of D8..DB is the first half of a pair.
enum StringStep { kPlain = 0, kEscape = 1, kHex = 10, kTail = 20, kAfterE0 = 30, kAfterED, kAfterF0, kAfterF4,
                  kHexAfterD = 40, kFirstHalf1, kFirstHalf2, kPairSlash, kPairU, kPairD, kPairLow };
// Steps within a number.
enum NumberStep { kMinus, kZero, kDigits, kPoint, kFraction, kExponent, kExponentSign, kExponentDigits };

bool is_digit(unsigned char c);
int string_step(int step, unsigned char byte);                // the step behind BYTE; -1: not allowed there
int number_step(int step, unsigned char byte, bool integer);  // likewise
int max_digits(int step);                                     // in a row: numbers every reader can hold, 64 bits whole, a double otherwise

// Whether digits behind NUMBER, as read so far without its sign, can make it a value within the limits; FINAL: with no further digits.
bool may_become(std::int64_t number, bool negative, bool final, const SchemaNode& limits);

}  // namespace tg
