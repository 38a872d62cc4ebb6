import java.lang.management.ManagementFactory;
import javax.management.ObjectName;
import org.sparkflame.Agent;

/** Sends the same command three times in each possible way, and prints the results. */
public class Declined {
    public static void main(String[] args) throws Exception {
        ObjectName commands = new ObjectName("com.sun.management:type=DiagnosticCommand");
        for (int i = 0; i < 3; i++) {
            Object reply = ManagementFactory.getPlatformMBeanServer().invoke(commands, "jvmtiAgentLoad",
                    new Object[] {new String[] {args[0], args[1]}}, new String[] {String[].class.getName()});
            System.out.println("attached: " + reply.toString().trim());
        }
        System.load(args[0]);
        for (int i = 0; i < 3; i++) {
            try {
                Agent.setTag("stage=1");
                System.out.println("called: " + Agent.execute(args[1]).trim());
            } catch (IllegalStateException e) {
                System.out.println("called: " + e.getMessage());
            }
        }
        System.out.println("alive");
    }
}
