import org.sparkflame.Agent;

/** One recording, written in several formats: Outputs LIBRARY START-ARGUMENTS FILE… */
public class Outputs {
    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        Agent.execute(args[1]);
        Thread sleeper = new Thread(() -> {
            try {
                Thread.sleep(600);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }, "sleeper");
        sleeper.start();
        Tags.burn(500);
        sleeper.join();
        Agent.execute("stop");
        for (int i = 2; i < args.length; i++) {
            Agent.execute("dump,file=" + args[i]);
        }
    }
}
