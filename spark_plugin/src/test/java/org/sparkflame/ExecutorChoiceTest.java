package org.sparkflame;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import org.junit.Test;

public class ExecutorChoiceTest {
    private static int taken(ExecutorChoice choice, int executors) {
        int taken = 0;
        for (int i = 0; i < executors; i++) {
            taken += choice.take(String.valueOf(i)) ? 1 : 0;
        }
        return taken;
    }

    @Test
    public void theFractionIsTakenAndAtLeastOne() {
        assertEquals(1, taken(new ExecutorChoice(0.1, Integer.MAX_VALUE), 1));
        assertEquals(1, taken(new ExecutorChoice(0.1, Integer.MAX_VALUE), 10));
        assertEquals(10, taken(new ExecutorChoice(0.1, Integer.MAX_VALUE), 100));
        assertEquals(100, taken(new ExecutorChoice(1, Integer.MAX_VALUE), 100));
        assertEquals(0, taken(new ExecutorChoice(0, Integer.MAX_VALUE), 100));
        assertEquals(3, taken(new ExecutorChoice(1, 3), 100));
    }

    @Test
    public void anExecutorGetsTheSameAnswerAgain() {
        ExecutorChoice choice = new ExecutorChoice(0.5, Integer.MAX_VALUE, () -> 0.75);
        assertTrue(choice.take("7"));
        assertTrue(choice.take("7"));
        assertFalse(choice.take("8"));
        assertFalse(choice.take("8"));
        assertFalse(choice.take("9"));
        assertTrue(choice.take("10"));
        assertFalse(choice.take("11"));
    }

    @Test
    public void whichAreTakenIsRandom() {
        Set<String> found = new HashSet<>();
        for (int run = 0; run < 200; run++) {
            ExecutorChoice choice = new ExecutorChoice(0.1, Integer.MAX_VALUE);
            StringBuilder answers = new StringBuilder();
            for (int i = 0; i < 100; i++) {
                answers.append(choice.take(String.valueOf(i)) ? i + " " : "");
            }
            found.add(answers.toString());
        }
        assertTrue(String.valueOf(found.size()), found.size() > 100);
    }

    @Test
    public void idsAndHostsNeedNoDriver() throws Exception {
        Settings settings = Settings.read(Dialect.SPARKFLAME,
                Collections.singletonMap("spark.sparkflame.executor.ids", "1,2"), Collections.emptyMap(), false);
        assertEquals(true, ExecutorChoice.decideAlone(settings, "1", Collections.singleton("a")));
        assertEquals(false, ExecutorChoice.decideAlone(settings, "3", Collections.singleton("a")));
        settings.hosts = Collections.singleton("b");
        assertEquals(false, ExecutorChoice.decideAlone(settings, "1", Collections.singleton("a")));
        settings.hosts = Collections.singleton("a");
        settings.fraction = 0.5;
        assertNull(ExecutorChoice.decideAlone(settings, "1", Collections.singleton("a")));
    }
}
