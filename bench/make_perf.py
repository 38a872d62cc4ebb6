#!/usr/bin/env python3
"""Make text of `perf script` like that of a busy JVM: make_perf.py FILE [--megabytes N] [--jitter].

With --jitter the innermost address differs from sample to sample, as it does on a real machine.
The same arguments give the same file.
"""

import argparse
import random

from make_folded import make_names

MODULES = ["/tmp/perf-4711.map", "/usr/lib/jvm/java-17/lib/server/libjvm.so", "/usr/lib/x86_64-linux-gnu/libc.so.6",
           "[kernel.kallsyms]"]
COMMANDS = ["java", "Executor task l", "G1 Conc#0", "C2 CompilerThre", "dispatcher-even"]
STACKS = 3000


class Maker:
    def __init__(self):
        self.generator = random.Random("perf")
        self.names = make_names(self.generator, 6000)
        self.addresses = {}

    def frame(self, name):
        """(address, name, module): a call site has one address."""
        if name not in self.addresses:
            module = self.generator.choices(MODULES, weights=[70, 15, 8, 7])[0]
            shown = name
            if module == MODULES[0]:
                owner, _, method = name.rpartition(".")
                shown = f"L{owner};::{method}"
            self.addresses[name] = (self.generator.randint(0x7F0000000000, 0x7FFFFFFFFFFF), shown, module)
        return self.addresses[name]

    def stack(self):
        depth = self.generator.randint(8, 60)
        return [self.frame(name) for name in self.generator.choices(self.names, k=depth)]

    def body(self, stack):
        return "".join(f"\t{address:16x} {name}+0x{address & 0xfff:x} ({module})\n" for address, name, module in stack)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--jitter", action="store_true")
    arguments = parser.parse_args()
    maker = Maker()
    generator = maker.generator
    stacks = [maker.stack() for _ in range(STACKS)]
    bodies = [(number, maker.body(stack[:1]), maker.body(stack[1:]), stack[0]) for number, stack in enumerate(stacks)]
    written, sample = 0, 0
    with open(arguments.file, "w", encoding="ascii") as file:
        while written < arguments.megabytes * 1000000:
            number, leaf, rest, (address, name, module) = generator.choice(bodies)
            if arguments.jitter:
                offset = generator.randint(0, 0x7FF)
                leaf = f"\t{address + offset:16x} {name}+0x{offset:x} ({module})\n"
            thread = 4712 + number % 48
            time = f"{1000 + sample // 9900}.{sample % 9900 * 101:06}"
            head = f"{COMMANDS[thread % 5]:<15} 4711/{thread} [{thread % 8:03}] {time}:   10101010 cpu-clock: \n"
            text = f"{head}{leaf}{rest}\n"
            file.write(text)
            written += len(text)
            sample += 1


if __name__ == "__main__":
    main()
