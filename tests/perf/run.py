#!/usr/bin/env python3
"""All figures of issues 5 and 6 in one run: every script of this folder, then the table, also as Markdown.

A script that cannot run here is named with its reason and the others go on. --quick shows in some minutes that everything works and proves nothing.
"""
import importlib
import pathlib
import sys
import time

from measuring import Bench, Refused, finish, options, print_markdown, say
from bookkeeping import more_options as where_tests_are

SCRIPTS = {
    "throughput": "prefill and decode against llama-bench",
    "long_prompt": "TTFT of 8 000 tokens",
    "second_turn": "turn 2 of a 2 000-token chat",
    "four_chats": "four chats at once",
    "kv_quantised": "q8_0 cache",
    "busy_neighbour": "beside a busy process",
    "stop": "stop within a prefill",
    "start": "start",
    "memory": "resident memory",
    "growth": "growth of the TTFT",
    "idle": "idle processor",
    "limits": "limits that bench prints",
    "restore": "restore from disk, size of the files",
    "reopened": "first turn after a restart",
    "token_gap": "gap between tokens beside a long prompt",
    "bookkeeping": "cost of the cache itself",
    "prediction": "predicted TTFT",
}


def more_options(parser):
    where_tests_are(parser)
    parser.add_argument("--only", default="", metavar="NAME,...", help="of " + ", ".join(SCRIPTS))
    parser.add_argument("--leave-out", default="", metavar="NAME,...")
    parser.add_argument("--markdown", metavar="FILE", help="write the Markdown table here too")


def chosen(args):
    named = {key: set(filter(None, getattr(args, key).split(","))) for key in ("only", "leave_out")}
    unknown = (named["only"] | named["leave_out"]) - set(SCRIPTS)
    if unknown:
        say(f"There is no script named {', '.join(sorted(unknown))}.")
        sys.exit(2)
    return [name for name in SCRIPTS if (not named["only"] or name in named["only"]) and name not in named["leave_out"]]


def main():
    args = options(__doc__.partition("\n")[0], more_options)
    bench, rows, refusals = Bench(args), [], []
    for name in chosen(args):
        say(f"--- {name}: {SCRIPTS[name]} ({time.strftime('%H:%M:%S')})")
        try:
            rows += importlib.import_module(name).measure(bench)
        except Refused as refusal:
            refusals.append(f"{name}: {refusal}")
            say(refusals[-1])
        except KeyboardInterrupt:
            refusals.append(f"{name}: interrupted")
            break
    rows.sort(key=lambda r: str(r["issue"])[0])
    print_markdown(rows)
    if args.markdown:
        with pathlib.Path(args.markdown).open("w", encoding="utf-8") as file:
            print_markdown(rows, file)
    print()
    status = finish(bench, rows)
    for refusal in refusals:
        print("Not measured: " + refusal)
    return 2 if refusals else status


if __name__ == "__main__":
    sys.exit(main())
