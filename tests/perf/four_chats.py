#!/usr/bin/env python3
"""Four chats at once: total decode rate against llama-batched-bench, and that each answer is the one it gives alone.

Both write after a common prompt of 512 tokens. Ours are four chats of a replay, which brings scheduler, sampling and database; the rate counts from the
moment the last of them has begun until the first is done.
"""
from measuring import compare, ids, in_turn, row, script, send

FLOORS = {"smollm2": 4.0, "gemma3": 2.7, "1b-q4_k_m": 2.2}
CHATS, PROMPT = 4, 512


def steps(n):
    """All chats read their prompts first, so that four decode together; then side by side, then one after the other as a check."""
    prompts = {f"chat {i}": ids(PROMPT, 1) + ids(1, 10 + i, first=2000 + i) for i in range(CHATS)}
    sends = [send(chat, prompt, n) for chat, prompt in prompts.items()]
    return [send(chat, prompt, 1) for chat, prompt in prompts.items()] + [{"parallel": sends}], sends


def total_rate(records):
    """Tokens per second of all together. Starts differ by a step or two, and each chat's rate is its own mean over the common time."""
    return sum((r["output"] - 1) * 1000 / r["decode_ms"] for r in records)


def ours(bench, path, n):
    together, alone = steps(n)
    records = bench.ours.replay(path, together)[-CHATS:]
    return total_rate(records), records, alone


def measure(bench):
    rows = []
    n = 32 if bench.quick else 64
    for name, path in bench.models(*FLOORS):
        label, last = f"four chats {name}", {}

        def run_ours(path=path, last=last):
            rate, last["records"], last["alone"] = ours(bench, path, n)
            return rate

        for r in bench.rounds(label):
            r["ours"], r["peer"] = in_turn(r["number"], run_ours, lambda path=path: bench.peer.batched(path, PROMPT, n, CHATS))
            r["bench"] = bench.ours.rate(path, ("tg", n, PROMPT, CHATS), prompt=0, generate=n, depth=PROMPT, parallel=CHATS, repeat=2)
        alone = bench.ours.replay(path, last["alone"])
        same = sum(a["output_ids"] == b["output_ids"] for a, b in zip(alone, last["records"]))
        note = f"sequences per step {last['records'][0]['batch_mean']:.2f}; bench alone {bench.done(label)[-1]['bench']:.0f}"
        found = compare(bench, "5, 6", label, "four chats at once, total decode rate", name, "tokens/s", FLOORS[name], note=note)
        rows += [found, row(5, "four chats: answers as when alone", name, ours=same, figure=same, floor=CHATS, meaning=f"of {CHATS}")]
    return rows


if __name__ == "__main__":
    script(__doc__, measure)
