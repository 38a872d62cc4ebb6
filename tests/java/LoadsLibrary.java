import org.sparkflame.Agent;

/** Loads a library into its own class loader; with a command the library is the agent. */
public class LoadsLibrary {
    public static void load(String library, String command) {
        System.load(library);
        if (!command.isEmpty()) {
            System.load(library); // a second time by the same loader: no effect
            Agent.execute(command);
        }
    }
}
