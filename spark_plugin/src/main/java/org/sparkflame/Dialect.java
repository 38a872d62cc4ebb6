package org.sparkflame;

/** The profiler whose keys, defaults and file names apply where ours are not set. */
public enum Dialect {
    /** spark.sparkflame.*: objects exec-ID.SEQ.jfr. */
    SPARKFLAME,
    /** spark.profiler.* of Spark 4: one file profile-exec-ID.jfr. */
    SPARK,
    /** spark.executor.profiling.*, an earlier proposal for Spark: one file profile-APPNAME-exec-ID.jfr. */
    PROPOSAL,
    /** ENABLE_AMAZON_PROFILER and PROFILING_CONTEXT. */
    CODEGURU;

    /** Whether all of a JVM's recording goes to one file. */
    boolean writesOneFile() {
        return this == SPARK || this == PROPOSAL;
    }

    /** Prefix of the file names. */
    String baseName(boolean driver, String executor, String application) {
        String plain = driver ? "driver" : "exec-" + executor;
        switch (this) {
            case SPARK:
                return "profile-" + plain;
            case PROPOSAL:
                return "profile-" + application.replaceAll("[^A-Za-z0-9._-]", "_") + "-" + plain;
            default:
                return plain;
        }
    }
}
