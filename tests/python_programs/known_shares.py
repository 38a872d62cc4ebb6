"""Spend 70 percent of the CPU time in one function and 30 percent in another."""

import time


def spin(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def seven_tenths():
    spin(0.007)


def three_tenths():
    spin(0.003)


def main():
    print("ready", flush=True)
    while True:
        seven_tenths()
        three_tenths()


main()
