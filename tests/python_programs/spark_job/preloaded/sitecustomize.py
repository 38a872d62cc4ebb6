"""Import what pandas functions need before PySpark's daemon forks, so that not every worker takes seconds to do it."""

import sys

# The arguments of an interpreter started with -m contain only that so far.
if sys.argv[:1] == ["-m"]:
    import pandas  # noqa: F401
    import pyarrow  # noqa: F401
