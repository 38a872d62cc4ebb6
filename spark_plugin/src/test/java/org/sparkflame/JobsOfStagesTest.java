package org.sparkflame;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;

import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.junit.Test;

public class JobsOfStagesTest {
    @Test
    public void aStageBelongsToTheFirstJobThatStillRuns() {
        JobsOfStages jobs = new JobsOfStages();
        assertNull(jobs.jobOf(0));
        jobs.begin(0, 0, 1);
        jobs.begin(1, 1, 2);
        assertEquals(Integer.valueOf(0), jobs.jobOf(1));
        assertEquals(Integer.valueOf(1), jobs.jobOf(2));
        jobs.onJobEnd(new SparkListenerJobEnd(0, 0, null));
        jobs.begin(2, 1);
        assertEquals(Integer.valueOf(2), jobs.jobOf(1));
        assertEquals(Integer.valueOf(0), jobs.jobOf(0));
    }
}
