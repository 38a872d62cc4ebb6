"""Looks at the running function from a thread beside it, in the worker."""

import os
import resource
import sys
import threading
import time

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
PACKAGE = os.path.dirname(__file__)
MOST_STACKS = 100_000
OTHER_STACKS = ("[other stacks]:[other stacks]:0",)


def stack_of(frame):
    """("file:function:line", …), innermost first, without this package's own."""
    frames = []
    while frame is not None:
        code = frame.f_code
        if os.path.dirname(code.co_filename) != PACKAGE:
            frames.append(f"{code.co_filename}:{code.co_name}:{frame.f_lineno or 0}")
        frame = frame.f_back
    return tuple(frames)


class Memory:
    """One record at a time of this process; use of the processor is that since the record before."""

    def __init__(self):
        self.pid = os.getpid()
        self.wall_seconds = time.monotonic()
        self.cpu_seconds = time.process_time()

    def record(self):
        wall_seconds, cpu_seconds = time.monotonic(), time.process_time()
        passed = wall_seconds - self.wall_seconds
        percent = 100 * (cpu_seconds - self.cpu_seconds) / passed if passed > 0 else 0.0
        self.wall_seconds, self.cpu_seconds = wall_seconds, cpu_seconds
        with open("/proc/self/statm", encoding="ascii") as file:
            virtual_pages, resident_pages = map(int, file.read().split()[:2])
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return {"pid": self.pid, "epochMillis": int(time.time() * 1000), "pmem_rss": resident_pages * PAGE_BYTES,
                "pmem_vms": virtual_pages * PAGE_BYTES, "pmem_pfaults": usage.ru_minflt + usage.ru_majflt,
                "cpu_percent": round(percent, 1)}


class Watch:
    """`stacks` ({stack: count}) and `memory` (records) hold what was seen once run() has come back."""

    def __init__(self, interval_seconds, takes_stacks, takes_memory):
        self.interval_seconds = interval_seconds
        self.takes_stacks = takes_stacks
        self.source = Memory() if takes_memory else None
        self.stacks = {}
        self.memory = []
        self.is_over = threading.Event()

    def run(self, func, *args, **kwargs):
        watcher = threading.Thread(target=self._look_until_over, args=(threading.get_ident(),), daemon=True,
                                   name="pyspark_profilers")
        watcher.start()
        try:
            return func(*args, **kwargs)
        finally:
            self.is_over.set()
            watcher.join()
            self._look_at_memory()

    def _look_until_over(self, thread):
        next_seconds = time.monotonic() + self.interval_seconds
        while not self.is_over.wait(max(0.0, next_seconds - time.monotonic())):
            if self.takes_stacks:
                self._look_at_stack(thread)
            self._look_at_memory()
            # A look that came late does not bring the next one closer.
            next_seconds = max(next_seconds + self.interval_seconds, time.monotonic())

    def _look_at_stack(self, thread):
        frame = sys._current_frames().get(thread)
        if frame is not None:
            stack = stack_of(frame)
            if len(self.stacks) >= MOST_STACKS and stack not in self.stacks:
                stack = OTHER_STACKS
            self.stacks[stack] = self.stacks.get(stack, 0) + 1

    def _look_at_memory(self):
        if self.source is not None:
            self.memory.append(self.source.record())
