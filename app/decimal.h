// Exact decimal amounts as digit strings, for display: money is a decimal string of picodollars and may exceed 64 bits.
// Pure functions, any thread.
#pragma once
#include <QString>
#include <optional>

namespace tg::decimal {

// TEXT as digits without leading zeros; unset: empty or not a whole number.
std::optional<QString> whole_digits(const QString& text);
// DIGITS / 10^scale with exactly DECIMALS decimals (<= scale), rounded half to even.
QString scaled(const QString& digits, int scale, int decimals);

}  // namespace tg::decimal
