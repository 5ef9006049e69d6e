package capacity.oracle;

import capacity.oracle.Fleet.Work;
import com.alibaba.fastjson2.JSON;
import com.alibaba.fastjson2.JSONObject;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Times the official classes over a fleet: allocate() once for each client and topic, on a number of threads.
 *
 * <p>Arguments: fleet file, parameters as a JSON object (with "strategy"), threads, seconds of warming up, and whether
 * each call sorts its lists (true or false). Prints one JSON object: strategy, threads, seconds, calls, rows,
 * failed_calls. Reading and building the lists is outside the clock. Sorting is inside it if each call sorts, as
 * RebalanceImpl.rebalanceByTopic and the broker's QueryAssignmentProcessor do before each allocate(). The warm-up makes
 * the same calls, in a shuffled order, until its time is over.
 */
public final class FleetBenchmark {
    private record Count(long calls, long rows, long failed) {
        Count plus(Count other) {
            return new Count(calls + other.calls, rows + other.rows, failed + other.failed);
        }
    }

    private FleetBenchmark() {
    }

    public static void main(String[] args) throws IOException, InterruptedException, ExecutionException {
        JSONObject params = JSON.parseObject(args[1]);
        int threads = Integer.parseInt(args[2]);
        long warmUpNanos = (long) (Double.parseDouble(args[3]) * 1e9);
        boolean sorts = Boolean.parseBoolean(args[4]);
        List<Work> work = Fleet.read(Path.of(args[0]), params);

        List<Work> shuffled = new ArrayList<>(work);
        Collections.shuffle(shuffled, new Random(1));
        if (warmUpNanos > 0) {
            run(shuffled, threads, sorts, System.nanoTime() + warmUpNanos);
        }
        System.gc();

        long start = System.nanoTime();
        Count count = run(work, threads, sorts, Long.MAX_VALUE);
        double seconds = (System.nanoTime() - start) / 1e9;
        System.out.println(JSONObject.of("strategy", params.getString("strategy"), "threads", threads)
            .fluentPut("seconds", seconds)
            .fluentPut("calls", count.calls).fluentPut("rows", count.rows).fluentPut("failed_calls", count.failed));
    }

    private static Count run(List<Work> work, int threads, boolean sorts, long deadline)
        throws InterruptedException, ExecutionException {
        AtomicInteger next = new AtomicInteger();
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Future<Count>> parts = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                parts.add(pool.submit(() -> takeUntil(work, next, sorts, deadline)));
            }
            Count total = new Count(0, 0, 0);
            for (Future<Count> part : parts) {
                total = total.plus(part.get());
            }
            return total;
        } finally {
            pool.shutdownNow();
        }
    }

    private static Count takeUntil(List<Work> work, AtomicInteger next, boolean sorts, long deadline) {
        long calls = 0;
        long rows = 0;
        long failed = 0;
        int i;
        while ((i = next.getAndIncrement()) < work.size() && System.nanoTime() < deadline) {
            Work part = work.get(i);
            for (int client = part.from(); client < part.to(); client++) {
                calls++;
                try {
                    List<MessageQueue> queues = part.queues().sorted(sorts);
                    List<String> clientIds = part.clientIds().sorted(sorts);
                    List<MessageQueue> owned = part.strategy()
                        .allocate(part.group(), clientIds.get(client), queues, clientIds);
                    rows += owned == null ? 0 : owned.size();
                } catch (RuntimeException e) {
                    failed++;
                }
            }
        }
        return new Count(calls, rows, failed);
    }
}
