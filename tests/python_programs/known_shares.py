"""Spend 7 of 10 parts of the processor's time in one function and 3 in another."""

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
