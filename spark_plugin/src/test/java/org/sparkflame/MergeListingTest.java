package org.sparkflame;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.Test;

public class MergeListingTest {
    private static List<MergeObject> objects(String... paths) {
        return Arrays.stream(paths).map(path -> new MergeObject(path, 10)).collect(Collectors.toList());
    }

    private static List<String> kept(String... paths) {
        List<String> kept = new ArrayList<>();
        MergeListing.withoutCovered(objects(paths)).forEach(object -> kept.add(object.path));
        Collections.sort(kept);
        return kept;
    }

    @Test
    public void unfinishedAndHiddenFilesAreNotListed() {
        assertTrue(MergeListing.isWanted("/team/app-1/exec-1/000001.jfr"));
        for (String path : new String[] {"/.hidden/a.jfr", "/a/.000001.jfr.unfinished", "/_SUCCESS", "/a.part-x1y2z3"}) {
            assertFalse(path, MergeListing.isWanted(path));
        }
    }

    @Test
    public void whatWasJoinedIsNotReadTwice() {
        assertEquals(Arrays.asList("h:/a/exec-1/000001-000012.jfr", "h:/a/exec-1/000013.jfr"),
                kept("h:/a/exec-1/000001.jfr", "h:/a/exec-1/000001-000012.jfr", "h:/a/exec-1/000012.jfr.gz", "h:/a/exec-1/000002-000004.jfr",
                        "h:/a/exec-1/000013.jfr"));
        String[] others = {"h:/a/exec-1/000001-000012.jfr", "h:/a/exec-2/000003.jfr", "h:/a/other/000001-000012.jfr", "h:/a/other/000003.jfr"};
        assertEquals(Arrays.asList(others), kept(others));
    }

    @Test
    public void recordingsOfAProcessStayTogether() {
        List<MergeObject> objects = objects("/a/1/9.jfr", "/a/1/10.jfr", "/a/1/11.jfr.gz", "/a/2/main.1.jfr", "/a/2/other.1.jfr", "/a/2/x.pb");
        assertEquals(Arrays.asList(3, 1, 1, 1), sizes(MergeBatch.of(objects, 10, true)));
        assertEquals(Arrays.asList(3, 2, 1), sizes(MergeBatch.of(objects, 11, true)));
        assertEquals(Arrays.asList(2, 2, 2), sizes(MergeBatch.of(objects, 11, false)));
        assertEquals(Collections.emptyList(), sizes(MergeBatch.of(objects(), 10, true)));
    }

    private static List<Integer> sizes(List<MergeBatch> batches) {
        return batches.stream().map(batch -> batch.objects.size()).collect(Collectors.toList());
    }
}
