#!/usr/bin/env python3
"""Prefill and decode rates against llama-bench: the table of issue 6.

Where decode has two floors, the first holds for rounds whose memory was in its slow state (33 GB/s), the second for the fast one (57). Decode of
the 1B files may instead use 85 % of its round's bandwidth in the slow state and 65 % in the fast one; the note says what was used.
"""
import contextlib

from measuring import FAST_MEMORY, ids, in_turn, median, row, script
from peer_server import peer_server

PROMPTS = (64, 512, 2048)
SHORT = 64  # a prompt that is read twice a round, and warmed up; longer ones steady themselves
REPEAT = 2
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


class Part:
    """Tests that both programs run close together in time: the bandwidth of a machine drifts within seconds. ours() and peers() give
    {test: tokens per second}; ours with bytes per token and the percent of the measured limit."""

    def __init__(self, bench, path, name):
        self.bench, self.path, self.name = bench, path, name

    def our_rates(self, **tests):
        found, _ = self.bench.ours.bench(self.path, **tests)
        return {f"pp{tokens}" if test == "pp" else f"tg@{depth}": (median(r["tokens_per_second"]), r["bytes_per_token"], r["percent_of_limit"])
                for (test, tokens, depth, _), r in found.items()}  # fmt: skip

    def peer_rates(self, **tests):
        return {f"pp{tokens}" if test == "pp" else "tg@0": rate for (test, tokens, _), rate in self.bench.peer.bench(self.path, **tests).items()}


class ShortPrompt(Part):
    def ours(self):
        return self.our_rates(prompt=SHORT, generate=0, repeat=REPEAT)

    def peers(self):
        return self.peer_rates(prompt=SHORT, repeat=REPEAT)


class Decode(Part):
    def ours(self):
        return self.our_rates(prompt=0, generate=WRITTEN, depth=0, repeat=REPEAT)

    def peers(self):
        return self.peer_rates(generate=WRITTEN, repeat=REPEAT)


class LongPrompts(Part):
    prompts = ",".join(str(n) for n in PROMPTS if n > SHORT)

    def ours(self):
        return self.our_rates(prompt=self.prompts, generate=0, repeat=1)

    def peers(self):  # the short prompt in front brings the model into memory
        found = self.peer_rates(prompt=f"{SHORT},{self.prompts}", warm_up=False)
        return {test: rate for test, rate in found.items() if test != f"pp{SHORT}"}


class DeepDecode(Part):
    def __init__(self, bench, path, name, servers):
        super().__init__(bench, path, name)
        self.servers = servers  # {depth: the server that holds that context}

    def ours(self):
        return self.our_rates(prompt=0, generate=WRITTEN, depth=",".join(map(str, self.servers)), repeat=REPEAT)

    def peers(self):
        return {f"tg@{depth}": server.decode_rate(ids(depth, 1), WRITTEN) for depth, server in self.servers.items()}


def judged(name, test, rounds, told):
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
    depth = int(test.partition("@")[2] or 0)
    if depth in told:
        note += f"; llama-bench, once: {told[depth]:.1f}"
    return {**found, "note": note}


def measure(bench):
    rows = []
    for name, path in bench.models(*FLOORS):
        deep = [] if bench.quick else [depth for depth in DEPTHS.get(name, (0, 4096)) if depth > 0]
        # Filling a context takes llama.cpp up to a minute: a server keeps each for all rounds. What llama-bench says at that depth is measured once.
        told = {depth: bench.peer.bench(path, generate=WRITTEN, depth=depth, warm_up=False)["tg", WRITTEN, depth] for depth in deep}
        with contextlib.ExitStack() as stack:
            servers = {depth: stack.enter_context(peer_server(bench, path, context=depth + 4 * WRITTEN)) for depth in deep}
            for depth, server in servers.items():
                server.complete(ids(depth, 1))
            parts = [ShortPrompt(bench, path, f"{name} pp{SHORT}"), Decode(bench, path, f"{name} tg@0")]
            if not bench.quick:
                parts += [LongPrompts(bench, path, f"{name} pp>{SHORT}"), DeepDecode(bench, path, f"{name} deep", servers)]
            for number in range(bench.args.rounds):
                for part in parts:
                    with bench.round(part.name, number) as r:
                        r["ours"], r["peer"] = in_turn(number, part.ours, part.peers)
        for part in parts:
            done = sorted(bench.done(part.name), key=lambda r: r["bandwidth_before"] + r["bandwidth_after"])
            rows += [judged(name, test, done, told) for test in FLOORS[name] if all(test in r["ours"] and test in r["peer"] for r in done)]
    return rows


if __name__ == "__main__":
    script(__doc__, measure)
