import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/** EvenWork TASKS FILE: one long stage whose tasks all compute the same and write 200 KB for a shuffle. Writes the
 * application's id to FILE when it begins. */
public final class EvenWork {
    private static final int BLOCKS = 4;
    private static final int BLOCK_BYTES = 50_000;
    private static final int ROUNDS = 40;

    private EvenWork() {
    }

    static byte[] make(Random random) {
        byte[] bytes = new byte[BLOCK_BYTES];
        random.nextBytes(bytes);
        return bytes;
    }

    static int digest(byte[] bytes) throws Exception {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        int sum = 0;
        for (int i = 0; i < 2; i++) {
            sum += digest.digest(bytes)[0];
        }
        return sum;
    }

    static int order(byte[] bytes) {
        int[] numbers = new int[bytes.length];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = bytes[i] * 31 + bytes[(i + 1) % numbers.length];
        }
        Arrays.sort(numbers);
        return numbers[numbers.length / 2];
    }

    static int parse(byte[] bytes) {
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        int count = 0;
        for (String part : text.split(" ")) {
            count += part.hashCode();
        }
        return count;
    }

    static Iterator<Tuple2<Integer, byte[]>> run(int partition) throws Exception {
        List<Tuple2<Integer, byte[]>> made = new ArrayList<>();
        Random random = new Random(partition);
        for (int block = 0; block < BLOCKS; block++) {
            byte[] bytes = make(random);
            int sum = 0;
            for (int round = 0; round < ROUNDS; round++) {
                sum += digest(bytes) + order(bytes) + parse(bytes);
            }
            made.add(new Tuple2<>(sum, bytes));
        }
        return made.iterator();
    }

    public static void main(String[] arguments) throws Exception {
        int tasks = Integer.parseInt(arguments[0]);
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < tasks; i++) {
            numbers.add(i);
        }
        try (JavaSparkContext context = new JavaSparkContext(new SparkConf())) {
            Files.writeString(Path.of(arguments[1]), context.sc().applicationId());
            context.parallelize(numbers, tasks).mapPartitionsToPair(part -> run(part.next())).groupByKey(1).count();
        }
    }
}
