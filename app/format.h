// Numbers as people read them: UI.md section 3, in one place. Pure functions, any thread.
#pragma once
#include <QString>
#include <optional>

namespace tg::format {

QString count(qint64 n);                                    // 4 812 (U+202F groups from four digits on)
QString measuredTime(double ms);                            // 89 ms, 0.16 s, 24.0 s, 1 min 40 s
QString expectedTime(std::optional<double> ms);             // ≈ 0.2 s; unknown: –
QString rate(std::optional<double> tokensPerSecond);        // 39.9 tok/s
QString bytes(std::optional<qint64> n);                     // 720 MiB, 2.32 GiB
QString share(qint64 part, qint64 whole);                   // 96 %, < 1 %
QString percent(std::optional<double> percent);             // 69 %, < 1 %, 104 %
QString byteRate(std::optional<double> gbPerS);             // 38.1 GB/s
QString operations(std::optional<double> n);                // 2.39 TOP, 84.0 GOP: multiplications and additions
QString operationRate(std::optional<double> gopPerS);       // 920 GOP/s
QString moneyLine(const QString& pico, const QString& currency, bool approximate);    // ≈ $0.0019; empty pico: –
QString moneyDetail(const QString& pico, const QString& currency);                    // $0.001872
QString unknown();                                          // –

// The same as sentences for a screen reader ("0.16 seconds", "720 mebibytes").
QString spokenTime(double ms);
QString spokenBytes(qint64 n);

}  // namespace tg::format
