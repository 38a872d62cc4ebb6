package org.sparkflame;

import org.slf4j.Logger;

/** A problem that may repeat: logged when it begins and when it is over. One thread at a time. */
final class Trouble {
    private final Logger log;
    private boolean told;

    Trouble(Logger log) {
        this.log = log;
    }

    void tell(String what, Throwable why) {
        if (!told) {
            log.warn("sparkflame: {}: {}", what, why.toString());
        }
        told = true;
    }

    void isOver(String what) {
        if (told) {
            log.info("sparkflame: {}", what);
        }
        told = false;
    }
}
