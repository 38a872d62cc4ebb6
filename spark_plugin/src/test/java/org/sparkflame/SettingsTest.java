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
    public void littleIsKeptInAFolderThatIsMemory() throws Exception {
        String tmpfs = "spark.kubernetes.local.dirs.tmpfs";
        assertEquals(1L << 30, read(NONE).localLimitBytes);
        assertEquals(128L << 20, read(map(tmpfs, "true")).localLimitBytes);
        assertEquals(1L << 29, read(map(tmpfs, "true", "spark.sparkflame.localLimit", "512m")).localLimitBytes);
    }

    @Test
    public void recordingsGetLongerUnlessTheIntervalIsConfigured() throws Exception {
        assertEquals("after 30 s, later every 300 s,", read(NONE).schedule().toString());
        assertEquals("every 120 s", read(map("spark.sparkflame.interval", "2m")).schedule().toString());
        assertEquals("after 10 s, later every 60 s,", read(map("spark.sparkflame.interval", "10s",
                "spark.sparkflame.maxInterval", "1m")).schedule().toString());
        assertEquals("every 30 s", Settings.read(Dialect.PROPOSAL, NONE, NONE, false).schedule().toString());
        Schedule schedule = read(NONE).schedule();
        for (long wanted : new long[] {30_000, 120_000, 300_000, 300_000}) {
            assertEquals(wanted, schedule.next(), 0.1 * wanted);
        }
    }

    @Test
    public void theEndTakesWhatThePlatformGrants() throws Exception {
        assertEquals(8_000, read(NONE).shutdownMilliseconds);
        assertEquals(20_000, read(map("spark.master", "k8s://https://api")).shutdownMilliseconds);
        assertEquals(1_000, read(map("spark.sparkflame.shutdownTimeout", "1s")).shutdownMilliseconds);
    }

    @Test
    public void aGroupIsTheNameOfOneFolder() throws Exception {
        assertEquals("", read(NONE).group);
        assertEquals("a_b_.._c", read(map("spark.sparkflame.group", "a/b/../c")).group);
        assertEquals("_.", read(map("spark.sparkflame.group", "..")).group);
        assertEquals("nightly", Settings.read(Dialect.CODEGURU, NONE, map("ENABLE_AMAZON_PROFILER", "true",
                "PROFILING_CONTEXT", "{\"profilingGroupName\":\"nightly\"}"), false).group);
    }

    @Test
    public void aWrongValueIsRefusedWithItsKey() {
        String[][] wrong = {{"enabled", "yes"}, {"executor.fraction", "1.5"}, {"executor.fraction", "half"},
            {"interval", "soon"}, {"interval", "10ms"}, {"localLimit", "1 pound"}, {"executor.first", "-1"},
            {"args", "event=cpu,file=/tmp/x.jfr"}, {"args", "stop"}, {"args", "event=cpu,log=/etc/passwd"}, {"localDir", "/tmp/a,b"}, {"python.rate", "0"},
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
        assertEquals(Collections.singletonList("spark.sparkflame.outputdir is not a key of this version and is ignored"),
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

    @Test
    public void encryptionOfLocalFilesKeepsRecordingsInMemory() throws Exception {
        String key = "spark.io.encryption.enabled";
        assertFalse(read(NONE).memoryOnly);
        assertTrue(read(map(key, "true")).memoryOnly);
        assertEquals(32L << 20, read(map(key, "true")).localLimitBytes);
        assertFalse(read(map(key, "true", "spark.sparkflame.allowUnencrypted", "true")).memoryOnly);
    }

    @Test
    public void whatIsDeletedIsNotAMistake() throws Exception {
        assertFalse(read(NONE).hasRetention());
        assertEquals(3_600_000, read(NONE).joinMilliseconds);
        assertEquals(30L * 86_400_000, read(map("spark.sparkflame.keep", "30d")).keepMilliseconds);
        assertTrue(read(map("spark.sparkflame.keepBytes", "500g")).hasRetention());
        SettingException wrong = assertThrows(SettingException.class, () -> read(map("spark.sparkflame.keep", "30")));
        assertEquals("spark.sparkflame.keep: must be at least 1h", wrong.getMessage());
    }

    @Test
    public void theAddressOfACollectorIsChecked() throws Exception {
        String key = "spark.sparkflame.collector";
        Settings settings = read(map(key, "https://host:4041/prefix/", key + ".tokenFile", "token", key + ".caFile", "ca.pem"));
        assertEquals("https://host:4041/prefix", settings.collector);
        assertEquals("token", settings.collectorTokenFile);
        assertEquals("ca.pem", settings.collectorCaFile);
        assertTrue(settings.isShipped() && settings.warnings.isEmpty());
        assertTrue(read(map(key, "http://localhost:4041")).warnings.isEmpty());
        assertEquals(1, read(map(key, "http://host:4041")).warnings.size());
        for (String wrong : new String[] {"host:4041", "hdfs:///x", "https://", "https://me:secret@host", "https://host?group=x", "https://h h"}) {
            assertThrows(wrong, SettingException.class, () -> read(map(key, wrong)));
        }
    }
}
