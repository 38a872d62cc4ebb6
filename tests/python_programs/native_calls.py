"""Call C functions, and Python functions from them: native_calls.py FOLDER-OF-MODULE."""

import sys

sys.path.insert(0, sys.argv[1])

import native_module  # noqa: E402  (found by the line above)


def works_in_c():
    native_module.work(1)


def called_by_c():
    works_in_c()


def goes_through_c():
    native_module.call(called_by_c)


def called_by_sort(value):
    works_in_c()
    return value


def sorts():
    sorted([1], key=called_by_sort)


def main():
    print("ready", flush=True)
    while True:
        works_in_c()
        goes_through_c()
        sorts()


main()
