package org.sparkflame;

/** Texts of labels, "key=value;key=value", as the agent and readers know them. */
final class Labels {
    private static final int VALUE_LIMIT = 200;
    private final StringBuilder text = new StringBuilder(96);

    Labels add(String key, long value) {
        begin(key).append(value);
        return this;
    }

    /** Nothing for null and for an empty value. */
    Labels add(String key, String value) {
        if (value == null || value.isEmpty()) {
            return this;
        }
        begin(key);
        for (int i = 0; i < Math.min(value.length(), VALUE_LIMIT); i++) {
            appendEscaped(value.charAt(i));
        }
        return this;
    }

    /** Of any length, for an argument of the agent. */
    static String escape(String value) {
        Labels labels = new Labels();
        value.chars().forEach(c -> labels.appendEscaped((char) c));
        return labels.toString();
    }

    private StringBuilder begin(String key) {
        if (text.length() > 0) {
            text.append(';');
        }
        return text.append(key).append('=');
    }

    /** ';', '=' and '%' have a meaning in labels, and ',' in the agent's arguments. */
    private void appendEscaped(char c) {
        if (c == ';' || c == '=' || c == '%' || c == ',' || c < ' ') {
            text.append('%').append("0123456789ABCDEF".charAt(c >> 4)).append("0123456789ABCDEF".charAt(c & 15));
        } else {
            text.append(c);
        }
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
