#!/usr/bin/env python3
"""Start: from the start of the process, with the file in the page cache.

llama-server: until it says that it is ready. Ours has no such moment on the command line, so the first token of a one-word prompt counts, which is later.
"""
import subprocess
import time

from measuring import Refused, compare, in_turn, running, script
from peer_server import peer_server

MODELS = ("smollm2", "gemma3", "1b-q4_k_m", "1b-q8_0", "1b-q4_0", "1b-f16")
FLOOR = 0.6


def ours(bench, path):
    command = [*bench.ours.command, "generate", path, "--prompt", "Hello", "--max-tokens", "1", "--threads", str(bench.args.threads), "--stream", "--ignore-eos", "--json", "--quiet"]
    start = time.monotonic()
    with running(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        if not process.stdout.readline():
            raise Refused("turnglass-cli generate wrote nothing.")
        seconds = time.monotonic() - start
        process.communicate()
    return seconds


def peers(bench, path):
    with peer_server(bench, path, context=4096) as server:
        return server.start_seconds


def warm(path):
    with open(path, "rb") as file:
        while file.read(1 << 24):
            pass


def measure(bench):
    rows = []
    for name, path in bench.models(*MODELS):
        label = f"start {name}"
        warm(path)
        for r in bench.rounds(label):
            r["ours"], r["peer"] = in_turn(r["number"], lambda: ours(bench, path), lambda: peers(bench, path))
        rows.append(compare(bench, 6, label, "start until the first token / until ready", name, "s", FLOOR, less_is_better=True))
    return rows


if __name__ == "__main__":
    script(__doc__, measure)
