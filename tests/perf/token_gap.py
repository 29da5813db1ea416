#!/usr/bin/env python3
"""The longest gap between tokens of a chat that writes while another one reads a long prompt."""
from measuring import ids, median, row, script, send

MODELS = ("smollm2", "gemma3")
MOST = 250.0  # ms


def measure(bench):
    rows = []
    length, written = (1500, 60) if bench.quick else (6000, 400)
    for name, path in bench.models(*MODELS):
        label, prompt = f"token gap {name}", ids(64, 1)
        for r in bench.rounds(label):
            long_prompt = ids(length, 20 + r["number"], first=2)
            # A first long chat teaches the scheduler how long its chunks take, as in any session.
            _, _, writer, reader = bench.ours.replay(path, [send("c", ids(1500, 9, first=3)), send("a", prompt), {"parallel": [send("a", prompt, written), send("b", long_prompt)]}])
            r["ours"], r["p95"], r["p50"] = writer["itl_ms"]["max"], writer["itl_ms"]["p95"], writer["itl_ms"]["p50"]
            r["beside"] = min(1.0, (writer["total_ms"] - writer["ttft_ms"]) / reader["ttft_ms"])
        done = bench.done(label)
        rows.append(row(5, f"longest gap between tokens while another chat reads {length}", name, ours=median(r["ours"] for r in done), unit="ms", figure=max(r["ours"] for r in done), floor=MOST,
                        at_most=True, meaning="ms, worst round", note=f"p50 {median(r['p50'] for r in done):.0f}, p95 {median(r['p95'] for r in done):.0f} ms; "
                        f"wrote during {median(r['beside'] for r in done) * 100:.0f} % of the reading"))  # fmt: skip
    return rows


if __name__ == "__main__":
    script(__doc__, measure)
