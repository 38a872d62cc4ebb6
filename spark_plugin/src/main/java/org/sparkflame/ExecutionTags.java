package org.sparkflame;

import java.lang.reflect.Field;
import java.util.Objects;
import java.util.Properties;
import org.apache.spark.SparkContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * In the driver: threads that work for a SQL execution are tagged with its number.
 *
 * Spark stores the id in the local properties of each such thread, also of those that compute broadcasts and
 * subqueries, and tells nobody. So these properties are replaced by ones that tell, and do all else as before.
 */
final class ExecutionTags extends InheritableThreadLocal<Properties> {
    private static final Logger LOG = LoggerFactory.getLogger("org.sparkflame");
    private static final String KEY = "spark.sql.execution.id";

    /** To be called while the context is made: only the calling thread has properties of it then. */
    static void install(SparkContext context) {
        try {
            Field field = SparkContext.class.getDeclaredField("localProperties");
            field.setAccessible(true);
            ExecutionTags tags = new ExecutionTags();
            tags.set((Properties) ((ThreadLocal<?>) field.get(context)).get());
            field.set(context, tags);
        } catch (ReflectiveOperationException | RuntimeException e) {
            LOG.debug("sparkflame: threads of the driver have no tags", e);
        }
    }

    @Override
    protected Properties initialValue() {
        return new Watched();
    }

    /** Runs on the thread that starts another. */
    @Override
    protected Properties childValue(Properties parent) {
        Watched child = new Watched();
        child.copy(parent);
        child.inherited = child.getProperty(KEY);
        return child;
    }

    @Override
    public void set(Properties properties) {
        Watched before = (Watched) get();
        Watched now = new Watched();
        now.copy(properties);
        now.inherited = before.inherited;
        now.tagged = before.tagged;
        super.set(now);
        now.note(now.getProperty(KEY));
    }

    private static final class Watched extends Properties {
        private static final long serialVersionUID = 1;
        /** A pool thread returns to its initial properties when it is idle. */
        private transient String inherited;
        private transient boolean tagged;

        private void copy(Properties properties) {
            if (properties != null) {
                properties.forEach(super::put);
            }
        }

        private void note(String execution) {
            boolean tags = execution != null && !(tagged && execution.equals(inherited));
            if (tags || tagged) {
                tag(tags ? new Labels().add("sql", execution).toString() : null);
            }
            tagged = tags;
        }

        private static void tag(String text) {
            try {
                if (Recorder.isTagging()) {
                    Agent.setTag(text);
                }
            } catch (Throwable e) {
                LOG.debug("sparkflame: a thread of the driver has no tag", e);
            }
        }

        @Override
        public synchronized Object put(Object key, Object value) {
            Object before = super.put(key, value);
            if (KEY.equals(key)) {
                note(Objects.toString(value, null));
            }
            return before;
        }

        @Override
        public synchronized Object remove(Object key) {
            Object before = super.remove(key);
            if (KEY.equals(key)) {
                note(null);
            }
            return before;
        }

        /** What leaves this JVM is as Spark knows it. */
        private Object writeReplace() {
            Properties plain = new Properties();
            forEach(plain::put);
            return plain;
        }
    }
}
