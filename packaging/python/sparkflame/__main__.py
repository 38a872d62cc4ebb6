"""`python3 -m sparkflame` is the command `sparkflame`."""

import os
import sys

from sparkflame import command

if __name__ == "__main__":
    os.execv(command(), ["sparkflame", *sys.argv[1:]])
