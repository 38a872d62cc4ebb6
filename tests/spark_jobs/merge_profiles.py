"""Merges by the plugin's job, several in one session: merge_profiles.py FILE, which has a JSON list of arguments of each. Prints their exit statuses."""

import json
import pathlib
import sys

from pyspark import SparkContext

context = SparkContext.getOrCreate()
statuses = []
for arguments in json.loads(pathlib.Path(sys.argv[1]).read_text()):
    words = context._jvm.java.util.ArrayList()
    for word in arguments:
        words.add(word)
    print("MERGE", *arguments, file=sys.stderr, flush=True)
    statuses.append(context._jvm.org.sparkflame.MergeProfiles.merge(context._jsc, words))
print("FOUND " + json.dumps(statuses))
