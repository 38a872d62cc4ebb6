package org.sparkflame;

import java.io.IOException;

/** A target will never take this recording; another attempt has the same result. */
final class Refused extends IOException {
    private static final long serialVersionUID = 1;

    Refused(String why) {
        super(why);
    }
}
