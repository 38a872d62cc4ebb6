package org.sparkflame;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.junit.Test;

public class DriverAnswersTest {
    private final JobsOfStages jobs = new JobsOfStages();
    private final ExecutorTotals totals = new ExecutorTotals();
    private final ControlChoice control = new ControlChoice(new ExecutorPace());
    private final DriverAnswers answers =
            new DriverAnswers(new ExecutorChoice(0.5, 1, () -> 0), control, jobs, totals, 10_000);

    private Map<?, ?> ask(Question question) {
        return (Map<?, ?>) answers.answer(question.message());
    }

    @Test
    public void oneMessageAsksAll() {
        jobs.begin(7, 1, 2);
        control.set("profile=off");
        Map<?, ?> answer = ask(new Question("1").choice().stages(1, 3).totals(5, 1));
        assertEquals(true, answer.get(Question.TAKE));
        assertEquals(Collections.singletonMap(1, 7), answer.get(Question.JOBS));
        assertEquals("profile=off\n", answer.get(Question.CONTROL));
        assertEquals(5, Totals.SAMPLES.of(totals.sum(Totals.none())));
        assertEquals(false, ask(new Question("2").choice()).get(Question.TAKE));
    }

    @Test
    public void answersHaveClassesOfTheJdkOnly() {
        jobs.begin(7, 1);
        Map<?, ?> answer = ask(new Question("1").choice().stages(1));
        assertEquals(HashMap.class, answer.getClass());
        for (Object value : answer.values()) {
            assertTrue(value.getClass().getName(), value.getClass().getName().startsWith("java."));
        }
        for (Object other : new Object[] {null, 7, "7", Collections.emptyMap(), Collections.singletonMap("executor", 7)}) {
            assertNull(answers.answer(other));
        }
    }

    @Test
    public void manyExecutorsAskLessOften() {
        assertEquals(10_000L, ask(new Question("1")).get(Question.AGAIN));
        for (int i = 0; i < 5000; i++) {
            answers.answer(new Question(String.valueOf(i)).totals(1).message());
        }
        assertEquals(50_000L, ask(new Question("1")).get(Question.AGAIN));
        DriverAnswers never = new DriverAnswers(new ExecutorChoice(1, 1), control, jobs, totals, 0);
        assertEquals(0L, ((Map<?, ?>) never.answer(new Question("1").message())).get(Question.AGAIN));
    }

    @Test
    public void whatAnExecutorCountedOutlivesIt() {
        long[] one = Totals.none();
        one[Totals.SAMPLES.ordinal()] = 10;
        one[Totals.LAG.ordinal()] = 500;
        one[Totals.PYTHON.ordinal()] = 2;
        totals.put("1", one);
        totals.put("2", one);
        totals.onExecutorRemoved(new SparkListenerExecutorRemoved(0, "1", "killed"));
        totals.put("1", one); // its last message, which comes late
        long[] sum = totals.sum(one);
        assertEquals(30, Totals.SAMPLES.of(sum));
        assertEquals(500, Totals.LAG.of(sum));
        assertEquals(4, Totals.PYTHON.of(sum));
        assertEquals(1, totals.executors());
    }

    @Test
    public void numbersOfTheAgentAreRead() {
        long[] found = Totals.none();
        assertEquals(77, JvmTotals.countAgent("signals_total 9\nsamples_total 8\nsamples_skipped_total 2\n"
                + "samples_failed_total{reason=\"x\"} 3\nstackwalk_ns_total 77\ncalltracestorage_overflows_total 1\n", found));
        assertEquals(8, Totals.SAMPLES.of(found));
        assertEquals(3, Totals.LOST_SAMPLES.of(found));
    }
}
