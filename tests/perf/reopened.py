#!/usr/bin/env python3
"""The first turn after a restart in a chat of 2 000 tokens, against a warm turn: models with full, window and recurrent layers.

The recurrent one is a random model that make_recurrent_model.py writes. Two chats that share nothing read 2 000 tokens; one goes on at once, the
other after everything was closed and opened again. The load of the model is apart, as in the turn record.
"""
from measuring import ids, median, row, script, send

MODELS = ("smollm2", "gemma3", "recurrent")
MOST_MORE, NEW = 0.1, 32  # s, tokens


def measure(bench):
    rows = []
    length = 500 if bench.quick else 2000
    for name, path in bench.models(*MODELS):
        label = f"reopened {name}"
        for r in bench.rounds(label):
            a, b = ids(length + NEW, 2 * r["number"] + 1), ids(length + NEW, 2 * r["number"] + 2, first=2)
            records = bench.ours.replay(path, [send("a", a[:length]), send("b", b[:length]), send("a", a), {"restart": True}, send("b", b)])
            warm, cold = records[2], records[3]
            r["warm"], r["ours"], r["more"], r["load"] = warm["ttft_ms"] / 1000, cold["ttft_ms"] / 1000, (cold["ttft_ms"] - warm["ttft_ms"]) / 1000, cold["load_ms"] / 1000
            r["read"] = {"warm": warm["input_fresh"], "reopened": cold["input_fresh"]}
        done = bench.done(label)
        rows.append(row(5, f"first turn after a restart, {length} tokens: more than a warm one", name, ours=median(r["ours"] for r in done), unit="s", figure=median(r["more"] for r in done),
                        floor=MOST_MORE, at_most=True, meaning="s", note=f"warm {median(r['warm'] for r in done):.3f} s; load {median(r['load'] for r in done):.2f} s; "
                        f"read {done[-1]['read']['reopened']} tokens, warm {done[-1]['read']['warm']}"))  # fmt: skip
    return rows


if __name__ == "__main__":
    script(__doc__, measure)
