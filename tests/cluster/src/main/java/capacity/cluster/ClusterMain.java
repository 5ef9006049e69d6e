package capacity.cluster;

import com.alibaba.fastjson2.JSONObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.broker.BrokerStartup;
import org.apache.rocketmq.namesrv.NamesrvController;
import org.apache.rocketmq.namesrv.NamesrvStartup;
import org.apache.rocketmq.remoting.protocol.route.BrokerData;

/**
 * A name server and brokers in one JVM, or brokers alone: each argument is nameserver=FILE or broker=FILE, a properties
 * file as RocketMQ's own scripts take it with -c.
 *
 * <p>Commands: register (brokers here to their name server), registered (what the name server here lists), and beside
 * a name server those of Admin.
 */
public final class ClusterMain {
    private ClusterMain() {
    }

    public static void main(String[] args) throws Exception {
        Commands commands = new Commands();
        List<BrokerController> brokers = new ArrayList<>();
        for (String arg : args) {
            int equals = arg.indexOf('=');
            String[] options = {"-c", arg.substring(equals + 1)};
            if (arg.startsWith("nameserver=")) {
                NamesrvController nameserver = NamesrvStartup.main0(options);
                commands.add("registered", fields -> registered(nameserver));
                new Admin("127.0.0.1:" + nameserver.getNettyServerConfig().getListenPort()).addTo(commands);
            } else {
                brokers.add(start(options));
            }
        }
        commands.add("register", fields -> {
            // At its start a broker may find that its name server is "not available" yet, and tries again after 10 s.
            brokers.forEach(broker -> broker.registerBrokerAll(true, false, true));
            return brokers.size();
        });
        commands.say(JSONObject.of("ok", "started"));
        commands.serve();
    }

    private static BrokerController start(String[] options) throws Exception {
        // Ends the JVM where the broker does not initialize; its shutdown hook never runs, as Commands halts the JVM.
        BrokerController controller = BrokerStartup.createBrokerController(options);
        controller.start();
        return controller;
    }

    private static Map<String, Map<String, String>> registered(NamesrvController nameserver) {
        Map<String, Map<String, String>> addresses = new HashMap<>();
        for (BrokerData broker : nameserver.getRouteInfoManager().getAllClusterInfo().getBrokerAddrTable().values()) {
            Map<String, String> byId = new HashMap<>();
            broker.getBrokerAddrs().forEach((id, address) -> byId.put(Long.toString(id), address));
            addresses.put(broker.getBrokerName(), byId);
        }
        return addresses;
    }
}
