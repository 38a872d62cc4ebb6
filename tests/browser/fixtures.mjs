// Profiles made up for tests, always the same: a small Spark application as perf text and as pprof.

const TASK = ["java/lang/Thread.run", "java/util/concurrent/ThreadPoolExecutor$Worker.run", "org/apache/spark/executor/Executor$TaskRunner.run",
              "org/apache/spark/scheduler/Task.run"];
const MAP = [...TASK, "org/apache/spark/scheduler/ShuffleMapTask.runTask", "org/apache/spark/rdd/RDD.iterator"];
const RESULT = [...TASK, "org/apache/spark/scheduler/ResultTask.runTask", "org/apache/spark/rdd/RDD.iterator"];

/** Stacks from the root, with how often they occur before and after. */
export const SPARK_STACKS = [
    [[...MAP, "org/apache/spark/sql/execution/WholeStageCodegenExec$$anon$1.hasNext", "GeneratedIterator.processNext", "org/apache/spark/unsafe/hash/Murmur3.hash"], 40, 38],
    [[...MAP, "org/apache/spark/sql/execution/WholeStageCodegenExec$$anon$1.hasNext", "GeneratedIterator.processNext"], 25, 30],
    [[...MAP, "org/apache/spark/shuffle/sort/UnsafeShuffleWriter.write", "org/apache/spark/io/LZ4CompressionCodec.compress", "LZ4_compress_fast_[n]"], 30, 0],
    [[...MAP, "org/apache/spark/shuffle/sort/UnsafeShuffleWriter.write", "org/apache/spark/io/ZStdCompressionCodec.compress", "ZSTD_compressBlock"], 0, 12],
    [[...MAP, "org/apache/spark/shuffle/sort/UnsafeShuffleWriter.write", "java/io/FileOutputStream.write", "write", "entry_SYSCALL_64_[k]", "vfs_write_[k]"], 12, 14],
    [[...RESULT, "org/apache/spark/util/collection/ExternalSorter.insertAll", "java/util/HashMap.put", "java/util/HashMap.putVal"], 18, 18],
    [[...RESULT, "scala/collection/Iterator.foreach", "scala/collection/Iterator.foreach", "scala/collection/Iterator.foreach", "com/example/Job$.parse"], 22, 44],
    [[...RESULT, "scala/collection/Iterator.foreach", "com/example/Job$.parse", "java/util/regex/Pattern.matcher"], 9, 10],
    [["java/lang/Thread.run", "org/apache/spark/rpc/netty/MessageLoop.run", "java/util/concurrent/LinkedBlockingQueue.take"], 6, 6],
    [["start_thread", "VMThread::run()", "G1YoungCollector::collect()"], 11, 7],
];

export function foldedText(side) {
    return SPARK_STACKS.filter((row) => row[side + 1] > 0).map((row) => `${row[0].join(";")} ${row[side + 1]}\n`).join("");
}

/** `perf script` text: four threads, ten seconds, the map stage first. */
export function perfText() {
    const samples = [];
    SPARK_STACKS.forEach(([stack, count], index) => {
        for (let i = 0; i < count; i++) {
            const map = stack.includes(MAP[4]);
            const spread = ((i * 7919 + index * 104729) % 1000) / 1000;
            const time = index >= 8 ? 10 * spread : map ? 6 * spread : 5.5 + 4.5 * spread;
            const thread = index === 8 ? ["dispatcher", 140] : index === 9 ? ["VM Thread", 150] : [`task worker ${i % 2}`, 120 + (i % 2)];
            samples.push({ time, thread, stack });
        }
    });
    samples.sort((a, b) => a.time - b.time || a.stack.length - b.stack.length);
    return samples.map(({ time, thread, stack }) =>
        `${thread[0]} 100/${thread[1]} ${(1000 + time).toFixed(6)}: 10000000 cpu-clock:\n` +
        [...stack].reverse().map((frame, i) => `\t${(0x7f0000000000 + i * 16).toString(16)} ${frame}+0x1 (/tmp/perf-100.map)\n`).join("")).join("\n") + "\n";
}
