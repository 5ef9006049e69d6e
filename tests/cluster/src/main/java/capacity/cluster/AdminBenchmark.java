package capacity.cluster;

import com.alibaba.fastjson2.JSONObject;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.topic.TopicValidator;
import org.apache.rocketmq.remoting.protocol.body.ClusterInfo;
import org.apache.rocketmq.remoting.protocol.body.Connection;
import org.apache.rocketmq.remoting.protocol.route.BrokerData;
import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;

/**
 * Times the official admin client over the facts of one snapshot; arguments: name server, passes, threads.
 *
 * <p>A pass asks for the cluster, the topics and their routes; each broker for its topics, groups, run-time figures and
 * settings; each broker for the offsets of each of its topics, and the members and offsets of each group; each client
 * for its running info. What the admin client has no call for (all committed offsets at once, request modes) is left
 * out. Prints {threads, seconds: one a pass, calls: of the last pass}. One thread means one call after the other.
 */
public final class AdminBenchmark {
    private static final long TIME_LIMIT_MS = 10_000;

    private record Client(String group, String clientId) implements Comparable<Client> {
        @Override
        public int compareTo(Client other) {
            int byGroup = group.compareTo(other.group);
            return byGroup != 0 ? byGroup : clientId.compareTo(other.clientId);
        }
    }

    private record Broker(String address, Set<String> topics, Set<String> groups) {
    }

    private final DefaultMQAdminExt admin;
    private final ExecutorService pool;
    private final AtomicLong calls = new AtomicLong();

    private AdminBenchmark(DefaultMQAdminExt admin, int threads) {
        this.admin = admin;
        this.pool = Executors.newFixedThreadPool(threads);
    }

    public static void main(String[] args) throws Exception {
        int passes = Integer.parseInt(args[1]);
        int threads = Integer.parseInt(args[2]);
        DefaultMQAdminExt admin = Admin.connected(args[0], "benchmark");
        AdminBenchmark benchmark = new AdminBenchmark(admin, threads);
        List<Double> seconds = new ArrayList<>();
        for (int i = 0; i < passes; i++) {
            benchmark.calls.set(0);
            long start = System.nanoTime();
            benchmark.pass();
            seconds.add((System.nanoTime() - start) / 1e9);
        }
        System.out.println(JSONObject.of("threads", threads, "seconds", seconds, "calls", benchmark.calls.get()));
        Runtime.getRuntime().halt(0);
    }

    private void pass() throws Exception {
        ClusterInfo cluster = admin.examineBrokerClusterInfo();
        Set<String> topics = new TreeSet<>(admin.fetchAllTopicList().getTopicList());
        calls.addAndGet(2);
        Set<String> system = new HashSet<>(cluster.getClusterAddrTable().keySet());
        system.addAll(cluster.getBrokerAddrTable().keySet());
        topics.removeIf(topic -> system.contains(topic) || TopicValidator.isSystemTopic(topic));

        List<Callable<Object>> tasks = new ArrayList<>();
        topics.forEach(topic -> tasks.add(() -> admin.examineTopicRouteInfo(topic)));
        List<Broker> brokers = new ArrayList<>();
        for (BrokerData data : cluster.getBrokerAddrTable().values()) {
            for (String address : data.getBrokerAddrs().values()) {
                Broker broker = new Broker(address, new ConcurrentSkipListSet<>(), new ConcurrentSkipListSet<>());
                brokers.add(broker);
                tasks.add(() -> broker.topics.addAll(
                    admin.getAllTopicConfig(address, TIME_LIMIT_MS).getTopicConfigTable().keySet()));
                tasks.add(() -> broker.groups.addAll(
                    admin.getAllSubscriptionGroup(address, TIME_LIMIT_MS).getSubscriptionGroupTable().keySet()));
                tasks.add(() -> admin.fetchBrokerRuntimeStats(address));
                tasks.add(() -> admin.getBrokerConfig(address));
            }
        }
        run(tasks);

        Set<Client> clients = new ConcurrentSkipListSet<>();
        for (Broker broker : brokers) {
            broker.topics.retainAll(topics);
            broker.topics.forEach(topic -> tasks.add(() -> admin.examineTopicStats(broker.address, topic)));
            for (String group : broker.groups) {
                tasks.add(() -> members(broker.address, group, clients));
                tasks.add(() -> admin.examineConsumeStats(broker.address, group, "", TIME_LIMIT_MS));
            }
        }
        run(tasks);
        clients.forEach(client -> tasks.add(() -> admin.getConsumerRunningInfo(client.group, client.clientId, false)));
        run(tasks);
    }

    private Object members(String address, String group, Set<Client> clients) throws Exception {
        for (Connection member : admin.examineConsumerConnectionInfo(group, address).getConnectionSet()) {
            clients.add(new Client(group, member.getClientId()));
        }
        return null;
    }

    private void run(List<Callable<Object>> tasks) throws Exception {
        calls.addAndGet(tasks.size());
        List<Callable<Object>> answered = new ArrayList<>();
        for (Callable<Object> task : tasks) {
            answered.add(() -> {
                try {
                    return task.call();
                } catch (MQBrokerException | MQClientException e) {
                    return e; // an answer too: nobody of the group is online, say
                }
            });
        }
        tasks.clear();
        for (Future<Object> future : pool.invokeAll(answered)) {
            future.get();
        }
    }
}
