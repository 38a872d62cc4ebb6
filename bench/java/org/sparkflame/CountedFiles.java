package org.sparkflame;

import java.io.IOException;
import java.net.URI;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.util.Progressable;

/** Counts calls. Local files under rename:/// and, as of a store whose objects appear when closed, store:///. */
public class CountedFiles extends RawLocalFileSystem {
    static final Map<String, Long> CALLS = new ConcurrentHashMap<>();
    private URI uri;

    @Override
    public void initialize(URI wanted, org.apache.hadoop.conf.Configuration configuration) throws IOException {
        uri = URI.create(wanted.getScheme() + ":///");
        super.initialize(wanted, configuration);
    }

    @Override
    public URI getUri() {
        return uri == null ? URI.create("rename:///") : uri; // asked before it is known
    }

    @Override
    public boolean hasPathCapability(Path path, String capability) {
        return uri.getScheme().equals("store") && capability.equals("fs.capability.outputstream.abortable");
    }

    private static void count(String call) {
        CALLS.merge(call, 1L, Long::sum);
    }

    @Override
    public FSDataInputStream open(Path path, int buffer) throws IOException {
        count("open");
        return super.open(path, buffer);
    }

    @Override
    public FSDataOutputStream create(Path path, boolean overwrite, int buffer, short replication, long block,
            Progressable progress) throws IOException {
        count("create");
        return super.create(path, overwrite, buffer, replication, block, progress);
    }

    @Override
    public boolean rename(Path from, Path to) throws IOException {
        count("rename");
        return super.rename(from, to);
    }
}
