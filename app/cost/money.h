// Money as exact numbers: prices are whole picounits per token, sums are fractions of 128-bit integers, rounded once at the end.
// Values past 128 bits become "too large" instead of wrapping. Source of the contract: the pricing pack, invariant 3. Pure, any thread.
#pragma once
#include <QString>
#include <optional>

namespace tg::cost {

__extension__ typedef __int128 Int128;

// "2.5" per million tokens -> 2 500 000 pico per token. Only digits with at most six decimals; unset: another form, or more than 10^12.
std::optional<qint64> picoPerToken(QStringView price);
QString priceText(qint64 picoPerToken);          // back to "2.5"

// An exact amount of picounits. den > 0, lowest terms.
class Amount {
 public:
  Amount() = default;
  explicit Amount(Int128 pico) : num_(pico) {}
  static Amount of(qint64 tokens, qint64 picoPerToken);
  Amount& operator+=(const Amount& other);
  Amount scaled(qint64 num, qint64 den) const;   // times num/den, den > 0
  bool tooLarge() const { return tooLarge_; }
  QString rounded() const;                       // half to even; "" when too large
  friend bool operator<(const Amount& a, const Amount& b);

 private:
  Int128 num_ = 0, den_ = 1;
  bool tooLarge_ = false;
  void reduce();
};

QString decimal(Int128 value);
std::optional<Amount> wholePico(QStringView digits);   // a stored amount; unset: not a whole number below 2^126

}  // namespace tg::cost
