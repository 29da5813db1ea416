// SHA-256 (FIPS 180-4), for the hash of logits that proves equal answers.
#pragma once
#include <cstddef>
#include <span>
#include <string>

namespace tg {

std::string sha256_hex(std::span<const std::byte> bytes);

}  // namespace tg
