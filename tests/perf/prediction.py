#!/usr/bin/env python3
"""How well the time to the first token was predicted over a mixed replay: long and short chats, warm turns, forks of prompts, evictions, a restart."""
from measuring import ids, median, row, script, send

MODELS = ("smollm2", "gemma3")
MOST = 0.15


def scenario(scale, seed):
    """Chats of several lengths that go on, are evicted, and come back from disk."""
    length = {"a": 1500, "b": 300, "c": 2500, "d": 800, "e": 120}
    text = {chat: ids(int(n * scale) + 2000, seed * 10 + i, first=3 + i) for i, (chat, n) in enumerate(length.items())}
    at = {chat: int(n * scale) for chat, n in length.items()}

    def turn(chat, more=0):
        at[chat] += more
        return send(chat, text[chat][: at[chat]], 4)

    return [turn("a"), turn("b"), turn("c"), turn("a", 40), turn("d"), turn("b", 200), turn("c", 15), turn("e"), {"evict": {"chat": "d"}}, turn("d", 60), turn("a", 300), turn("e", 30),
            {"restart": True}, turn("a", 25), turn("c", 120), turn("b", 500), {"evict": {"chat": "a"}}, turn("a", 10), turn("e", 250), turn("d", 33), turn("c", 8), turn("b", 64)]  # fmt: skip


def measure(bench):
    rows = []
    for name, path in bench.models(*MODELS):
        label, errors, silent = f"prediction {name}", [], 0
        for r in bench.rounds(label, 3):
            records = bench.ours.replay(path, scenario(0.3 if bench.quick else 1, r["number"]))
            told = [(x["predicted_ttft_ms"], x["ttft_ms"]) for x in records if x["predicted_ttft_ms"]]
            silent += len(records) - len(told)
            r["errors"] = [predicted / found - 1 for predicted, found in told]
            r["ours"] = median(abs(e) for e in r["errors"])
            errors += r["errors"]
        signed = sorted(errors)
        note = f"{len(errors)} turns, {silent} without a prediction; errors from {signed[0]:+.0%} to {signed[-1]:+.0%}, median {median(signed):+.0%}" if errors else "nothing was predicted"
        figure = median(abs(e) for e in errors)
        rows.append(row(5, "error of the predicted TTFT, median over a mixed replay", name, ours=None if figure is None else 100 * figure, unit="%", figure=figure, floor=MOST, at_most=True,
                        meaning="of the TTFT", note=note))  # fmt: skip
    return rows


if __name__ == "__main__":
    script(__doc__, measure)
