package org.sparkflame;

import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** One JSON object of plain values, also with the backslashes and outer quotes that shells leave in it. */
final class FlatJson {
    private static final Pattern MEMBER = Pattern.compile("\\s*\"([^\"]+)\"\\s*:\\s*(?:\"([^\"]*)\"|([^\\s,\"{}\\[\\]]+))\\s*(,?)");

    private FlatJson() {
    }

    static Map<String, String> parse(String key, String text) throws SettingException {
        String inside = unquote(text.replace("\\", "").trim());
        if (!inside.startsWith("{") || !inside.endsWith("}")) {
            throw new SettingException(key, "is not a JSON object: " + text);
        }
        inside = inside.substring(1, inside.length() - 1);
        Map<String, String> members = new HashMap<>();
        Matcher matcher = MEMBER.matcher(inside);
        int at = 0;
        while (!inside.substring(at).trim().isEmpty()) {
            if (!matcher.find(at) || matcher.start() != at) {
                throw new SettingException(key, "is not a JSON object of plain values: " + text);
            }
            members.put(matcher.group(1), matcher.group(2) != null ? matcher.group(2) : matcher.group(3));
            at = matcher.end();
        }
        return members;
    }

    /** Without one pair of quotes around it. */
    static String unquote(String text) {
        String plain = text.trim();
        boolean quoted = plain.length() > 1 && plain.charAt(0) == plain.charAt(plain.length() - 1)
                && (plain.charAt(0) == '"' || plain.charAt(0) == '\'');
        return quoted ? plain.substring(1, plain.length() - 1) : plain;
    }
}
