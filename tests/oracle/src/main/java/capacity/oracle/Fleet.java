package capacity.oracle;

import com.alibaba.fastjson2.JSON;
import com.alibaba.fastjson2.JSONArray;
import com.alibaba.fastjson2.JSONObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * A fleet read from a file of JSON lines, with its lists as clients get them and as clients sort them.
 *
 * <p>Lines, topics before the groups that name them:
 * {"topic": t, "queues": [[broker_name, read_queue_nums]]},
 * {"consumer_group": g, "client_ids": [], "topics": [], ...parameters of this group's strategy},
 * {"broker_rooms": {}} and {"client_rooms": {}}.
 */
final class Fleet {
    /** The calls of some clients of one group for one topic: what a thread takes at a time. */
    record Work(AllocateMessageQueueStrategy strategy, String group, Lists<MessageQueue> queues,
        Lists<String> clientIds, int from, int to) {
    }

    /** A list as clients get it: queues from a set, client ids in the order of a broker's hash table; and sorted. */
    record Lists<T extends Comparable<? super T>>(List<T> given, List<T> sorted) {
        static <T extends Comparable<? super T>> Lists<T> of(List<T> items) {
            List<T> given = new ArrayList<>(items);
            Collections.shuffle(given, new Random(1));
            return new Lists<>(given, sorted(items));
        }

        private static <T extends Comparable<? super T>> List<T> sorted(List<T> items) {
            List<T> sorted = new ArrayList<>(items);
            Collections.sort(sorted);
            return sorted;
        }

        /** The sorted list; sorted anew, as each client does before it allocates, if asked. */
        List<T> sorted(boolean anew) {
            return anew ? sorted(given) : sorted;
        }
    }

    private static final int CLIENTS_AT_A_TIME = 32;

    private final JSONObject params;
    private final Map<String, Lists<MessageQueue>> topics = new HashMap<>();
    private final List<JSONObject> groups = new ArrayList<>();

    private Fleet(JSONObject params) {
        this.params = params;
    }

    /** Reads the file; the parameters name the strategy for every group. */
    static List<Work> read(Path file, JSONObject params) throws IOException {
        Fleet fleet = new Fleet(new JSONObject(params));
        try (BufferedReader reader = Files.newBufferedReader(file)) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                fleet.add(JSON.parseObject(line));
            }
        }
        return fleet.work();
    }

    private void add(JSONObject line) {
        if (line.containsKey("consumer_group")) {
            groups.add(line);
        } else if (line.containsKey("topic")) {
            topics.put(line.getString("topic"), queuesOf(line.getString("topic"), line.getJSONArray("queues")));
        } else {
            params.putAll(line);
        }
    }

    private static Lists<MessageQueue> queuesOf(String topic, JSONArray brokers) {
        List<MessageQueue> queues = new ArrayList<>();
        for (int i = 0; i < brokers.size(); i++) {
            JSONArray broker = brokers.getJSONArray(i);
            for (int id = 0; id < broker.getIntValue(1); id++) {
                queues.add(new MessageQueue(topic, broker.getString(0), id));
            }
        }
        return Lists.of(queues);
    }

    private List<Work> work() {
        List<Work> work = new ArrayList<>();
        AllocateMessageQueueStrategy shared = Strategies.of(params);
        for (JSONObject group : groups) {
            Lists<String> clientIds = Lists.of(group.getJSONArray("client_ids").toList(String.class));
            int clients = clientIds.sorted().size();
            AllocateMessageQueueStrategy strategy = hasParameters(group) ? Strategies.of(merged(group)) : shared;
            for (String topic : group.getJSONArray("topics").toList(String.class)) {
                for (int from = 0; from < clients; from += CLIENTS_AT_A_TIME) {
                    int to = Math.min(from + CLIENTS_AT_A_TIME, clients);
                    String name = group.getString("consumer_group");
                    work.add(new Work(strategy, name, topics.get(topic), clientIds, from, to));
                }
            }
        }
        return work;
    }

    private static boolean hasParameters(JSONObject group) {
        return group.size() > 3;
    }

    private JSONObject merged(JSONObject group) {
        JSONObject merged = new JSONObject(params);
        merged.putAll(group);
        return merged;
    }
}
