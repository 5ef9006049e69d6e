package capacity.oracle;

import com.alibaba.fastjson2.JSONArray;
import com.alibaba.fastjson2.JSONObject;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMachineRoomNearby;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragelyByCircle;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueByMachineRoom;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueConsistentHash;
import org.apache.rocketmq.common.message.MessageQueue;

/** From the parameters of a request to the official strategy object. */
public final class Strategies {
    private static final String NEARBY = "MACHINE_ROOM_NEARBY-";
    private static final int DEFAULT_VIRTUAL_NODES = 10;
    private static final int DEFAULT_POP_SHARE = -1;

    private Strategies() {
    }

    /**
     * The official strategy that the request names, with the request's parameters.
     *
     * <p>A parameter that is absent stays unset in the official object, so that it fails as it would fail there.
     */
    public static AllocateMessageQueueStrategy of(JSONObject request) {
        return of(request.getString("strategy"), request);
    }

    private static AllocateMessageQueueStrategy of(String name, JSONObject params) {
        if (name.startsWith(NEARBY)) {
            return new AllocateMachineRoomNearby(of(name.substring(NEARBY.length()), params), roomsOf(params));
        }
        switch (name) {
            case "AVG":
                return new AllocateMessageQueueAveragely();
            case "AVG_BY_CIRCLE":
                return new AllocateMessageQueueAveragelyByCircle();
            case "CONSISTENT_HASH":
                return new AllocateMessageQueueConsistentHash(
                    params.getIntValue("virtual_nodes", DEFAULT_VIRTUAL_NODES));
            case "MACHINE_ROOM":
                return byMachineRoom(params.getJSONArray("machine_rooms"));
            case "CONFIG":
                return ConfigPerClient.of(params.getJSONObject("config"));
            case "POP":
                return new PopOfBroker(of(params.getOrDefault("pop_strategy", "AVG").toString(), params),
                    params.getIntValue("pop_share_queue_num", DEFAULT_POP_SHARE));
            default:
                throw new IllegalArgumentException("unknown strategy " + name);
        }
    }

    private static AllocateMessageQueueStrategy byMachineRoom(JSONArray rooms) {
        AllocateMessageQueueByMachineRoom strategy = new AllocateMessageQueueByMachineRoom();
        if (rooms != null) {
            strategy.setConsumeridcs(new HashSet<>(rooms.toList(String.class)));
        }
        return strategy;
    }

    private static AllocateMachineRoomNearby.MachineRoomResolver roomsOf(JSONObject params) {
        Map<String, String> brokers = strings(params.getJSONObject("broker_rooms"));
        Map<String, String> clients = strings(params.getJSONObject("client_rooms"));
        return new AllocateMachineRoomNearby.MachineRoomResolver() {
            @Override
            public String brokerDeployIn(MessageQueue queue) {
                return brokers.get(queue.getBrokerName());
            }

            @Override
            public String consumerDeployIn(String clientId) {
                return clients.get(clientId);
            }
        };
    }

    private static Map<String, String> strings(JSONObject object) {
        Map<String, String> map = new HashMap<>();
        if (object != null) {
            object.forEach((key, value) -> map.put(key, value == null ? null : value.toString()));
        }
        return map;
    }
}
