"""The job of parquet_size.py: that of `make demo`, as many times as its argument says."""

import pathlib
import sys

from pyspark.sql import SparkSession

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples"
sys.path.insert(0, str(EXAMPLES))
import demo_job  # noqa: E402

spark = SparkSession.builder.appName("size of tables").getOrCreate()
spark.sparkContext.addPyFile(str(EXAMPLES / "demo_job.py"))  # its Python functions
for _ in range(int(sys.argv[1])):
    demo_job.skewed_join(spark)
    demo_job.python_function(spark)
    demo_job.pandas_function(spark)
spark.stop()
