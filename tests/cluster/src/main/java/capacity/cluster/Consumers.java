package capacity.cluster;

import capacity.oracle.Strategies;
import com.alibaba.fastjson2.JSONArray;
import com.alibaba.fastjson2.JSONObject;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.StreamSupport;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.MessageSelector;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueByConfig;
import org.apache.rocketmq.client.impl.MQClientManager;
import org.apache.rocketmq.client.impl.consumer.RebalanceImpl;
import org.apache.rocketmq.common.MixAll;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.protocol.heartbeat.MessageModel;

/** The live consumers of this JVM, each under a number. Commands: start_consumer, stop_consumer, suspend_consumer, owned. */
final class Consumers {
    private record Live(DefaultMQPushConsumer consumer, LongAdder consumed, LongAdder busyNanos) {
    }

    private final String nameserver;
    private final Map<Integer, Live> live = new LinkedHashMap<>();
    private int last;

    Consumers(String nameserver) {
        this.nameserver = nameserver;
    }

    void addTo(Commands commands) {
        commands.add("start_consumer", this::start).add("stop_consumer", this::stop)
            .add("suspend_consumer", this::suspend).add("resubscribe_consumer", this::resubscribe).add("owned", fields -> owned());
    }

    private Object start(JSONObject fields) throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(fields.getString("consumer_group"));
        consumer.setNamesrvAddr(nameserver);
        consumer.setClientIP(fields.getString("client_ip"));
        consumer.setInstanceName(fields.getString("instance_name"));
        consumer.setAllocateMessageQueueStrategy(strategyOf(fields.getJSONObject("strategy")));
        consumer.setMessageModel(MessageModel.valueOf(fields.getString("message_model")));
        consumer.setClientRebalance(!fields.getBooleanValue("pop"));
        consumer.setPopInvisibleTime(fields.getLongValue("pop_invisible_ms"));
        consumer.setConsumeFromWhere(ConsumeFromWhere.valueOf(fields.getString("consume_from_where")));
        consumer.setConsumeThreadMin(fields.getIntValue("consume_threads"));
        consumer.setConsumeThreadMax(fields.getIntValue("consume_threads"));
        consumer.setConsumeMessageBatchMaxSize(fields.getIntValue("consume_batch_size"));
        consumer.setPullBatchSize(fields.getIntValue("pull_batch_size"));
        consumer.setPullInterval(fields.getIntValue("pull_interval_ms"));
        consumer.setPullThresholdForQueue(fields.getIntValue("pull_threshold_for_queue"));
        consumer.setPollNameServerInterval(fields.getIntValue("poll_nameserver_ms"));
        consumer.setHeartbeatBrokerInterval(fields.getIntValue("heartbeat_ms"));
        consumer.setPersistConsumerOffsetInterval(fields.getIntValue("persist_offset_ms"));
        subscribe(consumer, fields.getJSONArray("subscriptions"));
        Live entry = new Live(consumer, new LongAdder(), new LongAdder());
        listen(entry, fields.getBooleanValue("orderly"), fields.getBooleanValue("fails_first"),
            fields.getLongValue("delay_ms"), new Recorder(fields.getString("record")));

