package org.sparkflame;

/** An invalid setting; the message begins with its key. */
final class SettingException extends Exception {
    private static final long serialVersionUID = 1;

    SettingException(String key, String message) {
        super(key + ": " + message);
    }
}
