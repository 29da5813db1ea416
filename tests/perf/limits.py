#!/usr/bin/env python3
"""bench prints bytes, operations and the share of the limits it measured in the same run; and how much of them prefill and decode use."""
from measuring import median, row, script

MODELS = ("smollm2", "gemma3", "1b-q4_k_m", "1b-q8_0", "1b-q4_0", "1b-f16")
KEYS = ("bytes_per_token", "gb_per_s", "ops_per_token", "gop_per_s", "percent_of_limit")
LIMITS = ("read_gb_per_s", "int8_gop_per_s", "f32_gop_per_s")


def measure(bench):
    rows = []
    for name, path in bench.models(*MODELS):
        label = f"limits {name}"
        for r in bench.rounds(label):
            results, r["limits"] = bench.ours.bench(path, prompt=64 if bench.quick else 512, generate=32, repeat=2)
            r["results"] = list(results.values())
        done = bench.done(label)
        printed = [bool(result[key]) for r in done for result in r["results"] for key in KEYS] + [bool(r["limits"][key]) for r in done for key in LIMITS]
        shares = {test: median(x["percent_of_limit"] for r in done for x in r["results"] if x["test"] == test) for test in ("pp", "tg")}
        found = ", ".join(f"{key} {median(r['limits'][key] for r in done):.0f}" for key in LIMITS)
        rows.append(row(6, "bench prints limits and shares", name, figure=sum(printed) / len(printed), floor=1.0, meaning="of the keys",
                        note=f"{found}; prefill {shares['pp'] or 0:.0f} %, decode {shares['tg'] or 0:.0f} % of the limit"))  # fmt: skip
    return rows


if __name__ == "__main__":
    script(__doc__, measure)
