package org.sparkflame;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Where recordings may be stored on this machine until they are shipped: the first place that works. */
final class LocalRoots {
    /** What Spark's executors use for their own files, in Spark's order. */
    private static final String[] VARIABLES = {"LOCAL_DIRS", "SPARK_EXECUTOR_DIRS", "SPARK_LOCAL_DIRS"};
    /** File systems that have no disk; Linux may swap the first one. */
    private static final List<String> MEMORY = Arrays.asList("tmpfs", "ramfs");
    private static final String SHARED_MEMORY = "/dev/shm";
    private final boolean memoryOnly;
    /** Root, and the folder in it below which applications have theirs. */
    private final Map<File, File> places = new LinkedHashMap<>();

    /**
     * @param localDir as configured, or null: then below Spark's local folders if recordings do not have to outlive the
     *     application there, and then that of Java
     * @param memoryOnly nothing may be written to a disk
     */
    LocalRoots(String localDir, boolean areShipped, Map<String, String> environment, String sparkLocalDir, boolean memoryOnly) {
        this.memoryOnly = memoryOnly;
        if (localDir != null) {
            File root = new File(localDir).getAbsoluteFile();
            places.put(root, root);
        }
        List<String> others = new ArrayList<>();
        for (String variable : areShipped ? VARIABLES : new String[0]) {
            addAll(others, environment.get(variable));
        }
        addAll(others, areShipped ? sparkLocalDir : null);
        addAll(others, memoryOnly ? SHARED_MEMORY : null);
        others.add(System.getProperty("java.io.tmpdir"));
        others.add(System.getProperty("user.dir"));
        for (String other : others) {
            File root = new File(other).getAbsoluteFile();
            places.putIfAbsent(root, new File(root, folderName()));
        }
    }

    private static void addAll(List<String> folders, String list) {
        for (String folder : list == null ? new String[0] : list.split(",")) {
            // Commas separate the agent's arguments; a URI is not a folder of Java's.
            if (!folder.trim().isEmpty() && folder.trim().startsWith("/")) {
                folders.add(folder.trim());
            }
        }
    }

    static String folderName() {
        return "sparkflame-" + System.getProperty("user.name", "user").replaceAll("[^A-Za-z0-9._-]", "_");
    }

    /** The application's folder in the first place that works. */
    LocalFolder open(String application, String baseName, long limitBytes, String outputDir) throws IOException {
        StringBuilder reasons = new StringBuilder();
        for (Map.Entry<File, File> place : places.entrySet()) {
            try {
                if (memoryOnly && !isMemory(place.getKey())) {
                    throw new IOException(place.getKey() + " is on a disk, and spark.io.encryption.enabled is true");
                }
                return new LocalFolder(place.getKey(), place.getValue(), application, baseName, limitBytes, outputDir);
            } catch (IOException | RuntimeException e) {
                reasons.append(reasons.length() == 0 ? "" : "; ").append(e);
            }
        }
        throw new IOException("no folder for recordings: " + reasons);
    }

    private static boolean isMemory(File folder) throws IOException {
        File existing = folder;
        while (!existing.exists() && existing.getParentFile() != null) {
            existing = existing.getParentFile();
        }
        return MEMORY.contains(Files.getFileStore(existing.toPath().toRealPath()).type());
    }

    /** All that may hold programs, best first. */
    String[] folders() {
        return places.keySet().stream().map(File::getPath).toArray(String[]::new);
    }
}
