package capacity.cluster;

import com.alibaba.fastjson2.JSONObject;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.rocketmq.acl.common.AclClientRPCHook;
import org.apache.rocketmq.acl.common.SessionCredentials;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.common.message.MessageRequestMode;
import org.apache.rocketmq.remoting.RPCHook;
import org.apache.rocketmq.remoting.protocol.subscription.SubscriptionGroupConfig;
import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;

/** Changes to a cluster, made by the official admin client; each command names the broker's address itself. */
final class Admin {
    private static final long TIME_LIMIT_MS = 10_000;

    private final String nameserver;
    private DefaultMQAdminExt client;

    Admin(String nameserver) {
        this.nameserver = nameserver;
    }

    /** A started admin client of the loopback address; capacity.keys names a file of the keys that it signs with. */
    static DefaultMQAdminExt connected(String nameserver, String instanceName) throws Exception {
        DefaultMQAdminExt client = new DefaultMQAdminExt(signing(), TIME_LIMIT_MS);
        client.setNamesrvAddr(nameserver);
        client.setClientIP("127.0.0.1");
        client.setInstanceName(instanceName);
        client.start();
        return client;
    }

    /** Keys are never an argument, which everybody on the machine could read. */
    private static RPCHook signing() throws IOException {
        String file = System.getProperty("capacity.keys");
        if (file == null) {
            return null;
        }
        Properties keys = new Properties();
        try (Reader reader = Files.newBufferedReader(Path.of(file))) {
            keys.load(reader);
        }
        return new AclClientRPCHook(new SessionCredentials(keys.getProperty("access"), keys.getProperty("secret")));
    }

    private interface Change {
        void make(DefaultMQAdminExt client, JSONObject fields) throws Exception;
    }

    void addTo(Commands commands) {
        add(commands, "create_topic", Admin::createTopic);
        add(commands, "create_group", Admin::createGroup);
        add(commands, "create_many", Admin::createMany);
        add(commands, "set_order_conf", Admin::setOrderConf);
        add(commands, "set_request_mode", Admin::setRequestMode);
        add(commands, "set_broker_config", Admin::setBrokerConfig);
        add(commands, "create_user", Admin::createUser);
        add(commands, "set_offset", Admin::setOffset);
        commands.add("facts", fields -> new Facts(client()).all(fields.getBooleanValue("asks_clients")));
        commands.add("mqadmin", fields -> CommandLine.run(fields.getList("words", String.class)));
    }

    private static void setOffset(DefaultMQAdminExt client, JSONObject fields) throws Exception {
        client.resetOffsetByQueueId(fields.getString("broker_addr"), fields.getString("consumer_group"),
            fields.getString("topic"), fields.getIntValue("queue_id"), fields.getLongValue("offset"));
    }

    private void add(Commands commands, String name, Change change) {
        commands.add(name, fields -> {
            change.make(client(), fields);
            return null;
        });
    }

    /** Started by the first command: it takes a second. */
    private DefaultMQAdminExt client() throws Exception {
        if (client == null) {
            client = connected(nameserver, "admin");
        }
        return client;
    }

    private static void createTopic(DefaultMQAdminExt client, JSONObject fields) throws Exception {
        TopicConfig topic = new TopicConfig(fields.getString("topic"), fields.getIntValue("read_queue_nums"),
            fields.getIntValue("write_queue_nums"), fields.getIntValue("perm"));
        topic.setOrder(fields.getBooleanValue("order"));
        if (fields.getString("message_type") != null) {
            topic.setAttributes(new HashMap<>(Map.of("+message.type", fields.getString("message_type"))));
        }
        client.createAndUpdateTopicConfig(fields.getString("broker_addr"), topic);
    }

    private static void createGroup(DefaultMQAdminExt client, JSONObject fields) throws Exception {
        SubscriptionGroupConfig group = new SubscriptionGroupConfig();
        group.setGroupName(fields.getString("consumer_group"));
        group.setConsumeMessageOrderly(fields.getBooleanValue("orderly"));
        if (fields.getString("lite_topic") != null) {
            group.setAttributes(Map.of("+lite.bind.topic", fields.getString("lite_topic")));
        }
        client.createAndUpdateSubscriptionGroupConfig(fields.getString("broker_addr"), group);
    }

    private static void createMany(DefaultMQAdminExt client, JSONObject fields) throws Exception {
        List<TopicConfig> topics = new ArrayList<>();
        for (String topic : fields.getList("topics", String.class)) {
            topics.add(new TopicConfig(topic, 1, 1, 6));
        }
        client.createAndUpdateTopicConfigList(fields.getString("broker_addr"), topics);
        List<SubscriptionGroupConfig> groups = new ArrayList<>();
        for (String name : fields.getList("groups", String.class)) {
            SubscriptionGroupConfig group = new SubscriptionGroupConfig();
            group.setGroupName(name);
            groups.add(group);
        }
        client.createAndUpdateSubscriptionGroupConfigList(fields.getString("broker_addr"), groups);
    }

    /** A user who may do these actions to these resources, and nothing else; without resources nothing. */
    private static void createUser(DefaultMQAdminExt client, JSONObject fields) throws Exception {
        String broker = fields.getString("broker_addr");
        String name = fields.getString("username");
        client.createUser(broker, name, fields.getString("password"), "Normal");
        List<String> resources = fields.getList("resources", String.class);
        if (!resources.isEmpty()) {
            List<String> actions = fields.getList("actions", String.class);
            client.createAcl(broker, "User:" + name, resources, actions, List.of(), "Allow");
        }
    }

    private static void setOrderConf(DefaultMQAdminExt client, JSONObject fields) throws Exception {
        client.createOrUpdateOrderConf(fields.getString("topic"), fields.getString("value"), true);
    }

    private static void setRequestMode(DefaultMQAdminExt client, JSONObject fields) throws Exception {
        client.setMessageRequestMode(fields.getString("broker_addr"), fields.getString("topic"),
            fields.getString("consumer_group"), MessageRequestMode.valueOf(fields.getString("mode")),
            fields.getIntValue("pop_share_queue_num"), TIME_LIMIT_MS);
    }

    private static void setBrokerConfig(DefaultMQAdminExt client, JSONObject fields) throws Exception {
        Properties properties = new Properties();
        properties.putAll(fields.getJSONObject("config"));
        client.updateBrokerConfig(fields.getString("broker_addr"), properties);
    }
}
