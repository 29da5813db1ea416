#!/usr/bin/env python3
"""Second turn: time to the first token of 32 new tokens after a chat of 2 000.

Issue 6: against llama-server, which keeps the prompt in its slot. Issue 5: against the time of computing just the fresh tokens at that depth
(bench). A turn answers one token, so that both programs hold exactly the prompt; the chat goes on for some turns of 32 tokens, whose median counts.
"""
import statistics

from measuring import compare, ids, median, row, script, send
from peer_server import peer_server

FLOORS = {"smollm2": 1 / 4, "gemma3": 1 / 3}
NEW, TURNS = 32, 5


def prompts(start, seed):
    whole = ids(start + NEW * TURNS, seed)
    return [whole[: start + NEW * i] for i in range(TURNS + 1)]


def ours(bench, path, start, seed):
    records = bench.ours.replay(path, [send("a", p) for p in prompts(start, seed)])
    return statistics.median(r["ttft_ms"] / 1000 for r in records[1:]), max(r["input_fresh"] for r in records[1:])


def peers(bench, path, start, seed):
    with peer_server(bench, path) as server:
        answers = [server.complete(p) for p in prompts(start, seed)]
    return statistics.median(a["ttft"] for a in answers[1:]), max(a["timings"].get("prompt_n", 0) for a in answers[1:])


def measure(bench):
    rows = []
    start = 500 if bench.quick else 2000
    for name, path in bench.models(*FLOORS):
        label = f"second turn {name}"
        for r in bench.rounds(label):
            if r["number"] % 2:
                r["peer"], read = peers(bench, path, start, r["number"])
                r["ours"], fresh = ours(bench, path, start, r["number"])
            else:
                r["ours"], fresh = ours(bench, path, start, r["number"])
                r["peer"], read = peers(bench, path, start, r["number"])
            r["computing"] = NEW / bench.ours.rate(path, ("pp", NEW, start + 2 * NEW, 1), prompt=NEW, generate=0, depth=start + 2 * NEW)
        note = f"read: ours {fresh}, llama.cpp {read} tokens"
        rows.append(compare(bench, 6, label, f"second turn of {start} tokens, {NEW} new", name, "s", FLOORS[name], less_is_better=True, note=note))
        done = bench.done(label)
        rows.append(row(5, f"turn 2 of {start} tokens ÷ computing its {NEW} tokens", name, ours=median(r["ours"] for r in done), unit="s", floor=1.3, at_most=True,
                        figure=median(r["ours"] / r["computing"] for r in done), note=f"computing: {median(r['computing'] for r in done):.4f} s"))  # fmt: skip
    return rows


if __name__ == "__main__":
    script(__doc__, measure)
