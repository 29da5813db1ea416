#!/usr/bin/env python3
"""Decode at 4 096 tokens with a q8_0 cache against our own with f16; where a floor names it, against llama.cpp with q8_0 too.

As in throughput.py, decode of a 1B file may instead use its share of the round's bandwidth.
"""
import contextlib

from measuring import compare, ids, median, row, script
from peer_server import peer_server
from throughput import OF_BANDWIDTH

OWN_FLOORS = {"smollm2": 1.15, "gemma3": 1.0, "1b-q4_k_m": 1.0}
PEER_FLOORS = {"1b-q4_k_m": 3.0}
DEPTH, WRITTEN = 4096, 64


def measure(bench):
    rows = []
    depth = 1024 if bench.quick else DEPTH
    for name, path in bench.models(*OWN_FLOORS):
        label = f"q8_0 cache {name}"
        key = ("tg", WRITTEN, depth, 1)
        with contextlib.ExitStack() as stack:
            server = None
            if name in PEER_FLOORS:  # it keeps the context for all rounds, as in throughput.py
                server = stack.enter_context(peer_server(bench, path, context=depth + 4 * WRITTEN, kv_type="q8_0"))
                server.complete(ids(depth, 1))
            for r in bench.rounds(label):
                for kind in ("q8_0", "f16") if r["number"] % 2 else ("f16", "q8_0"):
                    found = bench.ours.bench(path, prompt=0, generate=WRITTEN, depth=depth, kv_type=kind, repeat=2)[0][key]
                    r[kind], r["bytes"] = median(found["tokens_per_second"]), found["bytes_per_token"] if kind == "q8_0" else r.get("bytes")
                r["ours"] = r["q8_0"]
                if server:
                    r["peer"] = server.decode_rate(ids(depth, 1), WRITTEN)
        done = bench.done(label)
        ratios = [r["q8_0"] / r["f16"] for r in done]
        rows.append(row(6, f"decode at {depth}, q8_0 cache ÷ own f16", name, ours=median(r["q8_0"] for r in done), unit="tokens/s", figure=median(ratios), floor=OWN_FLOORS[name],
                        note=f"f16 {median(r['f16'] for r in done):.1f}; rounds {min(ratios):.2f}–{max(ratios):.2f}"))  # fmt: skip
        if name in PEER_FLOORS:
            fast = median(float(r["fast"]) for r in done) > 0.5
            used = median(r["q8_0"] * r["bytes"] / ((r["bandwidth_before"] + r["bandwidth_after"]) / 2) for r in done)
            found = compare(bench, 6, label, f"decode at {depth}, q8_0 cache", name, "tokens/s", PEER_FLOORS[name],
                            note=f"{used * 100:.0f} % of the {'fast' if fast else 'slow'} bandwidth")  # fmt: skip
            rows.append({**found, "kept": found["kept"] or used >= OF_BANDWIDTH[fast]})
    return rows


if __name__ == "__main__":
    script(__doc__, measure)
