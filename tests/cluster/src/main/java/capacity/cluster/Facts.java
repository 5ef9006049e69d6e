package capacity.cluster;

import com.alibaba.fastjson2.JSONArray;
import com.alibaba.fastjson2.JSONObject;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.common.topic.TopicValidator;
import org.apache.rocketmq.remoting.protocol.ResponseCode;
import org.apache.rocketmq.remoting.protocol.admin.ConsumeStats;
import org.apache.rocketmq.remoting.protocol.admin.TopicStatsTable;
import org.apache.rocketmq.remoting.protocol.body.Connection;
import org.apache.rocketmq.remoting.protocol.body.ConsumerConnection;
import org.apache.rocketmq.remoting.protocol.body.ConsumerRunningInfo;
import org.apache.rocketmq.remoting.protocol.heartbeat.SubscriptionData;
import org.apache.rocketmq.remoting.protocol.route.BrokerData;
import org.apache.rocketmq.remoting.protocol.route.QueueData;
import org.apache.rocketmq.remoting.protocol.route.TopicRouteData;
import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;

/** What the official admin client says about a cluster, as flat rows; every address is asked itself. */
final class Facts {
    private static final long TIME_LIMIT_MS = 10_000;
    private static final List<String> KINDS = List.of(
        "topic_configs", "topic_stats", "connections", "group_subscriptions", "consume_stats", "running");

    private final DefaultMQAdminExt client;

    Facts(DefaultMQAdminExt client) {
        this.client = client;
    }

    /** Every fact, in lists of rows named by what they are; "running" is empty where clients are not to be asked. */
    JSONObject all(boolean asksClients) throws Exception {
        JSONArray brokers = brokers();
        TreeSet<String> groups = new TreeSet<>();
        JSONObject facts = JSONObject.of("brokers", brokers, "routes", routes());
        KINDS.forEach(kind -> facts.put(kind, new JSONArray()));
        for (int i = 0; i < brokers.size(); i++) {
            JSONObject broker = brokers.getJSONObject(i);
            String address = broker.getString("broker_addr");
            groups.addAll(client.getAllSubscriptionGroup(address, TIME_LIMIT_MS).getSubscriptionGroupTable().keySet());
            topics(broker, facts);
        }
        for (String group : groups) {
            TreeSet<String> clientIds = new TreeSet<>();
            for (int i = 0; i < brokers.size(); i++) {
                connections(brokers.getJSONObject(i), group, clientIds, facts);
                consumeStats(brokers.getJSONObject(i), group, facts);
            }
            if (asksClients) {
                for (String clientId : clientIds) {
                    facts.getJSONArray("running").add(running(group, clientId));
                }
            }
        }
        return facts.fluentPut("consumer_groups", new ArrayList<>(groups));
    }

    private JSONArray brokers() throws Exception {
        JSONArray rows = new JSONArray();
        for (BrokerData broker : client.examineBrokerClusterInfo().getBrokerAddrTable().values()) {
            broker.getBrokerAddrs().forEach((id, address) -> rows.add(JSONObject.of(
                "broker_name", broker.getBrokerName(), "broker_id", id, "broker_addr", address)));
        }
        return rows;
    }

    private JSONArray routes() throws Exception {
        JSONArray rows = new JSONArray();
        for (String topic : client.fetchAllTopicList().getTopicList()) {
            TopicRouteData route;
            try {
                route = client.examineTopicRouteInfo(topic);
            } catch (MQClientException e) {
                continue; // topics named after the cluster and after brokers have no route of their own
            }
            for (QueueData queue : route.getQueueDatas()) {
                rows.add(JSONObject.of("topic", topic, "broker_name", queue.getBrokerName(),
                        "read_queue_nums", queue.getReadQueueNums(), "write_queue_nums", queue.getWriteQueueNums())
                    .fluentPut("perm", queue.getPerm()));
            }
        }
        return rows;
    }

