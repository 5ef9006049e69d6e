package capacity.cluster;

import com.alibaba.fastjson2.JSONObject;

/**
 * Real consumers and producers in one JVM; the argument is the name server's address.
 *
 * <p>Commands: those of Consumers, Pullers, Producers and Senders.
 */
public final class ClientsMain {
    private ClientsMain() {
    }

    public static void main(String[] args) throws Exception {
        Commands commands = new Commands();
        new Consumers(args[0]).addTo(commands);
        new Pullers(args[0]).addTo(commands);
        new Producers(args[0]).addTo(commands);
        new Senders(args[0]).addTo(commands);
        commands.say(JSONObject.of("ok", "started"));
        commands.serve();
    }
}
