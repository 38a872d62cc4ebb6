package software.amazon.profiler;

import org.sparkflame.SampleApp;

/** The name of CodeGuru's sample application. */
public final class SampleSparkApp {
    private SampleSparkApp() {
    }

    public static void main(String... arguments) throws Exception {
        SampleApp.main(arguments);
    }
}
