package org.sparkflame;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/** The objects of a task. */
final class MergeBatch implements Serializable {
    private static final long serialVersionUID = 1;
    final int number;
    final ArrayList<MergeObject> objects = new ArrayList<>();

    private MergeBatch(int number) {
        this.number = number;
    }

    /** Of at least that many bytes, but the last; recordings of a process stay together when they are stitched. */
    static List<MergeBatch> of(List<MergeObject> objects, long bytes, boolean byProcess) {
        List<MergeBatch> batches = new ArrayList<>();
        MergeBatch batch = null;
        String process = null;
        long size = 0;
        for (MergeObject object : objects) {
            String next = byProcess ? object.process() : null;
            boolean mayBreak = next == null || !next.equals(process);
            if (batch == null || (mayBreak && size >= bytes)) {
                batch = new MergeBatch(batches.size());
                batches.add(batch);
                size = 0;
            }
            process = next;
            batch.objects.add(object);
            size += object.bytes;
        }
        return batches;
    }
}
