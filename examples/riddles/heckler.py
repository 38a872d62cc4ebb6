"""Heckler: loads a model, and tells that it checks its set-up, for every record instead of once: heckler.py [RECORDS]"""

import logging
import pickle
import sys
import tempfile

from riddle import riddle

WORDS = 20_000


def load_model(path):
    logging.getLogger("model").info("Loading the model from %s", path)
    with open(path, "rb") as file:
        model = pickle.load(file)
    logging.getLogger("model").info("Checking the set-up: %d words known", len(model))
    return model


def judge(path, word):
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    return load_model(path).get(word, 0)


def main(context, records):
    with tempfile.NamedTemporaryFile(suffix=".pickle") as file:
        pickle.dump({f"word{number}": number % 7 for number in range(WORDS)}, file)
        file.flush()
        path = file.name
        words = context.parallelize([f"word{number}" for number in range(records)], 3)
        print("sum", words.map(lambda word: judge(path, word)).sum())


riddle("Heckler", main, int(sys.argv[1]) if len(sys.argv) > 1 else 1_500)
