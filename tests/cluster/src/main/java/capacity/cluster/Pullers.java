package capacity.cluster;

import com.alibaba.fastjson2.JSONObject;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPullConsumer;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Consumers that ask for messages when they want to. Commands: start_puller with a kind, stop_pullers.
 *
 * <p>REGISTERED is the old pull consumer, whose program chooses its queues. LITE subscribes, and its queues come of a
 * rebalance. ASSIGNED takes the first queue of its topic.
 */
final class Pullers {
    private final String nameserver;
    private final List<Runnable> ends = new ArrayList<>();

    Pullers(String nameserver) {
        this.nameserver = nameserver;
    }

    void addTo(Commands commands) {
        commands.add("start_puller", this::start).add("stop_pullers", fields -> stop());
    }

    private Object start(JSONObject fields) throws Exception {
        String group = fields.getString("consumer_group");
        String instance = fields.getString("instance_name");
        String topic = fields.getString("topic");
        if ("REGISTERED".equals(fields.getString("kind"))) {
            DefaultMQPullConsumer consumer = new DefaultMQPullConsumer(group);
            consumer.setNamesrvAddr(nameserver);
            consumer.setClientIP("127.0.0.1");
            consumer.setInstanceName(instance);
            consumer.setRegisterTopics(new HashSet<>(Set.of(topic)));
            consumer.start();
            ends.add(consumer::shutdown);
            return null;
        }
        DefaultLitePullConsumer consumer = new DefaultLitePullConsumer(group);
        consumer.setNamesrvAddr(nameserver);
        consumer.setClientIP("127.0.0.1");
        consumer.setInstanceName(instance);
        if ("LITE".equals(fields.getString("kind"))) {
            consumer.subscribe(topic, "*");
        }
        consumer.start();
        if ("ASSIGNED".equals(fields.getString("kind"))) {
            List<MessageQueue> queues = new ArrayList<>(consumer.fetchMessageQueues(topic));
            queues.sort(null);
            consumer.assign(queues.subList(0, 1));
        }
        consumer.poll(1_000);
        ends.add(consumer::shutdown);
        return null;
    }

    private Object stop() {
        ends.forEach(Runnable::run);
        ends.clear();
        return null;
    }
}
