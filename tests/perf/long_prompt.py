#!/usr/bin/env python3
"""Time to the first token of a prompt of 8 000 tokens, against llama-server."""
from measuring import compare, ids, in_turn, script, send
from peer_server import peer_server

FLOORS = {"smollm2": 1 / 3.2, "gemma3": 1 / 2.4}


def ours(bench, path, prompt):
    return bench.ours.replay(path, [send("a", prompt)])[0]["ttft_ms"] / 1000


def peers(bench, path, prompt):
    with peer_server(bench, path) as server:
        return server.complete(prompt)["ttft"]


def measure(bench):
    rows = []
    length = 2000 if bench.quick else 8000
    for name, path in bench.models(*FLOORS):
        label = f"long prompt {name}"
        for r in bench.rounds(label):
            prompt = ids(length, r["number"])
            r["ours"], r["peer"] = in_turn(r["number"], lambda: ours(bench, path, prompt), lambda: peers(bench, path, prompt))
        rows.append(compare(bench, 6, label, f"TTFT of {length} tokens", name, "s", FLOORS[name], less_is_better=True))
    return rows


if __name__ == "__main__":
    script(__doc__, measure)
