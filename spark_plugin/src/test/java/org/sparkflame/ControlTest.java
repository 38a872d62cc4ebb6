package org.sparkflame;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.junit.Test;

public class ControlTest {
    @Test
    public void speaksToTheExecutorsItNamesUntilItsTime() {
        Control control = new Control("profile=on\nexecutors=1,driver\nuntil=1000\nargs=event=cpu,interval=1ms\n");
        assertTrue(control.concerns("1", 999));
        assertTrue(control.concerns("driver", 0));
        assertFalse(control.concerns("1", 1000));
        assertFalse(control.concerns("11", 0));
        assertTrue(control.isOn());
        assertEquals("event=cpu,interval=1ms", control.arguments("event=wall"));
    }

    @Test
    public void aWrongValueMakesItSayNothing() {
        for (String line : new String[] {"args=event=cpu,file=/tmp/x", "args=log=/etc/passwd", "slowest=-1", "fraction=2",
            "straggling=perhaps", "until=soon"}) {
            Control control = new Control("profile=on\n" + line);
            assertFalse(line, control.concerns("7", 0));
            assertFalse(line, control.problem().isEmpty());
        }
    }

    private static ExecutorPace pace() {
        ExecutorPace pace = new ExecutorPace();
        pace.size(1, 41);
        for (int task = 0; task < 40; task++) {
            int executor = task % 10;
            pace.begin(task, 1, String.valueOf(executor), 0);
            pace.finish(task, 1, String.valueOf(executor), executor == 3 ? 300 : executor == 5 ? 200 : 100, true);
        }
        pace.begin(40, 1, "8", 1000);
        return pace;
    }

    private static String whom(ControlChoice choice, long now) {
        StringBuilder names = new StringBuilder();
        for (int executor = 0; executor < 10; executor++) {
            names.append(choice.to(String.valueOf(executor), now).isEmpty() ? "" : String.valueOf(executor));
        }
        return names.append(choice.to("driver", now).isEmpty() ? "" : "d").toString();
    }

    @Test
    public void executorsAreChosenByWhatTheyDo() {
        ExecutorPace pace = pace();
        ControlChoice choice = new ControlChoice(pace);
        assertTrue(choice.set("profile=on\nslowest=2\nargs=event=cpu"));
        assertEquals("35", whom(choice, 0));
        assertEquals("profile=on\nargs=event=cpu\n", choice.to("3", 0));
        for (int task = 100; task < 200; task++) {
            pace.finish(task, 1, "7", 1000, true);
        }
        assertEquals("who was chosen stays", "35", whom(choice, 0));
        assertFalse(choice.set("profile=on\nslowest=2\nargs=event=cpu"));
        assertTrue(choice.set("profile=on\nslowest=1"));
        assertEquals("7", whom(choice, 0));
    }

    @Test
    public void executorsThatHoldUpAStageAreFound() {
        ControlChoice choice = new ControlChoice(pace());
        choice.set("profile=on\nstraggling=true");
        assertEquals("", whom(choice, 1100));
        assertEquals("it has just looked", "", whom(choice, 6099));
        assertEquals("8", whom(choice, 6100));
        assertEquals("8", whom(choice, 1000));
    }

    @Test
    public void whoEndsMakesRoom() {
        ExecutorPace pace = pace();
        ControlChoice choice = new ControlChoice(pace);
        choice.set("profile=on\nslowest=1");
        assertEquals("3", whom(choice, 0));
        SparkListenerExecutorRemoved removed = new SparkListenerExecutorRemoved(0, "3", "killed");
        pace.onExecutorRemoved(removed);
        choice.onExecutorRemoved(removed);
        assertEquals("5", whom(choice, 5000));
    }

    @Test
    public void aShareOfTheExecutorsAndAllOfThem() {
        ControlChoice choice = new ControlChoice(new ExecutorPace());
        choice.set("profile=on\nfraction=0.5");
        String whom = whom(choice, 0);
        assertEquals(whom, 5, whom.length());
        assertEquals(whom, whom(choice, 0));
        choice.set("profile=off");
        assertEquals("0123456789d", whom(choice, 0));
        choice.set("profile=on\nexecutors=driver,2\nuntil=10");
        assertEquals("2d", whom(choice, 9));
        assertEquals("", whom(choice, 10));
    }

    @Test
    public void whatItDoesNotSayStays() {
        Control control = new Control("profile=off");
        assertTrue(control.concerns("7", Long.MAX_VALUE - 1) && !control.isOn());
        assertEquals("event=wall", control.arguments("event=wall"));
        assertFalse(new Control("").concerns("7", 0));
        assertFalse(new Control("profile=perhaps").concerns("7", 0));
        assertFalse(new Control("profile=on\nuntil=soon").concerns("7", 0));
        assertFalse(new Control("\\u12").concerns("7", 0));
    }
}
