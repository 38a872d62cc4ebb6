import java.io.File;
import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;

/** Local files under hang:///; renaming blocks while there is a file named "hang" three folders above. */
public final class HangingFiles extends RawLocalFileSystem {
    @Override
    public URI getUri() {
        return URI.create("hang:///");
    }

    @Override
    public boolean rename(Path from, Path to) throws IOException {
        File sign = new File(pathToFile(to).getParentFile().getParentFile().getParentFile().getParentFile(), "hang");
        try {
            while (sign.exists()) {
                Thread.sleep(50);
            }
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
        return super.rename(from, to);
    }
}
