"""Where the files of sparkflame are, and the Spark plugin for a session of one's own.

    import sparkflame
    from pyspark.sql import SparkSession

    spark = sparkflame.configure(SparkSession.builder, {"outputDir": "hdfs:///profiles"}).getOrCreate()

The command of the same name is beside Python's own: `sparkflame --help`."""

import os
import sysconfig
import warnings

__version__ = "unpackaged"
__all__ = ["agent_library", "command", "configure", "plugin_jar", "pyspark_profilers_zip"]

PLUGIN_CLASS = "org.sparkflame.SparkflamePlugin"
PREFIX = "spark.sparkflame."
_HERE = os.path.dirname(os.path.abspath(__file__))


def _existing(*paths):
    for path in paths:
        if os.path.exists(path):
            return path
    raise FileNotFoundError("sparkflame is not completely installed: there is no " + ", nor ".join(paths))


def plugin_jar():
    """The Spark plugin, for `--jars`."""
    return _existing(os.path.join(_HERE, "sparkflame-plugin.jar"))


def pyspark_profilers_zip():
    """The PySpark profilers, for `--py-files`."""
    return _existing(os.path.join(_HERE, "pyspark_profilers.zip"))


def _installed(folder, *names):
    """A file below the prefix that this package was installed to: the interpreter's, the user's, or pip's --target."""
    user = sysconfig.get_path("scripts", f"{os.name}_user")
    prefixes = [os.path.dirname(path) for path in (sysconfig.get_path("scripts"), user)] + [os.path.dirname(_HERE)]
    return _existing(*(os.path.join(prefix, folder, *names) for prefix in prefixes))


def command():
    """The command `sparkflame`."""
    return _installed("bin", "sparkflame")


def agent_library():
    """The agent for JVMs without Spark: -agentpath:FILE=start,event=cpu,file=out.jfr"""
    return _installed("lib", "sparkflame", "libsparkflame.so")


def _add(builder, key, value):
    """Add to a list of the builder, which keeps what is in it."""
    present = str(getattr(builder, "_options", {}).get(key, ""))
    parts = [part for part in present.split(",") if part]
    return builder if value in parts else builder.config(key, ",".join([*parts, value]))


def _reason_against():
    """Why a plugin cannot be loaded any more by this process; None if it can."""
    try:
        from pyspark import SparkContext
    except ImportError:
        return "PySpark is not installed"
    if SparkContext._active_spark_context is not None:
        return "a SparkContext is running already, and plugins are loaded when it starts"
    gateway = SparkContext._gateway
    if gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ:
        return f"the JVM was started before (by spark-submit?): use --jars {plugin_jar()} --conf spark.plugins={PLUGIN_CLASS}"
    return None


def configure(builder, settings=None):
    """Give a builder of sessions the plugin, and settings without their prefix: {"outputDir": "…", "executor.fraction": 0.1}.

    For a Python process that starts Spark itself: a notebook, or `python job.py`. Where a plugin can no longer be loaded, there
    is a RuntimeWarning, and the builder is given back as it was: the job runs, without a profile."""
    reason = _reason_against()
    if reason is not None:
        warnings.warn(f"sparkflame: not profiled: {reason}", RuntimeWarning, stacklevel=2)
        return builder
    builder = _add(_add(builder, "spark.jars", plugin_jar()), "spark.plugins", PLUGIN_CLASS)
    for key, value in (settings or {}).items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        builder = builder.config(PREFIX + key, text)
    return builder
