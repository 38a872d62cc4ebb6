package org.sparkflame;

import java.io.UnsupportedEncodingException;
import java.net.URLEncoder;

/** What a collector needs to know about the recordings of a JVM: all parameters but the sequence. */
final class CollectorQuery {
    /** Of a label; far less than a collector takes. */
    private static final int VALUE_LIMIT = 60;
    private final StringBuilder text = new StringBuilder();

    CollectorQuery add(String name, String value) {
        if (!value.isEmpty()) {
            text.append(text.length() == 0 ? "" : "&").append(name).append('=').append(encode(value));
        }
        return this;
    }

    /** An identifier, which has a few characters only. */
    CollectorQuery addName(String name, String value) {
        return add(name, Settings.folderName(value));
    }

    CollectorQuery addLabel(String name, String value) {
        String plain = value == null ? "" : value.replaceAll("[\\p{Cntrl}\\p{Cs}]", " ").trim();
        String cut = plain.substring(0, plain.offsetByCodePoints(0, Math.min(VALUE_LIMIT, plain.codePointCount(0, plain.length()))));
        return cut.isEmpty() ? this : add("label", name + "=" + cut);
    }

    private static String encode(String value) {
        try {
            return URLEncoder.encode(value, "UTF-8");
        } catch (UnsupportedEncodingException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
