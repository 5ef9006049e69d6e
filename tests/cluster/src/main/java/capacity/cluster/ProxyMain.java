package capacity.cluster;

import com.alibaba.fastjson2.JSONObject;
import org.apache.rocketmq.proxy.ProxyStartup;

/**
 * One proxy; the arguments are those of mqproxy: -pm cluster or local, -pc its JSON file, -bc the properties file of the
 * broker that a local one holds. A JVM can hold one only: its settings are static.
 *
 * <p>Commands: register, which says that there is nothing to do: its broker registers by itself.
 */
public final class ProxyMain {
    private ProxyMain() {
    }

    public static void main(String[] args) throws Exception {
        Commands commands = new Commands();
        ProxyStartup.main(args);
        commands.add("register", fields -> 0);
        commands.say(JSONObject.of("ok", "started"));
        commands.serve();
    }
}
