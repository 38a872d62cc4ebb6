package org.sparkflame;

import java.io.IOException;
import java.io.StringReader;
import java.util.Arrays;
import java.util.Properties;

/**
 * What a control file asks for: "profile=on", and maybe "executors=", "slowest=", "fraction=", "straggling=", "until=",
 * "args="; see docs/PLUGIN.md. A file with a wrong value asks for nothing.
 */
final class Control {
    static final String FILE_NAME = ".control";
    private final Properties values = new Properties();
    private String problem = "";

    /** An empty text asks for nothing. */
    Control(String text) {
        try {
            values.load(new StringReader(text));
            check();
        } catch (IOException | IllegalArgumentException | SettingException e) {
            problem = e.getMessage();
            values.clear();
        }
    }

    private void check() throws SettingException {
        if (values.containsKey("args")) {
            Settings.checkArguments("args", values.getProperty("args"));
        }
        slowest();
        SettingReader.parseFraction("fraction", values.getProperty("fraction", "1"));
        SettingReader.parseFlag("straggling", values.getProperty("straggling", "false"));
        until();
    }

    /** Why it asks for nothing although it has a text; "": it does not. */
    String problem() {
        return problem;
    }

    /** Whether it applies to this JVM now, if it does not leave the choice to the driver. */
    boolean concerns(String executor, long nowMilliseconds) {
        String profile = values.getProperty("profile", "");
        String executors = values.getProperty("executors", "");
        return (profile.equals("on") || profile.equals("off"))
                && (executors.isEmpty() || Arrays.asList(executors.split(",")).contains(executor)) && nowMilliseconds < until();
    }

    private long until() {
        return Long.parseLong(values.getProperty("until", Long.toString(Long.MAX_VALUE)));
    }

    boolean isOn() {
        return "on".equals(values.getProperty("profile"));
    }

    /** How many of the slowest executors it means; 0: it does not say. */
    int slowest() throws SettingException {
        String text = values.getProperty("slowest", "0");
        if (!text.matches("\\d{1,9}")) {
            throw new SettingException("slowest", "\"" + text + "\" is not a number of executors");
        }
        return Integer.parseInt(text);
    }

    /** The share of the executors that it means; 1: it does not say. */
    double fraction() {
        return Double.parseDouble(values.getProperty("fraction", "1"));
    }

    /** Whether it means executors whose tasks hold up a stage. */
    boolean straggling() {
        return "true".equalsIgnoreCase(values.getProperty("straggling"));
    }

    /** The agent's arguments. */
    String arguments(String configured) {
        return values.getProperty("args", configured);
    }

    /** For a JVM that it concerns: the same without saying whom it concerns, and until when. */
    String forOne() {
        String arguments = values.getProperty("args");
        return "profile=" + values.getProperty("profile") + "\n"
                + (arguments == null ? "" : "args=" + arguments.replace("\\", "\\\\") + "\n");
    }
}
