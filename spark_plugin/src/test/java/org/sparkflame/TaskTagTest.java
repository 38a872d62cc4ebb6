package org.sparkflame;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class TaskTagTest {
    @Test
    public void namesTheTask() {
        assertEquals("stage=3;stage_attempt=1;partition=2;attempt=0;task=41",
                TaskTag.of(3, 1, 2, 0, 41, null, null));
        assertEquals("stage=3;stage_attempt=1;partition=2;attempt=0;task=41;sql=5;group=a%3bb%3dc%25",
                TaskTag.of(3, 1, 2, 0, 41, "5", "a;b=c%"));
    }
}
