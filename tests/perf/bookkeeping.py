#!/usr/bin/env python3
"""What the cache itself costs: its share of a decode step at 8 000 tokens, and matching a prompt of 100 000 tokens against 1 000 chats.

Runs the test program tst_cache_speed (built with the tests) and holds its times against a decode step measured by bench.
"""
import os
import re
import shutil
import subprocess

from measuring import Refused, median, row, script

LAYOUTS = {"smollm2": "full", "gemma3": "window", "recurrent": "recurrent"}
DEPTH, WRITTEN = 8000, 32
MOST_OF_STEP, MOST_MATCHING = 0.01, 1.0  # share; ms


def more_options(parser):
    parser.add_argument("--tests", metavar="DIR", help="folder of the test programs (default: beside the folder of our command)")


def test_program(bench):
    command = shutil.which(bench.ours.command[-1]) or bench.ours.command[-1]
    folder = getattr(bench.args, "tests", None) or os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(command))), "tests")
    path = os.path.join(folder, "tst_cache_speed")
    if not os.access(path, os.X_OK):
        raise Refused(f"There is no tst_cache_speed in {folder}: build it, or name its folder with --tests.")
    return path


def cache_times(program):
    """{"matching": ms, "bookkeeping LAYOUT": us}"""
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    found = {name: float(value) for name, value in re.findall(r"(matching|bookkeeping \w+): ([\d.]+) (?:ms|us)", done.stdout + done.stderr)}
    if "matching" not in found:
        raise Refused(f"tst_cache_speed printed no times: {done.stdout.strip()[-200:]}")
    return found


def measure(bench):
    rows, program = [], test_program(bench)
    depth = 1000 if bench.quick else DEPTH
    for name, path in bench.models(*LAYOUTS):
        label = f"bookkeeping {name}"
        for r in bench.rounds(label, 5):
            times = cache_times(program)
            r["matching"], r["ours"] = times["matching"], times[f"bookkeeping {LAYOUTS[name]}"]
            r["step"] = 1e6 / bench.ours.rate(path, ("tg", WRITTEN, depth, 1), prompt=0, generate=WRITTEN, depth=depth, repeat=2)
        done = bench.done(label)
        rows.append(row(5, f"page bookkeeping ÷ decode step at {depth} tokens", name, ours=median(r["ours"] for r in done), unit="µs", figure=median(r["ours"] / r["step"] for r in done),
                        floor=MOST_OF_STEP, at_most=True, note=f"step {median(r['step'] for r in done) / 1e3:.2f} ms"))  # fmt: skip
    matching = median(r["matching"] for r in bench.log if "matching" in r)
    if rows:
        rows.append(row(5, "matching 100 000 tokens against 1 000 chats", "–", ours=matching, unit="ms", figure=matching, floor=MOST_MATCHING, at_most=True, meaning="ms"))
    return rows


if __name__ == "__main__":
    script(__doc__, measure, more_options)
