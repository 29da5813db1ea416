#!/usr/bin/env python3
"""Restoring a chat of 4 000 tokens from disk against computing it, and the size of its files against the raw bytes of its keys and values.

The time of restoring is what the record says, or what the turn after the restart took longer than the same turn would warm, whichever is more. The
files were just written, so they come from the page cache: this measures the program, not the disk.
"""
import pathlib
import tempfile

from measuring import ids, median, row, script, send

MODELS = ("smollm2", "gemma3")
LEAST_FASTER, MOST_BYTES = 30.0, 1.02
NEW = 8


def raw_bytes(bench, info, profile, tokens):
    """Keys and values that the cache holds: those of the tokens; with window layers, which keep pages for restart points too, what it lists."""
    if {layer["kind"] for layer in info["layers"]} == {"full"}:
        return tokens * info["kv_bytes_per_token"]
    (listed,) = bench.ours.lines(["cache", "list", "--profile", profile, "--json"])
    return sum(chat["bytes"] for chat in listed["chats"])


def file_bytes(profile):
    return sum(file.stat().st_size for file in pathlib.Path(profile, "cache").rglob("*") if file.is_file())


def measure(bench):
    rows = []
    length = 1000 if bench.quick else 4000
    for name, path in bench.models(*MODELS):
        label, info = f"restore {name}", bench.ours.info(path)
        for r in bench.rounds(label):
            prompt = ids(length + 2 * NEW, r["number"])
            with tempfile.TemporaryDirectory(prefix="tg-perf-") as profile:
                cold, warm = bench.ours.replay(path, [send("a", prompt[:length]), send("a", prompt[: length + NEW])], profile=profile)
                r["file bytes"], r["raw bytes"] = file_bytes(profile), raw_bytes(bench, info, profile, warm["kv"]["tokens"])
                (back,) = bench.ours.replay(path, [send("a", prompt)], profile=profile)
            r["from disk"] = back["cache"]["source"]["disk"]
            r["computing"] = cold["prefill_ms"] / 1000
            r["restoring"] = max(back["restore_ms"], back["ttft_ms"] - warm["ttft_ms"]) / 1000
            r["stored tokens"] = warm["kv"]["tokens"]
        done = bench.done(label)
        tokens, disk, raw = done[-1]["stored tokens"], done[-1]["from disk"], done[-1]["raw bytes"]
        rows.append(row(5, f"restoring {length} tokens from disk, times faster than computing", name, ours=median(r["restoring"] for r in done), unit="s",
                        figure=median(r["computing"] / r["restoring"] for r in done), floor=LEAST_FASTER, meaning="×",
                        note=f"computing {median(r['computing'] for r in done):.2f} s; {disk} tokens from disk"))  # fmt: skip
        rows.append(row(5, "files ÷ raw bytes of keys and values", name, ours=done[-1]["file bytes"] / 1e6, unit="MB", figure=done[-1]["file bytes"] / raw, floor=MOST_BYTES, at_most=True,
                        note=f"raw {raw / 1e6:.2f} MB of {tokens} tokens"))  # fmt: skip
    return rows


if __name__ == "__main__":
    script(__doc__, measure)