    private void topics(JSONObject broker, JSONObject facts) throws Exception {
        String address = broker.getString("broker_addr");
        for (TopicConfig topic : client.getAllTopicConfig(address, TIME_LIMIT_MS).getTopicConfigTable().values()) {
            String name = topic.getTopicName();
            facts.getJSONArray("topic_configs").add(of(broker).fluentPut("topic", name)
                .fluentPut("read_queue_nums", topic.getReadQueueNums())
                .fluentPut("write_queue_nums", topic.getWriteQueueNums())
                .fluentPut("perm", topic.getPerm()).fluentPut("order", topic.isOrder())
                .fluentPut("attributes", topic.getAttributes()));
            if (TopicValidator.isSystemTopic(name)) {
                continue; // BenchmarkTest alone has 1024 queues
            }
            TopicStatsTable stats;
            try {
                stats = client.examineTopicStats(address, name);
            } catch (MQBrokerException e) {
                if (e.getResponseCode() != ResponseCode.TOPIC_NOT_EXIST) {
                    throw e;
                }
                continue; // a slave takes every topic away for a moment when it copies its master (SlaveSynchronize)
            }
            stats.getOffsetTable().forEach((queue, offset) ->
                facts.getJSONArray("topic_stats").add(of(broker).fluentPut("topic", name)
                    .fluentPut("queue_id", queue.getQueueId())
                    .fluentPut("min_offset", offset.getMinOffset()).fluentPut("max_offset", offset.getMaxOffset())));
        }
    }

    private void connections(JSONObject broker, String group, TreeSet<String> clientIds, JSONObject facts)
        throws Exception {
        ConsumerConnection connections;
        try {
            connections = client.examineConsumerConnectionInfo(group, broker.getString("broker_addr"));
        } catch (MQBrokerException e) {
            return; // nobody of the group is connected to this broker
        }
        for (Connection connection : connections.getConnectionSet()) {
            clientIds.add(connection.getClientId());
            facts.getJSONArray("connections").add(of(broker).fluentPut("consumer_group", group)
                .fluentPut("client_id", connection.getClientId()).fluentPut("client_addr", connection.getClientAddr())
                .fluentPut("language", connection.getLanguage().name()).fluentPut("version", connection.getVersion()));
        }
        facts.getJSONArray("group_subscriptions").add(of(broker).fluentPut("consumer_group", group)
            .fluentPut("message_model", connections.getMessageModel().name())
            .fluentPut("consume_type", connections.getConsumeType().name())
            .fluentPut("subscriptions", subscriptions(connections.getSubscriptionTable().values())));
    }

    private void consumeStats(JSONObject broker, String group, JSONObject facts) throws Exception {
        ConsumeStats stats = client.examineConsumeStats(broker.getString("broker_addr"), group, "", TIME_LIMIT_MS);
        stats.getOffsetTable().forEach((queue, offset) -> facts.getJSONArray("consume_stats").add(of(broker)
            .fluentPut("consumer_group", group)
            .fluentPut("topic", queue.getTopic()).fluentPut("queue_id", queue.getQueueId())
            .fluentPut("broker_offset", offset.getBrokerOffset())
            .fluentPut("consumer_offset", offset.getConsumerOffset())));
    }

    private JSONObject running(String group, String clientId) throws Exception {
        ConsumerRunningInfo info = client.getConsumerRunningInfo(group, clientId, false);
        JSONObject row = JSONObject.of("consumer_group", group, "client_id", clientId,
            "properties", new JSONObject(asStrings(info.getProperties())));
        row.put("subscriptions", subscriptions(info.getSubscriptionSet()));
        row.put("owned_queues", queues(info.getMqTable().keySet()));
        row.put("owned_pop_queues", queues(info.getMqPopTable().keySet()));
        row.put("status", info.getStatusTable());
        return row;
    }

    private static Map<String, Object> asStrings(Map<?, ?> properties) {
        JSONObject strings = new JSONObject();
        properties.forEach((key, value) -> strings.put(key.toString(), value.toString()));
        return strings;
    }

    /** [topic, broker name, queue id] of each queue, sorted. */
    static JSONArray queues(Iterable<MessageQueue> queues) {
        List<MessageQueue> sorted = new ArrayList<>();
        queues.forEach(sorted::add);
        Collections.sort(sorted);
        JSONArray rows = new JSONArray();
        sorted.forEach(queue -> rows.add(JSONArray.of(queue.getTopic(), queue.getBrokerName(), queue.getQueueId())));
        return rows;
    }

    private static JSONArray subscriptions(Iterable<SubscriptionData> subscriptions) {
        JSONArray rows = new JSONArray();
        subscriptions.forEach(data -> rows.add(JSONObject.of("topic", data.getTopic(),
            "expression_type", data.getExpressionType(), "expression", data.getSubString())));
        return rows;
    }

    private static JSONObject of(JSONObject broker) {
        return new JSONObject(broker);
    }
}
