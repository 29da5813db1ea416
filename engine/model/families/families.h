// The architectures this engine knows: one function each, which fills the description from the file's metadata.
#pragma once
#include <span>
#include <string_view>

#include "engine/model/families/builder.h"

namespace tg {

struct Family {
  std::string_view architecture;          // general.architecture
  void (*describe)(FamilyBuilder& builder);
};

std::span<const Family> families();

}  // namespace tg
