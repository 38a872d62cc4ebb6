/** Prints that it is ready, then sleeps until its input ends. */
public class Sleeps {
    public static void main(String[] arguments) throws Exception {
        Thread.currentThread().setName("the \"sleeping\" thread");
        System.out.println("ready");
        while (System.in.read() >= 0) {
        }
    }
}
