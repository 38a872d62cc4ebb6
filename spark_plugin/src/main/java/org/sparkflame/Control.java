package org.sparkflame;

import java.io.IOException;
import java.io.StringReader;
import java.util.Arrays;
import java.util.Properties;

/** What a control file asks of a JVM: "profile=on", and maybe "executors=", "until=", "args="; see docs/PLUGIN.md. */
final class Control {
    static final String FILE_NAME = ".control";
    private final Properties values = new Properties();

    /** An empty text asks for nothing. */
    Control(String text) {
        try {
            values.load(new StringReader(text));
        } catch (IOException | IllegalArgumentException e) {
            values.clear();
        }
    }

    /** Whether it speaks to this JVM now; otherwise all is as configured. */
    boolean concerns(String executor, long nowMilliseconds) {
        String profile = values.getProperty("profile", "");
        if (!profile.equals("on") && !profile.equals("off")) {
            return false;
        }
        String executors = values.getProperty("executors", "");
        if (!executors.isEmpty() && !Arrays.asList(executors.split(",")).contains(executor)) {
            return false;
        }
        try {
            return nowMilliseconds < Long.parseLong(values.getProperty("until", Long.toString(Long.MAX_VALUE)));
        } catch (NumberFormatException e) {
            return false;
        }
    }

    boolean isOn() {
        return "on".equals(values.getProperty("profile"));
    }

    /** The agent's arguments. */
    String arguments(String configured) {
        return values.getProperty("args", configured);
    }
}
