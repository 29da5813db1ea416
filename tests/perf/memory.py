#!/usr/bin/env python3
"""Resident memory: with a context of 4 096 tokens filled, against llama-server; and after loading, against the size of the file.

Resident counts mapped pages of the file that are in memory; the note gives both programs' own and file pages. What a loaded model takes is read
from turnglass-engine, which is the engine and nothing else: the most it held until the end of a first short answer. The same answer of
turnglass-cli, which also holds the libraries and data of the desktop program whatever the model's size, stands in a row for information.
"""
import os

from measuring import ids, in_turn, median, process_memory, row, script, send
from peer_server import peer_server

MODELS = ("smollm2", "gemma3", "1b-q4_k_m", "1b-q8_0", "1b-q4_0", "1b-f16")
CONTEXT, WRITTEN = 4096, 16
SETTLED = 64  # tokens of an answer by whose end the weights stand where they stay
MOST_OF_PEER, MOST_OF_FILE = 1.05, 1.15
MIB = 1 << 20


def ours(bench, path, length):
    """Memory after a first short answer and after LENGTH tokens."""
    seen = []

    def look(process, line):
        if "input_total" in line:
            seen.append(process_memory(process.pid))

    # A third turn keeps the process there while the second one's memory is read.
    bench.ours.replay(path, [send("short", ids(8, 1), SETTLED), send("long", ids(length, 2), WRITTEN), send("short", ids(9, 3), 64)], context=CONTEXT, on_line=look)
    return seen[0], seen[1]


def peers(bench, path, length):
    with peer_server(bench, path, context=CONTEXT) as server:
        server.complete(ids(length, 2), WRITTEN)
        return server.memory()


def pages(m):
    return f"{m['own'] / MIB:.0f} own + {m['file'] / MIB:.0f} file, most {m['most'] / MIB:.0f}"


def measure(bench):
    rows = []
    length = 512 if bench.quick else CONTEXT - 2 * WRITTEN
    for name, path in bench.models(*MODELS):
        label, size = f"memory {name}", os.path.getsize(path)
        for r in bench.rounds(label, 3):
            r["engine"] = bench.ours.engine_peak(path, SETTLED, CONTEXT)
            (r["loaded"], r["full"]), r["server"] = in_turn(r["number"], lambda: ours(bench, path, length), lambda: peers(bench, path, length))
        done = bench.done(label)
        mine, theirs, loaded = (median(r[key]["resident"] for r in done) for key in ("full", "server", "loaded"))
        rows.append(row(6, f"resident at {CONTEXT} context, {length} filled", name, ours=mine / MIB, peer=theirs / MIB, unit="MiB", figure=mine / theirs, floor=MOST_OF_PEER, at_most=True,
                        note=f"ours {pages(done[-1]['full'])}; llama.cpp {pages(done[-1]['server'])}"))  # fmt: skip
        engine = median(r["engine"] for r in done)
        rows.append(row(6, "engine, most until the first answer ÷ file", name, ours=engine / MIB, unit="MiB", figure=engine / size, floor=MOST_OF_FILE, at_most=True,
                        note=f"file {size / MIB:.0f} MiB"))  # fmt: skip
        rows.append(row(6, "turnglass-cli after the first answer ÷ file", name, ours=loaded / MIB, unit="MiB", figure=loaded / size, note=pages(done[-1]["loaded"])))
    return rows


if __name__ == "__main__":
    script(__doc__, measure)
