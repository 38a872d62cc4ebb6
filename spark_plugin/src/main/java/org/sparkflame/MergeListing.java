package org.sparkflame;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;

/** Finds the objects to merge, the same as `sparkflame merge` would of a copy of the folders. */
final class MergeListing {
    private static final Comparator<MergeObject> ORDER = Comparator.comparing(MergeObject::process).thenComparing(MergeObject::sequence)
            .thenComparing(object -> object.path);
    private final Configuration configuration;
    private final List<MergeObject> objects = new ArrayList<>();

    private MergeListing(Configuration configuration) {
        this.configuration = configuration;
    }

    static List<MergeBatch> batches(Configuration configuration, MergeSettings settings) throws IOException {
        MergeListing listing = new MergeListing(configuration);
        for (String input : settings.inputs) {
            listing.add(new Path(input));
        }
        listing.objects.sort(settings.stitches() ? ORDER : Comparator.comparing(object -> object.path));
        return MergeBatch.of(listing.objects, settings.taskBytes, settings.stitches());
    }

    /** A file, a folder, or a pattern of some. */
    private void add(Path input) throws IOException {
        FileSystem fileSystem = input.getFileSystem(configuration);
        FileStatus[] found = fileSystem.globStatus(input);
        if (found == null || found.length == 0) {
            throw new FileNotFoundException(input + " does not exist");
        }
        for (FileStatus status : found) {
            if (status.isDirectory()) {
                addFolder(fileSystem, status.getPath());
            } else {
                objects.add(new MergeObject(status));
            }
        }
    }

    private void addFolder(FileSystem fileSystem, Path folder) throws IOException {
        List<MergeObject> found = new ArrayList<>();
        String prefix = folder.toString();
        RemoteIterator<LocatedFileStatus> files = fileSystem.listFiles(folder, true);
        while (files.hasNext()) {
            LocatedFileStatus status = files.next();
            if (isWanted(status.getPath().toString().substring(prefix.length()))) {
                found.add(new MergeObject(status));
            }
        }
        if (found.isEmpty()) {
            throw new IOException(folder + ": the folder contains no file");
        }
        objects.addAll(withoutCovered(found));
    }

    /** No hidden files, unfinished ones, or success markers of writers. */
    static boolean isWanted(String pathBelow) {
        for (String name : pathBelow.split("/")) {
            if (name.startsWith(".") || name.equals("_SUCCESS") || name.contains(".part-")) {
                return false;
            }
        }
        return true;
    }

    /** Without recordings of a JVM that are part of another file, into which the plugin has joined them. */
    static List<MergeObject> withoutCovered(List<MergeObject> found) {
        Map<String, List<MergeObject>> folders = new HashMap<>();
        List<MergeObject> kept = new ArrayList<>();
        for (MergeObject object : found) {
            if (object.range() == null) {
                kept.add(object);
            } else {
                folders.computeIfAbsent(object.folder(), name -> new ArrayList<>()).add(object);
            }
        }
        folders.values().forEach(members -> keepUncovered(members, kept));
        return kept;
    }

    /** Ranges do not overlap but where one is part of the other. */
    private static void keepUncovered(List<MergeObject> members, List<MergeObject> kept) {
        members.sort(Comparator.<MergeObject>comparingLong(object -> object.range()[0]).thenComparingLong(object -> -object.range()[1])
                .thenComparing(object -> object.path));
        long[] last = null;
        for (MergeObject object : members) {
            long[] range = object.range();
            boolean isCovered = last != null && last[0] <= range[0] && range[1] <= last[1] && range[1] - range[0] < last[1] - last[0];
            if (!isCovered) {
                kept.add(object);
                last = range;
            }
        }
    }
}
