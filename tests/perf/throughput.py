#!/usr/bin/env python3
"""Prefill and decode rates against llama-bench: the table of issue 6.

Where decode has two floors, the first holds for rounds whose memory was in its slow state (33 GB/s), the second for the fast one (57). Decode of
the 1B files may instead use 85 % of its round's bandwidth in the slow state and 65 % in the fast one; the note says what was used.
"""
from measuring import FAST_MEMORY, median, row, script

PROMPTS = (64, 512, 2048)
LONG = 1024  # tokens from which a run needs no warm-up: what the first step pays is lost in the rest
WRITTEN = 64
DEPTHS = {"smollm2": (0, 4096, 8000), "gemma3": (0, 4096, 8192)}
FLOORS = {
    "smollm2": {"pp64": 4.0, "pp512": 5.0, "pp2048": 4.2, "tg@0": 2.0, "tg@4096": 2.5, "tg@8000": 2.7},
    "gemma3": {"pp64": 2.4, "pp512": 2.5, "pp2048": 2.3, "tg@0": 1.4, "tg@4096": 1.5, "tg@8192": 1.6},
    "1b-q4_k_m": {"pp64": 1.7, "pp512": 1.7, "pp2048": 2.0, "tg@0": (1.03, 1.35), "tg@4096": 1.6},
    "1b-q8_0": {"pp64": 2.0, "pp512": 2.2, "pp2048": 2.1, "tg@0": (1.05, 1.3), "tg@4096": 1.4},
    "1b-q4_0": {"pp64": 1.7, "pp512": 1.8, "pp2048": 1.8, "tg@0": (1.03, 1.35), "tg@4096": 1.6},
    "1b-f16": {"pp64": 0.97, "pp512": 1.0, "pp2048": 1.0, "tg@0": 1.0, "tg@4096": 1.2},
}
OF_BANDWIDTH = {False: 0.85, True: 0.65}  # by "the memory is fast"
REPEAT = 2


def repeats(tokens):
    """Short runs twice a round; a long one steadies itself, and rounds are worth more than repetitions."""
    return 1 if tokens >= LONG else REPEAT


def ours(bench, path, prompts, depths):
    """{test: (tokens per second, bytes per token, percent of the limit)}"""
    found = {}
    for n in prompts:
        (result,) = bench.ours.bench(path, prompt=n, generate=0, repeat=repeats(n))[0].values()
        found[f"pp{n}"] = result
    for depth in depths:
        (result,) = bench.ours.bench(path, prompt=0, generate=WRITTEN, depth=depth, repeat=repeats(depth))[0].values()
        found[f"tg@{depth}"] = result
    return {test: (median(r["tokens_per_second"]), r["bytes_per_token"], r["percent_of_limit"]) for test, r in found.items()}


def peers(bench, path, prompts, depths):
    found = {}
    for tokens in ([n for n in prompts if n < LONG], [n for n in prompts if n >= LONG]):
        if tokens:
            rates = bench.peer.bench(path, prompt=",".join(map(str, tokens)), repeat=repeats(tokens[0]), warm_up=tokens[0] < LONG)
            found |= {f"pp{n}": rate for (_, n, _), rate in rates.items()}
    for depth in depths:
        (rate,) = bench.peer.bench(path, generate=WRITTEN, depth=depth, repeat=repeats(depth), warm_up=depth < LONG).values()
        found[f"tg@{depth}"] = rate
    return found


def judged(name, test, rounds):
    """The row of one test: by the median of the rounds' ratios; the floor of the memory's state in most rounds."""
    floor = FLOORS[name][test]
    fast = median(float(r["fast"]) for r in rounds) > 0.5
    ratios = [r["ours"][test][0] / r["peer"][test] for r in rounds]
    limit = median(r["ours"][test][2] for r in rounds)
    note = f"rounds {min(ratios):.2f}–{max(ratios):.2f}; {limit:.0f} % of the measured limit" if limit else f"rounds {min(ratios):.2f}–{max(ratios):.2f}"
    found = row(6, test, name, ours=median(r["ours"][test][0] for r in rounds), peer=median(r["peer"][test] for r in rounds), unit="tokens/s", figure=median(ratios),
                floor=floor[fast] if isinstance(floor, tuple) else floor)  # fmt: skip
    if test.startswith("tg") and name.startswith("1b"):
        used = median(r["ours"][test][0] * r["ours"][test][1] / ((r["bandwidth_before"] + r["bandwidth_after"]) / 2) for r in rounds)
        note += f"; {used * 100:.0f} % of the {'fast' if fast else 'slow'} bandwidth"
        found["kept"] = found["kept"] or used >= OF_BANDWIDTH[fast]
    if isinstance(floor, tuple):
        note += f"; floors {floor[0]} / {floor[1]} below / above {FAST_MEMORY / 1e9:.0f} GB/s"
    return {**found, "note": note}


def measure(bench):
    rows = []
    for name, path in bench.models(*FLOORS):
        prompts = PROMPTS[:1] if bench.quick else PROMPTS
        depths = (0,) if bench.quick else DEPTHS.get(name, (0, 4096))
        label = f"throughput {name}"
        for r in bench.rounds(label):
            if r["number"] % 2:
                r["peer"] = peers(bench, path, prompts, depths)
            r["ours"] = ours(bench, path, prompts, depths)
            if not r["number"] % 2:
                r["peer"] = peers(bench, path, prompts, depths)
        done = sorted(bench.done(label), key=lambda r: r["bandwidth_before"] + r["bandwidth_after"])
        rows += [judged(name, test, done) for test in FLOORS[name] if all(test in r["ours"] and test in r["peer"] for r in done)]
    return rows


if __name__ == "__main__":
    script(__doc__, measure)
