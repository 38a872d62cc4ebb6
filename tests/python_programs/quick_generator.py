"""Run a generator that yields all the time: no stack starts with it."""


def generate():
    number = 0
    while True:
        number += 1
        yield number


def consume():
    for number in generate():
        if number % 1000 == 0:
            sum(value for value in range(300))


def main():
    print("ready", flush=True)
    consume()


main()
