package org.sparkflame;

import java.io.File;
import java.io.IOException;

/** Brings finished recordings to where they are wanted. One thread at a time. */
interface Shipper {
    /** Makes ready; called before the first recording is there, so that trouble is told early. */
    void open() throws IOException;

    /** Returns when the recording is safe there; the file may then be deleted. */
    void ship(File recording) throws IOException;

    void close() throws IOException;

    /** For people. */
    String target();
}
