package org.sparkflame;

import static org.junit.Assert.assertEquals;

import java.util.HashMap;
import java.util.Map;
import org.junit.Test;

public class TaskTagTest {
    @Test
    public void namesTheTask() {
        assertEquals("stage=3;stage_attempt=1;partition=2;attempt=0;task=41", TaskTag.of(3, 1, 2, 0, 41, null));
        assertEquals("stage=3;stage_attempt=1;partition=2;attempt=0;task=41;sql=5", TaskTag.of(3, 1, 2, 0, 41, "5"));
    }

    @Test
    public void stagesShareJobGroupAndDescription() {
        assertEquals("group=a%3Bb%3Dc%25;description=x%2Cy", texts("spark.jobGroup.id", "a;b=c%", "spark.job.description", "x,y"));
        assertEquals("", texts());
        assertEquals("application=app-1;executor=driver;user=me", RecorderSetup.labels("app-1", "driver", "", "", "me"));
        assertEquals("application=app-1;executor=1;profiling_group=etl;application_name=my job;user=me",
                RecorderSetup.labels("app-1", "1", "etl", "my job", "me"));
    }

    private static String texts(String... pairs) {
        return texts(new StageTexts(new Redaction(null, null), true), pairs);
    }

    private static String texts(StageTexts texts, String... pairs) {
        Map<String, String> properties = new HashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            properties.put(pairs[i], pairs[i + 1]);
        }
        return texts.of(properties::get);
    }

    @Test
    public void streamsSayTheirQueryAndBatch() {
        assertEquals("group=run;description=orders;query=q-1;batch=7", texts("spark.jobGroup.id", "run",
                "spark.job.description", "orders\nid = q-1\nrunId = run\nbatch = 7", "sql.streaming.queryId", "q-1",
                "streaming.sql.batchId", "7"));
        assertEquals("query=q-1;batch=7", texts("spark.job.description", "id = q-1\nrunId = run\nbatch = 7",
                "sql.streaming.queryId", "q-1", "streaming.sql.batchId", "7"));
    }

    @Test
    public void connectSaysItsSessionAndUser() {
        String id = "01234567-89ab-cdef-0123-456789abcdef";
        String operation = "SparkConnect_OperationTag_User_%s_Session_" + id + "_Operation_" + id;
        assertEquals("tags=nightly%2Cb;session=" + id + ";session_user=a_Session_b", texts("spark.job.tags",
                String.format(operation, "a_Session_b") + ",spark-session-" + id + "-thread-" + id + "-nightly,spark-session-" + id
                + "-execution-root-id-3,SparkConnect_SessionTag_User_u_Session_" + id + "_Tag_b"));
        assertEquals("session=" + id, texts("spark.job.tags", String.format(operation, "")));
        assertEquals("tags=a%2Cb", texts("spark.job.tags", "a,b"));
    }

    @Test
    public void secretsAreNotRecorded() {
        String text = "select * from t options (password='a b', url 'x', `fs.azure.account.key` = \"k\", user = me)";
        assertEquals("description=select * from t options (password%3D*********(redacted)%2C url 'x'%2C "
                + "`fs.azure.account.key` %3D *********(redacted)%2C user %3D me)", texts("spark.job.description", text));
        assertEquals("description=card *********(redacted)", texts(new StageTexts(new Redaction(null, "\\d{16}"), true),
                "spark.job.description", "card 1234567812345678"));
        assertEquals("group=g", texts(new StageTexts(new Redaction(null, null), false), "spark.job.description", "select 1",
                "spark.jobGroup.id", "g"));
        assertEquals("description=a(", texts(new StageTexts(new Redaction("(", ")"), true), "spark.job.description", "a("));
    }

    @Test
    public void commandLinesHaveNoSecrets() {
        String path = "-cp=" + new String(new char[3000]).replace('\0', 'x');
        assertEquals("-Da.secret.key=*********(redacted) --password *********(redacted) --user me u://me:*********(redacted)@host " + path,
                new Redaction(null, null).ofAll(java.util.Arrays.asList("-Da.secret.key=abc", "--password", "abc", "--user", "me",
                        "u://me:abc@host", path)));
    }

    @Test
    public void theAgentHidesWhatSparkHides() {
        assertEquals("", new Redaction(null, "").agentArguments());
        assertEquals(",redact-keys=(?i)acme|pin\\d{2%2C3},redact-texts=\\d{4}%25%3D", new Redaction("(?i)acme|pin\\d{2,3}",
                "\\d{4}%=").agentArguments());
    }
}
