package org.sparkflame;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.junit.Test;

public class SettingsTest {
    private static final Map<String, String> NONE = Collections.emptyMap();

    private static Map<String, String> map(String... pairs) {
        Map<String, String> map = new HashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            map.put(pairs[i], pairs[i + 1]);
        }
        return map;
    }

    private static Settings read(Map<String, String> conf) throws SettingException {
        return Settings.read(Dialect.SPARKFLAME, conf, NONE, false);
    }

    @Test
    public void withoutAnyKeyAllIsProfiled() throws Exception {
        Settings settings = read(NONE);
        assertTrue(settings.enabled && settings.driver && settings.executor && settings.python);
        assertEquals(1, settings.fraction, 0);
        assertNull(settings.outputDir);
        assertEquals(30_000, settings.intervalMilliseconds);
        assertTrue(settings.warnings.isEmpty());
    }

    @Test
    public void valuesAreTakenInTheirUsualForms() throws Exception {
        Settings settings = read(map("spark.sparkflame.interval", "2m", "spark.sparkflame.localLimit", "64MB",
                "spark.sparkflame.executor.ids", "1, 2,", "spark.sparkflame.enabled", "FALSE",
                "spark.sparkflame.args", "event=wall"));
        assertEquals(120_000, settings.intervalMilliseconds);
        assertEquals(64L << 20, settings.localLimitBytes);
        assertEquals(2, settings.ids.size());
        assertFalse(settings.enabled);
        assertEquals("event=wall", settings.arguments);
    }

    @Test
    public void aWrongValueIsRefusedWithItsKey() {
        String[][] wrong = {{"enabled", "yes"}, {"executor.fraction", "1.5"}, {"executor.fraction", "half"},
            {"interval", "soon"}, {"interval", "10ms"}, {"localLimit", "1 pound"}, {"executor.first", "-1"},
            {"args", "event=cpu,file=/tmp/x.jfr"}, {"args", "stop"}, {"localDir", "/tmp/a,b"}, {"python.rate", "0"},
            {"localLimit", "999999999999999t"}};
        for (String[] pair : wrong) {
            String key = "spark.sparkflame." + pair[0];
            SettingException e = assertThrows(pair[0] + "=" + pair[1], SettingException.class,
                    () -> read(map(key, pair[1])));
            assertTrue(e.getMessage(), e.getMessage().startsWith(key + ": "));
        }
    }

    @Test
    public void anUnknownKeyIsTold() throws Exception {
        Settings settings = read(map("spark.sparkflame.outputdir", "/tmp", "spark.other", "1"));
        assertEquals(Collections.singletonList("spark.sparkflame.outputdir is no key of this version and does nothing"),
                settings.warnings);
    }

    @Test
    public void keysOfSparksOwnProfilerWorkWithTheirDefaults() throws Exception {
        Settings plain = Settings.read(Dialect.SPARK, NONE, NONE, true);
        assertFalse(plain.driver || plain.executor);
        Settings settings = read(map("spark.profiler.executor.enabled", "true", "spark.profiler.dfsDir", "hdfs:///p",
                "spark.profiler.dfsWriteInterval", "45"));
        assertEquals(Dialect.SPARK, settings.dialect);
        assertTrue(settings.executor && !settings.driver);
        assertEquals(0.1, settings.fraction, 0);
        assertEquals("hdfs:///p", settings.outputDir);
        assertEquals(45_000, settings.intervalMilliseconds);
        assertEquals("event=wall,interval=10ms,alloc=2m,lock=10ms,chunktime=300s", settings.arguments);
        assertEquals("profile-exec-3", settings.dialect.baseName(false, "3", "my job"));
        assertEquals("profile-driver", settings.dialect.baseName(true, "driver", "my job"));
    }

    @Test
    public void ourKeysWin() throws Exception {
        Settings settings = read(map("spark.profiler.executor.enabled", "true", "spark.profiler.executor.fraction", "0.5",
                "spark.sparkflame.executor.fraction", "1", "spark.sparkflame.driver.enabled", "true"));
        assertEquals(1, settings.fraction, 0);
        assertTrue(settings.driver);
    }

    @Test
    public void theEarlierProposalWorks() throws Exception {
        Settings settings = read(map("spark.executor.profiling.enabled", "true",
                "spark.executor.profiling.outputDir", "s3a://b/p", "spark.executor.profiling.fraction", "0.25"));
        assertTrue(settings.executor && !settings.driver);
        assertEquals("s3a://b/p", settings.outputDir);
        assertEquals(0.25, settings.fraction, 0);
        assertEquals("profile-my_job-exec-3", settings.dialect.baseName(false, "3", "my job"));
    }

    @Test
    public void codeGurusContextWorksAlsoAsShellsLeaveIt() throws Exception {
        String context = "{\\\"profilingGroupName\\\":\\\"g\\\",\\\"driverEnabled\\\":\\\"true\\\", "
                + "\\\"executorEnabled\\\":true,\\\"heapSummaryEnabled\\\":false,\\\"probability\\\":0.5}";
        Settings settings = Settings.read(Dialect.CODEGURU,
                map("spark.executorEnv.PROFILING_CONTEXT", context, "spark.executorEnv.ENABLE_AMAZON_PROFILER", "true"),
                NONE, false);
        assertTrue(settings.enabled && settings.driver && settings.executor);
        assertEquals(0.5, settings.fraction, 0);
        assertEquals(Settings.DEFAULT_ARGUMENTS, settings.arguments);
        assertTrue(settings.warnings.isEmpty());
        assertFalse(Settings.read(Dialect.CODEGURU, NONE, NONE, false).enabled);
        Settings driver = read(map());
        assertEquals(Dialect.SPARKFLAME, driver.dialect);
        for (String key : new String[] {"spark.yarn.appMasterEnv.", "spark.kubernetes.driverEnv."}) {
            assertTrue(Settings.read(Dialect.SPARKFLAME, map(key + "ENABLE_AMAZON_PROFILER", "true"), NONE, true).enabled);
        }
        assertThrows(SettingException.class, () -> Settings.read(Dialect.CODEGURU, NONE,
                map("ENABLE_AMAZON_PROFILER", "true", "PROFILING_CONTEXT", "group"), false));
    }
}
