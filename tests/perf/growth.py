#!/usr/bin/env python3
"""Growth of the time to the first token from 500 to 8 000 tokens, against linear-plus-attention arithmetic.

bench tells the operations that the engine counts: linear ones in proportion to the tokens, attention in proportion to the pairs of query and visible key. Two prompt
lengths give both shares. The arithmetic takes linear operations at the machine's measured int8 peak (f32 where the weights are floats) and attention
at its f32 peak; the figure is measured growth divided by this one's.
"""
from measuring import ids, median, row, script, send

MODELS = ("smollm2", "gemma3")
FLOOR = 1.25
SHORT, LONG, BETWEEN = 500, 8000, 2000
FLOATS = {"F16", "BF16", "F32"}


def pairs(layers, n):
    """Pairs of query and visible key of a prompt of N tokens, over all layers with attention."""
    total = 0
    for layer in layers:
        window = layer["window"] if layer["kind"] == "window" else n
        full = min(n, window)
        total += full * (full + 1) // 2 + (n - full) * window if layer["kind"] in ("window", "full") else 0
    return total


def seconds_by_arithmetic(layers, ops, limits, floats, n):
    """Time at the limits for N tokens, from the operations counted for SHORT and LONG."""
    short, long, p, q = ops[SHORT], ops[LONG], pairs(layers, SHORT), pairs(layers, LONG)
    attention = (long * SHORT - short * LONG) / (q * SHORT - p * LONG)  # operations per pair
    linear = (short - attention * p) / SHORT                            # operations per token
    peak = limits["f32_gop_per_s" if floats else "int8_gop_per_s"]
    return (linear * n / peak + attention * pairs(layers, n) / limits["f32_gop_per_s"]) / 1e9


def counted(bench, path, n):
    """Operations of a prompt of N tokens."""
    (result,) = bench.ours.bench(path, prompt=n, generate=0, repeat=1)[0].values()
    return result["ops_per_token"] * n


def measure(bench):
    rows = []
    for name, path in bench.models(*MODELS):
        label, info = f"growth {name}", bench.ours.info(path)
        ops = {n: counted(bench, path, n) for n in (SHORT, LONG)}
        floats = set(info["formats"]) <= FLOATS
        for r in bench.rounds(label):
            r["limits"] = bench.ours.bench(path, prompt=16, generate=0, repeat=1)[1]
            # Each length three times where it is cheap: the first prompts of a process also teach the scheduler its chunk size.
            records = bench.ours.replay(path, [send(f"{n} {i}", ids(n, 10 * i + r["number"])) for n, times in ((BETWEEN, 1), (SHORT, 3), (LONG, 1)) for i in range(times)])
            for n in (SHORT, BETWEEN, LONG):
                mine = [x for x in records if x["input_total"] == n]
                r[f"ttft {n}"] = median(x["ttft_ms"] / 1000 for x in mine)
        done = bench.done(label)
        limits = {key: median(r["limits"][key] for r in done) for key in done[0]["limits"]}
        expected = {n: seconds_by_arithmetic(info["layers"], ops, limits, floats, n) for n in (SHORT, BETWEEN, LONG)}
        growth = median(r[f"ttft {LONG}"] / r[f"ttft {SHORT}"] for r in done)
        rows.append(row(6, f"growth of TTFT from {SHORT} to {LONG} tokens ÷ arithmetic", name, ours=growth, unit="×", figure=growth / (expected[LONG] / expected[SHORT]), floor=FLOOR,
                        at_most=True, note=f"arithmetic × {expected[LONG] / expected[SHORT]:.1f}; at the limits {expected[SHORT]:.2f} / {expected[BETWEEN]:.2f} / {expected[LONG]:.2f} s, measured "
                        + " / ".join(f"{median(r[f'ttft {n}'] for r in done):.2f}" for n in (SHORT, BETWEEN, LONG))))  # fmt: skip
    return rows


if __name__ == "__main__":
    script(__doc__, measure)
