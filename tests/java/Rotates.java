import org.sparkflame.Agent;

/** One labelled task whose recording is rotated repeatedly: Rotates LIBRARY FOLDER TIMES. */
public class Rotates {
    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        Agent.execute("start,event=ctimer,interval=1ms,file=" + args[1] + "/0.jfr");
        Thread task = new Thread(() -> {
            Agent.setTag("stage=1;task=10");
            work(Integer.parseInt(args[2]));
            Agent.setTag(null);
        }, "task");
        task.start();
        for (int i = 1; i <= Integer.parseInt(args[2]); i++) {
            Thread.sleep(60);
            Agent.execute("rotate,file=" + args[1] + "/" + i + ".jfr");
        }
        try {
            Agent.execute("rotate,file=" + args[1] + "/missing/9.jfr");
        } catch (Exception e) {
            System.out.println("refused: " + e.getMessage());
        }
        task.join();
        System.out.print(Agent.execute("stop"));
        System.out.print(Agent.execute("metrics"));
    }

    static void work(int times) {
        Tags.burn(100L * times);
    }
}
