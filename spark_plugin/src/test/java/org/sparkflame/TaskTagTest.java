package org.sparkflame;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class TaskTagTest {
    @Test
    public void namesTheTask() {
        assertEquals("stage=3;stage_attempt=1;partition=2;attempt=0;task=41", TaskTag.of(3, 1, 2, 0, 41, null));
        assertEquals("stage=3;stage_attempt=1;partition=2;attempt=0;task=41;sql=5", TaskTag.of(3, 1, 2, 0, 41, "5"));
    }

    @Test
    public void stagesShareJobGroupAndDescription() {
        assertEquals("job=7;group=a%3Bb%3Dc%25;description=x%2Cy", StageDetails.text(7, "a;b=c%", "x,y"));
        assertEquals("", StageDetails.text(null, null, ""));
        assertEquals("application=app-1;executor=driver", RecorderSetup.labels("app-1", "driver"));
    }
}
