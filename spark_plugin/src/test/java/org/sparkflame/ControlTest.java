package org.sparkflame;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

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
