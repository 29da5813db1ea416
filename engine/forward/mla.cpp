// Multi-head latent attention in its absorbed form: q is brought into the latent space by k_b, so that all heads share one latent
// key [rope part, latent] and the value is its latent part; v_b brings the result back (arXiv 2405.04434, section 2.1).
#include <vector>

#include "engine/forward/walk.h"

namespace tg {

Mat Walk::attend_latent(const Layer& layer) {
  const MlaDescription& m = *layer.d.mla;
  const MlaWeights& w = layer.w.mla;
  const int rows = batch_.rows, heads = layer.d.n_heads, key = m.rope_dim + m.latent_dim;
  const Mat q = scratch(memory_.q, rows, heads * key), k = scratch(memory_.k, rows, key);
  const Mat nope = scratch(memory_.v, rows, heads * m.nope_dim);
  const Mat latent_out = scratch(memory_.wide, rows, heads * m.latent_dim), out = scratch(memory_.mixed, rows, heads * m.value_dim);

  prepare_input(x_, layer.w.attention_norm);
  const MatmulTask keys[] = {{.weight = w.k_rope, .out = cols_of(k, 0, m.rope_dim)},
                             {.weight = w.latent, .out = cols_of(k, m.rope_dim, m.latent_dim)}};
  project(*input_, keys);
  const Mat latent = cols_of(k, m.rope_dim, m.latent_dim);
  device_->norm(latent, *w.latent_norm, latent);

  const Activations* query_input = input_.get();
  if (w.q_a != nullptr) {
    const Mat low = scratch(memory_.side, rows, w.q_a->rows);
    project(*input_, w.q_a, nullptr, {.out = low});
    device_->norm_prepare(low, *w.q_a_norm, *extra_);
    query_input = extra_.get();
  }
  queries_.clear();
  for (int h = 0; h < heads; ++h) {
    queries_.push_back({.weight = w.q_rope, .expert = h, .out = cols_of(q, h * key, m.rope_dim)});
    queries_.push_back({.weight = w.q_nope, .expert = h, .out = cols_of(nope, h * m.nope_dim, m.nope_dim)});
  }
  project(*query_input, queries_);
  for (int h = 0; h < heads; ++h) {
    device_->prepare(cols_of(nope, h * m.nope_dim, m.nope_dim), *hidden_);
    const MatmulTask task{.weight = w.k_b, .expert = h, .out = cols_of(q, h * key + m.rope_dim, m.latent_dim)};
    project(*hidden_, {&task, 1});
  }

  store_and_attend(layer, q, k, latent, latent_out);
  for (const RowRun run : layer.last ? batch_.wanted : batch_.all) {
    for (int h = 0; h < heads; ++h) {
      device_->prepare(cols_of(rows_of(latent_out, run), h * m.latent_dim, m.latent_dim), *hidden_);
      const MatmulTask task{.weight = w.v_b, .expert = h, .out = cols_of(rows_of(out, run), h * m.value_dim, m.value_dim)};
      project(*hidden_, {&task, 1});
    }
  }
  return out;
}

}  // namespace tg
