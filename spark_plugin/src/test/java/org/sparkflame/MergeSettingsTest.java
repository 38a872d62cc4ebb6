package org.sparkflame;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;
import static org.junit.Assert.fail;

import java.util.Arrays;
import org.junit.Test;

public class MergeSettingsTest {
    private static MergeSettings read(String words) throws SettingException {
        return MergeSettings.read(Arrays.asList(words.split(" ")));
    }

    private static void refused(String words, String message) {
        try {
            read(words);
            fail(words);
        } catch (SettingException e) {
            assertTrue(e.getMessage(), e.getMessage().contains(message));
        }
    }

    @Test
    public void optionsOfTheJobAndOfTheCommand() throws SettingException {
        MergeSettings settings = read("-f parquet --task-bytes 1000 hdfs:///a s3a://b/c out -- --stitch --skip-broken -e cpu");
        assertEquals(Arrays.asList("hdfs:///a", "s3a://b/c"), settings.inputs);
        assertEquals("out", settings.output);
        assertEquals(Arrays.asList("--stitch", "--skip-broken", "-e", "cpu"), settings.options);
        assertTrue(settings.stitches() && settings.skipBroken && settings.writesTables());
        assertEquals(1000, settings.taskBytes);
        assertFalse(read("-f parquet a b -- --table samples").writesTables());
        assertFalse(read("-f html a b").writesTables());
    }

    @Test
    public void whatIsRefused() {
        refused("-f html out", "an input and an output");
        refused("a out", "no format");
        refused("-f html a out -- -o x", "-o: is set by the job");
        refused("-f html a out -- --tar", "--tar: is set by the job");
        refused("-f html --task-bytes 0 a out", "\"0\" is not a number");
        refused("-f html --task-bytes", "needs a value");
        refused("-f html --stitch a out", "follow after --");
        refused("-f folded a out.folded.gz", "does not compress");
    }
}
