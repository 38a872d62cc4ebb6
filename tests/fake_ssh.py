"""Stands for ssh: runs the script of "host" NAME here, or what $FAKE_SSH/NAME.sh says instead; keeps its own words."""

import json
import os
import pathlib
import sys

folder = pathlib.Path(os.environ["FAKE_SSH"])
words = sys.argv[1:]
host, script = words[words.index("--") + 1:]
(folder / f"{host}.words").write_text(json.dumps(words))
instead = folder / f"{host}.sh"
os.environ["FAKE_HOST"] = host
os.execvp("sh", ["sh", str(instead)] if instead.exists() else ["sh", "-c", script])
