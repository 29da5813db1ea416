#!/usr/bin/env python3
"""Writes a random-weight model with recurrent layers (architecture qwen35: gated delta nets, each fourth layer full attention) of about 120 M parameters.

    make_recurrent_model.py VOCABULARY.gguf OUT.gguf

No real recurrent model is small enough to be had. The tokenizer is copied from the first file; needs numpy and the PyPI package gguf. Large matrices
are Q8_0. The weights are noise: good for times and for what is kept, not for answers.
"""
import argparse

try:
    import gguf
    import numpy as np
except ImportError as missing:
    raise SystemExit(f"This script needs the Python packages numpy and gguf ({missing}).") from None

LAYERS, WIDTH, FFN, INTERVAL = 12, 768, 2048, 4
HEADS, KV_HEADS, HEAD_DIM = 6, 2, 128
K_HEADS, V_HEADS, HEAD_K, INNER, KERNEL = 6, 12, 64, 1536, 4
CHANNELS = INNER + 2 * K_HEADS * HEAD_K


def copy_tokenizer(reader, writer):
    """Returns the size of the vocabulary."""
    size = 0
    for key, field in reader.fields.items():
        if not key.startswith("tokenizer."):
            continue
        if field.types[0] == gguf.GGUFValueType.ARRAY:
            writer.add_array(key, field.contents())
            if key == "tokenizer.ggml.tokens":
                size = len(field.contents())
        else:
            writer.add_key_value(key, field.contents(), field.types[0])
    return size


def add_metadata(writer, vocabulary):
    writer.add_name("random-recurrent")
    writer.add_block_count(LAYERS)
    writer.add_context_length(32768)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(FFN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_key_length(HEAD_DIM)
    writer.add_value_length(HEAD_DIM)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(1e6)
    writer.add_rope_dimension_count(HEAD_DIM // 2)
    writer.add_vocab_size(vocabulary)
    for key, value in {"full_attention_interval": INTERVAL, "ssm.conv_kernel": KERNEL, "ssm.state_size": HEAD_K, "ssm.group_count": K_HEADS, "ssm.time_step_rank": V_HEADS,
                       "ssm.inner_size": INNER}.items():  # fmt: skip
        writer.add_uint32(f"qwen35.{key}", value)
    writer.add_array("qwen35.rope.dimension_sections", [11, 11, 10, 0])


class Weights:
    """Tensors of noise; matrices as Q8_0."""

    def __init__(self, writer):
        self.writer, self.random = writer, np.random.default_rng(1)

    def matrix(self, name, rows, columns):
        values = self.random.standard_normal((rows, columns), dtype=np.float32) / np.sqrt(columns)
        self.writer.add_tensor(name, gguf.quants.quantize(values, gguf.GGMLQuantizationType.Q8_0), raw_dtype=gguf.GGMLQuantizationType.Q8_0)

    def small(self, name, *shape, scale=0.02):
        self.writer.add_tensor(name, (self.random.standard_normal(shape) * scale).astype(np.float32))

    def norm(self, name, n):
        self.writer.add_tensor(name, np.ones(n, np.float32))

    def delta_net(self, prefix):
        self.matrix(prefix + "attn_qkv.weight", CHANNELS, WIDTH)
        self.matrix(prefix + "attn_gate.weight", INNER, WIDTH)
        self.matrix(prefix + "ssm_out.weight", WIDTH, INNER)
        self.small(prefix + "ssm_conv1d.weight", CHANNELS, KERNEL, scale=0.3)
        self.writer.add_tensor(prefix + "ssm_a", -np.linspace(0.5, 8, V_HEADS, dtype=np.float32))
        self.small(prefix + "ssm_dt.bias", V_HEADS)
        self.small(prefix + "ssm_beta.weight", V_HEADS, WIDTH)
        self.small(prefix + "ssm_alpha.weight", V_HEADS, WIDTH)
        self.norm(prefix + "ssm_norm.weight", INNER // V_HEADS)

    def attention(self, prefix):
        self.matrix(prefix + "attn_q.weight", 2 * HEADS * HEAD_DIM, WIDTH)  # queries and their gates
        self.matrix(prefix + "attn_k.weight", KV_HEADS * HEAD_DIM, WIDTH)
        self.matrix(prefix + "attn_v.weight", KV_HEADS * HEAD_DIM, WIDTH)
        self.matrix(prefix + "attn_output.weight", WIDTH, HEADS * HEAD_DIM)
        self.norm(prefix + "attn_q_norm.weight", HEAD_DIM)
        self.norm(prefix + "attn_k_norm.weight", HEAD_DIM)

    def layer(self, i):
        prefix = f"blk.{i}."
        self.norm(prefix + "attn_norm.weight", WIDTH)
        self.delta_net(prefix) if (i + 1) % INTERVAL else self.attention(prefix)
        self.norm(prefix + "post_attention_norm.weight", WIDTH)
        self.matrix(prefix + "ffn_gate.weight", FFN, WIDTH)
        self.matrix(prefix + "ffn_up.weight", FFN, WIDTH)
        self.matrix(prefix + "ffn_down.weight", WIDTH, FFN)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("vocabulary", help="GGUF file whose tokenizer is copied")
    parser.add_argument("out", help="file to write, e.g. random-recurrent.gguf in the folder of the models")
    args = parser.parse_args()
    writer = gguf.GGUFWriter(args.out, "qwen35")
    vocabulary = copy_tokenizer(gguf.GGUFReader(args.vocabulary), writer)
    add_metadata(writer, vocabulary)
    weights = Weights(writer)
    weights.matrix("token_embd.weight", vocabulary, WIDTH)
    weights.norm("output_norm.weight", WIDTH)
    for i in range(LAYERS):
        weights.layer(i)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
