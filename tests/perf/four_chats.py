#!/usr/bin/env python3
"""Four chats at once: total decode rate against llama-batched-bench, and that each answer is the one it gives alone.

Both write after a common prompt of 512 tokens. Ours are four chats of a replay, which brings scheduler, sampling and database. The chat that begins
last writes fewer tokens than the others, so its whole answer is written in steps of four: four times its rate is the total.
"""
from measuring import compare, ids, in_turn, row, script, send

FLOORS = {"smollm2": 4.0, "gemma3": 2.7, "1b-q4_k_m": 2.2}
CHATS, PROMPT = 4, 512
LONGER = 3  # times as many tokens as the last chat, so that the others are there from its first token to its last


def steps(n):
    """All chats read their prompts first, so that four decode together; then side by side. And the same sends, one after the other."""
    prompts = {f"chat {i}": ids(PROMPT, 1) + ids(1, 10 + i, first=2000 + i) for i in range(CHATS)}
    sends = [send(chat, prompt, n if i == CHATS - 1 else LONGER * n) for i, (chat, prompt) in enumerate(prompts.items())]
    return [send(chat, prompt, 1) for chat, prompt in prompts.items()] + [{"parallel": sends}], sends


def ours(bench, path, n):
    together, alone = steps(n)
    records = bench.ours.replay(path, together)[-CHATS:]
    last = records[-1]
    return CHATS * (last["output"] - 1) * 1000 / last["decode_ms"], records, alone


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
        note = f"sequences per step {last['records'][-1]['batch_mean']:.2f}; bench alone {bench.done(label)[-1]['bench']:.0f}"
        found = compare(bench, "5, 6", label, "four chats at once, total decode rate", name, "tokens/s", FLOORS[name], note=note)
        rows += [found, row(5, "four chats: answers as when alone", name, ours=same, figure=same, floor=CHATS, meaning=f"of {CHATS}")]
    return rows


if __name__ == "__main__":
    script(__doc__, measure)
