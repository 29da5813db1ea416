// Output that must be JSON, of a schema where one is given: an automaton over bytes decides which tokens may follow.
// Thread: the vocabulary is immutable and shared; a constraint belongs to one turn.
#pragma once
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "engine/base/result.h"
#include "engine/sampling/sampler.h"
#include "engine/tokenizer/tokenizer.h"

namespace tg {

class ConstraintVocabulary;  // the tokens by their bytes; made once per model (tens of milliseconds)
std::shared_ptr<const ConstraintVocabulary> make_constraint_vocabulary(const Tokenizer& tokenizer);

// SCHEMA null: any JSON value. Understood: type (also a list), properties, required, additionalProperties, items, minItems,
// maxItems, minLength, maxLength, minimum and maximum of integers, enum, const, anyOf, oneOf (as anyOf), $ref into $defs or definitions.
// Declared properties may come in any order; others only where additionalProperties allows them or no properties are declared. Other
// limits of form (pattern, format, ...) are not enforced: unenforced_words(). What would change the shape and is not understood (allOf,
// not, if, ...) is refused by name.
// End-of-generation tokens are allowed when the value may end, and alone are left when it must. A token that does not fit leaves the
// state as it was.
Result<std::unique_ptr<TokenConstraint>> make_json_constraint(std::shared_ptr<const ConstraintVocabulary> vocabulary,
                                                              const nlohmann::ordered_json& schema);

// TEXT of a schema, which can be compiled.
Result<nlohmann::ordered_json> read_json_schema(std::string_view text);

}  // namespace tg
