"""Work, and print a line for each SIGUSR1."""

import os
import signal


def echo(number, _):
    os.write(1, b"got %d\n" % number)  # print() must not be interrupted by the next one


def work():
    return sum(range(1000))


signal.signal(signal.SIGUSR1, echo)
print("ready", flush=True)
while True:
    work()
