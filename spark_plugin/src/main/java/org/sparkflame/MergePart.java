package org.sparkflame;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/** What a task made of its objects or parts. */
final class MergePart implements Serializable {
    private static final long serialVersionUID = 1;
    final int number;
    final byte[] bytes;
    final int objects;
    /** Objects that cannot be read, with the reason. */
    final ArrayList<String> skipped;

    MergePart(int number, byte[] bytes, int objects, List<String> skipped) {
        this.number = number;
        this.bytes = bytes;
        this.objects = objects;
        this.skipped = new ArrayList<>(skipped);
    }
}
