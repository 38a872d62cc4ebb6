#!/usr/bin/env python3
"""Run the tests, step by step; end with why tests failed and one line `N passed, N failed`."""

import argparse
import os
import sys
import time
import traceback

from test_results import ROOT, Results
from test_steps import STEPS


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="STEP", action="append", help="run this step (may be repeated)")
    parser.add_argument("--list", action="store_true", help="name the steps and end")
    chosen = parser.parse_args()
    unknown = set(chosen.only or []) - {name for name, _, _ in STEPS}
    if unknown:
        parser.error(f"no such step: {', '.join(sorted(unknown))}")
    return chosen


def run_step(name, step, results):
    began, processor = time.monotonic(), os.times()
    before = results.passed + len(results.failures)
    print(f"== {name}", flush=True)
    try:
        step(results)
    except Exception:
        results.add(f"step {name}", False, traceback.format_exc())
    used = os.times()
    seconds = used.children_user + used.children_system - processor.children_user - processor.children_system
    print(f"== {name}: {results.passed + len(results.failures) - before} tests, "
          f"{time.monotonic() - began:.0f} s ({seconds:.0f} s of processors)", flush=True)


def main():
    chosen = arguments()
    if chosen.list:
        print("\n".join(name for name, _, _ in STEPS))
        return 0
    os.chdir(ROOT)
    results = Results()
    for name, step, ready in STEPS:
        if chosen.only and name not in chosen.only:
            continue
        if ready():
            run_step(name, step, results)
        else:
            print(f"== {name}: nothing there yet", flush=True)
    print("\n" + results.closing(), flush=True)
    return 1 if results.failures or results.passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
