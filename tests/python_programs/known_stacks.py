"""Bring many threads to known locations, print their stacks as Python reports them, and wait there.

Prints one line of JSON: a list of stacks, each a list of [function, file, line], outermost first.
"""

import asyncio
import functools
import json
import sys
import threading

arrived = threading.Semaphore(0)
never = threading.Event()


def wait_here():
    arrived.release()
    never.wait()


def recursion(depth):
    if depth == 0:
        wait_here()
    else:
        recursion(depth - 1)


def generator():
    yield 1
    wait_here()
    yield 2


def run_generator():
    return list(generator())


def generator_in_generator():
    def inner():
        yield from generator()
    for _ in inner():
        pass


def comprehension():
    return [wait_here() for _ in range(1)]


def nested_comprehension():
    return {key: [wait_here() for _ in range(1)] for key in "a"}


def decorate(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        return function(*arguments)
    return wrapper


@decorate
@decorate
def decorated(value):
    wait_here()
    return value


class Thing:
    def __init__(self):
        self.value = self.method()

    def method(self):
        return self.attribute

    @property
    def attribute(self):
        return Thing.static()

    @staticmethod
    def static():
        wait_here()


class Metaclass(type):
    def __new__(cls, name, bases, space):
        wait_here()
        return super().__new__(cls, name, bases, space)


def make_class():
    class Made(metaclass=Metaclass):
        pass
    return Made


def c_calls_python():
    return sorted([2, 1], key=lambda value: functools.partial(decorated, value)())


def c_map():
    return list(map(lambda value: max([value], key=Thing.static and (lambda _: wait_here())), [1]))


def exception_handler():
    try:
        raise ValueError("known")
    except ValueError:
        try:
            raise KeyError("other")
        finally:
            wait_here()


def executed():
    source = "def made_by_exec():\n\n\n    wait_here()\n\nmade_by_exec()\n"
    exec(compile(source, "made.py", "exec"), {"wait_here": wait_here})


def multiline_expression():
    return (
        len("one")
        + len(
            str(
                wait_here()
            )
        )
    )


def large_offsets():
    body = "".join(f"    number += {i}\n" if i % 3 else "\n" for i in range(1000))
    space = {"wait_here": wait_here}
    exec(compile(f"def many_lines():\n    number = 0\n{body}{300 * chr(10)}    wait_here()\n", "many.py", "exec"), space)
    space["many_lines"]()


async def coroutine():
    await asyncio.sleep(0)
    async with Context():
        await inner_coroutine()


class Context:
    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        return None


async def inner_coroutine():
    async for _ in agenerator():
        pass


async def agenerator():
    yield 1
    wait_here()
    yield 2


def run_async():
    asyncio.run(coroutine())


def größe():
    (lambda: wait_here())()


def 名前():
    größe()


SCENARIOS = [lambda: recursion(10), lambda: recursion(500), run_generator, generator_in_generator, comprehension,
             nested_comprehension, lambda: decorated(1), Thing, make_class, c_calls_python, c_map, exception_handler,
             executed, multiline_expression, large_offsets, run_async, 名前]


def describe(frame):
    stack = []
    while frame is not None:
        code = frame.f_code
        stack.append([getattr(code, "co_qualname", code.co_name), code.co_filename, frame.f_lineno])
        frame = frame.f_back
    return stack[::-1]


def tell():
    stacks = [describe(frame) for ident, frame in sys._current_frames().items() if ident != threading.get_ident()]
    own = describe(sys._getframe(1))
    print(json.dumps(stacks + [own]), flush=True)
    return sys.stdin


def main():
    threading.stack_size(16 << 20)
    for scenario in SCENARIOS:
        threading.Thread(target=scenario, daemon=True).start()
    for _ in SCENARIOS:
        arrived.acquire()
    # All threads have set their flag, but may not sleep yet: wait until stacks no longer change.
    before, now = None, []
    while before != now:
        threading.Event().wait(0.2)
        before, now = now, [describe(frame) for frame in sys._current_frames().values()]
    tell().readline()


main()
