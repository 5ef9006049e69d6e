package capacity.oracle;

import com.alibaba.fastjson2.JSON;
import com.alibaba.fastjson2.JSONArray;
import com.alibaba.fastjson2.JSONObject;
import com.alibaba.fastjson2.JSONWriter;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Answers allocation requests, one JSON object a line, in the order they came; ends with its input.
 *
 * <p>Request: {strategy, consumer_group, topic, queues: [[broker_name, queue_id]], client_ids, ...parameters}.
 * Answer: {queues: sorted as the client sorts them, client_ids: likewise, owned: one entry for each client id}. An
 * entry is a list of positions in queues (or [topic, broker_name, queue_id] for a queue that is not there), null where
 * the official class returned null, or {class, message} where it threw. {error: {class, message}} answers a whole
 * request that could not be asked at all.
 */
public final class Oracle {
    private Oracle() {
    }

    public static void main(String[] args) throws IOException {
        // Standard output carries answers alone, whatever a library prints.
        Writer answers = new BufferedWriter(
            new OutputStreamWriter(new FileOutputStream(FileDescriptor.out), StandardCharsets.US_ASCII), 1 << 16);
        System.setOut(System.err);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), 1 << 16);
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            answers.write(JSON.toJSONString(answer(line),
                JSONWriter.Feature.EscapeNoneAscii, JSONWriter.Feature.WriteMapNullValue));
            answers.write('\n');
            if (!requests.ready()) {
                answers.flush();
            }
        }
        answers.flush();
    }

    private static JSONObject answer(String line) {
        try {
            return allocate(JSON.parseObject(line));
        } catch (RuntimeException e) {
            return JSONObject.of("error", thrown(e));
        }
    }

    private static JSONObject allocate(JSONObject request) {
        AllocateMessageQueueStrategy strategy = Strategies.of(request);
        String group = request.getString("consumer_group");
        List<MessageQueue> queues = queuesOf(request.getString("topic"), request.getJSONArray("queues"));
        List<String> clientIds = new ArrayList<>(request.getJSONArray("client_ids").toList(String.class));
        // As RebalanceImpl.rebalanceByTopic does before it asks the strategy.
        Collections.sort(queues);
        Collections.sort(clientIds);

        Map<MessageQueue, Integer> positions = new HashMap<>();
        JSONArray sorted = new JSONArray(queues.size());
        for (MessageQueue queue : queues) {
            positions.putIfAbsent(queue, sorted.size());
            sorted.add(JSONArray.of(queue.getBrokerName(), queue.getQueueId()));
        }
        JSONArray owned = new JSONArray(clientIds.size());
        for (String clientId : clientIds) {
            owned.add(ask(strategy, group, clientId, queues, clientIds, positions));
        }
        return JSONObject.of("queues", sorted, "client_ids", clientIds, "owned", owned);
    }

    private static Object ask(AllocateMessageQueueStrategy strategy, String group, String clientId,
        List<MessageQueue> queues, List<String> clientIds, Map<MessageQueue, Integer> positions) {
        List<MessageQueue> result;
        try {
            result = strategy.allocate(group, clientId, queues, clientIds);
        } catch (RuntimeException e) {
            return thrown(e);
        }
        if (result == null) {
            return null;
        }
        JSONArray owned = new JSONArray(result.size());
        for (MessageQueue queue : result) {
            Integer position = positions.get(queue);
            owned.add(position != null ? position
                : JSONArray.of(queue.getTopic(), queue.getBrokerName(), queue.getQueueId()));
        }
        return owned;
    }

    private static List<MessageQueue> queuesOf(String topic, JSONArray rows) {
        List<MessageQueue> queues = new ArrayList<>(rows.size());
        for (int i = 0; i < rows.size(); i++) {
            JSONArray row = rows.getJSONArray(i);
            queues.add(new MessageQueue(topic, row.getString(0), row.getIntValue(1)));
        }
        return queues;
    }

    private static JSONObject thrown(RuntimeException e) {
        return JSONObject.of("class", e.getClass().getName(), "message", e.getMessage());
    }
}
