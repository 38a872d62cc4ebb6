"""Call a recursive function to several depths, all the time: each stack starts with <module> and main."""

DEPTHS = (20, 3, 60, 1, 9)


def recurse(depth):
    if depth > 1:
        recurse(depth - 1)


def main():
    print("ready", flush=True)
    while True:
        for depth in DEPTHS:
            recurse(depth)


main()
