package org.sparkflame;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/** Removes secrets from texts that go into recordings, by the patterns of Spark's configuration. */
final class Redaction {
    static final String REPLACEMENT = "*********(redacted)";
    /** Spark's own default, and the key of Azure's storage, which that misses. */
    private static final String DEFAULT_KEYS = "(?i)secret|password|token|access[.]?key|account[.]?key";
    /** KEY=VALUE and KEY: VALUE, as in options of a table or in a URL. */
    private static final Pattern PAIR = Pattern.compile("([\\w.-]+)(['\"`]?\\s*[=:]\\s*)('[^']*'|\"[^\"]*\"|[^\\s,;&)]+)");
    /** Of a user in a URL. */
    private static final Pattern URL_SECRET = Pattern.compile("(://[^/:@\\s]+:)[^/@\\s]+@");
    /** Far more than a label keeps. */
    private static final int LIMIT = 2000;
    private final Pattern keys;
    private final Pattern strings;
    private final String agentArguments;

    /** @param keys spark.redaction.regex, or null; @param strings spark.redaction.string.regex, or null */
    Redaction(String keys, String strings) {
        Pattern wanted = compile(keys);
        this.keys = wanted == null ? Pattern.compile(DEFAULT_KEYS) : wanted;
        this.strings = compile(strings);
        agentArguments = argument("redact-keys", keys) + argument("redact-texts", strings);
    }

    /** What the agent needs to hide the same: executors have no such property of the JVM. */
    String agentArguments() {
        return agentArguments;
    }

    private static String argument(String name, String expression) {
        return expression == null || expression.isEmpty() ? "" : "," + name + "=" + Labels.escape(expression);
    }

    private static Pattern compile(String text) {
        try {
            return text == null || text.isEmpty() ? null : Pattern.compile(text);
        } catch (PatternSyntaxException e) {
            return null; // Spark refuses it itself
        }
    }

    /** Every argument of a command line, however long it is. */
    String ofAll(Iterable<String> arguments) {
        StringBuilder all = new StringBuilder();
        boolean hides = false;
        for (String argument : arguments) {
            boolean isName = argument.startsWith("--") && argument.indexOf('=') < 0;
            all.append(all.length() == 0 ? "" : " ").append(hides && !isName ? REPLACEMENT : clean(argument));
            hides = isName && keys.matcher(argument).find();
        }
        return all.toString();
    }

    /** Null for null. */
    String of(String text) {
        if (text == null || text.isEmpty()) {
            return text;
        }
        return clean(text.substring(0, Math.min(text.length(), LIMIT)));
    }

    private String clean(String text) {
        String part = URL_SECRET.matcher(text).replaceAll("$1" + Matcher.quoteReplacement(REPLACEMENT) + "@");
        String without = strings == null ? part : strings.matcher(part).replaceAll(Matcher.quoteReplacement(REPLACEMENT));
        StringBuffer clean = new StringBuffer();
        Matcher pair = PAIR.matcher(without);
        while (pair.find()) {
            boolean secret = keys.matcher(pair.group(1)).find();
            pair.appendReplacement(clean, Matcher.quoteReplacement(
                    secret ? pair.group(1) + pair.group(2) + REPLACEMENT : pair.group()));
        }
        return pair.appendTail(clean).toString();
    }
}
