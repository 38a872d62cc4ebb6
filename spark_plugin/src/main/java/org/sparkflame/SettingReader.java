package org.sparkflame;

import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses values of keys; errors name the key. */
final class SettingReader {
    private static final Pattern AMOUNT = Pattern.compile("(\\d{1,15})\\s*([a-z]*)");
    private final Map<String, String> values;

    SettingReader(Map<String, String> values) {
        this.values = values;
    }

    boolean has(String key) {
        String value = values.get(key);
        return value != null && !value.trim().isEmpty();
    }

    String text(String key, String otherwise) {
        return has(key) ? values.get(key).trim() : otherwise;
    }

    boolean flag(String key, boolean otherwise) throws SettingException {
        return has(key) ? parseFlag(key, text(key, "")) : otherwise;
    }

    static boolean parseFlag(String key, String value) throws SettingException {
        switch (value.toLowerCase(Locale.ROOT)) {
            case "true":
                return true;
            case "false":
                return false;
            default:
                throw new SettingException(key, "\"" + value + "\" is neither true nor false");
        }
    }

    double fraction(String key, double otherwise) throws SettingException {
        return has(key) ? parseFraction(key, text(key, "")) : otherwise;
    }

    static double parseFraction(String key, String value) throws SettingException {
        try {
            double number = Double.parseDouble(value);
            if (number >= 0 && number <= 1) {
                return number;
            }
        } catch (NumberFormatException e) {
            // said below
        }
        throw new SettingException(key, "\"" + value + "\" is not a number from 0 to 1");
    }

    int count(String key, int otherwise, int least, int most) throws SettingException {
        if (!has(key)) {
            return otherwise;
        }
        try {
            int number = Integer.parseInt(text(key, ""));
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // said below
        }
        throw new SettingException(key, "\"" + text(key, "") + "\" is not a whole number from " + least + " to " + most);
    }

    Set<String> list(String key) {
        Set<String> names = new LinkedHashSet<>();
        for (String name : text(key, "").split(",")) {
            if (!name.trim().isEmpty()) {
                names.add(name.trim());
            }
        }
        return names;
    }

    /** "30", "30s", "5m", "500ms"; a number alone is in seconds, as in Spark. */
    long milliseconds(String key, long otherwise) throws SettingException {
        if (!has(key)) {
            return otherwise;
        }
        return amount(key, new String[] {"ms", "", "s", "m", "min", "h", "d"},
                new long[] {1, 1000, 1000, 60_000, 60_000, 3_600_000, 86_400_000},
                "is not a duration; use for example 30s or 5m");
    }

    /** "64m", "1g", "1048576". */
    long bytes(String key, long otherwise) throws SettingException {
        if (!has(key)) {
            return otherwise;
        }
        return amount(key, new String[] {"", "b", "k", "kb", "m", "mb", "g", "gb", "t"},
                new long[] {1, 1, 1L << 10, 1L << 10, 1L << 20, 1L << 20, 1L << 30, 1L << 30, 1L << 40},
                "is not a size; use for example 64m or 1g");
    }

    private long amount(String key, String[] units, long[] factors, String wrong) throws SettingException {
        Matcher matcher = AMOUNT.matcher(text(key, "").toLowerCase(Locale.ROOT));
        int unit = matcher.matches() ? Arrays.asList(units).indexOf(matcher.group(2)) : -1;
        if (unit >= 0) {
            long number = Long.parseLong(matcher.group(1));
            if (number <= Long.MAX_VALUE / factors[unit]) {
                return number * factors[unit];
            }
        }
        throw new SettingException(key, "\"" + text(key, "") + "\" " + wrong);
    }
}