        String clientId = consumer.buildMQClientId();
        if (isLive(consumer.getConsumerGroup(), clientId)) {
            // One client instance holds a group once. Forgotten by its manager, the first goes on, and the second gets
            // an instance and channels of its own: two processes that were given the same id.
            MQClientManager.getInstance().removeClientFactory(clientId);
        }
        consumer.start();
        live.put(++last, entry);
        return JSONObject.of("consumer", last, "client_id", clientId);
    }

    private boolean isLive(String group, String clientId) {
        return live.values().stream().map(Live::consumer).anyMatch(consumer ->
            consumer.getConsumerGroup().equals(group) && consumer.buildMQClientId().equals(clientId));
    }

    /** The official class itself, so that the client reports it as any other client would. */
    private static AllocateMessageQueueStrategy strategyOf(JSONObject params) {
        if (!"CONFIG".equals(params.getString("strategy"))) {
            return Strategies.of(params);
        }
        AllocateMessageQueueByConfig strategy = new AllocateMessageQueueByConfig();
        JSONArray rows = params.getJSONArray("config");
        strategy.setMessageQueueList(StreamSupport.stream(rows.spliterator(), false).map(JSONArray.class::cast)
            .map(row -> new MessageQueue(row.getString(0), row.getString(1), row.getIntValue(2))).toList());
        return strategy;
    }

    private static void subscribe(DefaultMQPushConsumer consumer, JSONArray subscriptions) throws Exception {
        for (int i = 0; i < subscriptions.size(); i++) {
            JSONObject subscription = subscriptions.getJSONObject(i);
            String expression = subscription.getString("expression");
            boolean sql = "SQL92".equals(subscription.getString("expression_type"));
            consumer.subscribe(subscription.getString("topic"), sql
                ? MessageSelector.bySql(expression) : MessageSelector.byTag(expression));
        }
    }

    private static void listen(Live entry, boolean orderly, boolean failsFirst, long delayMs, Recorder recorder) {
        if (orderly) {
            entry.consumer().registerMessageListener((MessageListenerOrderly) (messages, context) -> {
                recorder.add(messages);
                consume(messages.size(), delayMs, entry);
                return ConsumeOrderlyStatus.SUCCESS;
            });
        } else {
            entry.consumer().registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
                recorder.add(messages);
                consume(messages.size(), delayMs, entry);
                boolean fails = failsFirst && messages.get(0).getReconsumeTimes() == 0;
                return fails ? ConsumeConcurrentlyStatus.RECONSUME_LATER : ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
            });
        }
    }

    private static void consume(int messages, long delayMs, Live entry) {
        long begin = System.nanoTime();
        try {
            Thread.sleep(delayMs * messages);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        entry.busyNanos().add(System.nanoTime() - begin);
        entry.consumed().add(messages);
    }

    private Object stop(JSONObject fields) {
        live.remove(fields.getIntValue("consumer")).consumer().shutdown();
        return null;
    }

    /** Reads these topics and no others from the next rebalance on, as a program does that changes its subscriptions. */
    private Object resubscribe(JSONObject fields) throws Exception {
        DefaultMQPushConsumer consumer = live.get(fields.getIntValue("consumer")).consumer();
        JSONArray subscriptions = fields.getJSONArray("subscriptions");
        subscribe(consumer, subscriptions);
        Set<String> wanted = new HashSet<>();
        for (int i = 0; i < subscriptions.size(); i++) {
            wanted.add(subscriptions.getJSONObject(i).getString("topic"));
        }
        for (String topic : List.copyOf(consumer.getDefaultMQPushConsumerImpl().getSubscriptionInner().keySet())) {
            if (!wanted.contains(topic) && !topic.startsWith(MixAll.RETRY_GROUP_TOPIC_PREFIX)) {
                consumer.unsubscribe(topic);
            }
        }
        return null;
    }

    private Object suspend(JSONObject fields) {
        live.get(fields.getIntValue("consumer")).consumer().suspend();
        return null;
    }

    /** Each consumer's own tables: what it really holds, whoever thinks otherwise. */
    private JSONArray owned() {
        JSONArray rows = new JSONArray();
        live.forEach((number, entry) -> {
            DefaultMQPushConsumer consumer = entry.consumer();
            RebalanceImpl rebalance = consumer.getDefaultMQPushConsumerImpl().getRebalanceImpl();
            rows.add(JSONObject.of("consumer", number, "consumer_group", consumer.getConsumerGroup(),
                    "client_id", consumer.buildMQClientId(), "consumed", entry.consumed().sum())
                .fluentPut("busy_s", entry.busyNanos().sum() / 1e9)
                .fluentPut("queues", Facts.queues(rebalance.getProcessQueueTable().keySet()))
                .fluentPut("pop_queues", Facts.queues(rebalance.getPopProcessQueueTable().keySet())));
        });
        return rows;
    }
}
