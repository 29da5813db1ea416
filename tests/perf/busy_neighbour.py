#!/usr/bin/env python3
"""Decode with all threads beside one busy process, against our own rate with one thread on a quiet machine; llama.cpp for information."""
import contextlib
import sys

from measuring import median, row, running, script

MODELS = ("smollm2", "1b-q4_k_m")
FLOOR, WRITTEN = 0.95, 64


@contextlib.contextmanager
def busy_process():
    """A plain loop at normal priority, in the same session (and so in the same scheduling group) as what is measured."""
    with running([sys.executable, "-c", "while True: pass"]) as process:
        yield process


def measure(bench):
    rows = []
    for name, path in bench.models(*MODELS):
        label = f"busy neighbour {name}"
        key = ("tg", WRITTEN, 0, 1)
        for r in bench.rounds(label):
            r["one thread"] = bench.ours.rate(path, key, threads=1, prompt=0, generate=WRITTEN, repeat=3)
            r["alone"] = bench.ours.rate(path, key, prompt=0, generate=WRITTEN, repeat=3)
            with busy_process():
                r["ours"] = bench.ours.rate(path, key, prompt=0, generate=WRITTEN, repeat=3)
                r["peer"] = bench.peer.bench(path, generate=WRITTEN, repeat=2)["tg", WRITTEN, 0] if bench.args.peer_bin else None
        done = bench.done(label)
        alone = median(r["alone"] for r in done)
        rows.append(row(6, "decode beside a busy process ÷ own one-thread rate", name, ours=median(r["ours"] for r in done), peer=median(r["peer"] for r in done), unit="tokens/s",
                        figure=median(r["ours"] / r["one thread"] for r in done), floor=FLOOR,
                        note=f"own: one thread {median(r['one thread'] for r in done):.1f}, {bench.args.threads} threads alone {alone:.1f}"))  # fmt: skip
    return rows


if __name__ == "__main__":
    script(__doc__, measure)
