package org.sparkflame;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/** One line of JSON, its keys in the order in which they came. */
final class JsonRecord {
    private final Map<String, Object> values = new LinkedHashMap<>();

    /** A number, a text, a JsonRecord or a collection of such; null is written as null. */
    JsonRecord put(String key, Object value) {
        values.put(key, value);
        return this;
    }

    JsonRecord putIfThere(String key, Object value) {
        return value == null ? this : put(key, value);
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(256);
        append(text, this);
        return text.toString();
    }

    private static void append(StringBuilder text, Object value) {
        if (value instanceof JsonRecord) {
            String separator = "{";
            for (Map.Entry<String, Object> entry : ((JsonRecord) value).values.entrySet()) {
                text.append(separator);
                appendText(text, entry.getKey());
                append(text.append(':'), entry.getValue());
                separator = ",";
            }
            text.append(",".equals(separator) ? "}" : "{}");
        } else if (value instanceof Collection) {
            String separator = "";
            text.append('[');
            for (Object item : (Collection<?>) value) {
                append(text.append(separator), item);
                separator = ",";
            }
            text.append(']');
        } else if (value == null || (value instanceof Number && !Double.isNaN(((Number) value).doubleValue()))) {
            text.append(value);
        } else {
            appendText(text, value.toString()); // also NaN, as Uber's readers know it
        }
    }

    private static void appendText(StringBuilder text, String value) {
        text.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"' || c == '\\') {
                text.append('\\').append(c);
            } else if (c < ' ') {
                text.append(String.format("\\u%04x", (int) c));
            } else {
                text.append(c);
            }
        }
        text.append('"');
    }
}
