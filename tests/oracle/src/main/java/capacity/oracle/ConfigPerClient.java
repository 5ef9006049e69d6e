package capacity.oracle;

import com.alibaba.fastjson2.JSONArray;
import com.alibaba.fastjson2.JSONObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueByConfig;
import org.apache.rocketmq.common.message.MessageQueue;

/** One official AllocateMessageQueueByConfig for each client, as each client would hold its own. */
final class ConfigPerClient implements AllocateMessageQueueStrategy {
    private final Map<String, AllocateMessageQueueByConfig> strategies;

    private ConfigPerClient(Map<String, AllocateMessageQueueByConfig> strategies) {
        this.strategies = strategies;
    }

    /** From client id -> list of [topic, broker name, queue id]; null stands for no lists at all. */
    static ConfigPerClient of(JSONObject lists) {
        Map<String, AllocateMessageQueueByConfig> strategies = new HashMap<>();
        if (lists != null) {
            for (String clientId : lists.keySet()) {
                AllocateMessageQueueByConfig strategy = new AllocateMessageQueueByConfig();
                strategy.setMessageQueueList(queuesOf(lists.getJSONArray(clientId)));
                strategies.put(clientId, strategy);
            }
        }
        return new ConfigPerClient(strategies);
    }

    private static List<MessageQueue> queuesOf(JSONArray rows) {
        List<MessageQueue> queues = new ArrayList<>(rows.size());
        for (int i = 0; i < rows.size(); i++) {
            JSONArray row = rows.getJSONArray(i);
            queues.add(new MessageQueue(row.getString(0), row.getString(1), row.getIntValue(2)));
        }
        return queues;
    }

    @Override
    public List<MessageQueue> allocate(String group, String clientId, List<MessageQueue> queues,
        List<String> clientIds) {
        return strategies.getOrDefault(clientId, new AllocateMessageQueueByConfig())
            .allocate(group, clientId, queues, clientIds);
    }

    @Override
    public String getName() {
        return "CONFIG";
    }
}
