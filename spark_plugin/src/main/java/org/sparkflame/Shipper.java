package org.sparkflame;

import java.io.File;
import java.io.IOException;

/** Ships finished recordings. One thread at a time. */
interface Shipper {
    /** Prepares the target; called before the first recording exists, so that problems are logged early. */
    void open() throws IOException;

    /**
     * Returns when the recording is safe there; the file may then be deleted.
     *
     * @throws Refused when it never will be
     */
    void ship(File recording) throws IOException;

    void close() throws IOException;

    /** For people. */
    String target();

    /** Whether, after an error, it is time for another attempt. */
    default boolean isDue() {
        return true;
    }

    /** The JVM ends: the next attempt is due. */
    default void hurry() {
    }
}
